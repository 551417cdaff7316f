"""Operations that change all they change or nothing, and transactions of several of them: how they begin, end and are undone.

Whatever goes wrong in an operation, the state is the one before. Errors of ours are undone at once. After any other exception, an
interrupt say, that happens when the engine is used next, and all that is derived is derived anew then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

from kg_reasoner.concurrency.limits import NOBODY, UNLIMITED, Unwatched, Watch, current_watch
from kg_reasoner.concurrency.locking import ReadWriteLock
from kg_reasoner.concurrency.readings import Readings
from kg_reasoner.engine.collector import Collector, Committed
from kg_reasoner.engine.journal import Entry, LoggedSetting
from kg_reasoner.engine.state import State
from kg_reasoner.errors import InterruptedUpdate, ReasonerError
from kg_reasoner.program import Program
from kg_reasoner.query.delta import Delta
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.dictionary import Dictionary

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["AtomicState", "OpenChanges"]


class OpenChanges(Protocol):
    """Changes that several operations make, and that are kept or undone together: a transaction, to whoever has begun it."""

    @property
    def is_void(self) -> bool:
        """Whether they are being undone, or can only be undone."""
        ...

    @property
    def is_waiting(self) -> bool:
        """Whether some of them are still to be made, before anybody reads."""
        ...


class Operation:
    """The ``with`` block of an operation; see `AtomicState.changing`."""

    __slots__ = ("_changes", "_hold", "_state")

    def __init__(self, state: AtomicState, changes: bool) -> None:
        self._state = state
        self._changes = changes

    def __enter__(self) -> None:
        state = self._state
        hold = self._hold = state.lock.write()
        try:
            state.begin_operation(self._changes)
        except BaseException:
            hold.release()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._state.end_operation(error)
        finally:
            self._hold.release()


class AtomicState(State):
    """A state that operations change, whole or not at all, one at a time. See `State` for its arguments.

    Attributes:
        transaction: the open one.
        collector: wants to know what follows from the changes of the open transaction, or of the operation under way.
        committed: the last delta for subscribers.
    """

    def __init__(
        self, dictionary: Dictionary, visibility: Visibility, *, maintenance: str, datatypes: frozenset[str], rewrites: bool
    ) -> None:
        super().__init__(dictionary, visibility, maintenance=maintenance, datatypes=datatypes, rewrites=rewrites)
        self.transaction: OpenChanges | None = None
        self.collector: Collector | None = None
        self.committed: Committed | None = None
        self.lock = ReadWriteLock(lambda: not self._is_whole)
        self.readings = Readings()
        self._is_whole = True
        """False while an operation is under way, and after one that was interrupted, until that is undone."""
        self._journal: list[Entry] = []
        """How to take back what the open transaction, or else the operation under way, has changed."""
        self._mark = 0
        """Where in the journal that of the operation begins."""
        self._outgoing: Delta | None = None
        """What the operation under way has changed, for subscribers."""

    # --- operations -------------------------------------------------------------------------------------------------

    def changing(self) -> AbstractContextManager[None]:
        """The ``with`` block of an operation that changes facts or rules: all that is done inside, or nothing."""
        return Operation(self, True) if self.limits is UNLIMITED and current_watch() is NOBODY else self._watched(True)

    def exclusively(self) -> AbstractContextManager[None]:
        """The same for what changes nothing but needs the state for itself, as derived facts or plans come and go."""
        return Operation(self, False) if self.limits is UNLIMITED and current_watch() is NOBODY else self._watched(False)

    @contextmanager
    def _watched(self, changes: bool) -> Iterator[None]:
        """An operation under limits: those that have been set for what is done now with this state, else its own."""
        own = nullcontext() if current_watch().is_of(self.running) else Watch(self.limits, self.running)
        with own, Operation(self, changes):
            watch, context = current_watch(), self.database.context
            watch.attach(context)
            try:
                yield
            finally:
                watch.detach(context)

    @property
    def is_current(self) -> bool:
        """Whether all that follows is derived, and nothing is left over from an operation that was interrupted."""
        if self.next_update.is_due or not self._is_whole:
            return False
        transaction = self.transaction
        return transaction is None or not (transaction.is_void or transaction.is_waiting)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is left over from an operation that was interrupted, or from a transaction whose thread is gone."""
        return self._is_whole and (self.transaction is None or not self.transaction.is_void)

    def begin_operation(self, changes: bool) -> None:
        """For `Operation`."""
        if not self._is_whole or self.transaction is not None:
            self.make_sound()
        if changes and self.readings.open:
            self.readings.complete()
        if self._watch.is_over:
            self._watch.reset(self.base.database.context)
        if self.transaction is None:
            self.collector = None
        self._mark, self._outgoing, self._is_whole = len(self._journal), None, False

    def end_operation(self, error: BaseException | None) -> None:
        """For `Operation`: keep what it has done, or take it back."""
        if error is None:
            committed = self.committed if self._outgoing is None else Committed(self.committed, self._outgoing)
            journal = [] if self.transaction is None else self._journal
            self._journal, self._is_whole, self.committed, self._outgoing = journal, True, committed, None
        elif isinstance(error, ReasonerError) and not isinstance(error, InterruptedUpdate):
            self._take_back(self._mark)
            self._is_whole = True
        elif self.collector is not None:
            self.collector.note_interruption()

    def set(self, owner: object, attribute: str, value: object) -> None:
        """Give an attribute of an object another value, as a part of the operation under way."""
        self._journal.append(LoggedSetting(owner, attribute, getattr(owner, attribute)))
        setattr(owner, attribute, value)

    def change_program(self, program: Program) -> None:
        """Take another program in an operation; it has been checked."""
        self._journal.append(LoggedSetting(self, "program", self.program))
        self.use_program(program)

    def tell(self, delta: Delta) -> None:
        """Say what the operation under way has changed, for subscribers, once it has ended."""
        self._outgoing = delta

    def cancel(self) -> None:
        """Make what other threads are doing end with CancelledError."""
        for watch in list(self.running):
            watch.cancel()
        self.lock.cancel()
        if not self._is_whole:
            self._watch.cancel_kernels(self.database.context)

    # --- undoing ----------------------------------------------------------------------------------------------------

    def make_sound(self) -> None:
        """Undo what is left over from an operation that was interrupted; the caller may write."""
        if not self._is_whole or (self.transaction is not None and self.transaction.is_void):
            self._restore()

    def _take_back(self, mark: int) -> None:
        """Undo what the journal has from a place on."""
        journal, program = self._journal, self.program
        while len(journal) > mark:
            journal[-1].recover(self.base)
            journal[-1].take_back(self.base)
            self.touch()
            journal.pop()
        if self.program is not program:
            self.use_program(self.program)

    def _restore(self) -> None:
        with Unwatched():
            self._start_over()

    def _start_over(self) -> None:
        """After an interrupt: undo what was under way, and start over with the explicit facts.

        That is the operation, or the whole transaction if it was being undone, or its thread is gone. Whatever interrupts this in
        turn, it is begun anew.
        """
        transaction = self.transaction
        is_over = transaction is not None and transaction.is_void
        mark = 0 if is_over else self._mark
        self._mark, self._is_whole = mark, False
        undone = self._journal[: mark - 1 if mark else None : -1]
        for entry in undone:
            entry.recover(self.base)
        base = self._make_base(layout=type(self.catalog.layout))
        base.take_over(self.base)
        for entry in undone:
            entry.take_back(base)
        counted = self.counters
        self.base, self._counted = base, counted
        self.axioms.want(self.program)
        self.axioms.has_changed = True
        self.touch(rules=True)
        if transaction is None or is_over:
            self.transaction, self._journal, self._is_whole = None, [], True
        else:
            self._journal, self._is_whole = self._journal[:mark], True

    # --- transactions -----------------------------------------------------------------------------------------------

    def begin(self, transaction: OpenChanges, collector: Collector | None) -> None:
        """Keep or undo all changes from now on together, and collect what follows from them; the materialisation is up to date."""
        self.base.equality.begin()
        self._journal, self.transaction, self.collector = [], transaction, collector

    def commit(self, delta: Delta | None) -> None:
        """End the open transaction, and keep what it has changed; subscribers, if there are any, are to be told of a delta."""
        committed = self.committed if delta is None else Committed(self.committed, delta)
        self._journal, self.transaction, self.collector, self.committed = [], None, None, committed

    def roll_back(self) -> None:
        """End the open transaction, which says that it is void, and undo what it has changed."""
        if not self._is_whole:
            self._restore()
            return
        self._mark, self._is_whole = 0, False
        self._take_back(0)
        self._journal, self.transaction, self.collector, self._is_whole = [], None, None, True

    @property
    def place(self) -> int:
        """How far the open transaction has got, for `return_to`."""
        return len(self._journal)

    def return_to(self, place: int) -> None:
        """Undo what has been done in the open transaction since a place."""
        with self.exclusively():
            self.readings.complete()
            self._mark = place
            self._take_back(place)
