"""Read-only views of a store: a dataset of some of its graphs. Those of its explicit and inferred triples are in `store_views`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rdflib import Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node

from kg_reasoner.errors import ReasonerError
from kg_reasoner.query.matching import Which
from kg_reasoner.rdflib_store.graphs.rdflib_terms import RdflibPattern, RdflibTriple
from kg_reasoner.rdflib_store.queries.query_dataset import DatasetStore, QueryDataset


class ReadOnlyStore(DatasetStore):
    """A store that reads the present triples of another one, and writes nothing but prefixes."""

    def add(self, triple: RdflibTriple, context: Graph | None, quoted: bool = False) -> None:
        raise ReasonerError(f"the graph of {self} is a view: add to the graph that it belongs to")

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        raise ReasonerError(f"the graph of {self} is a view: remove from the graph that it belongs to")

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            f"the graph of {self} is a view: copy or pickle the graph that it belongs to, and take the view of the copy"
        )


class SelectedGraphs(QueryDataset):
    """A dataset of some of a store's graphs.

    Args:
        whole: The dataset of all graphs.
        default: The graphs whose merge is its default graph; None: all.
        named: Its named graphs.
        which: All triples, or the explicit or inferred ones.
    """

    def __init__(self, whole: QueryDataset, default: Iterable[Node] | None, named: Iterable[Node], which: Which = "all") -> None:
        super().__init__(whole.graphs, whole.contexts, whole.prefixes, whole.permissions)
        self.which = which
        self._default = None if default is None else list(dict.fromkeys(default))
        self._named = list(dict.fromkeys(named))

    def names(self, graph: Graph | None) -> Sequence[Node] | None:
        if graph is None or self._default is None or isinstance(graph, Dataset) or graph.identifier == DATASET_DEFAULT_GRAPH_ID:
            return self._default
        return [graph.identifier] if graph.identifier in self._named else []

    def named_graphs(self) -> list[Node]:
        return [name for name in self._named if self.graphs.has_graph(name)]

    def has_graph(self, name: Node) -> bool:
        return name in self._named and self.graphs.has_graph(name)

    def joins_graphs(self) -> bool:
        return False


class GraphSelection(ReadOnlyStore):
    """The graphs that FROM and FROM NAMED, or USING and USING NAMED, name."""

    context_aware = True
    graph_aware = True
    dataset: SelectedGraphs

    def __str__(self) -> str:
        return "selected triples"

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        names, triples_of = self.dataset.names(context) or (), self.dataset.graphs.triples_of
        for triple in dict.fromkeys(triple for name in names for triple in triples_of(name, triple_pattern)):
            yield triple, iter(())

    def __len__(self, context: Graph | None = None) -> int:
        return sum(1 for _ in self.triples((None, None, None), context))

    def contexts(self, triple: RdflibTriple | None = None) -> Iterator[Any]:  # type: ignore[override]  # rdflib takes names, too
        return iter(self.dataset.named_graphs())
