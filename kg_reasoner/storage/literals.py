"""Axiomatic facts about literals and datatypes, which the rules on datatypes need (table 8 of OWL 2 Profiles, and sections 7 to 9
of RDF 1.1 Semantics).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable
from typing import Final

import numpy as np

from kg_reasoner.expressions.datatypes import DATATYPES, datatypes_of, disjoint_datatypes, identity, is_ill_typed
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, Literal

LITERAL_PREDICATES: Final = {
    "recognised_datatype": 1,
    "disjoint_datatypes": 2,
    "literal_type": 2,
    "literal_value": 2,
    "ill_typed": 1,
    "container_membership_property": 1,
}
"""The predicates of these facts, with their numbers of arguments:

* ``recognised_datatype(?datatype)``;
* ``disjoint_datatypes(?one, ?other)``: recognised datatypes that have no value in common;
* ``literal_type(?literal, ?datatype)``: rdfs:Literal, and each recognised datatype whose values include the literal's;
* ``literal_value(?literal, ?value)``: an IRI that stands for the literal's value, the same for all literals that have it;
* ``ill_typed(?literal)``: the form is none of the literal's datatype;
* ``container_membership_property(?property)``: rdf:_1, rdf:_2 ..., as far as something speaks of them.

There are none about literals of datatypes that are not recognised.
"""

VALUES: Final = "tag:kg-reasoner:value/"
"""How the IRIs begin that stand for values."""

_EVERY: Final = RDFS.Literal.value
"""The class of all literals, which is the value space of no datatype."""

_MEMBERSHIP: Final = re.compile(re.escape(f"<{RDF}_") + "[1-9][0-9]*>")

_Facts = dict[str, list[tuple[int, ...]]]


class LiteralFacts:
    """The facts of `LITERAL_PREDICATES` about the terms of a dictionary, produced as terms are added to it.

    >>> from kg_reasoner.terms import XSD, literal
    >>> dictionary = Dictionary()
    >>> one, same = dictionary.encode(literal(1)), dictionary.encode(Literal("01", XSD.byte.value))
    >>> facts = LiteralFacts(dictionary)
    >>> dict(facts.new()["literal_value"])[one] == dictionary.find(IRI(VALUES + "0"))
    True
    >>> facts.new()["literal_value"]
    []
    """

    def __init__(self, dictionary: Dictionary, recognised: Collection[str] = DATATYPES) -> None:
        self._dictionary = dictionary
        self._recognised = recognised
        self._done = 0
        self._values: dict[Hashable, int] = {}
        self._datatypes: dict[str, int] = {}

    def new(self) -> _Facts:
        """Return the facts about terms added since the last call, as ids by predicate."""
        found: _Facts = {name: [] for name in LITERAL_PREDICATES}
        if not self._datatypes:
            self._begin(found)
        first, end = self._done, len(self._dictionary)
        if first < end:
            literals = first + np.flatnonzero(self._dictionary.first_bytes()[first:] == ord('"'))
            for number in literals.tolist():
                self._describe(number, found)
            for number in self._dictionary.with_prefix(f"<{RDF}_", first).tolist():
                if _MEMBERSHIP.fullmatch(self._dictionary.text(number)):
                    found["container_membership_property"].append((number,))
            self._done = len(self._dictionary)
        return found

    def _begin(self, found: _Facts) -> None:
        """Add the facts about datatypes."""
        ids = {name: self._dictionary.encode(IRI(name)) for name in sorted({*self._recognised, _EVERY})}
        found["recognised_datatype"] = [(number,) for name, number in ids.items() if name != _EVERY]
        pairs = (pair for pair in disjoint_datatypes() if pair[0] in ids and pair[1] in ids)
        found["disjoint_datatypes"] = [(ids[one], ids[other]) for one, other in pairs]
        self._datatypes = ids
        self._dictionary.encode(OWL.differentFrom)  # holds between literals, so that queries may ask for it

    def _describe(self, number: int, found: _Facts) -> None:
        """Add the facts about a literal."""
        literal = self._dictionary.decode(number)
        assert isinstance(literal, Literal)
        value = identity(literal, self._recognised)
        if value is not None:
            if value not in self._values:
                self._values[value] = self._dictionary.encode(IRI(f"{VALUES}{len(self._values)}"))
            found["literal_value"].append((number, self._values[value]))
            found["literal_type"] += [(number, self._datatypes[name]) for name in datatypes_of(literal, self._recognised)]
        elif is_ill_typed(literal, self._recognised):
            found["ill_typed"].append((number,))
