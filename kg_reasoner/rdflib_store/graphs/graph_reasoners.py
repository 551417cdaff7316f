"""A reasoner for every graph that is read, made on the first reading and maintained with the graph's explicit triples."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.concurrency.limits import NOBODY, UNLIMITED, current_watch
from kg_reasoner.concurrency.locking import Hold
from kg_reasoner.errors import ReasonerError
from kg_reasoner.program import Program
from kg_reasoner.query.matching import Which
from kg_reasoner.query.quads import GRAPH_COLUMN
from kg_reasoner.rdflib_store.graphs.copying import translated
from kg_reasoner.rdflib_store.graphs.transactions import IN_DEFAULT, StoreTransaction, StoreTransactions
from kg_reasoner.rdflib_store.graphs.union_graphs import UnionGraphs
from kg_reasoner.storage.arrays import NO_QUADS, NO_TRIPLES, Ids

__all__ = ["GraphReasoners", "expect_no_history"]


def expect_no_history(program: Program) -> None:
    """Check that what a program derives depends on the present triples only: the reasoner of a graph knows no earlier ones.

    Raises:
        ReasonerError: The program has delays or differences.
    """
    for found in program.declarations:
        if found.operator in ("delay", "difference"):
            told = f"{found.predicate} is a {found.operator} of {found.source}"
            raise ReasonerError(f"delays and differences require reasoning over the union of the graphs: {told}")


class GraphReasoners(StoreTransactions):
    """The transactions on the explicit triples of all graphs, and the materialisations of single graphs, which follow them.

    Args:
        base: The reasoner with the explicit triples of all graphs, without rules.
        template: The reasoner whose program and settings those of the graphs have.
    """

    def __init__(self, base: Reasoner, template: Reasoner) -> None:
        super().__init__(base)
        self.use(template)
        self._version: int | None = base.version
        """The version of the base that the graphs show; None while they follow a change, and after an interrupt of that."""
        self._made: set[int] = set()
        self._changed: set[int] = set()

    def use(self, template: Reasoner) -> None:
        """Change to another program."""
        self.template, self._graphs = template, dict[int, UnionGraphs]()

    def reading(self, which: Which = "all") -> Hold:
        """See `StoreTransactions.reading`. Reasoners are made as graphs are read."""
        hold = self.writing()
        self.flush()
        return hold

    def graph(self, number: int) -> UnionGraphs:
        """Return a graph with its materialisation, given its id; within a reading.

        Raises:
            ReasonerError: The template's program has delays or differences now.
        """
        self._drop_outdated()
        graph = self._graphs.get(number)
        if graph is None:
            expect_no_history(self.template.program)
            graph = UnionGraphs(self.template.without_facts())
            triples = self.reasoner.core.queries.quads.match(None, None, None, number)
            if len(triples):
                self._pass_on(graph, NO_TRIPLES, triples)
            self._made.add(number)
            self._graphs[number] = graph
        return graph

    def reasoners(self) -> list[Reasoner]:
        """Return the reasoners that have been made; within a reading."""
        self._drop_outdated()
        return [graph.reasoner for graph in self._graphs.values()]

    def _drop_outdated(self) -> None:
        """Forget the graphs if they do not show the base: it was changed, and not by the store, or an interrupt came in between."""
        if self._version != self.reasoner.version:
            self._changed |= {self.reasoner.named_graphs.default, *self.reasoner.core.queries.quads.names().tolist()}
            self._graphs.clear()
            self._version = self.reasoner.version

    # --- changes ----------------------------------------------------------------------------------------------------

    def change(
        self,
        removed: Mapping[int | None, Ids],
        added: Ids,
        graphs: Ids | None = None,
        dropped: int = IN_DEFAULT,
        quads: Ids = NO_QUADS,
    ) -> None:
        """See `StoreTransactions.change`."""
        self._drop_outdated()
        stating = self.reasoner.named_graphs.stating
        gone = [stating(triples) if graph is None else self.quads(triples, graph) for graph, triples in removed.items()]
        self._version = None
        super().change(removed, added, graphs, dropped, quads)
        new = self.quads(added, IN_DEFAULT if graphs is None else graphs) if len(added) else NO_QUADS
        self._follow(np.concatenate([quads, *gone]), new)

    def take_in(self, own: StoreTransaction) -> None:
        """See `StoreTransactions.take_in`."""
        self._drop_outdated()
        self._version = None
        added, graphs = own.take_in()
        self._follow(NO_QUADS, self.quads(added, IN_DEFAULT if graphs is None else graphs))

    def _follow(self, removed: Ids, added: Ids) -> None:
        """Pass changes of the base, given as quads, to the graphs that have been read."""
        changed = {*removed[:, GRAPH_COLUMN].tolist(), *added[:, GRAPH_COLUMN].tolist()}
        self._changed |= changed
        for number in changed & self._graphs.keys():
            gone, new = (quads[quads[:, GRAPH_COLUMN] == number, :GRAPH_COLUMN] for quads in (removed, added))
            self._pass_on(self._graphs[number], gone, new)
        self._version = self.reasoner.version

    def _pass_on(self, graph: UnionGraphs, removed: Ids, added: Ids) -> None:
        """Remove and add triples of the base in a graph that follows it."""
        ids = self.reasoner.dictionary, graph.reasoner.dictionary
        gone: dict[int | None, Ids] = {None: translated(removed, *ids)} if len(removed) else {}
        new = translated(added, *ids) if len(added) else NO_TRIPLES
        with graph.transactions.writing():
            graph.transactions.change(gone, new)

    # --- ends -------------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """See `StoreTransactions.commit`.

        Raises:
            InconsistencyError: A graph contradicts the rules, and `on_inconsistency` is ``raise``.
            LimitError: The materialisation of a graph exceeds a limit.
        """
        self.flush()
        try:
            self._expect_consistent()
        except ReasonerError:
            self.rollback()
            raise
        with self.writing():
            self._drop_outdated()
            self._version = None
            self.keep()
            for graph in self._graphs.values():
                graph.transactions.commit()
            self._ended()
        self.reasoner.core.publish()

    def _expect_consistent(self) -> None:
        """Raise an error if the changes must not be kept."""
        if self.template.on_inconsistency == "raise" or self.template.limits != UNLIMITED or current_watch() is not NOBODY:
            self._drop_outdated()
            for number in sorted(self._changed):
                graph = self.graph(number)
                graph.prepare()
                graph.reasoner.core.expect_consistent()

    def rollback(self) -> None:
        """See `StoreTransactions.rollback`."""
        with self.writing():
            self._drop_outdated()
            self._version = None
            super().rollback()
            for number in self._made & self._graphs.keys():
                del self._graphs[number]  # triples that existed when it was made may have been removed
            for graph in self._graphs.values():
                graph.transactions.rollback()
            self._ended()

    def _ended(self) -> None:
        self._made.clear()
        self._changed.clear()
        self._version = self.reasoner.version
