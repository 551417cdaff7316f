"""Transactions: facts and rules that are added and removed together, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from kg_reasoner.api.operations.guarded_changes import Changeable, GuardedChanges
from kg_reasoner.concurrency.calls import calls_of_threads, is_at_work
from kg_reasoner.concurrency.locking import Hold
from kg_reasoner.engine.facts.collector import Collector
from kg_reasoner.errors import TransactionError
from kg_reasoner.query.delta import Delta

if TYPE_CHECKING:
    from kg_reasoner.api.declared_relations.ticks import Ticks

T = TypeVar("T")


class Transaction(GuardedChanges):
    """Changes to a reasoner that are applied together.

    Other threads, readers included, wait until it has ended: they see the state before it or after it. If the thread that began it
    has ended, it is undone.

    As a context manager, it begins at the start of the block and commits at its end; an exception undoes all changes of the block
    and is passed on. Reading inside the block sees the changes so far. Python can raise a KeyboardInterrupt between the end of a
    block and the first line of `__exit__`: the transaction is then still open, and `rollback` ends it.

    >>> from kg_reasoner.api.reasoner import Reasoner
    >>> from kg_reasoner.terms import literal
    >>> reasoner = Reasoner("path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .")
    >>> with reasoner.transaction() as tx:
    ...     tx.add_facts("edge", [(literal("a"), literal("b")), (literal("b"), literal("c"))])
    >>> len(list(tx.delta.added.facts("path", "inferred")))
    3
    """

    def __init__(self, reasoner: Changeable, collects: bool = True, *, isolated: bool = True) -> None:
        self.reasoner = reasoner
        self.core = reasoner.core
        self._engine = reasoner.core.engine
        self.collector = Collector(reasoner.core.dictionary) if collects else None
        self._isolated = isolated
        self._has_begun = False
        self._thread = -1
        self._is_ending = False
        self._hold: Hold | None = None
        self._delta: Delta | None = None
        """Its changes, when it has ended."""

    @property
    def is_open(self) -> bool:
        """Whether it has begun and not ended."""
        return self._engine.transaction is self

    @property
    def is_void(self) -> bool:
        """Whether it is being undone, or can only be undone because its thread has ended."""
        return self._is_ending or (self._isolated and self._thread != get_ident() and self._thread not in calls_of_threads())

    @property
    def is_waiting(self) -> bool:
        """Whether it has changes that have not been passed to the reasoner yet."""
        return False

    def hand_over(self) -> None:
        """Pass deferred changes to the reasoner; a transaction of this class has none."""

    @property
    def collects(self) -> bool:
        """Whether it collects its changes."""
        return self.collector is not None

    def collect(self) -> None:
        """Collect changes from now on, if it does not yet; the transaction is open."""
        if self.collector is None:
            with self.core.engine.changing():
                collector = Collector(self.core.dictionary)
                self.core.engine.collect(collector)
                self.collector = collector

    @property
    def delta(self) -> Delta:
        """The changes of the materialisation by the transaction; while it is open, those so far.

        Raises:
            TransactionError: It was made not to collect changes, or an update was interrupted, so that they are unknown.
        """
        if self.collector is None:
            raise TransactionError("this transaction does not collect its changes")
        if self._delta is not None:
            return self._delta
        if self.is_open:
            self.core.materialise()
        return self.core.visibility.of_delta(self.collector.delta)

    # --- begin and end ----------------------------------------------------------------------------------------------

    def begin(self) -> Transaction:
        """Begin the transaction.

        Earlier changes are not part of it. Other threads wait until it ends, unless it is not `isolated`.

        Returns:
            The transaction itself.

        Raises:
            TransactionError: It has begun before, or this thread has another transaction of the reasoner open.
        """
        if self._has_begun:
            raise TransactionError("a transaction can begin only once: ask the reasoner for a new one")
        engine = self.core.engine
        self._thread = get_ident()
        hold = engine.lock.write(until=self._is_needed if self._isolated else None)
        try:
            engine.make_sound()
            if engine.transaction is not None:
                raise TransactionError("another transaction is open: end it first, by commit or rollback")
            self._start(hold if self._isolated else None)
        finally:
            if not (self._isolated and self.is_open):
                hold.release()
        return self

    def _start(self, hold: Hold | None) -> None:
        """Begin, and keep the hold until the end; the caller may write, and has checked that no other transaction is open."""
        core = self.core
        core.materialise(is_checked=False)
        if self.collector is None and (core.subscriptions or core.ticks is not None):
            self.collector = Collector(core.dictionary)
        self._has_begun, self._hold = True, hold
        self._engine.begin(self, self.collector)
        if core.ticks is not None:
            self._begin_tick(core.ticks)

    def _begin_tick(self, ticks: Ticks) -> None:
        """Let delays and differences change; undo the transaction after an error or interrupt."""
        try:
            with self._engine.changing():
                ticks.begin()
        except BaseException:
            if self.is_open:
                self.rollback()
            raise

    def _is_needed(self) -> bool:
        """Return whether it still needs its hold: it is open, about to be, or still ending."""
        return self.is_open or self._thread == get_ident() or is_at_work(self._thread)

    def commit(self) -> Delta | None:
        """End the transaction and keep its changes. Undo all of them on any error or interrupt.

        Returns:
            The changes, if they are collected.

        Raises:
            InconsistencyError: The changes contradict the rules, and `on_inconsistency` is ``raise``.
            TransactionError: It is not open, or its changes are to be collected and are unknown (see `delta`).
            LimitError, CancelledError: It exceeded a limit, or was cancelled.
        """
        self._open()
        self._keep()
        if self.core.subscriptions is not None:
            self.core.publish()
        return self._delta

    def _keep(self) -> None:
        """Do what `commit` does, without notifying subscribers."""
        core, engine = self.core, self.core.engine
        try:
            with engine.changing():
                engine.update()
                if core.ticks is not None:
                    core.ticks.finish()
                core.expect_consistent()
                if self.collector is not None:
                    self._delta = core.visibility.of_delta(self.collector.delta)
                if core.ticks is not None:
                    core.ticks.end()
                engine.commit(self._delta if core.subscriptions else None)
        except BaseException:
            if self.is_open:
                self.rollback()
            raise
        finally:
            if self._hold is not None:
                self._release()

    def rollback(self) -> None:
        """End the transaction and undo its changes: facts, rules and their consequences are as before.

        If an exception interrupts this, the next operation on the reasoner completes it first.

        Raises:
            TransactionError: It is not open, or another thread began it.
        """
        self._expect_open()
        engine = self.core.engine
        with engine.lock.write():
            self._is_ending = True
            self._delta = Delta.nothing(self.core.dictionary)
            engine.roll_back()
        self._release()

    def _release(self) -> None:
        """Let other threads continue."""
        if self._hold is not None and self._engine.transaction is not self:
            hold, self._hold = self._hold, None
            hold.release()

    def __enter__(self) -> Transaction:
        try:
            return self if self._engine.transaction is self else self.begin()
        except BaseException:
            if self._engine.transaction is self:
                self.rollback()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None and self._engine.transaction is self and not self.is_void:
                self.commit()
        finally:
            if self._engine.transaction is self:
                self.rollback()

    def _open(self) -> Changeable:
        self._expect_open()
        if self.is_void:
            self.rollback()
            raise TransactionError("the transaction has been undone, as its rollback was interrupted, or its thread has ended")
        return self.reasoner

    def _expect_open(self) -> None:
        self._engine.expect_no_call()
        if self._engine.transaction is not self:
            raise TransactionError("the transaction is not open: it has not begun, or has ended")
        if self._isolated and self._thread != get_ident() and not self.is_void:
            raise TransactionError("the transaction was begun in another thread, which alone can change and end it")


def run_in(transaction: Transaction, change: Callable[[], T]) -> T:
    """Begin a transaction, call a function, and commit. Roll back on any error or interrupt.

    A ``with`` block does the same, but an interrupt just before the first line of `__exit__` leaves its transaction open.
    Operations of the package that are one transaction use this.

    Args:
        transaction: A transaction that has not begun.
        change: The function.

    Returns:
        What the function returns.

    Raises:
        TransactionError: This thread has another transaction of the reasoner open.
    """
    try:
        transaction.begin()
        result = change()
        transaction.commit()
    except BaseException:
        if transaction.is_open:
            transaction.rollback()
        raise
    return result
