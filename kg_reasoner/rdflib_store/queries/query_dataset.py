"""The dataset over which SPARQL queries are evaluated, and stores that have one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rdflib import Graph
from rdflib.store import Store
from rdflib.term import Node, URIRef

if TYPE_CHECKING:
    from kg_reasoner.concurrency.locking import Hold
    from kg_reasoner.query.matching import Which
    from kg_reasoner.rdflib_store.graphs.contexts import Contexts
    from kg_reasoner.rdflib_store.graphs.prefix_bindings import PrefixBindings
    from kg_reasoner.rdflib_store.graphs.separate_graphs import Graphs
    from kg_reasoner.rdflib_store.queries.permissions import Permissions


class QueryDataset:
    """All graphs of a store, under their names.

    Args:
        graphs: The graphs with the triples.
        contexts: Map rdflib's graphs to these.
        prefixes: Bound in the graphs that queries make.
        permissions: Decide what queries and updates may fetch.
    """

    which: Which = "all"

    def __init__(self, graphs: Graphs, contexts: Contexts, prefixes: PrefixBindings, permissions: Permissions) -> None:
        self.graphs, self.contexts, self.prefixes, self.permissions = graphs, contexts, prefixes, permissions

    def reading(self) -> Hold:
        """Return the ``with`` block in which nothing changes and the materialisation is up to date."""
        return self.graphs.transactions.reading(self.which)

    def names(self, graph: Graph) -> Sequence[Node] | None:
        """Return the names of the stored graphs that a graph over this dataset merges; None: all."""
        name = self.contexts.name(graph, graph.store)
        return None if name is None else [name]

    def named_graphs(self) -> list[Node]:
        """Return the graphs over which ``GRAPH ?g`` ranges."""
        return self.graphs.named_graphs()

    def has_graph(self, name: Node) -> bool:
        """Return whether a graph of this name exists."""
        return self.graphs.has_graph(name)

    def joins_graphs(self) -> bool:
        """Return whether a variable can stand for any named graph in a join."""
        return self.graphs.joins_graphs()


class DatasetStore(Store):
    """A store of this package that gives queries access to its dataset."""

    def __init__(self, dataset: QueryDataset, configuration: str | None = None) -> None:
        self.dataset = dataset
        super().__init__(configuration)

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        """Bind a prefix; without `override`, existing bindings of the prefix or the namespace remain."""
        self.dataset.prefixes.bind(prefix, namespace, override)

    def namespace(self, prefix: str) -> URIRef | None:
        """Return the namespace of a prefix."""
        return self.dataset.prefixes.namespace(prefix)

    def prefix(self, namespace: URIRef) -> str | None:
        """Return the prefix of a namespace."""
        return self.dataset.prefixes.prefix(namespace)

    def namespaces(self) -> Iterator[tuple[str, URIRef]]:
        """Return all bound prefixes with their namespaces."""
        return self.dataset.prefixes.namespaces()
