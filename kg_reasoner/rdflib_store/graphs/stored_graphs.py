"""The graphs of an rdflib store: their names, and the triples of one or of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node, URIRef

from kg_reasoner.api.explicit.named_graphs import quads_of
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.query.matching import Which
from kg_reasoner.query.quads import INFERRED, GraphTerm
from kg_reasoner.rdflib_store.graphs.rdflib_terms import RdflibPattern, RdflibTerms, RdflibTriple
from kg_reasoner.rdflib_store.graphs.transactions import StoreTransactions
from kg_reasoner.storage.arrays import NO_QUADS, NO_TRIPLES, Ids


def is_stated(place: GraphTerm | None) -> bool:
    """Return whether all triples of a graph are explicit, so that reading it needs nothing derived."""
    return isinstance(place, int) and place != INFERRED


class StoredGraphs:
    """The graphs of one reasoner.

    Args:
        transactions: The transactions on the reasoner.
        inferred_graph: The name of the graph of inferred triples, if there is one.
    """

    def __init__(self, transactions: StoreTransactions, inferred_graph: URIRef | None = None) -> None:
        self.transactions = transactions
        self.reasoner = transactions.reasoner
        self.terms = RdflibTerms(self.reasoner.dictionary)
        self.inferred_graph = inferred_graph

    @property
    def template(self) -> Reasoner:
        """The reasoner with the rules and the settings."""
        return self.reasoner

    def prepare(self, which: Which = "all") -> None:
        """Bring the materialisation up to date; terms that rules mention have ids from then on."""
        self.transactions.flush()
        if which != "explicit":
            self.reasoner.materialise()

    # --- names ------------------------------------------------------------------------------------------------------

    def stored_graphs(self) -> list[Node]:
        """Return the named graphs that can be changed, empty ones included."""
        with self.transactions.reading("explicit"):
            return self.terms.nodes(self.reasoner.core.queries.quads.names().tolist())

    def all_graphs(self) -> list[Node]:
        """Return the default graph and the named ones, without that of the inferred triples."""
        return [DATASET_DEFAULT_GRAPH_ID, *self.stored_graphs()]

    def named_graphs(self) -> list[Node]:
        """Return the graphs over which ``GRAPH ?g`` ranges: the named ones, and that of the inferred triples."""
        names = self.stored_graphs()
        if self.inferred_graph not in (None, DATASET_DEFAULT_GRAPH_ID):
            names.append(cast(Node, self.inferred_graph))
        return names

    def has_graph(self, name: Node) -> bool:
        """Return whether a graph of this name exists."""
        with self.transactions.reading("explicit"):
            number = self.terms.find(name)
            is_special = name in (self.inferred_graph, DATASET_DEFAULT_GRAPH_ID)
            return is_special or (number >= 0 and self.reasoner.core.queries.quads.has(number))

    def place(self, name: Node, which: Which = "all") -> GraphTerm | None:
        """Return the place of a graph's triples; None: the graph does not exist."""
        self.transactions.flush()
        default = self.reasoner.core.queries.quads.default
        if name == DATASET_DEFAULT_GRAPH_ID:
            return default if name != self.inferred_graph or which == "explicit" else frozenset({default, INFERRED})
        if name == self.inferred_graph:
            return INFERRED
        return self.terms.find(name) if self.has_graph(name) else None

    # --- triples ----------------------------------------------------------------------------------------------------

    def triples_of(self, name: Node | None, triple_pattern: RdflibPattern, which: Which = "all") -> Iterator[RdflibTriple]:
        """Yield the matching triples of a graph, or of all together."""
        place = None if name is None else self.place(name, which)
        if place is None and name is not None:
            return
        with self.transactions.reading("explicit" if is_stated(place) else which):
            if place is None and None not in triple_pattern:
                pattern = self.pattern(triple_pattern)
                found = None
                is_there = pattern is not None and self.contains(pattern, which)
            else:
                found = self.match(place, triple_pattern, which)
                if not found.flags.owndata:  # of columns, which change
                    found = found.copy()
        if found is None:
            if is_there:
                yield cast(RdflibTriple, triple_pattern)
            return
        for triple in self.terms.rows(found):
            yield cast(RdflibTriple, triple)

    def stated(self, name: Node) -> Ids:
        """Return the explicit triples of a graph, with its id, as quads of shape (n, 4)."""
        place = self.place(name, "explicit")
        if not isinstance(place, int) or place == INFERRED:
            return NO_QUADS
        with self.transactions.reading("explicit"):
            return quads_of(self.match(place, (None, None, None), "explicit"), place)

    def match(self, place: GraphTerm | None, triple_pattern: RdflibPattern, which: Which = "all") -> Ids:
        """Return the matching triples of a graph, or of all together, as ids of shape (n, 3); within a reading."""
        pattern = self.pattern(triple_pattern)
        if pattern is None:
            return NO_TRIPLES
        subject, property, value = pattern
        if place is None:
            return self.reasoner.core.queries.match(subject, property, value, which)
        return self.reasoner.core.queries.match_in(cast("int | frozenset[int]", place), subject, property, value)

    def contains(self, triple: Sequence[int | None], which: Which) -> bool:
        """Return whether a triple of ids exists in any graph; within a reading."""
        subject, property, value = cast(Sequence[int], triple)
        return self.reasoner.core.queries.contains(subject, property, value, which)

    def pattern(self, triple: Sequence[Node | None]) -> list[int | None] | None:
        """Return a pattern as ids; None if one of its terms does not occur."""
        pattern = [None if term is None else self.terms.find(term) for term in triple]
        return None if -1 in pattern else pattern
