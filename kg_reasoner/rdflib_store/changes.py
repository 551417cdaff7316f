"""Changing an rdflib store: triples come and go, in the graphs that they belong to, and transactions are kept or undone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import numpy as np
from rdflib import Graph, Literal
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node

from kg_reasoner.errors import ReasonerError
from kg_reasoner.loaders.convert import formula_error
from kg_reasoner.rdflib_store.rdflib_terms import (
    RdflibPattern,
    RdflibQuad,
    RdflibQuadPattern,
    RdflibTriple,
    graph_text,
    triple_texts,
)
from kg_reasoner.rdflib_store.reading import StoreReading
from kg_reasoner.rdflib_store.sparql_update import Updatable
from kg_reasoner.rdflib_store.transactions import IN_DEFAULT, StoreTransactions, encoded, state
from kg_reasoner.storage.arrays import NO_QUADS, NO_TRIPLES, Ids

BATCH: Final = 50_000
"""Added triples that wait at most before they become ids."""


class StoreChanges(StoreTransactions, StoreReading, Updatable):
    """What can be done to a store."""

    _removes_default = False

    def add(self, triple: RdflibTriple, context: Graph | None, quoted: bool = False) -> None:
        """Add an explicit triple. It is checked now, and taken in before the next read.

        Raises:
            LoadError: a term is none of RDF, or stands where RDF does not allow it, or inside a formula. Nothing has changed.
            ReasonerError: that graph has the inferred triples, and is to be read only.
        """
        if quoted:
            raise formula_error()
        texts = triple_texts(triple)
        with self.writing():
            graph = self._to_change(self._contexts.name(context, self))
            self.begin()
            self._wait([(texts, graph)])
        if self.dispatcher.get_map() is not None:  # type: ignore[no-untyped-call]
            super().add(triple, cast(Graph, context))  # tells those who listen

    def addN(self, quads: Iterable[tuple[Node, Node, Node, Graph]]) -> None:
        """Add the triples of quads to their graphs; all of them, or none if one is not a triple of RDF."""
        self.change((), [(subject, property, value, self._contexts.name(graph, self)) for subject, property, value, graph in quads])

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        """Remove the explicit triples that match, from one graph or from all. What still follows from the rest stays visible."""
        with self.writing():
            name = self._contexts.name(context, self)
            if name is not None:
                self._to_change(name)
            self._removes_default = False
            self._replace([(*triple, name)], [])

    def change(self, removed: Iterable[RdflibQuad], added: Iterable[RdflibQuad]) -> None:
        """Remove quads, then add quads, each with the name of its graph: without one, from all graphs, and to the default graph.

        What only follows is not removed: it is there as long as it follows.

        Raises:
            LoadError: something to be added is not a quad of RDF. Nothing has changed.
            ReasonerError: nothing can be added to the graph of inferred triples. Nothing has changed.
        """
        added, removed = list(added), list(removed)
        with self.writing():
            waiting = [(triple_texts(quad[:3]), self._to_change(quad[3])) for quad in added]
            self._removes_default = False
            if removed:
                self._replace(removed, waiting)
            elif waiting:
                self.begin()
                self._wait(waiting)
        if self.dispatcher.get_map() is not None:  # type: ignore[no-untyped-call]
            for *triple, name in added:
                super().add(cast(RdflibTriple, tuple(triple)), Graph(store=self, identifier=cast(Any, name)))

    def _wait(self, added: list[tuple[list[str], int]]) -> None:
        """Let triples wait for `flush`, unless the transaction is not the store's."""
        self._removes_default = False
        own = self.own
        if own is None:
            self._add_ids(*encoded(self.reasoner, added))
            return
        own.waiting += added
        if len(own.waiting) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Hand the triples that were added to the reasoner, which need not do anything about them yet."""
        own = self.own
        if own is not None and own.is_waiting:
            with self.writing():
                triples, graphs = own.take_in()
                self._tell_by_graph(triples, graphs)

    @property
    def is_waiting(self) -> bool:
        """Whether there is something to flush."""
        own = self.own
        return own is not None and own.is_waiting

    def add_ids(self, triples: Ids, graphs: Ids | None = None) -> None:
        """Add triples, given as ids of shape (n, 3), to the default graph, or each to the graph of its id (`IN_DEFAULT`)."""
        with self.writing():
            self.begin()
            self._add_ids(triples, graphs)

    def _add_ids(self, triples: Ids, graphs: Ids | None) -> None:
        with self.reasoner.at_once():
            state(self.reasoner, triples, graphs)
        self._tell_by_graph(triples, graphs)

    def _tell_by_graph(self, triples: Ids, graphs: Ids | None) -> None:
        """Pass on what was added, where graphs are reasoned over by themselves."""
        if self._by_graph is not None:
            self._by_graph.changed(NO_QUADS, self._quads(triples, IN_DEFAULT if graphs is None else graphs))

    def remove_ids(self, triples: Ids, graph: int | None = None) -> None:
        """Remove explicit triples, given as ids of shape (n, 3), from a graph (`IN_DEFAULT`), or from all."""
        if len(triples) == 0:
            return
        with self.writing():
            self.begin()
            with self.reasoner.at_once():
                quads = self._withdraw(triples, graph)
            if self._by_graph is not None:
                self._by_graph.changed(quads, NO_QUADS)

    def _withdraw(self, triples: Ids, graph: int | None) -> Ids:
        """Remove triples within an operation. Returns their quads, if anybody needs to know."""
        if graph is None and self._by_graph is None:
            self.reasoner.withdraw_triples(triples)
            return NO_QUADS
        named_graphs = self.reasoner.named_graphs
        quads = named_graphs.stating(triples) if graph is None else self._quads(triples, graph)
        if graph is None:
            self.reasoner.withdraw_triples(triples)
        else:
            named_graphs.withdraw(quads)
        return quads

    def _replace(self, removed: Iterable[RdflibQuadPattern], added: list[tuple[list[str], int]], dropped: int = IN_DEFAULT) -> None:
        """Remove the explicit triples that match patterns, and a named graph, and add triples, in one operation."""
        self.flush()
        found = self._found(removed)
        if not found and not added and dropped == IN_DEFAULT:
            return
        self.begin()
        ids, graphs = encoded(self.reasoner, added) if added else (NO_TRIPLES, None)
        gone = [NO_QUADS]
        with self.reasoner.at_once():
            for graph, triples in found.items():
                gone.append(self._withdraw(triples, graph))
            if dropped != IN_DEFAULT:
                self.reasoner.named_graphs.undeclare(dropped)
            if len(ids):
                state(self.reasoner, ids, graphs)
        if self._by_graph is not None:
            there = self._quads(ids, IN_DEFAULT if graphs is None else graphs) if len(ids) else NO_QUADS
            self._by_graph.changed(np.concatenate(gone), there)

    def _quads(self, triples: Ids, graphs: Ids | int) -> Ids:
        return self.reasoner.named_graphs.placed(triples, np.broadcast_to(np.int32(graphs), len(triples)))

    def _found(self, patterns: Iterable[RdflibQuadPattern]) -> dict[int | None, Ids]:
        """The explicit triples that match patterns, by the graph to remove them from; None: from all graphs."""
        found: dict[int | None, list[Ids]] = {}
        for *terms, name in patterns:
            if name is not None and name == self.inferred_graph != DATASET_DEFAULT_GRAPH_ID:
                continue
            graph = None if name is None else self._to_change(name)
            pattern = self._pattern(terms)
            if pattern is not None:
                found.setdefault(graph, []).append(self._explicit(pattern, graph))
        tables = {graph: tables[0].copy() if len(tables) == 1 else np.concatenate(tables) for graph, tables in found.items()}
        return {graph: table for graph, table in tables.items() if len(table)}

    def _explicit(self, pattern: Sequence[int | None], graph: int | None) -> Ids:
        """The explicit triples of a graph, or of all, that match; of all, one that is given in full is not looked up."""
        queries = self.reasoner.queries
        subject, property, value = pattern
        if graph is None and None not in pattern:
            return np.array([pattern], np.int32)  # removing what is not there does nothing
        if graph is None:
            return queries.matcher.match(subject, property, value, "explicit")
        return queries.quads.match(subject, property, value, queries.quads.default if graph == IN_DEFAULT else graph)

    def _to_change(self, name: Node | None) -> int:
        """The id of a graph that is to be changed; `IN_DEFAULT` for the default graph, and where there is no name.

        Raises:
            LoadError: that cannot name a graph.
            ReasonerError: the graph has the inferred triples, and is to be read only.
        """
        if name is None or name == DATASET_DEFAULT_GRAPH_ID:
            return IN_DEFAULT
        if name == self.inferred_graph:
            raise ReasonerError(f"the graph {name} holds the inferred triples and is read-only")
        number = -1 if isinstance(name, Literal) else self.terms.find(name)
        return number if number >= 0 else int(self.reasoner.dictionary.encode_texts([graph_text(name)])[0])

    # --- transactions -----------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Keep the changes since the last commit, and bring the materialisation up to date.

        A transaction of the reasoner's own stays open.

        Raises:
            InconsistencyError: the changes contradict the rules, and the reasoner was asked to refuse that. They are undone.
        """
        if self._by_graph is None:
            self.end(keep=True)
            return
        self.flush()
        try:
            self._by_graph.prepare_commit()
        except ReasonerError:
            self.rollback()
            raise
        self.end(keep=True)
        self._by_graph.commit()

    def rollback(self) -> None:
        """Undo the changes since the last commit.

        Raises:
            TransactionError: they belong to a transaction of the reasoner's own.
        """
        self.end(keep=False)
        if self._by_graph is not None:
            self._by_graph.rollback()

    # --- graphs -----------------------------------------------------------------------------------------------------

    def add_graph(self, graph: Graph) -> None:
        """Let there be a graph, an empty one if nothing is added to it."""
        name = graph.identifier
        if name == DATASET_DEFAULT_GRAPH_ID and self._removes_default:
            self.drop_graph(name)
        elif name != self.inferred_graph:
            self.create_graph(name)

    def remove_graph(self, graph: Graph) -> None:
        """Remove a graph with its triples.

        Of the default graph, the triples are removed when it is added again, which `Dataset.remove_graph` does at once. rdflib's
        N-Quads parser does not: it removes a default graph that it takes for a new one, where it parses into a plain graph.
        """
        if graph.identifier == DATASET_DEFAULT_GRAPH_ID:
            self._removes_default = True
        else:
            self.drop_graph(graph.identifier)

    def create_graph(self, name: Node) -> None:
        with self.writing():
            graph = self._to_change(name)
            self.flush()
            if graph != IN_DEFAULT and not self.has_graph(name):
                self.begin()
                self.reasoner.named_graphs.create(np.array([graph], np.int32))

    def drop_graph(self, name: Node) -> None:
        with self.writing():
            self._replace([(None, None, None, name)], [], self._to_change(name) if self.has_graph(name) else IN_DEFAULT)

    @contextmanager
    def request(self) -> Iterator[None]:
        """The ``with`` block of several changes that are made whole, or not at all; other threads see nothing of them before."""
        with self.writing():
            self.flush()
            self.begin()
            place = self.reasoner.engine.place
            try:
                yield
            except BaseException:
                own = self.own
                if own is not None:
                    own.waiting = []
                self.reasoner.engine.return_to(place)
                raise
