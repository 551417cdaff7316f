"""What SPARQL sees of a whole store: its graphs under their names."""

from __future__ import annotations

from collections.abc import Sequence

from rdflib import Graph
from rdflib.term import Node

from kg_reasoner.query.quads import GraphTerm
from kg_reasoner.rdflib_store.contexts import Contexts
from kg_reasoner.rdflib_store.permissions import Permissions
from kg_reasoner.rdflib_store.prefix_bindings import PrefixBindings
from kg_reasoner.rdflib_store.query_dataset import QueryDataset
from kg_reasoner.rdflib_store.separate_graphs import Graphs


class StoredDataset(QueryDataset):
    """All graphs of a store, with the contexts that stand for them."""

    def __init__(self, graphs: Graphs, prefixes: PrefixBindings, permissions: Permissions) -> None:
        super().__init__(graphs, prefixes, permissions)
        self.contexts = Contexts(graphs)

    def names(self, graph: Graph) -> Sequence[Node] | None:
        name = self.contexts.name(graph, graph.store)
        return None if name is None else [name]

    def named_graphs(self) -> list[Node]:
        return self.graphs.named_graphs()

    def has_graph(self, name: Node) -> bool:
        return self.graphs.has_graph(name)

    def place(self, name: Node) -> GraphTerm | None:
        return self.graphs.place(name)

    def joins(self, name: Node | None) -> bool:
        return self.graphs.joins(name)
