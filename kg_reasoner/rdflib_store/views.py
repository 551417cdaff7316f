"""Views of a store, to be read only: a dataset of some of its graphs. Those of its explicit and inferred triples are `halves`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rdflib import Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.store import Store
from rdflib.term import Node, URIRef

from kg_reasoner.errors import ReasonerError
from kg_reasoner.query.quads import GraphTerm
from kg_reasoner.rdflib_store.query_dataset import QueryDataset
from kg_reasoner.rdflib_store.rdflib_terms import RdflibPattern, RdflibTriple


class ReadOnlyStore(Store):
    """Reads what a store has, as it is at the moment, and writes nothing but prefixes."""

    def __init__(self, dataset: QueryDataset) -> None:
        super().__init__()
        self.dataset = dataset

    def add(self, triple: RdflibTriple, context: Graph | None, quoted: bool = False) -> None:
        raise ReasonerError(f"the graph of {self} is a view: add to the graph that it belongs to")

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        raise ReasonerError(f"the graph of {self} is a view: remove from the graph that it belongs to")

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        self.dataset.prefixes.bind(prefix, namespace, override)

    def namespace(self, prefix: str) -> URIRef | None:
        return self.dataset.prefixes.namespace(prefix)

    def prefix(self, namespace: URIRef) -> str | None:
        return self.dataset.prefixes.prefix(namespace)

    def namespaces(self) -> Iterator[tuple[str, URIRef]]:
        return self.dataset.prefixes.namespaces()


class SelectedGraphs(QueryDataset):
    """A dataset of some of a store's graphs: the merge of some is its default graph, others are its named graphs.

    This is what FROM and FROM NAMED ask for, and USING and USING NAMED.
    """

    def __init__(self, dataset: QueryDataset, default: Sequence[Node], named: Sequence[Node]) -> None:
        super().__init__(dataset.graphs, dataset.prefixes, dataset.permissions)
        self._default = list(dict.fromkeys(default))
        self._named = list(dict.fromkeys(named))

    def names(self, graph: Graph | None) -> Sequence[Node]:
        if graph is None or isinstance(graph, Dataset) or graph.identifier == DATASET_DEFAULT_GRAPH_ID:
            return self._default
        return [graph.identifier] if graph.identifier in self._named else []

    def named_graphs(self) -> list[Node]:
        return [name for name in self._named if self.graphs.has_graph(name)]

    def has_graph(self, name: Node) -> bool:
        return name in self._named and self.graphs.has_graph(name)

    def place(self, name: Node) -> GraphTerm | None:
        return self.graphs.place(name) if name in self._named else None

    def joins(self, name: Node | None) -> bool:
        return name is not None and self.graphs.joins(name)


class Selection(ReadOnlyStore):
    """The rdflib store of `SelectedGraphs`."""

    context_aware = True
    graph_aware = True
    dataset: SelectedGraphs

    def __str__(self) -> str:
        return "selected triples"

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        names, triples_of = self.dataset.names(context), self.dataset.graphs.triples_of
        for triple in dict.fromkeys(triple for name in names for triple in triples_of(name, triple_pattern)):
            yield triple, iter(())

    def __len__(self, context: Graph | None = None) -> int:
        return sum(1 for _ in self.triples((None, None, None), context))

    def contexts(self, triple: RdflibTriple | None = None) -> Iterator[Any]:  # type: ignore[override]  # rdflib takes names, too
        return iter(self.dataset.named_graphs())
