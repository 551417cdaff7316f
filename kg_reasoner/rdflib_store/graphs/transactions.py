"""Transactions of an rdflib store: the first change begins one, unless the reasoner has one of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from weakref import ref

import numpy as np

from kg_reasoner.api.transaction import Transaction
from kg_reasoner.concurrency.locking import Hold
from kg_reasoner.errors import TransactionError
from kg_reasoner.query.matching import Which
from kg_reasoner.storage.arrays import NO_QUADS, NO_TRIPLES, Ids

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.query.delta import Delta


IN_DEFAULT: Final = -1
"""Says of a triple that it is for the default graph."""


def encoded(reasoner: Reasoner, added: Sequence[tuple[list[str], int]]) -> tuple[Ids, Ids | None]:
    """Return the ids of triples, given as texts, and those of their graphs unless all belong to the default graph."""
    triples = reasoner.dictionary.encode_texts([text for texts, _ in added for text in texts]).reshape(-1, 3)
    has_graphs = any(graph != IN_DEFAULT for _, graph in added)
    return triples, np.array([graph for _, graph in added], np.int32) if has_graphs else None


def state(reasoner: Reasoner, triples: Ids, graphs: Ids | None) -> None:
    """Add triples, within an operation, to the default graph, or each to the graph of its id."""
    if graphs is None:
        reasoner.core.assert_triples(triples)
    else:
        reasoner.named_graphs.state(reasoner.named_graphs.placed(triples, graphs))


class StoreTransaction(Transaction):
    """A transaction that a store began with its first change. Other threads see each change at once.

    Attributes:
        waiting: Triples that were added and not passed to the reasoner yet: the texts of their terms, and their graphs' ids.
    """

    reasoner: Reasoner

    def __init__(self, reasoner: Reasoner, owner: StoreTransactions) -> None:
        super().__init__(reasoner, collects=False, isolated=False)
        self.owner = ref(owner)
        self.waiting: list[tuple[list[str], int]] = []

    def begin(self) -> StoreTransaction:
        """Begin as `Transaction.begin` does; the caller holds the lock and has checked that no other transaction is open."""
        self._start(None)
        return self

    @property
    def is_waiting(self) -> bool:
        """See `Transaction.is_waiting`."""
        return bool(self.waiting) and not self.is_void

    def hand_over(self) -> None:
        """See `Transaction.hand_over`."""
        owner = self.owner()
        if owner is not None:
            owner.flush()
        else:
            self.take_in()

    def take_in(self) -> tuple[Ids, Ids | None]:
        """Pass waiting triples to the reasoner. Return their ids, and their graphs' unless all are in the default graph.

        Triples that are added meanwhile, by a function of a query that is completed before, continue to wait. If the transaction
        has been undone, so are they.
        """
        reasoner, count = self.reasoner, len(self.waiting)
        with reasoner.engine.lock.write():
            reasoner.engine.make_sound()
            if not self.is_open:
                return NO_TRIPLES, None
            triples, graphs = encoded(reasoner, self.waiting[:count])
            with reasoner.engine.changing():
                state(reasoner, triples, graphs)
            del self.waiting[:count]  # if an interrupt comes before this, they are added twice, which does no harm
        return triples, graphs

    def commit(self) -> Delta | None:
        """Commit as `Transaction.commit` does. Do nothing if another thread has ended the transaction, or it is being undone."""
        self.keep()
        if self.core.subscriptions is not None:
            self.core.publish()
        return self._delta

    def keep(self) -> None:
        """Do what `commit` does, without notifying subscribers."""
        with self.reasoner.engine.lock.write():
            self.reasoner.engine.make_sound()
            if self.is_open:
                if self.waiting:
                    self.hand_over()
                self._keep()

    def rollback(self) -> None:
        """Roll back as `Transaction.rollback` does. Do nothing if another thread has ended the transaction."""
        with self.reasoner.engine.lock.write():
            if self.is_open:
                super().rollback()


class StoreTransactions:
    """The transactions of a store over a reasoner: those that it begins, and the reasoner's own that it joins."""

    def __init__(self, reasoner: Reasoner) -> None:
        self.reasoner = reasoner

    def writing(self) -> Hold:
        """Return the ``with`` block of a method that changes the store: other threads wait."""
        engine = self.reasoner.engine
        hold = engine.lock.write()
        try:
            engine.make_sound()
        except BaseException:
            hold.release()
            raise
        return hold

    def reading(self, which: Which = "all") -> Hold:
        """Return the ``with`` block of a method that reads: the materialisation is up to date, and nothing changes inside."""
        if self.reasoner.engine.transaction is None:
            return self.reasoner.core.reading(which)
        while True:
            self.flush()
            hold = self.reasoner.core.reading(which)
            own = self.own
            if own is None or not own.is_waiting or self.reasoner.engine.lock.is_writing:
                return hold
            hold.release()

    @property
    def own(self) -> StoreTransaction | None:
        """The open transaction, if this store, or one that no longer exists, has begun it."""
        transaction = self.reasoner.engine.transaction
        if isinstance(transaction, StoreTransaction):
            owner = transaction.owner()
            if owner is self or owner is None:
                return transaction
        return None

    @property
    def is_guest(self) -> bool:
        """Whether the open transaction is the reasoner's own."""
        return self.own is None and self.reasoner.open_transaction is not None

    # --- changes ----------------------------------------------------------------------------------------------------

    def begin(self) -> StoreTransaction | None:
        """Begin a transaction with the first change, unless one is open; the caller may write. Return it if it is the store's."""
        if self.reasoner.engine.transaction is None:
            return StoreTransaction(self.reasoner, self).begin()
        return self.own

    def change(
        self,
        removed: Mapping[int | None, Ids],
        added: Ids,
        graphs: Ids | None = None,
        dropped: int = IN_DEFAULT,
        quads: Ids = NO_QUADS,
    ) -> None:
        """Remove and add triples, given as ids of shape (n, 3), in one operation; the caller may write.

        Args:
            removed: Explicit triples by the graph to remove them from (`IN_DEFAULT`); None: from all graphs.
            added: Triples for the default graph.
            graphs: The ids of the graphs of the added triples, if these are others.
            dropped: A named graph to remove, whose triples are among the removed ones.
            quads: Explicit triples to remove as well, each with its graph, shape (n, 4).
        """
        reasoner = self.reasoner
        if reasoner.engine.transaction is None:
            self.begin()
        with reasoner.core.atomic():
            for graph, triples in removed.items():
                if graph is None:
                    reasoner.core.retract_triples(triples)
                else:
                    reasoner.named_graphs.withdraw(self.quads(triples, graph))
            if len(quads):
                reasoner.named_graphs.withdraw(quads)
            if dropped != IN_DEFAULT:
                reasoner.named_graphs.undeclare(dropped)
            if len(added):
                state(reasoner, added, graphs)

    def quads(self, triples: Ids, graphs: Ids | int) -> Ids:
        """Return the quads of triples in graphs (`IN_DEFAULT`)."""
        return self.reasoner.named_graphs.placed(triples, np.broadcast_to(np.int32(graphs), len(triples)))

    def flush(self) -> None:
        """Pass the added triples to the reasoner, which may defer their consequences."""
        own = self.own
        if own is not None and own.is_waiting:
            with self.writing():
                self.take_in(own)

    def take_in(self, own: StoreTransaction) -> None:
        """Pass the waiting triples of a transaction to the reasoner; the caller may write."""
        own.take_in()

    # --- ends -------------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Keep the changes since the last commit; see `KGReasonerStore.commit`."""
        self.keep()
        self.reasoner.core.publish()

    def keep(self) -> None:
        """Do what `commit` does, without notifying subscribers."""
        own = self.own
        if own is None:
            self.reasoner.materialise()
        else:
            own.keep()

    def rollback(self) -> None:
        """Undo the changes since the last commit; see `KGReasonerStore.rollback`."""
        with self.writing():  # waits for a transaction of another thread
            own = self.own
            if own is not None:
                own.rollback()
            elif self.reasoner.open_transaction is not None:
                raise TransactionError("the open transaction is the reasoner's own: roll it back there")
