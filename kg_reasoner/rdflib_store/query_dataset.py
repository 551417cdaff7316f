"""What SPARQL sees of an rdflib store: the dataset that a query is evaluated over, and where its patterns are matched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

    from kg_reasoner.concurrency.locking import Hold
    from kg_reasoner.query.matching import Which
    from kg_reasoner.query.quads import GraphTerm
    from kg_reasoner.rdflib_store.permissions import Permissions
    from kg_reasoner.rdflib_store.prefix_bindings import PrefixBindings
    from kg_reasoner.rdflib_store.separate_graphs import Graphs
    from kg_reasoner.rdflib_store.union_graphs import UnionGraphs


class QueryDataset:
    """The triples of all graphs together as one graph, without named graphs. The `dataset` of an rdflib store is one.

    Args:
        graphs: have the triples.
        prefixes: are bound in the graphs that queries make.
        permissions: say what queries may fetch.
        which: all triples, or the explicit or inferred ones.
    """

    def __init__(self, graphs: Graphs, prefixes: PrefixBindings, permissions: Permissions, which: Which = "all") -> None:
        self.graphs, self.prefixes, self.permissions, self.which = graphs, prefixes, permissions, which

    def reading(self) -> Hold:
        """The ``with`` block in which nothing changes: what is read is up to date."""
        return self.graphs.transactions.reading(self.which)

    def active(self, graph: Graph) -> PatternSource | None:
        """Where patterns are matched in an active graph; None: not in one place, rdflib goes pattern by pattern."""
        found = self.graphs.locate(self.names(graph))
        return None if found is None else PatternSource(self, *found)

    def names(self, graph: Graph) -> Sequence[Node] | None:
        """The names of the stored graphs that a graph of the dataset is made of; None: of all."""
        return None

    def named_graphs(self) -> list[Node]:
        """The graphs that ``GRAPH ?g`` looks into."""
        return []

    def has_graph(self, name: Node) -> bool:
        """Whether there is a named graph of this name."""
        return False

    def place(self, name: Node) -> GraphTerm | None:
        """Where patterns of a named graph are looked for; None: there is no such graph."""
        return None

    def joins(self, name: Node | None) -> bool:
        """Whether patterns of a named graph (None: of all of them, by a variable) can be joined with others."""
        return False


class PatternSource(NamedTuple):
    """Where basic graph patterns are matched: in `place`, or (None) among all triples of `graphs`."""

    dataset: QueryDataset
    graphs: UnionGraphs
    place: GraphTerm | None

    def prepare(self) -> None:
        """Bring what is read up to date; terms that rules speak of have ids from then on."""
        self.graphs.prepare(self.dataset.which)


def dataset_of(store: Any) -> QueryDataset | None:
    """The dataset of an rdflib store; None if the store is not one of ours."""
    dataset = getattr(store, "dataset", None)
    return dataset if isinstance(dataset, QueryDataset) else None
