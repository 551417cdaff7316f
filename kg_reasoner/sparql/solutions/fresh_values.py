"""The functions of SPARQL whose results are different at each call: NOW, RAND, UUID, STRUUID and BNODE."""

from __future__ import annotations

import random
import uuid
from datetime import datetime, timezone
from typing import Final

import numpy as np

from kg_reasoner.concurrency.watching import blocks, watched
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import UNBOUND, Table, constant
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term, literal

__all__ = ["FRESH", "FreshValues"]

FRESH: Final = ("NOW", "RAND", "UUID", "STRUUID", "BNODE")

AT_ONCE: Final = 1 << 12
"""The number of values that are made between two checks of the limits."""


class FreshValues:
    """Makes values for one query.

    Args:
        terms: The terms of the query.
    """

    def __init__(self, terms: QueryTerms) -> None:
        self._terms = terms
        self._now: Term | None = None
        self._labelled: dict[int, tuple[object, dict[tuple[int, int], int]]] = {}

    def column(self, name: str, size: int) -> Ids:
        """Return the values of a function without arguments, for each solution."""
        if name == "NOW":  # the same throughout a query (17.4.5.1)
            if self._now is None:
                self._now = Literal(datetime.now(timezone.utc).isoformat(), XSD.dateTime.value)
            return constant(self._terms.find(self._now), size)
        made = [self._terms.ids_of(_one(name) for _ in range(size)[part]) for part in blocks(size, AT_ONCE)]
        return np.concatenate([constant(UNBOUND, 0), *made])

    def labelled(self, labels: Ids, table: Table) -> Ids:
        """Return a blank node for each solution with a simple string as the label: the same for the same label in a solution."""
        known = self._labelled.setdefault(id(table.origin), (table.origin, {}))[1]
        found = constant(UNBOUND, len(labels))
        numbers = range(len(labels)) if table.numbers is None else table.numbers.tolist()
        given = zip(numbers, labels.tolist(), self._terms.terms(labels.tolist()), strict=True)
        for row, (number, label, term) in enumerate(watched(given)):
            if _is_simple(term):
                if (number, label) not in known:
                    known[number, label] = self._terms.find(_one("BNODE"))
                found[row] = known[number, label]
        return found


def _is_simple(term: Term | None) -> bool:
    return isinstance(term, Literal) and term.datatype == XSD.string.value


def _one(name: str) -> Term:
    if name == "RAND":
        return literal(random.random())
    if name == "UUID":
        return IRI(f"urn:uuid:{uuid.uuid4()}")
    if name == "STRUUID":
        return Literal(str(uuid.uuid4()))
    return BlankNode(f"b{uuid.uuid4().hex}")
