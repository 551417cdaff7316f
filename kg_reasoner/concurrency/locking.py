"""A readers-writer lock for a reasoner that survives forks and interrupted threads.

A thread that waits long checks whether the holder of the lock is still in the call that acquired it. If an exception (such as an
interrupt between two lines) prevented the release, the hold is void and blocks no other thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from threading import get_ident
from typing import Final

from kg_reasoner.concurrency.calls import calls_of_threads, is_at_work
from kg_reasoner.concurrency.forking import copy_at_forks, new_mutex
from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.errors import CancelledError, LimitError, ReasonerError

__all__ = ["NO_HOLD", "Hold", "ReadWriteLock"]

POLL: Final = 0.05
"""Seconds after which a waiting thread checks for void holds."""

TURN: Final = 1e-4
"""Seconds for which a thread that wants to write leaves a free lock to threads that were waiting for it. They have been woken, but
need the interpreter first: a thread that writes again and again would keep them waiting for seconds."""


class Hold:
    """The right of a thread to read or write, as a ``with`` block or until `release`. This base class grants nothing."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None

    def release(self) -> None:
        """Release the hold. To be called once, by the thread that acquired it."""


NO_HOLD: Final = Hold()
"""The hold of a thread that may already read or write."""


class _Reading(Hold):
    __slots__ = ("_lock",)

    def __init__(self, lock: ReadWriteLock) -> None:
        self._lock = lock

    def __exit__(self, *_: object) -> None:
        self._lock.end_reading()

    def release(self) -> None:
        self._lock.end_reading()


class _Writing(Hold):
    __slots__ = ("_lock",)

    def __init__(self, lock: ReadWriteLock) -> None:
        self._lock = lock

    def __exit__(self, *_: object) -> None:
        self._lock.end_writing()

    def release(self) -> None:
        self._lock.end_writing()


Token = tuple[int, "Callable[[], bool] | None"]
"""Who writes: the thread, and what says whether its hold is still needed, where that outlasts the call that it was made for, as
that of a transaction does."""

WRITER: Final = "writer"


class ReadWriteLock:
    """Any number of threads read, or a single one writes.

    The lock is re-entrant: a writing thread may also read and write again, which gives a hold without effect, and a reading thread
    may read again. A waiting writer precedes readers that come later; threads that were waiting precede a writer that finds the
    lock free.

    Two dictionaries record the readers and the writer. They change in single steps, so they are correct at any interrupt. A reader
    registers itself and then checks for a writer; a writer registers itself and then checks for readers.

    Args:
        is_changing: Says whether a change is under way, so that a fork has to wait.

    >>> lock = ReadWriteLock()
    >>> with lock.write(), lock.read():
    ...     lock.is_writing
    True
    """

    def __init__(self, is_changing: Callable[[], bool] = bool) -> None:
        self.is_changing = is_changing
        self.writer: dict[str, Token] = {}
        """The thread that writes; empty if none does."""
        self._readers: dict[int, bool] = {}
        self._waiting: dict[int, bool] = {}
        self._cancelled: set[int] = set()
        """The waiting threads that are cancelled."""
        self._freed, self._left = threading.Event(), threading.Event()
        """Set when a writer or a reader releases the lock while a thread waits for it."""
        self._mutex = new_mutex()
        self.writes = 0
        """The number of times that writing has begun."""
        self._reading = _Reading(self)
        self._writing = _Writing(self)
        copy_at_forks(self)

    @property
    def owner(self) -> int:
        """The thread that writes, or -1."""
        token = self.writer.get(WRITER)
        return -1 if token is None else token[0]

    def is_changed_elsewhere(self) -> bool:
        """Return whether a change of another thread is under way. Interrupted changes do not count."""
        return self.is_changing() and self.owner not in (-1, get_ident()) and is_at_work(self.owner)

    def state(self) -> int | None:
        """Return a number that stays the same until a thread writes, for a thread that reads; None while a thread writes."""
        writes = self.writes  # first, because a writer registers before it increments the number
        return None if self.writer else writes

    @property
    def is_writing(self) -> bool:
        """Whether this thread may write."""
        token = self.writer.get(WRITER)
        return token is not None and token[0] == get_ident() and (token[1] is None or token[1]())

    @property
    def is_awaited(self) -> bool:
        """Whether another thread waits for the lock."""
        return bool(self._waiting)

    def read(self) -> Hold:
        """Wait until this thread may read, and return its hold.

        Raises:
            LimitError, CancelledError: Waiting exceeds the time limit of this operation, or it is cancelled.
        """
        me = get_ident()
        if me in self._readers:
            return NO_HOLD
        if self.writer:
            if self.is_writing:
                return NO_HOLD
            self._wait(self._freed, self._may_read)
        else:
            self._readers[me] = True
            if self.writer:
                self._wait(self._freed, self._may_read)
        return self._reading

    def _may_read(self) -> bool:
        me = get_ident()
        self._readers[me] = True
        if not self.writer:
            return True
        del self._readers[me]
        self._left.set()  # the writer may have seen this thread among the readers
        return False

    def end_reading(self) -> None:
        """Release a hold to read; called by `Hold.release`."""
        self._readers.pop(get_ident(), None)
        if self._waiting:
            self._left.set()

    def write(self, *, until: Callable[[], bool] | None = None) -> Hold:
        """Wait until this thread may write, and return its hold. For `until`, see `Token`.

        Raises:
            LimitError, CancelledError: Waiting exceeds the time limit of this operation, or it is cancelled.
            ReasonerError: This thread is in the middle of a query, and another thread is about to write.
        """
        me = get_ident()
        if self._waiting and not self.writer and me not in self._readers:
            time.sleep(TURN)
        token = me, until
        known = self.writer.setdefault(WRITER, token)
        if known is not token:
            if known[0] == me:
                if known[1] is None or known[1]():
                    return NO_HOLD
                self.writer[WRITER] = token  # an exception kept the former one from being given back
            else:
                if me in self._readers:
                    raise ReasonerError("a function called by a query cannot change the queried data while another thread does")
                self._wait(self._freed, lambda: self.writer.setdefault(WRITER, token) is token)
        self.writes += 1
        if self._readers and self._readers.keys() != {me}:
            try:
                self._wait(self._left, lambda: not self._readers or self._readers.keys() == {me})
            except BaseException:
                self.end_writing()
                raise
        return self._writing

    def end_writing(self) -> None:
        """Release a hold to write; called by `Hold.release`. Do nothing if another thread has declared the hold void."""
        token = self.writer.get(WRITER)
        if token is not None and token[0] == get_ident():
            self.writer.pop(WRITER, None)
            if self._waiting:
                self._freed.set()

    def _wait(self, moved: threading.Event, is_free: Callable[[], bool]) -> None:
        """Wait until a condition holds, which may change when an event is set; check for void holds meanwhile."""
        left = current_watch().remaining
        end = None if left is None else time.monotonic() + left
        me = get_ident()
        self._cancelled.discard(me)
        self._waiting[me] = True
        try:
            while True:
                moved.clear()
                if is_free():
                    return
                if me in self._cancelled:
                    raise CancelledError("the operation was cancelled while it waited for another thread")
                if not moved.wait(_patience(end)):
                    self._forget_void_holds(me)
        finally:
            self._waiting.pop(me, None)
            self._cancelled.discard(me)
            moved.set()  # others that wait may have missed what this thread has cleared

    def cancel(self) -> None:
        """Make the waiting threads give up with CancelledError."""
        self._cancelled.update(self._waiting)
        self._freed.set()
        self._left.set()

    def _forget_void_holds(self, me: int) -> None:
        """Remove the holds that will never be released."""
        with self._mutex:
            token = self.writer.get(WRITER)
            if token is not None and token[0] != me and _is_void(*token) and self.writer.get(WRITER) is token:
                self.writer.pop(WRITER, None)
            for thread in list(self._readers):
                if thread != me and _is_void(thread, None):
                    self._readers.pop(thread, None)

    def after_fork(self) -> None:
        """Remove, in a child process, the holds of threads that do not exist there."""
        self._freed, self._left = threading.Event(), threading.Event()
        self._waiting, self._cancelled = {}, set()
        self._readers = {thread: True for thread in self._readers if thread == get_ident()}
        if self.owner != get_ident():
            self.writer = {}


def _is_void(thread: int, until: Callable[[], bool] | None) -> bool:
    """Return whether a hold will never be released: its thread has ended, or has left the call that acquired it."""
    if thread not in calls_of_threads():
        return True
    return not (is_at_work(thread) if until is None else until())


def _patience(end: float | None) -> float:
    """Return the time to wait before checking for void holds.

    Raises:
        LimitError: The time limit is exceeded.
    """
    if end is None:
        return POLL
    left = end - time.monotonic()
    if left <= 0:
        raise LimitError("other threads kept the reasoner busy until the time limit")
    return min(POLL, left)
