"""Facts about literals, for the datatype rules (table 8 of OWL 2 Profiles): a literal's types, its value, whether it has any."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import numpy as np

from kg_reasoner.datatypes import datatypes_of, identity, is_ill_typed
from kg_reasoner.dictionary import Dictionary
from kg_reasoner.terms import IRI, Literal

LITERAL_PREDICATES: Final = {"literal_type": 2, "literal_value": 2, "ill_typed": 1}
"""The predicates that the engine fills by itself: ``literal_type(?literal, ?datatype)`` for each datatype whose values include the
literal's; ``literal_value(?literal, ?first)`` with the first literal of the dictionary that has the same value;
``ill_typed(?literal)``. There are none about literals of unknown datatypes."""


def literal_facts(dictionary: Dictionary, first: int) -> dict[str, list[tuple[int, ...]]]:
    """The facts of `LITERAL_PREDICATES`, as ids, for the literals with ids from `first` on."""
    types: list[tuple[int, ...]] = []
    values: list[tuple[int, ...]] = []
    ill_typed: list[tuple[int, ...]] = []
    representatives: dict[Hashable, int] = {}
    count = len(dictionary)
    for number in np.flatnonzero(dictionary.first_bytes()[:count] == ord('"')).tolist():
        term = dictionary.decode(number)
        assert isinstance(term, Literal)
        value = identity(term)
        if value is not None:
            representative = representatives.setdefault(value, number)
            if number >= first:
                values.append((number, representative))
                types += [(number, dictionary.encode(IRI(datatype))) for datatype in datatypes_of(term)]
        elif number >= first and is_ill_typed(term):
            ill_typed.append((number,))
    return {"literal_type": types, "literal_value": values, "ill_typed": ill_typed}
