"""What the parts of a store need of the whole: `kg_reasoner.rdflib_store.store` imports them, so they cannot import it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from rdflib.term import Node, URIRef

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.concurrency.locking import Hold
from kg_reasoner.query.matching import Which
from kg_reasoner.query.quads import GraphTerm
from kg_reasoner.rdflib_store.permissions import Permissions
from kg_reasoner.rdflib_store.rdflib_terms import RdflibPattern, RdflibTerms, RdflibTriple
from kg_reasoner.rdflib_store.sparql import PatternSource
from kg_reasoner.storage.arrays import Ids

__all__ = ["ReadStore", "WrittenStore"]


class ReadStore(Protocol):
    """A `kg_reasoner.rdflib_store.reading.StoreReading`, which documents these members."""

    reasoner: Reasoner
    terms: RdflibTerms
    permissions: Permissions
    reasons_over_union: bool

    def reading(self, which: Which = ...) -> Hold: ...

    def prepare(self, which: Which = ...) -> None: ...

    def triples_of(self, name: Node | None, triple_pattern: RdflibPattern, which: Which = ...) -> Iterator[RdflibTriple]: ...

    def count(self, which: Which = ...) -> int: ...

    def names_of(self, triples: Ids) -> list[list[Node]]: ...

    def stored_graphs(self) -> list[Node]: ...

    def has_graph(self, name: Node) -> bool: ...

    def place(self, name: Node) -> GraphTerm | None: ...

    def joins(self, name: Node | None) -> bool: ...

    def source_of(self, name: Node | None) -> PatternSource | None: ...

    def bind(self, prefix: str, namespace: URIRef, override: bool = ...) -> None: ...

    def namespace(self, prefix: str) -> URIRef | None: ...

    def prefix(self, namespace: URIRef) -> str | None: ...

    def namespaces(self) -> Iterator[tuple[str, URIRef]]: ...


class WrittenStore(ReadStore, Protocol):
    """A `kg_reasoner.rdflib_store.store.KGReasonerStore`, as far as it holds a single graph among others."""

    is_single: bool

    def add_ids(self, triples: Ids, graphs: Ids | None = ...) -> None: ...

    def remove_ids(self, triples: Ids, graph: int | None = ...) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...
