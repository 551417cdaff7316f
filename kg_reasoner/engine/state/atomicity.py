"""Atomic operations, and transactions of several operations: how they begin, end and are undone.

If an operation fails, the state is the one before it. Errors of this package are undone at once. After any other exception, such as
an interrupt, the engine undoes the operation when it is used next, and derives all facts again from the explicit ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Protocol

from kg_reasoner.concurrency.callbacks import CALLS, is_in_callback
from kg_reasoner.concurrency.forking import FORKS, wait_for_forks
from kg_reasoner.concurrency.limits import NOBODY, UNLIMITED, Unwatched, Watch, current_watch, watches
from kg_reasoner.concurrency.locking import NO_HOLD, Hold, ReadWriteLock
from kg_reasoner.engine.facts.collector import Collector, Committed
from kg_reasoner.engine.state.engine_settings import EngineSettings
from kg_reasoner.engine.state.engine_state import State
from kg_reasoner.engine.state.journal import Entry, LoggedSetting
from kg_reasoner.errors import InterruptedUpdate, ReasonerError
from kg_reasoner.program import Program
from kg_reasoner.query.delta import Delta
from kg_reasoner.query.visibility import Visibility
from kg_reasoner.storage.terms.dictionary import Dictionary

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["AtomicState", "OpenChanges"]


class OpenChanges(Protocol):
    """Changes by several operations that are committed or undone together: an open transaction."""

    @property
    def is_void(self) -> bool:
        """Whether they are being undone, or can only be undone."""
        ...

    @property
    def is_waiting(self) -> bool:
        """Whether some of them must still be applied before anything is read."""
        ...


class Operation:
    """The ``with`` block of an operation; see `AtomicState.changing`. It holds the lock, and commits the changes or undoes them.

    Each state has a single such object, because one operation runs at a time: its attributes belong to the thread that holds the
    lock.
    """

    __slots__ = ("_hold", "_state")

    def __init__(self, state: AtomicState) -> None:
        self._state = state
        self._hold: Hold = NO_HOLD

    def __enter__(self) -> None:
        state = self._state
        state.expect_no_call()
        hold = self._hold = state.lock.write()
        try:
            if not state.is_whole or state.transaction is not None:
                state.make_sound()
            if state._watch.why is not None:
                state._watch.reset(state.base.database.context)
            if state.transaction is None:
                state.collector = None
            state._mark, state._outgoing, state.is_whole = len(state._journal), None, False
            if FORKS:
                state.let_fork()
        except BaseException:
            hold.release()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        state = self._state
        try:
            if error is None:
                journal = [] if state.transaction is None else state._journal
                if state._outgoing is None:
                    state._journal, state.is_whole = journal, True
                else:
                    committed = Committed(state.committed, state._outgoing)
                    state._journal, state.is_whole, state.committed, state._outgoing = journal, True, committed, None
            else:
                state._fail(error)
        finally:
            if self._hold is not NO_HOLD:
                state.lock.end_writing()


class AtomicState(State):
    """A state that operations change atomically, one operation at a time. See `State` for its arguments.

    Attributes:
        transaction: The open transaction.
        collector: Collects the consequences of the open transaction, or of the current operation.
        committed: The last delta for subscribers.
    """

    def __init__(self, dictionary: Dictionary, visibility: Visibility, settings: EngineSettings) -> None:
        super().__init__(dictionary, visibility, settings)
        self.transaction: OpenChanges | None = None
        self.collector: Collector | None = None
        self.committed: Committed | None = None
        self.is_whole = True
        """False during an operation, and after an interrupted one until it is undone."""
        self.lock = ReadWriteLock(lambda: not self.is_whole)
        self._operation = Operation(self)
        self._journal: list[Entry] = []
        """The undo journal of the open transaction, or else of the current operation."""
        self._mark = 0
        """The position in the journal where the current operation begins."""
        self._outgoing: Delta | None = None
        """The delta of the current operation, for subscribers."""

    # --- operations -------------------------------------------------------------------------------------------------

    def changing(self) -> AbstractContextManager[None]:
        """Return the ``with`` block of an operation that changes facts, rules or plans, atomically and while no thread reads."""
        return self._operation if self.limits is UNLIMITED and watches()[-1] is NOBODY else self._watched()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Run an operation under the limits set for this state in the current context, or else under its own."""
        own = nullcontext() if current_watch().is_of(self.running) else Watch(self.limits, self.running)
        with own, self._operation:
            watch, context = current_watch(), self.database.context
            watch.attach(context)
            try:
                yield
            finally:
                watch.detach(context)

    @property
    def is_current(self) -> bool:
        """Whether all consequences are derived, and no interrupted operation is left to undo."""
        if self.next_update.is_due or not self.is_whole:
            return False
        transaction = self.transaction
        return transaction is None or not (transaction.is_void or transaction.is_waiting)

    @property
    def is_sound(self) -> bool:
        """Whether no interrupted operation, or transaction of a finished thread, is left to undo."""
        return self.is_whole and (self.transaction is None or not self.transaction.is_void)

    def _fail(self, error: BaseException) -> None:
        """End an operation that an error has interrupted: undo its changes, or leave that to the next one."""
        if isinstance(error, ReasonerError) and not isinstance(error, InterruptedUpdate):
            self._take_back(self._mark)
            self.is_whole = True
        elif self.collector is not None:
            self.collector.note_interruption()

    def let_fork(self) -> None:
        """Wait until no thread is about to fork, before the first change of an operation."""
        while FORKS:
            self.is_whole = True
            wait_for_forks()
            self.is_whole = False

    def set(self, owner: object, attribute: str, value: object) -> None:
        """Set an attribute of an object, as a part of the current operation."""
        self._journal.append(LoggedSetting(owner, attribute, getattr(owner, attribute)))
        setattr(owner, attribute, value)

    def change_program(self, program: Program) -> None:
        """Replace the program, in an operation. The new program has been checked."""
        self._journal.append(LoggedSetting(self, "program", self.program))
        self.use_program(program)

    def tell(self, delta: Delta) -> None:
        """Set the delta that subscribers receive after the current operation."""
        self._outgoing = delta

    def cancel(self) -> None:
        """Make operations of other threads end with CancelledError."""
        for watch in list(self.running):
            watch.cancel()
        self.lock.cancel()
        if not self.is_whole:
            self._watch.cancel_kernels(self.database.context)

    # --- undoing ----------------------------------------------------------------------------------------------------

    def expect_no_call(self) -> None:
        """Refuse what a function that rules call requests: the operation in which they call it is running, not interrupted.

        Raises:
            ReasonerError: Such a function is running in this thread, in an operation on this state.
        """
        if CALLS and not self.is_whole and self.lock.is_writing and is_in_callback():
            raise ReasonerError(
                "a function that rules call must be pure: it can neither change the reasoner nor read inferred facts"
            )

    def make_sound(self) -> None:
        """Undo interrupted operations. The caller may write.

        Raises:
            ReasonerError: A function that rules call requests it, see `expect_no_call`.
        """
        self.expect_no_call()
        if not self.is_whole or (self.transaction is not None and self.transaction.is_void):
            self._restore()

    def _take_back(self, mark: int) -> None:
        """Undo the entries of the journal from a position on."""
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
        """Undo the interrupted operation, and start over with the explicit facts.

        The whole transaction is undone if it was being undone, or if its thread has finished. If this is interrupted in turn, it is
        repeated from the beginning.
        """
        transaction = self.transaction
        is_over = transaction is not None and transaction.is_void
        mark = 0 if is_over else self._mark
        self._mark, self.is_whole = mark, False
        undone = self._journal[: mark - 1 if mark else None : -1]
        for entry in undone:
            entry.recover(self.base)
        base = self._make_base(layout=type(self.catalog.layout))
        base.take_over(self.base)
        for entry in undone:
            entry.take_back(base)
        counted = self.counters
        self.base, self._counted = base, counted
        self.use_program(self.program)
        self.axioms.forget()
        if transaction is None or is_over:
            self.transaction, self._journal, self.is_whole = None, [], True
        else:
            self._journal, self.is_whole = self._journal[:mark], True

    # --- transactions -----------------------------------------------------------------------------------------------

    def begin(self, transaction: OpenChanges, collector: Collector | None) -> None:
        """Begin a transaction and collect its consequences. The materialisation is up to date."""
        self.base.equality.begin()
        self._journal, self.transaction, self.collector = [], transaction, collector

    def commit(self, delta: Delta | None) -> None:
        """Commit the open transaction. `delta` is for subscribers, if there are any."""
        committed = self.committed if delta is None else Committed(self.committed, delta)
        self._journal, self.transaction, self.collector, self.committed = [], None, None, committed

    def roll_back(self) -> None:
        """Undo the open transaction, which is void."""
        if not self.is_whole:
            self._restore()
            return
        self._mark, self.is_whole = 0, False
        if FORKS:
            self.let_fork()
        self._take_back(0)
        self._journal, self.transaction, self.collector, self.is_whole = [], None, None, True

    @property
    def place(self) -> int:
        """The current position in the open transaction, for `return_to`."""
        return len(self._journal)

    def return_to(self, place: int) -> None:
        """Undo the changes of the open transaction since a position."""
        with self.changing():
            self._mark = place
            self._take_back(place)
