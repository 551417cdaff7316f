"""The explicit and the inferred triples of a store, each as a read-only graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rdflib import Graph

from kg_reasoner.query.matching import Which
from kg_reasoner.rdflib_store.graphs.rdflib_terms import RdflibPattern, RdflibTriple
from kg_reasoner.rdflib_store.queries.query_dataset import QueryDataset
from kg_reasoner.rdflib_store.queries.selected_graphs import ReadOnlyStore, SelectedGraphs
from kg_reasoner.rdflib_store.queries.sparql_dataset import answer

if TYPE_CHECKING:
    from rdflib.query import Result


class View(ReadOnlyStore):
    """The explicit or the inferred triples of a dataset, all graphs together."""

    def __init__(self, whole: QueryDataset, which: Which) -> None:
        super().__init__(SelectedGraphs(whole, None, (), which))
        self._whole = whole

    def __str__(self) -> str:
        return f"{self.dataset.which} triples"

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        given = () if context is None else (context,)
        for triple in self.dataset.graphs.triples_of(None, triple_pattern, self.dataset.which):
            yield triple, iter(given)

    def __len__(self, context: Graph | None = None) -> int:
        return self.dataset.graphs.count(None, self.dataset.which)

    def query(
        self, query: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> Result:
        """Answer a SPARQL query, see `KGReasonerStore.query`."""
        graph = Graph(store=self, bind_namespaces="none")
        return answer(self._whole, graph, query, initNs, initBindings, kwargs.get("base"))
