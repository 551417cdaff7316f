"""Views of a store, to be read only: a dataset of some of its graphs. Those of its explicit and inferred triples are `halves`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from rdflib import Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.store import Store
from rdflib.term import Node, URIRef

from kg_reasoner.concurrency.locking import Hold
from kg_reasoner.errors import ReasonerError
from kg_reasoner.query.quads import GraphTerm
from kg_reasoner.rdflib_store.permissions import Permissions
from kg_reasoner.rdflib_store.rdflib_terms import RdflibPattern, RdflibTerms, RdflibTriple
from kg_reasoner.rdflib_store.sparql import GraphSource, PatternSource
from kg_reasoner.storage.arrays import Ids

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.rdflib_store.surface import ReadStore


class BaseView(PatternSource, Store):
    """Reads what a store has, as it is at the moment, and writes nothing but prefixes."""

    def __init__(self, store: ReadStore) -> None:
        super().__init__()
        self.store = store

    @property
    def reasoner(self) -> Reasoner:  # type: ignore[override]  # it is the store's, which may get another one
        return self.store.reasoner

    @property
    def terms(self) -> RdflibTerms:  # type: ignore[override]
        return self.store.terms

    def reading(self) -> Hold:
        return self.store.reading(self.which)

    @property
    def permissions(self) -> Permissions:  # type: ignore[override]
        return self.store.permissions

    def add(self, triple: RdflibTriple, context: Graph | None, quoted: bool = False) -> None:
        raise ReasonerError(f"the graph of {self} is a view: add to the graph that it belongs to")

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        raise ReasonerError(f"the graph of {self} is a view: remove from the graph that it belongs to")

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        self.store.bind(prefix, namespace, override)

    def namespace(self, prefix: str) -> URIRef | None:
        return self.store.namespace(prefix)

    def prefix(self, namespace: URIRef) -> str | None:
        return self.store.prefix(namespace)

    def namespaces(self) -> Iterator[tuple[str, URIRef]]:
        return self.store.namespaces()


class Memberships:
    """The graphs of some triples, looked up together when the first of them is asked for.

    Args:
        store: has the triples.
        triples: as ids, shape (n, 3).
    """

    def __init__(self, store: ReadStore, triples: Ids) -> None:
        self._store = store
        self._triples = triples
        self._graphs: list[list[Graph]] | None = None

    def of(self, number: int) -> Iterator[Graph]:
        """The graphs of a triple, by its number."""
        if self._graphs is None:
            with self._store.reading("explicit"):
                names = self._store.names_of(self._triples)
            known = {name: Graph(store=cast(Any, self._store), identifier=cast(Any, name)) for name in set().union(*names)}
            self._graphs = [[known[name] for name in some] for some in names]
        yield from self._graphs[number]


class Selection(BaseView):
    """A dataset of some of a store's graphs: the merge of some is its default graph, others are its named graphs.

    This is what FROM and FROM NAMED ask for, and USING and USING NAMED.
    """

    context_aware = True
    graph_aware = True

    def __init__(self, store: ReadStore, default: Sequence[Node], named: Sequence[Node]) -> None:
        super().__init__(store)
        self._default = list(dict.fromkeys(default))
        self._named = list(dict.fromkeys(named))

    def __str__(self) -> str:
        return "selected triples"

    def prepare(self) -> None:
        self.store.prepare()

    def named_graphs(self) -> list[Node]:
        return [name for name in self._named if self.store.has_graph(name)]

    def has_graph(self, name: Node) -> bool:
        return name in self._named and self.store.has_graph(name)

    def place(self, name: Node) -> GraphTerm | None:
        return self.store.place(name) if name in self._named else None

    def joins(self, name: Node | None) -> bool:
        return name is not None and self.store.joins(name)

    def active(self, graph: Graph) -> PatternSource | None:
        names = self._names(graph)
        if not self.store.reasons_over_union:
            return self.store.source_of(names[0]) if len(names) == 1 else None
        places = [place for name in names if (place := self.store.place(name)) is not None]
        if len(places) == 1:
            return GraphSource(self, places[0])
        merge = (place if isinstance(place, frozenset) else {place} for place in places)
        return GraphSource(self, cast("frozenset[int]", frozenset().union(*merge)))

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        found = (triple for name in self._names(context) for triple in self.store.triples_of(name, triple_pattern))
        for triple in dict.fromkeys(found):
            yield triple, iter(())

    def __len__(self, context: Graph | None = None) -> int:
        return sum(1 for _ in self.triples((None, None, None), context))

    def contexts(self, triple: RdflibTriple | None = None) -> Iterator[Any]:  # type: ignore[override]  # rdflib takes names, too
        return iter(self.named_graphs())

    def _names(self, graph: Graph | None) -> list[Node]:
        """The graphs of the store that a graph of this dataset is made of."""
        if graph is None or isinstance(graph, Dataset) or graph.identifier == DATASET_DEFAULT_GRAPH_ID:
            return self._default
        return [graph.identifier] if graph.identifier in self._named else []
