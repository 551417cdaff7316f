"""Facts about literals, for the datatype rules (table 8 of OWL 2 Profiles): a literal's types, its value, whether it has any."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Final

import numpy as np

from kg_reasoner.datatypes import DATATYPES, datatypes_of, identity, is_ill_typed
from kg_reasoner.dictionary import Dictionary
from kg_reasoner.terms import IRI, RDFS, Literal

LITERAL_PREDICATES: Final = {"recognised_datatype": 1, "literal_type": 2, "literal_value": 2, "ill_typed": 1}
"""The predicates that the engine fills by itself: ``recognised_datatype(?datatype)`` for each of them;
``literal_type(?literal, ?datatype)`` for rdfs:Literal and each recognised datatype whose values include the literal's;
``literal_value(?literal, ?first)`` with the first literal of the dictionary that has the same value; ``ill_typed(?literal)``. There
are none about literals of datatypes that are not recognised."""

_EVERY: Final = RDFS.Literal.value
"""The class of all literals, which is no datatype of any."""


class LiteralFacts:
    """The facts of `LITERAL_PREDICATES` about the literals of a dictionary, handed out as literals are added to it.

    >>> from kg_reasoner.terms import XSD, literal
    >>> dictionary = Dictionary()
    >>> one, same = dictionary.encode(literal(1)), dictionary.encode(Literal("01", XSD.byte.value))
    >>> facts = LiteralFacts(dictionary)
    >>> facts.new()["literal_value"] == [(one, one), (same, one)]
    True
    >>> facts.new()["literal_value"]
    []
    """

    def __init__(self, dictionary: Dictionary, recognised: Collection[str] = DATATYPES) -> None:
        self._dictionary = dictionary
        self._recognised = recognised
        self._done = 0
        self._firsts: dict[Hashable, int] = {}
        self._datatypes: dict[str, int] = {}

    def new(self) -> dict[str, list[tuple[int, ...]]]:
        """The facts, as ids by predicate, about the literals that have come since the last call."""
        dictionary, start = self._dictionary, self._done
        found: dict[str, list[tuple[int, ...]]] = {name: [] for name in LITERAL_PREDICATES}
        if not self._datatypes:
            self._datatypes = {name: dictionary.encode(IRI(name)) for name in sorted({*self._recognised, _EVERY})}
            found["recognised_datatype"] = [(number,) for name, number in self._datatypes.items() if name != _EVERY]
        types = self._datatypes
        for number in (start + np.flatnonzero(dictionary.first_bytes()[start:] == ord('"'))).tolist():
            term = dictionary.decode(number)
            assert isinstance(term, Literal)
            value = identity(term, self._recognised)
            if value is not None:
                found["literal_value"].append((number, self._firsts.setdefault(value, number)))
                found["literal_type"] += [(number, types[name]) for name in datatypes_of(term, self._recognised)]
            elif is_ill_typed(term, self._recognised):
                found["ill_typed"].append((number,))
        self._done = len(dictionary)
        return found
