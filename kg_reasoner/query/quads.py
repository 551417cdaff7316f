"""Explicit triples by graph, read from the relations.

A triple is one explicit fact, whatever the number of graphs that state it. Its named graphs are stored in an internal relation of
quads, in the database of the triples, so that quads have indexes and belong to transactions. An explicit triple without a quad
is in the default graph only; one in named graphs has a quad for the default graph, too, if it is also there. So data without named
graphs need no quads, and triples added directly to a reasoner are in the default graph.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, TypeAlias

import numpy as np

from kg_reasoner.planning.catalog import INTERNAL, RelationCatalog, StoredAtom, StoredTerm
from kg_reasoner.query.matching import TripleMatcher
from kg_reasoner.storage.arrays import NO_QUADS, Flags, Ids, Numbers, selected_rows
from kg_reasoner.storage.grouping import pair_rows
from kg_reasoner.storage.kernels.layout import EXPLICIT
from kg_reasoner.terms import IRI

__all__ = ["DEFAULT_GRAPH", "GRAPHS", "INFERRED", "QUADS", "GraphTerm", "QuadPattern", "Quads"]

QUADS: Final = f"{INTERNAL}quads"
"""The predicate of quads: subject, property, object, graph."""

GRAPHS: Final = f"{INTERNAL}graphs"
"""The predicate of the existing named graphs, including empty ones."""

DEFAULT_GRAPH: Final = IRI("urn:x-rdflib:default")
"""The name by which rdflib knows the default graph."""

INFERRED: Final = -2
"""Represents the graph of all inferred triples."""

GraphTerm: TypeAlias = StoredTerm | frozenset[int]
"""The graphs that a pattern matches: a graph, given by its id; every named graph, given by a variable's name; or the merge of
several graphs. `INFERRED` may stand for an id."""

QuadPattern: TypeAlias = tuple[StoredTerm, StoredTerm, StoredTerm, GraphTerm]
"""A triple pattern (ids of constants, names of variables), and the graphs that it matches."""

GRAPH_COLUMN: Final = 3
SINGLE: Final = 32
"""The maximum number of triples to look up one by one; more are joined with all quads."""


class Quads:
    """Finds explicit triples in graphs. Terms are ids; None matches every term.

    Inferred triples are in no graph but `INFERRED`, see `kg_reasoner.query.single_patterns`.
    """

    def __init__(self, catalog: RelationCatalog, matcher: TripleMatcher) -> None:
        self.catalog = catalog
        self.matcher = matcher
        self._default = -1

    @property
    def default(self) -> int:
        """The id of the default graph; -1 before it is used."""
        if self._default < 0:
            self._default = self.catalog.dictionary.find(DEFAULT_GRAPH)
        return self._default

    def names(self) -> Ids:
        """Return the ids of the named graphs, in order of creation."""
        relation = self.catalog.predicates.get(GRAPHS)
        return np.empty(0, np.int32) if relation is None else self.catalog.database.rows(relation, "explicit")[:, 0]

    def has(self, graph: int) -> bool:
        """Return whether a named graph exists."""
        relation = self.catalog.predicates.get(GRAPHS)
        return relation is not None and len(self._explicit(relation, (0,), (graph,))) > 0

    def has_relation(self, graph: GraphTerm) -> bool:
        """Return whether all quads of a graph (of all named graphs, for a variable) are in the relation of quads, or in none."""
        return isinstance(graph, str) or (isinstance(graph, int) and graph not in (INFERRED, self.default))

    def atom(self, pattern: QuadPattern) -> StoredAtom | None:
        """Return a pattern accepted by `has_relation` over that relation, or None if it does not exist."""
        relation = self.catalog.predicates.get(QUADS)
        *terms, graph = pattern
        return None if relation is None or isinstance(graph, frozenset) else StoredAtom(relation, (*terms, graph))

    def match(self, subject: int | None, property: int | None, value: int | None, graph: int) -> Ids:
        """Return the matching triples of a graph as ids of shape (n, 3).

        Args:
            subject: Its id, or None for any.
            property: Its id, or None for any.
            value: Its id, or None for any.
            graph: The id of the graph.
        """
        if graph == self.default:
            found = self.matcher.match(subject, property, value, "explicit")
            return selected_rows(found, self.in_default(found)) if self.count() > 0 else found
        return self.match_quads(subject, property, value, graph)[:, :GRAPH_COLUMN]

    def match_quads(self, subject: int | None, property: int | None, value: int | None, graph: int | None) -> Ids:
        """Return the matching triples of one or all named graphs, as quads of shape (n, 4).

        Args:
            subject: Its id, or None for any.
            property: Its id, or None for any.
            value: Its id, or None for any.
            graph: The id of the graph, or None for all.
        """
        if self.count() == 0:
            return NO_QUADS
        relation = self.catalog.predicates[QUADS]
        bound = [(column, term) for column, term in enumerate((subject, property, value, graph)) if term is not None]
        if bound:
            columns, key = zip(*bound, strict=True)
            quads = self.catalog.database.rows_at(relation, self._explicit(relation, columns, key))
        else:
            quads = self.catalog.database.rows(relation, "explicit")
        return quads if graph is not None else selected_rows(quads, quads[:, GRAPH_COLUMN] != self.default)

    def memberships(self, triples: Ids) -> tuple[Numbers, Ids]:
        """Return the number and graph of each quad of some triples, including quads for the default graph."""
        if self.count() == 0 or len(triples) == 0:
            return np.empty(0, np.int64), np.empty(0, np.int32)
        database, relation = self.catalog.database, self.catalog.predicates[QUADS]
        if len(triples) <= SINGLE:
            found = [self._explicit(relation, (0, 1, 2), triple) for triple in triples.tolist()]
            numbers = np.repeat(np.arange(len(triples)), list(map(len, found)))
            return numbers, database.rows_at(relation, np.concatenate(found))[:, GRAPH_COLUMN]
        quads = database.rows(relation, "explicit")
        numbers, places = pair_rows(triples, quads[:, :GRAPH_COLUMN])
        return numbers, quads[places, GRAPH_COLUMN]

    def have_quads(self, triples: Ids) -> Flags:
        """Return whether each triple has a quad."""
        found = np.zeros(len(triples), np.bool_)
        found[self.memberships(triples)[0]] = True
        return found

    def in_default(self, triples: Ids) -> Flags:
        """Return whether each explicit triple is in the default graph."""
        numbers, graphs = self.memberships(triples)
        found = np.ones(len(triples), np.bool_)
        found[numbers] = False
        found[numbers[graphs == self.default]] = True
        return found

    def count(self) -> int:
        """Return an estimate of the number of quads."""
        relation = self.catalog.predicates.get(QUADS)
        return 0 if relation is None else self.catalog.database.size(relation)

    def _explicit(self, relation: int, columns: Collection[int], key: Collection[int]) -> Numbers:
        """Return the numbers of the explicit rows with these ids in these columns."""
        database = self.catalog.database
        numbers = database.matching(relation, tuple(columns), tuple(key))
        rows: Numbers = numbers[(database.flags(relation)[numbers] & EXPLICIT) > 0].astype(np.int64)
        return rows
