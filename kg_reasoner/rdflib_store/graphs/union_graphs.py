"""Reasoning over the union of a store's graphs: what follows from all of them together is in none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, TypeVar, cast

import numpy as np
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node, URIRef

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.query.matching import Which
from kg_reasoner.query.quads import GraphTerm
from kg_reasoner.rdflib_store.graphs.copying import copy_explicit
from kg_reasoner.rdflib_store.graphs.rdflib_terms import RdflibPattern, RdflibTerms, RdflibTriple
from kg_reasoner.rdflib_store.graphs.stored_graphs import StoredGraphs, is_stated
from kg_reasoner.rdflib_store.graphs.transactions import StoreTransactions
from kg_reasoner.storage.arrays import Ids

Context = TypeVar("Context")

CHUNK: Final = 4096
"""Triples whose graphs are looked up together, at least."""


class UnionGraphs(StoredGraphs):
    """Graphs with a common materialisation.

    Args:
        reasoner: The reasoner with the triples of all graphs.
        inferred_graph: The name of the graph of inferred triples, if there is one.
    """

    def __init__(self, reasoner: Reasoner, inferred_graph: URIRef | None = None) -> None:
        super().__init__(StoreTransactions(reasoner), inferred_graph)
        self._size = -1, 0
        """The number of all triples, behind the state of the lock in which they were counted, see `ReadWriteLock.state`."""

    def open(self, ruleset: str) -> None:
        """Change to a new reasoner with another rule set. Changes are committed before."""
        fresh = self.reasoner.without_facts(ruleset)
        transactions = self.transactions
        transactions.commit()
        with transactions.writing():
            transactions.commit()  # what another thread has added meanwhile
            copy_explicit(self.reasoner, fresh)
            transactions.reasoner, self.reasoner, self.terms, self._size = fresh, fresh, RdflibTerms(fresh.dictionary), (-1, 0)

    def reasoner_of(self, name: Node | None, triple_pattern: RdflibPattern) -> Reasoner:
        """Return the reasoner of a graph, or of the first with a matching triple."""
        return self.reasoner

    def reasoners(self) -> list[Reasoner]:
        """Return the reasoners of the graphs that have been read."""
        return [self.reasoner]

    def quads(
        self, triple_pattern: RdflibPattern, context: Callable[[Node], Context]
    ) -> Iterator[tuple[RdflibTriple, Iterator[Context]]]:
        """Yield the matching triples of all graphs together, with their graphs, which `context` makes of names."""
        with self.transactions.reading():
            found = np.array(self.match(None, triple_pattern))
            size = max(CHUNK, self.reasoner.core.queries.quads.count())  # looking up the graphs scans all quads
        for start in range(0, len(found), size):
            chunk = found[start : start + size]
            graphs = _Memberships(self, chunk, context)
            for number, row in enumerate(self.terms.rows(chunk)):
                yield cast(RdflibTriple, row), graphs.of(number)

    def names_with(self, triple: RdflibTriple) -> Iterator[Node]:
        """Return the names of the graphs that have a triple."""
        with self.transactions.reading():
            ids = self.match(None, triple)
            return iter(self._names_of(ids)[0] if len(ids) else ())

    def _names_of(self, triples: Ids) -> list[list[Node]]:
        """Return, for each of some triples, the names of its graphs, given ids of shape (n, 3); within a reading."""
        found: list[list[Node]] = [[] for _ in triples]
        quads = self.reasoner.core.queries.quads
        numbers, graphs = quads.memberships(triples)
        for number, name in zip(numbers.tolist(), self.terms.nodes(graphs.tolist()), strict=True):
            found[number].append(name)
        for names, triple in zip(found, triples.tolist(), strict=True):
            if not names:
                is_explicit = self.contains(triple, "explicit")
                names += [DATASET_DEFAULT_GRAPH_ID] if is_explicit else [self.inferred_graph] if self.inferred_graph else []
        return found

    def count(self, name: Node | None = None, which: Which = "all") -> int:
        """Return the number of triples in a graph, or in all together."""
        if name is not None:
            place = self.place(name, which)
            if place is None:
                return 0
            with self.transactions.reading("explicit" if is_stated(place) else which):
                return len(self.match(place, (None, None, None), which))
        (writes, size), lock = self._size, self.reasoner.engine.lock
        if which == "all" and writes == lock.writes and not lock.writer:
            return size  # no thread has begun to write since it was counted, or was waiting to do so
        core = self.reasoner.core
        with self.transactions.reading(which):
            if which != "all":
                return core.queries.count(which)
            state, size = lock.state(), core.queries.count()
            self._size = -1 if state is None else state, size
            return size

    # --- SPARQL -----------------------------------------------------------------------------------------------------

    def locate(self, names: Sequence[Node] | None) -> tuple[UnionGraphs, GraphTerm | None] | None:
        """Return the place of the triples of some graphs together, or (None) of all; None: there are several places."""
        if names is None:
            return self, None
        places = [place for name in names if (place := self.place(name)) is not None]
        if len(places) == 1:
            return self, places[0]
        merge = (place if isinstance(place, frozenset) else {place} for place in places)
        return self, cast("frozenset[int]", frozenset().union(*merge))

    def joins_graphs(self) -> bool:
        """Return whether a variable can stand for any named graph in a join."""
        return self.inferred_graph is None


class _Memberships(Generic[Context]):
    """The graphs of some triples, given as ids of shape (n, 3), looked up together at the first request."""

    def __init__(self, graphs: UnionGraphs, triples: Ids, context: Callable[[Node], Context]) -> None:
        self._stored = graphs
        self._triples = triples
        self._context = context
        self._graphs: list[list[Context]] | None = None

    def of(self, number: int) -> Iterator[Context]:
        """Yield the graphs of a triple, by its number."""
        if self._graphs is None:
            with self._stored.transactions.reading("explicit"):
                names = self._stored._names_of(self._triples)
            known = {name: self._context(name) for name in set().union(*names)}
            self._graphs = [[known[name] for name in some] for some in names]
        yield from self._graphs[number]
