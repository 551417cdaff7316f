"""Facts about literals, for the datatype rules (table 8 of the OWL 2 profiles): which type a literal has, which value, whether any."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np

from kg_reasoner.dictionary import Dictionary
from kg_reasoner.terms import IRI, XSD, Literal
from kg_reasoner.values import INTEGER_RANGES, Value, is_known, value_of

LITERAL_PREDICATES: Final = {"literal_type": 2, "literal_value": 2, "ill_typed": 1}
"""The predicates that the engine fills by itself: ``literal_type(?literal, ?datatype)`` for each datatype whose values include the
literal's; ``literal_value(?literal, ?first)`` with the first literal of the dictionary that has the same value; ``ill_typed(?literal)``."""


def literal_facts(dictionary: Dictionary, first: int) -> dict[str, list[tuple[int, ...]]]:
    """The facts of `LITERAL_PREDICATES`, as ids, for the literals with ids from `first` on."""
    types: list[tuple[int, ...]] = []
    values: list[tuple[int, ...]] = []
    ill_typed: list[tuple[int, ...]] = []
    representatives: dict[object, int] = {}
    count = len(dictionary)
    for number in np.flatnonzero(dictionary.first_bytes()[:count] == ord('"')).tolist():
        term = dictionary.decode(number)
        assert isinstance(term, Literal)
        value = value_of(term)
        if value is None and is_known(term.datatype):
            if number >= first:
                ill_typed.append((number,))
            continue
        key = term if value is None else (_space(value, term.datatype), value)
        representative = representatives.setdefault(key, number)
        if number >= first:
            values.append((number, representative))
            types += [(number, dictionary.encode(IRI(datatype))) for datatype in _datatypes(term, value)]
    return {"literal_type": types, "literal_value": values, "ill_typed": ill_typed}


def _space(value: Value, datatype: str) -> str:
    """The value space: those of xsd:double and xsd:float have no value in common with each other or with xsd:decimal."""
    return datatype if datatype in (XSD.double.value, XSD.float.value) else value[0]


def _datatypes(term: Literal, value: Value | None) -> list[str]:
    """The datatypes whose value space contains the value of a literal."""
    if value is None or _space(value, term.datatype) != "number":
        return [term.datatype]
    number = value[1]
    found = [XSD.decimal.value]
    if isinstance(number, Decimal | Fraction) and number == int(number):
        whole = int(number)
        for datatype, (low, high) in INTEGER_RANGES.items():
            if (low is None or low <= whole) and (high is None or whole <= high):
                found.append(datatype)
    return found
