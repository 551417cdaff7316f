"""Reasoning over each graph by itself: a reasoner for every graph that is read, made when that happens first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.concurrency.limits import NOBODY, UNLIMITED, current_watch
from kg_reasoner.query.quads import GRAPH_COLUMN
from kg_reasoner.rdflib_store.copying import translated
from kg_reasoner.storage.arrays import Ids

if TYPE_CHECKING:
    from kg_reasoner.rdflib_store.surface import WrittenStore


class GraphReasoners:
    """The materialisations of single graphs, each in a store of its own.

    Args:
        base: has the explicit triples of all graphs, and no rules.
        template: its program and settings are those of the graphs' reasoners.
        make_store: makes a store over a reasoner.
    """

    def __init__(self, base: Reasoner, template: Reasoner, make_store: Callable[[Reasoner], WrittenStore]) -> None:
        self._base = base
        self.template = template
        self._make_store = make_store
        self._stores: dict[int, WrittenStore] = {}
        self._version = base.version
        self._made: set[int] = set()
        self._changed: set[int] = set()

    def store_of(self, graph: int) -> WrittenStore:
        """The store of a graph with its materialisation, given the graph's id."""
        if self._version != self._base.version:  # the base was changed, and not by the store
            self._stores.clear()
            self._version = self._base.version
        store = self._stores.get(graph)
        if store is None:
            store = self._stores[graph] = self._make_store(self.template.without_facts())
            store.is_single = True
            self._made.add(graph)
            self._add(store, self._base.queries.quads.match(None, None, None, graph))
        return store

    def changed(self, removed: Ids, added: Ids) -> None:
        """Pass changes of the base on, given as quads: those of graphs that nobody has read are not needed yet."""
        self._version = self._base.version
        self._changed.update(removed[:, GRAPH_COLUMN].tolist(), added[:, GRAPH_COLUMN].tolist())
        for graph, store in self._stores.items():
            gone = removed[removed[:, GRAPH_COLUMN] == graph, :GRAPH_COLUMN]
            if len(gone):
                target = store.reasoner.dictionary
                store.remove_ids(translated(gone, self._base.dictionary, target))
            self._add(store, added[added[:, GRAPH_COLUMN] == graph, :GRAPH_COLUMN])

    def _add(self, store: WrittenStore, triples: Ids) -> None:
        if len(triples):
            store.add_ids(translated(triples, self._base.dictionary, store.reasoner.dictionary))

    def prepare_commit(self) -> None:
        """Find out whether the changes can be kept.

        Raises:
            InconsistencyError: a graph contradicts the rules, and that was to be refused.
            LimitError: what follows in a graph exceeds a limit.
        """
        if self.template.on_inconsistency == "raise" or self.template.limits != UNLIMITED or current_watch() is not NOBODY:
            for graph in sorted(self._changed):
                store = self.store_of(graph)
                store.prepare()
                store.reasoner.expect_consistent()

    def commit(self) -> None:
        """Keep the changes since the last commit; the base has done so."""
        for store in self._stores.values():
            store.commit()
        self._ended()

    def rollback(self) -> None:
        """Undo the changes since the last commit; the base has done so."""
        for graph in self._made & self._stores.keys():
            del self._stores[graph]  # what was there when it was made may be gone
        for store in self._stores.values():
            store.rollback()
        self._ended()

    def _ended(self) -> None:
        self._made.clear()
        self._changed.clear()
        self._version = self._base.version
