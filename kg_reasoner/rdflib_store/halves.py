"""The two halves of a store's triples as graphs of their own, to be read only: the explicit and the inferred."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rdflib import Graph

from kg_reasoner.query.matching import Which
from kg_reasoner.rdflib_store.rdflib_terms import RdflibPattern, RdflibTriple
from kg_reasoner.rdflib_store.sparql import PatternSource
from kg_reasoner.rdflib_store.sparql_dataset import answer
from kg_reasoner.rdflib_store.views import BaseView

if TYPE_CHECKING:
    from rdflib.query import Result

    from kg_reasoner.rdflib_store.surface import ReadStore


class View(BaseView):
    """The explicit or the inferred triples of a store."""

    def __init__(self, store: ReadStore, which: Which) -> None:
        super().__init__(store)
        self.which = which

    def __str__(self) -> str:
        return f"{self.which} triples"

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        for triple in self.store.triples_of(None, triple_pattern, self.which):
            yield triple, iter(())

    def __len__(self, context: Graph | None = None) -> int:
        return self.store.count(self.which)

    def query(
        self, query: Any, initNs: Mapping[str, Any], initBindings: Mapping[str, Any], queryGraph: str, **kwargs: Any
    ) -> Result:
        """Answer a SPARQL query, see `KGReasonerStore.query`."""
        graph = Graph(store=self, bind_namespaces="none")
        return answer(self.store, graph, query, initNs, initBindings, kwargs.get("base"))

    def prepare(self) -> None:
        self.store.prepare(self.which)

    def active(self, graph: Graph) -> PatternSource | None:
        return self if self.store.reasons_over_union else None
