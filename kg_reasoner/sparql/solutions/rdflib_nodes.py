"""The terms of rdflib for ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from kg_reasoner.loaders.convert import to_rdflib
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import UNBOUND
from kg_reasoner.terms import term_of

if TYPE_CHECKING:
    from rdflib.term import Node

__all__ = ["NodeCache", "NodeReader"]

REMEMBERED: Final = 1 << 18
"""The maximal number of terms in a cache."""


class NodeCache:
    """The terms of rdflib for ids of a dictionary that queries have decoded."""

    def __init__(self) -> None:
        self._nodes: dict[int, Node] = {}

    def room_for(self, count: int) -> dict[int, Node]:
        """Return the cache of terms by id, with room for a number of further terms."""
        if len(self._nodes) + count > REMEMBERED:
            self._nodes = {}
        return self._nodes


class NodeReader:
    """Makes the terms of a query. Each is made once, unless there are more than a cache can hold.

    Args:
        terms: The terms of the ids.
        cache: The terms that other queries have decoded.
    """

    def __init__(self, terms: QueryTerms, cache: NodeCache) -> None:
        self._terms = terms
        self._cache = cache
        self._own: dict[int, Node | None] = {UNBOUND: None}

    def nodes(self, numbers: Sequence[int]) -> list[Node | None]:
        """Return the rdflib terms of ids; None for `UNBOUND`."""
        distinct = set(numbers)
        if min(distinct, default=0) >= 0:
            return list(map(self._stored(distinct).__getitem__, numbers))
        stored = self._stored({number for number in distinct if number >= 0})
        own = self._own
        missing = [number for number in distinct if number < 0 and number not in own]
        if missing:
            own.update(zip(missing, map(_node, self._terms.texts(missing)), strict=True))
        return [stored[number] if number >= 0 else own[number] for number in numbers]

    def _stored(self, wanted: set[int]) -> dict[int, Node]:
        """Return terms by id, at least those of some ids of the dictionary."""
        known = self._cache.room_for(0)
        missing = list(wanted.difference(known))
        if missing:
            known = self._cache.room_for(len(missing))
            missing = list(wanted.difference(known))
            known.update(zip(missing, map(_node, self._terms.dictionary.texts_of(missing)), strict=True))
        return known


def _node(text: str) -> Node:
    """Return the rdflib term of a text."""
    from rdflib.term import URIRef

    if text[0] == "<":
        return str.__new__(URIRef, text[1:-1])  # without rdflib's check: the terms are valid
    return cast("Node", to_rdflib(term_of(text)))
