"""Many readers or one writer: how threads share a reasoner, and what becomes of its locks in a forked process.

A *hold* is what a thread has while it reads or writes. Holds are known by weak references: one that an exception (an interrupt
between two lines, say) has kept from being given back is void as soon as its owner's frame is gone, and blocks nobody.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from threading import get_ident
from typing import Any, Final

from kg_reasoner.errors import LimitError, ReasonerError

__all__ = ["Hold", "ReadWriteLock", "new_mutex"]

POLL: Final = 0.05
"""Seconds after which a thread that waits looks whether a hold has become void."""

FORK_PATIENCE: Final = 10.0
"""Seconds for which a fork waits for other threads to end what they are changing."""

_mutexes: weakref.WeakSet[Any] = weakref.WeakSet()


def new_mutex() -> Any:
    """A re-entrant lock that is free in a forked process, whoever held it."""
    mutex = threading.RLock()
    _mutexes.add(mutex)
    return mutex


class Hold:
    """One thread's right to read, or to write: for a ``with`` block, or until `release`.

    Attributes:
        thread: the thread.
        until: says whether it is still needed, where it outlasts the call that it was made for, as that of a transaction does.
    """

    __slots__ = ("__weakref__", "_lock", "thread", "until")

    def __init__(self, lock: ReadWriteLock | None, until: Callable[[], bool] | None = None) -> None:
        self._lock = lock
        self.thread = get_ident()
        self.until = until

    @property
    def has_owner(self) -> bool:
        """Whether its thread is there."""
        return self.thread == get_ident() or self.thread in sys._current_frames()

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give it back. A second time does nothing; any thread may do it."""
        if self._lock is not None:
            self._lock.release(self)
            self._lock = None


Reference = weakref.ref[Hold]


class ReadWriteLock:
    """Any number of threads read, or a single one writes.

    A thread that writes may also read, and write again: what it gets then is a hold that stands for nothing. One that reads may
    read again. A writer that waits goes before readers that come later.

    Args:
        is_changing: says whether a change is under way, so that a fork has to wait.

    >>> lock = ReadWriteLock()
    >>> with lock.write(), lock.read():
    ...     lock.is_writing
    True
    """

    def __init__(self, is_changing: Callable[[], bool] = bool) -> None:
        self.is_changing = is_changing
        self.mutex = new_mutex()
        self._turn = threading.Condition(self.mutex)
        self._waiting = 0
        self._writer: Reference | None = None
        self._readers: dict[int, Reference] = {}
        _locks.add(self)

    @property
    def is_writing(self) -> bool:
        """Whether this thread may write."""
        writer = self._writer
        hold = None if writer is None else writer()
        return hold is not None and hold.thread == get_ident() and (hold.until is None or hold.until())

    @property
    def is_reading(self) -> bool:
        """Whether this thread has a hold that lets it read, and not write."""
        known = self._readers.get(get_ident())
        return known is not None and known() is not None

    def read(self, timeout: float | None = None) -> Hold:
        """Wait until this thread may read.

        Raises:
            LimitError: that takes longer than `timeout` seconds.
        """
        if self.is_reading or self.is_writing:
            return Hold(None)
        hold = Hold(self)
        reference = weakref.ref(hold)
        with self.mutex:
            admitted = self._admit_reader(reference, hold.thread)
        if not admitted:
            self._wait(lambda: self._admit_reader(reference, hold.thread), timeout)
        return hold

    def write(self, timeout: float | None = None, *, until: Callable[[], bool] | None = None) -> Hold:
        """Wait until this thread may write; for `until` see `Hold`.

        Raises:
            LimitError: that takes longer than `timeout` seconds.
            ReasonerError: this thread is in the middle of a query, and another one waits until that has ended.
        """
        if self.is_writing:
            with self.mutex:  # a fork keeps changes from beginning
                return Hold(None)
        hold = Hold(self, until)
        reference = weakref.ref(hold)
        with self.mutex:
            admitted = self._admit_writer(reference)
        if not admitted:
            if self.is_reading:
                raise ReasonerError("a function that a query calls cannot change what is queried while other threads do")
            try:
                self._wait(lambda: self._admit_writer(reference), timeout)
            except BaseException:
                self.release(hold)
                raise
        return hold

    def try_write(self) -> Hold | None:
        """A hold to write if no other thread has one; this one has none yet."""
        hold = Hold(self)
        reference = weakref.ref(hold)
        with self.mutex:
            admitted = self._admit_writer(reference)
        if not admitted:
            self.release(hold)
        return hold if admitted else None

    def release(self, hold: Hold) -> None:
        """For `Hold.release`."""
        with self.mutex:
            if self._writer is not None and self._writer() is hold:
                self._writer = None
            known = self._readers.get(hold.thread)
            if known is not None and known() is hold:
                del self._readers[hold.thread]
            if self._waiting:
                self._turn.notify_all()

    def _wait(self, admit: Callable[[], bool], timeout: float | None) -> None:
        end = None if timeout is None else time.monotonic() + timeout
        self._waiting += 1
        try:
            while True:
                left = POLL if end is None else min(POLL, end - time.monotonic())
                with self._turn:
                    if self._turn.wait_for(admit, max(0.0, left)):
                        return
                    self._forget_void_holds()
                if end is not None and time.monotonic() >= end:
                    raise LimitError(f"other threads kept the reasoner busy for longer than {timeout:g} s")
        finally:
            self._waiting -= 1

    def _admit_reader(self, reference: Reference, thread: int) -> bool:
        if self._writer is not None and self._writer() is not None:
            return False
        self._readers[thread] = reference
        return True

    def _admit_writer(self, reference: Reference) -> bool:
        """Let a writer in; from its first try on, no further readers are let in before it."""
        if self._writer is None or self._writer() is None:
            self._writer = reference
        if self._writer is not reference:
            return False
        me = get_ident()
        return not any(thread != me and known() is not None for thread, known in list(self._readers.items()))

    def _forget_void_holds(self) -> None:
        """Forget holds that nobody will give back: of threads that are gone, or are no longer in the call that a hold was for."""
        frames = sys._current_frames()
        for thread, known in list(self._readers.items()):
            if _is_void(known(), frames):
                del self._readers[thread]
        if self._writer is not None and _is_void(self._writer(), frames):
            self._writer = None


def _is_void(hold: Hold | None, frames: dict[int, Any]) -> bool:
    """Whether a hold stands for nothing any more, given where all threads are."""
    if hold is None or hold.thread not in frames:
        return True
    if hold.until is not None:
        return not hold.until()
    frame: Any = frames[hold.thread]
    while frame is not None:
        if (frame.f_globals.get("__package__") or "").startswith("kg_reasoner"):
            return False
        frame = frame.f_back
    return True


# --- fork -------------------------------------------------------------------------------------------------------------------

_locks: weakref.WeakSet[ReadWriteLock] = weakref.WeakSet()
_held: list[Any] = []


def _before_fork() -> None:
    """Wait until no other thread is changing anything, and keep the next change from beginning."""
    end = time.monotonic() + FORK_PATIENCE
    while True:
        for lock in list(_locks):
            lock.mutex.acquire()
            _held.append(lock.mutex)
        if not any(lock.is_changing() and not lock.is_writing for lock in list(_locks)) or time.monotonic() > end:
            return
        _after_fork()
        time.sleep(0.001)


def _after_fork() -> None:
    while _held:
        _held.pop().release()


def _in_child() -> None:
    """Only the thread that forked goes on: free what others held. What they were changing is undone when it is used next."""
    _held.clear()
    for mutex in list(_mutexes):
        mutex._at_fork_reinit()
    for lock in list(_locks):
        lock._turn = threading.Condition(lock.mutex)
        lock._waiting = 0
        lock._forget_void_holds()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
