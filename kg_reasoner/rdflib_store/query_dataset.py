"""What SPARQL sees of an rdflib store: the dataset that a query is evaluated over, and where its patterns are matched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rdflib.store import Store

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node, URIRef

    from kg_reasoner.concurrency.locking import Hold
    from kg_reasoner.query.matching import Which
    from kg_reasoner.query.quads import GraphTerm
    from kg_reasoner.rdflib_store.contexts import Contexts
    from kg_reasoner.rdflib_store.permissions import Permissions
    from kg_reasoner.rdflib_store.prefix_bindings import PrefixBindings
    from kg_reasoner.rdflib_store.separate_graphs import Graphs
    from kg_reasoner.rdflib_store.union_graphs import UnionGraphs


class QueryDataset:
    """All graphs of a store, under their names.

    Args:
        graphs: have the triples.
        contexts: tell which of them rdflib's graphs stand for.
        prefixes: are bound in the graphs that queries make.
        permissions: say what queries and updates may fetch.
    """

    which: Which = "all"

    def __init__(self, graphs: Graphs, contexts: Contexts, prefixes: PrefixBindings, permissions: Permissions) -> None:
        self.graphs, self.contexts, self.prefixes, self.permissions = graphs, contexts, prefixes, permissions

    def reading(self) -> Hold:
        """The ``with`` block in which nothing changes: what is read is up to date."""
        return self.graphs.transactions.reading(self.which)

    def active(self, graph: Graph) -> PatternSource | None:
        """Where patterns are matched in an active graph; None: not in one place, rdflib goes pattern by pattern."""
        found = self.graphs.locate(self.names(graph))
        return None if found is None else PatternSource(self, *found)

    def names(self, graph: Graph) -> Sequence[Node] | None:
        """The names of the stored graphs that a graph over this dataset is made of; None: of all."""
        name = self.contexts.name(graph, graph.store)
        return None if name is None else [name]

    def named_graphs(self) -> list[Node]:
        """The graphs that ``GRAPH ?g`` looks into."""
        return self.graphs.named_graphs()

    def has_graph(self, name: Node) -> bool:
        """Whether there is a graph of this name."""
        return self.graphs.has_graph(name)

    def place(self, name: Node) -> GraphTerm | None:
        """Where patterns of a named graph are looked for; None: there is no such graph."""
        return self.graphs.place(name)

    def joins(self, name: Node | None) -> bool:
        """Whether patterns of a named graph (None: of all of them, by a variable) can be joined with others."""
        return self.graphs.joins(name)


class PatternSource(NamedTuple):
    """Where basic graph patterns are matched: in `place`, or (None) among all triples of `graphs`."""

    dataset: QueryDataset
    graphs: UnionGraphs
    place: GraphTerm | None

    def prepare(self) -> None:
        """Bring what is read up to date; terms that rules speak of have ids from then on."""
        self.graphs.prepare(self.dataset.which)


class DatasetStore(Store):
    """An rdflib store of ours, which queries know by its dataset."""

    def __init__(self, dataset: QueryDataset, configuration: str | None = None) -> None:
        self.dataset = dataset
        super().__init__(configuration)

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        """Bind a prefix; without `override` an existing binding of either stays."""
        self.dataset.prefixes.bind(prefix, namespace, override)

    def namespace(self, prefix: str) -> URIRef | None:
        """The namespace of a prefix."""
        return self.dataset.prefixes.namespace(prefix)

    def prefix(self, namespace: URIRef) -> str | None:
        """The prefix of a namespace."""
        return self.dataset.prefixes.prefix(namespace)

    def namespaces(self) -> Iterator[tuple[str, URIRef]]:
        """All bound prefixes with their namespaces."""
        return self.dataset.prefixes.namespaces()
