"""Changing an rdflib store: triples come and go, in the graphs that they belong to, and transactions are kept or undone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import numpy as np
from rdflib import Graph, Literal
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.term import Node

from kg_reasoner.errors import ReasonerError
from kg_reasoner.loaders.convert import formula_error
from kg_reasoner.matching import Ids
from kg_reasoner.quads import NO_QUADS
from kg_reasoner.store.rdflib_terms import RdflibPattern, RdflibQuad, RdflibQuadPattern, RdflibTriple, graph_text, triple_texts
from kg_reasoner.store.reading import StoreReading
from kg_reasoner.store.sparql_update import Updatable
from kg_reasoner.store.transactions import StoreTransactions

BATCH: Final = 50_000
"""Added triples that wait at most before they become ids."""

IN_DEFAULT: Final = -1
"""Says of a triple that it is for the default graph."""


class StoreChanges(StoreTransactions, StoreReading, Updatable):
    """What can be done to a store."""

    _waiting: list[str]
    _waiting_graphs: list[int]
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
        graph = self._to_change(self._contexts.name(context, self))
        self.begin()
        self._wait(texts, graph)
        if len(self._waiting) >= 3 * BATCH or self.own is None:
            self.flush()
        super().add(triple, cast(Graph, context))  # tells those who listen

    def addN(self, quads: Iterable[tuple[Node, Node, Node, Graph]]) -> None:
        """Add the triples of quads to their graphs; all of them, or none if one is no triple of RDF."""
        self.change((), [(subject, property, value, self._contexts.name(graph, self)) for subject, property, value, graph in quads])

    def remove(self, triple: RdflibPattern, context: Graph | None = None) -> None:
        """Remove the explicit triples that match, from one graph or from all. What still follows from the rest stays visible."""
        name = self._contexts.name(context, self)
        if name is not None:
            self._to_change(name)
        self._remove([(*triple, name)])

    def change(self, removed: Iterable[RdflibQuad], added: Iterable[RdflibQuad]) -> None:
        """Remove quads, then add quads, each with the name of its graph: without one, from all graphs, and to the default graph.

        What only follows is not removed: it is there as long as it follows.

        Raises:
            LoadError: something to be added is no quad of RDF. Nothing has changed.
            ReasonerError: nothing can be added to the graph of inferred triples. Nothing has changed.
        """
        added = list(added)
        waiting = [(triple_texts(quad[:3]), self._to_change(quad[3])) for quad in added]
        self._remove(removed)
        if waiting:
            self.begin()
            for texts, graph in waiting:
                self._wait(texts, graph)
            if len(self._waiting) >= 3 * BATCH or self.own is None:
                self.flush()
        if self.dispatcher.get_map() is not None:  # type: ignore[no-untyped-call]
            for *triple, name in added:
                super().add(cast(RdflibTriple, tuple(triple)), Graph(store=self, identifier=cast(Any, name)))

    def _wait(self, texts: list[str], graph: int) -> None:
        """Let a triple wait for `flush`."""
        if graph != IN_DEFAULT or self._waiting_graphs:
            self._waiting_graphs += [IN_DEFAULT] * (len(self._waiting) // 3 - len(self._waiting_graphs))
            self._waiting_graphs.append(graph)
        self._waiting += texts
        self._removes_default = False

    def flush(self) -> None:
        """Hand the triples that were added to the reasoner, which need not do anything about them yet."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            graphs, self._waiting_graphs = self._waiting_graphs, []
            try:
                ids = self.reasoner.dictionary.encode_texts(waiting).reshape(-1, 3)
                self.add_ids(ids, np.array(graphs, np.int32) if graphs else None)
            except KeyboardInterrupt:  # to add them once more does no harm
                self._waiting, self._waiting_graphs = waiting, graphs
                raise

    def add_ids(self, triples: Ids, graphs: Ids | None = None) -> None:
        """Add triples, given as ids of shape (n, 3), to the default graph, or each to the graph of its id (`IN_DEFAULT`)."""
        self._complete_readings()
        self.begin()
        if graphs is None:
            self.reasoner.add_triples(triples)
        else:
            self.reasoner.named_graphs.load(triples, graphs)
        if self._by_graph is not None:
            self._by_graph.changed(NO_QUADS, self._quads(triples, IN_DEFAULT if graphs is None else graphs))

    def remove_ids(self, triples: Ids, graph: int | None = None) -> None:
        """Remove explicit triples, given as ids of shape (n, 3), from a graph (`IN_DEFAULT`), or from all."""
        if len(triples) == 0:
            return
        self._complete_readings()
        self.begin()
        named_graphs = self.reasoner.named_graphs if graph is not None or self._by_graph is not None else None
        quads = (
            NO_QUADS if named_graphs is None else named_graphs.stating(triples) if graph is None else self._quads(triples, graph)
        )
        if graph is None:
            self.reasoner.remove_triples(triples)
        elif named_graphs is not None:
            named_graphs.remove(quads)
        if self._by_graph is not None:
            self._by_graph.changed(quads, NO_QUADS)

    def _quads(self, triples: Ids, graphs: Ids | int) -> Ids:
        graphs = np.broadcast_to(np.int32(graphs), len(triples))
        return np.column_stack([triples, np.where(graphs == IN_DEFAULT, self.reasoner.named_graphs.default, graphs)])

    def _remove(self, patterns: Iterable[RdflibQuadPattern]) -> None:
        """Remove the explicit triples that match patterns, each from a graph, or without the name of one from all graphs."""
        self._removes_default = False
        self.flush()
        found: dict[int | None, list[Ids]] = {}
        for *terms, name in patterns:
            if name is not None and name == self.inferred_graph != DATASET_DEFAULT_GRAPH_ID:
                continue
            graph = None if name is None else self._to_change(name)
            pattern = self._pattern(terms)
            if pattern is not None:
                found.setdefault(graph, []).append(self._explicit(pattern, graph))
        for graph, tables in found.items():
            self.remove_ids(tables[0] if len(tables) == 1 else np.concatenate(tables), graph)

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
            raise ReasonerError(f"the graph {name} has the inferred triples: it is to be read only")
        number = -1 if isinstance(name, Literal) else self.terms.find(name)
        return number if number >= 0 else int(self.reasoner.dictionary.encode_texts([graph_text(name)])[0])

    def _complete_readings(self) -> None:
        """What is being read is a snapshot: it does not see changes."""
        if len(self.readings):
            for reading in list(self.readings):
                reading.complete()
            self.readings.clear()

    # --- transactions -----------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Keep the changes since the last commit, and bring the materialisation up to date.

        A transaction of the reasoner's own stays open.

        Raises:
            InconsistencyError: the changes contradict the rules, and the reasoner was asked to refuse that. They are undone.
        """
        self.flush()
        if self._by_graph is None:
            self.end(keep=True)
            return
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
        self._complete_readings()
        self.end(keep=False)
        self._waiting.clear()
        self._waiting_graphs.clear()
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
        graph = self._to_change(name)
        self.flush()
        if graph != IN_DEFAULT and not self.has_graph(name):
            self.begin()
            self.reasoner.named_graphs.create(np.array([graph], np.int32))

    def drop_graph(self, name: Node) -> None:
        self._remove([(None, None, None, name)])
        if name != DATASET_DEFAULT_GRAPH_ID and self.has_graph(name):
            self.begin()
            self.reasoner.named_graphs.drop(self._to_change(name))
