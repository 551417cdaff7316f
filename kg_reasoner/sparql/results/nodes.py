"""The terms of rdflib for ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kg_reasoner.loaders.convert import to_rdflib
from kg_reasoner.sparql.table import UNBOUND
from kg_reasoner.sparql.terms import QueryTerms
from kg_reasoner.terms import term_from_text

if TYPE_CHECKING:
    from rdflib.term import Node

__all__ = ["NodeReader"]


class NodeReader:
    """Makes each term once.

    Args:
        terms: The terms of the ids.
    """

    def __init__(self, terms: QueryTerms) -> None:
        self._terms = terms
        self._known: dict[int, Node | None] = {UNBOUND: None}

    def nodes(self, numbers: list[int]) -> list[Node | None]:
        """Return the rdflib terms of ids; None for `UNBOUND`."""
        known = self._known
        missing = [number for number in set(numbers) if number not in known]
        if missing:
            known.update(zip(missing, map(node_of, self._terms.texts(missing)), strict=True))
        return [known[number] for number in numbers]


def node_of(text: str) -> Node:
    """Return the rdflib term of a text."""
    from rdflib.term import URIRef

    if text[0] == "<":
        return str.__new__(URIRef, text[1:-1])  # without rdflib's check: the terms are valid
    return cast("Node", to_rdflib(term_from_text(text)))
