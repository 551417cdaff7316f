"""Reading an rdflib store: triples of all graphs together or of one, and where SPARQL's patterns are looked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

import numpy as np
from rdflib import Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node, URIRef

from kg_reasoner.concurrency.locking import Hold
from kg_reasoner.query.matching import Which
from kg_reasoner.query.quads import INFERRED, GraphTerm
from kg_reasoner.rdflib_store import sparql
from kg_reasoner.rdflib_store.contexts import Contexts
from kg_reasoner.rdflib_store.graph_reasoners import GraphReasoners
from kg_reasoner.rdflib_store.prefix_bindings import PrefixBindings
from kg_reasoner.rdflib_store.rdflib_terms import RdflibPattern, RdflibQuad, RdflibTriple
from kg_reasoner.rdflib_store.views import Memberships
from kg_reasoner.storage.arrays import NO_TRIPLES, Ids

CHUNK: Final = 4096
"""Triples whose graphs are looked up together, at least."""

NO_CONTEXTS: Iterator[Graph | None] = iter(())


def _is_stated(place: GraphTerm | None) -> bool:
    """Whether all triples of a graph are explicit, so that reading it needs nothing derived."""
    return isinstance(place, int) and place != INFERRED


class StoreReading(sparql.PatternSource, PrefixBindings):
    """What a store shows."""

    is_single = False
    """Whether it is the store of a single graph among others (see `kg_reasoner.rdflib_store.graph_reasoners`)."""

    reasons_over_union: bool
    inferred_graph: URIRef | None
    _contexts: Contexts
    _by_graph: GraphReasoners | None
    _size: tuple[int, int] | None

    @property
    def is_waiting(self) -> bool:
        """Whether there is something to flush."""
        raise NotImplementedError

    def flush(self) -> None:
        """Hand the triples that were added to the reasoner, which need not do anything about them yet."""
        raise NotImplementedError

    def writing(self) -> Hold:
        """The ``with`` block of a method that changes the store: other threads wait."""
        raise NotImplementedError

    def reading(self, which: Which = "all") -> Hold:
        """The ``with`` block of a method that reads: what it reads is up to date, and nothing changes inside."""
        if self._by_graph is not None:  # reasoners are made as graphs are read
            hold = self.writing()
            self.flush()
            return hold
        if self.reasoner.engine.transaction is None:
            return self.reasoner.reading(which)
        while True:
            self.flush()
            hold = self.reasoner.reading(which)
            if not self.is_waiting or self.reasoner.engine.lock.is_writing:
                return hold
            hold.release()

    def triples(
        self, triple_pattern: RdflibPattern, context: Graph | None = None
    ) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        """The triples of the materialisation, or of a graph, that match; with their graphs, if no graph is given."""
        name = self._contexts.name(context, self)
        if context is None:
            yield from self._with_contexts(triple_pattern)
            return
        for triple in self.triples_of(name, triple_pattern):
            yield triple, NO_CONTEXTS if name is None else iter((context,))

    def triples_of(self, name: Node | None, triple_pattern: RdflibPattern, which: Which = "all") -> Iterator[RdflibTriple]:
        """The triples of a graph, or of all together, that match."""
        if self._by_graph is not None and which != "explicit":
            yield from self._triples_by_graph(self._by_graph, name, triple_pattern, which)
            return
        place = None if name is None else self._place_to_read(name, which)
        if place is None and name is not None:
            return
        with self.reading("explicit" if _is_stated(place) else which):
            if place is None and None not in triple_pattern:
                pattern = self._pattern(triple_pattern)
                found = None
                is_there = pattern is not None and self._contains(pattern, which)
            else:
                found = np.array(self._match(place, triple_pattern, which))
        if found is None:
            if is_there:
                yield cast(RdflibTriple, triple_pattern)
            return
        for triple in self.terms.rows(found):
            yield cast(RdflibTriple, triple)

    def _contains(self, triple: Sequence[int | None], which: Which) -> bool:
        """Whether there is a triple of ids, in whatever graph."""
        subject, property, value = cast(Sequence[int], triple)
        return self.reasoner.queries.contains(subject, property, value, which)

    def _place_to_read(self, name: Node, which: Which) -> GraphTerm | None:
        """Where a graph's triples are; None: nowhere."""
        place = self.place(name)
        if which == "explicit" and isinstance(place, frozenset):  # the default graph, which has the inferred triples besides
            (place,) = place - {INFERRED}
        return place

    def _match(self, place: GraphTerm | None, triple_pattern: RdflibPattern, which: Which = "all") -> Ids:
        """The triples of a graph, or of all together, that match, as ids of shape (n, 3); within `reading`."""
        pattern = self._pattern(triple_pattern)
        if pattern is None:
            return NO_TRIPLES
        subject, property, value = pattern
        if place is None:
            return self.reasoner.queries.match(subject, property, value, which)
        found = self.reasoner.queries.quads.match(subject, property, value, cast("int | frozenset[int]", place))
        return found if _is_stated(place) else self.reasoner.queries.seen(found, property, value)

    def _with_contexts(self, pattern: RdflibPattern) -> Iterator[tuple[RdflibTriple, Iterator[Graph | None]]]:
        if self._by_graph is not None:
            for triple in self.triples_of(None, pattern):
                yield triple, (Graph(store=self, identifier=cast(Any, name)) for name in self.contexts(triple))
            return
        with self.reading():
            found = np.array(self._match(None, pattern))
            size = max(CHUNK, self.reasoner.queries.quads.count())  # to look graphs up takes a look at all quads
        for start in range(0, len(found), size):
            chunk = found[start : start + size]
            graphs = Memberships(self, chunk)
            for number, row in enumerate(self.terms.rows(chunk)):
                yield cast(RdflibTriple, row), graphs.of(number)

    def _triples_by_graph(
        self, by_graph: GraphReasoners, name: Node | None, pattern: RdflibPattern, which: Which
    ) -> Iterator[RdflibTriple]:
        """The triples of a graph's own materialisation, or of all of these."""
        names = [name] if name is not None else self.all_graphs()
        stores = (by_graph.store_of(cast(int, place)) for name in names if (place := self.place(name)) is not None)
        found = dict.fromkeys(triple for store in stores for triple in store.triples_of(None, pattern, which))
        stated = set(self.triples_of(None, pattern, "explicit")) if which == "inferred" and name is None else ()
        yield from (triple for triple in found if triple not in stated)

    def __len__(self, context: Graph | None = None) -> int:
        name = self._contexts.name(context, self)
        if name is None:
            return self.count()
        if self._by_graph is not None:
            with self.reading():
                return self._count_by_graph(name)
        place = self._place_to_read(name, "all")
        if place is None:
            return 0
        with self.reading("explicit" if _is_stated(place) else "all"):
            return len(self._match(place, (None, None, None)))

    def count(self, which: Which = "all") -> int:
        """How many triples there are in all graphs together."""
        with self.reading(which):
            if self._by_graph is not None:
                return self._count_by_graph(None, which)
            if which != "all":
                return self.reasoner.queries.count(which)
            size = self._size
            if size is None or size[0] != self.reasoner.version:
                self._size = size = self.reasoner.version, self.reasoner.queries.count()
            return size[1]

    def _count_by_graph(self, name: Node | None, which: Which = "all") -> int:
        return sum(1 for _ in self.triples_of(name, (None, None, None), which))

    def prepare(self, which: Which = "all") -> None:
        self.flush()
        if which != "explicit":
            self.reasoner.materialise()

    def _pattern(self, triple: Sequence[Node | None]) -> list[int | None] | None:
        """A pattern as ids; None if one of its terms occurs nowhere."""
        pattern = [None if term is None else self.terms.find(term) for term in triple]
        return None if -1 in pattern else pattern

    # --- graphs -----------------------------------------------------------------------------------------------------

    def contexts(self, triple: RdflibTriple | None = None) -> Iterator[Any]:  # type: ignore[override]  # rdflib takes names, too
        """The names of the graphs, empty ones, too; or of those that have a triple. rdflib makes graphs of them."""
        if triple is None:
            return iter(self.named_graphs())
        if self._by_graph is not None:
            return (name for name in self.all_graphs() if next(self.triples_of(name, triple), None) is not None)
        with self.reading():
            ids = self._match(None, triple)
            return iter(self.names_of(ids)[0] if len(ids) else ())

    def stored_graphs(self) -> list[Node]:
        with self.reading("explicit"):
            return self.terms.nodes(self.reasoner.queries.quads.names().tolist())

    def all_graphs(self) -> list[Node]:
        """The default graph and the named ones, without that of the inferred triples."""
        return [DATASET_DEFAULT_GRAPH_ID, *self.stored_graphs()]

    def named_graphs(self) -> list[Node]:
        """The graphs that ``GRAPH ?g`` looks into: the named ones, and that of the inferred triples."""
        names = self.stored_graphs()
        if self.inferred_graph not in (None, DATASET_DEFAULT_GRAPH_ID):
            names.append(cast(Node, self.inferred_graph))
        return names

    def has_graph(self, name: Node) -> bool:
        with self.reading("explicit"):
            number = self.terms.find(name)
            is_special = name in (self.inferred_graph, DATASET_DEFAULT_GRAPH_ID)
            return is_special or (number >= 0 and self.reasoner.queries.quads.has(number))

    def place(self, name: Node) -> GraphTerm | None:
        self.flush()
        default = self.reasoner.queries.quads.default
        if name == DATASET_DEFAULT_GRAPH_ID:
            return default if name != self.inferred_graph else frozenset({default, INFERRED})
        if name == self.inferred_graph:
            return INFERRED
        return self.terms.find(name) if self.has_graph(name) else None

    def stated(self, name: Node) -> Iterator[RdflibQuad]:
        for subject, property, value in self.triples_of(name, (None, None, None), "explicit"):
            yield subject, property, value, name

    def names_of(self, triples: Ids) -> list[list[Node]]:
        """The names of the graphs that have each of some triples, given as ids of shape (n, 3)."""
        found: list[list[Node]] = [[] for _ in triples]
        quads = self.reasoner.queries.quads
        numbers, graphs = quads.memberships(triples)
        for number, name in zip(numbers.tolist(), self.terms.nodes(graphs.tolist()), strict=True):
            found[number].append(name)
        for names, triple in zip(found, triples.tolist(), strict=True):
            if not names:
                is_explicit = self._contains(triple, "explicit")
                names += [DATASET_DEFAULT_GRAPH_ID] if is_explicit else [self.inferred_graph] if self.inferred_graph else []
        return found

    # --- SPARQL -----------------------------------------------------------------------------------------------------

    def active(self, graph: Graph) -> sparql.PatternSource | None:
        return self.source_of(self._contexts.name(graph, self))

    def source_of(self, name: Node | None) -> sparql.PatternSource | None:
        """The source for a graph, or for all together; None: their triples are not in one place, or there is no such graph."""
        place = None if name is None else self.place(name)
        if self._by_graph is not None:
            return None if place is None else cast(sparql.PatternSource, self._by_graph.store_of(cast(int, place)))
        if name is None:
            return self
        return None if place is None else sparql.GraphSource(self, place)

    def joins(self, name: Node | None) -> bool:
        return self.reasons_over_union and not self.is_single and (name is not None or self.inferred_graph is None)
