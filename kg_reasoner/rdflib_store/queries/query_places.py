"""A store's dataset as the places where queries match patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from rdflib.term import Node

from kg_reasoner.loaders.convert import from_rdflib, to_rdflib
from kg_reasoner.query.quads import GraphTerm
from kg_reasoner.rdflib_store.graphs.union_graphs import UnionGraphs
from kg_reasoner.rdflib_store.queries.query_dataset import QueryDataset
from kg_reasoner.sparql.evaluation.datasets import Place, Places
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from rdflib import Graph

__all__ = ["StorePlaces"]


class StorePlaces:
    """The places of a dataset, as seen from an active graph; within a reading.

    Args:
        dataset: The dataset.
        graph: The graph in which patterns outside of GRAPH are matched.
    """

    def __init__(self, dataset: QueryDataset, graph: Graph) -> None:
        self._dataset = dataset
        self._graph = graph
        self.caches = dataset.graphs.reasoner.core.caches

    def default(self) -> Places:
        """Return the places of the active graph."""
        return self._places(self._dataset.names(self._graph))

    def named(self, name: Term) -> Places | None:
        """Return the places of a named graph; None if it does not exist."""
        node = cast(Node, to_rdflib(name))
        return self._places([node]) if self._dataset.has_graph(node) else None

    def names(self) -> Sequence[Term]:
        """Return the names of the named graphs."""
        return [from_rdflib(name) for name in self._dataset.named_graphs()]

    def joined(self) -> Place | None:
        """Return the place where a variable stands for any named graph."""
        return self._place(cast(UnionGraphs, self._dataset.graphs), None) if self._dataset.joins_graphs() else None

    def _places(self, names: Sequence[Node] | None) -> Places:
        graphs = self._dataset.graphs
        found = graphs.locate(names)
        if found is not None:
            return (self._place(*found),)
        every = graphs.all_graphs() if names is None else names
        located = [graphs.locate([name]) for name in every]
        stated = None
        if self._dataset.which == "inferred" and names is None:  # a triple that another graph states is not inferred
            stated = Place(graphs.reasoner.core.queries, None, "explicit")
        return tuple(self._place(*place, stated) for place in located if place is not None)

    def _place(self, graphs: UnionGraphs, graph: GraphTerm | None, without: Place | None = None) -> Place:
        graphs.prepare(self._dataset.which)
        return Place(graphs.reasoner.core.queries, graph, self._dataset.which, without)
