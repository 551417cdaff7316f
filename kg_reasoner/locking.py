"""Many readers or one writer: how threads share a reasoner, and what becomes of its locks in a forked process.

A thread that waits for long looks whether the one that it waits for is still at it: where an exception (an interrupt between two
lines, say) has kept a hold from being given back, it is void, and blocks nobody.
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
    """A thread's right to read, or to write: for a ``with`` block, or until `release`. This one stands for nothing."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give it back; to be called once, by the same thread."""


NO_HOLD: Final = Hold()


class _Reading(Hold):
    __slots__ = ("_lock",)

    def __init__(self, lock: ReadWriteLock) -> None:
        self._lock = lock

    def release(self) -> None:
        self._lock.end_reading()


class _Writing(Hold):
    __slots__ = ("_lock",)

    def __init__(self, lock: ReadWriteLock) -> None:
        self._lock = lock

    def release(self) -> None:
        self._lock.end_writing()


class ReadWriteLock:
    """Any number of threads read, or a single one writes.

    A thread that writes may also read, and write again: what it gets then stands for nothing. One that reads may read again. A
    writer that waits goes before readers that come later.

    Args:
        is_changing: says whether a change is under way, so that a fork has to wait.

    Attributes:
        owner: the thread that writes; -1: none.
        until: says whether the owner's hold is still needed, where it outlasts the call that it was made for, as that of a
            transaction does.

    >>> lock = ReadWriteLock()
    >>> with lock.write(), lock.read():
    ...     lock.is_writing
    True
    """

    def __init__(self, is_changing: Callable[[], bool] = bool) -> None:
        self.is_changing = is_changing
        self.owner = -1
        self.until: Callable[[], bool] | None = None
        self._gate = threading.RLock()
        """Held by whoever writes, and for a moment by whoever begins to read."""
        self._readers: dict[int, bool] = {}
        self._left = threading.Event()
        """Set when a reader leaves and a writer waits."""
        self._reading = _Reading(self)
        self._writing = _Writing(self)
        _locks.add(self)

    @property
    def is_writing(self) -> bool:
        """Whether this thread may write."""
        return self.owner == get_ident() and (self.until is None or self.until())

    @property
    def has_owner(self) -> bool:
        """Whether the thread that writes is there."""
        return self.owner == get_ident() or self.owner in sys._current_frames()

    def read(self, timeout: float | None = None) -> Hold:
        """Wait until this thread may read.

        Raises:
            LimitError: that takes longer than `timeout` seconds.
        """
        me = get_ident()
        if me in self._readers or (self.owner == me and self.is_writing):
            return NO_HOLD
        gate = self._gate
        if not gate.acquire(blocking=False):
            gate = self._wait_for_gate(timeout)
        self._readers[me] = True
        gate.release()
        return self._reading

    def end_reading(self) -> None:
        """For `Hold.release`."""
        self._readers.pop(get_ident(), None)
        if self.owner >= 0:
            self._left.set()

    def write(self, timeout: float | None = None, *, until: Callable[[], bool] | None = None) -> Hold:
        """Wait until this thread may write; for `until` see the class.

        Raises:
            LimitError: that takes longer than `timeout` seconds.
            ReasonerError: this thread is in the middle of a query, and another thread is about to write.
        """
        me = get_ident()
        if self.owner == me and (self.until is None or self.until()):
            return NO_HOLD
        if not self._gate.acquire(blocking=False):
            if me in self._readers:
                raise ReasonerError("a function that a query calls cannot change what is queried while other threads do")
            self._wait_for_gate(timeout)
        self.owner, self.until = me, until
        if self._readers and self._readers.keys() != {me}:
            self._wait_for_readers(me, timeout)
        return self._writing

    def try_write(self) -> Hold | None:
        """A hold to write if no other thread has one; this one has none yet, and nobody reads."""
        if not self._gate.acquire(blocking=False):
            return None
        self.owner, self.until = get_ident(), None
        return self._writing

    def end_writing(self) -> None:
        """For `Hold.release`."""
        gate = self._gate
        self.owner, self.until = -1, None
        gate.release()

    def _wait_for_gate(self, timeout: float | None) -> Any:
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            gate = self._gate
            if gate.acquire(timeout=_patience(end, timeout)):
                if gate is self._gate:
                    return gate
                gate.release()  # another thread has found it void meanwhile
            elif self._is_void(self.owner, self.until, sys._current_frames()) and gate is self._gate:
                self._gate, self.owner, self.until = threading.RLock(), -1, None

    def _wait_for_readers(self, me: int, timeout: float | None) -> None:
        end = None if timeout is None else time.monotonic() + timeout
        try:
            while True:
                self._left.clear()
                if not self._readers or self._readers.keys() == {me}:
                    return
                if not self._left.wait(_patience(end, timeout)):
                    frames = sys._current_frames()
                    for thread in list(self._readers):
                        if self._is_void(thread, None, frames):
                            self._readers.pop(thread, None)
        except BaseException:
            self.end_writing()
            raise

    @staticmethod
    def _is_void(thread: int, until: Callable[[], bool] | None, frames: dict[int, Any]) -> bool:
        """Whether nobody will give a thread's hold back: it is gone, or no longer in the call that the hold was for."""
        if thread not in frames:
            return thread >= 0
        if until is not None:
            return not until()
        frame: Any = frames[thread]
        while frame is not None:
            if (frame.f_globals.get("__package__") or "").startswith("kg_reasoner"):
                return False
            frame = frame.f_back
        return True

    def _after_fork(self) -> None:
        """In a child process, forget the holds of the threads that are not there."""
        self._left = threading.Event()
        self._readers = {thread: True for thread in self._readers if thread == get_ident()}
        if not self.is_writing:
            self._gate, self.owner, self.until = threading.RLock(), -1, None


def _patience(end: float | None, timeout: float | None) -> float:
    """How long to wait before looking around.

    Raises:
        LimitError: it has taken too long.
    """
    if end is None:
        return POLL
    left = end - time.monotonic()
    if left <= 0:
        raise LimitError(f"other threads kept the reasoner busy for longer than {timeout:g} s")
    return min(POLL, left)


# --- fork -------------------------------------------------------------------------------------------------------------------

_locks: weakref.WeakSet[ReadWriteLock] = weakref.WeakSet()


def _before_fork() -> None:
    """Wait until no other thread is changing anything."""
    end = time.monotonic() + FORK_PATIENCE
    while any(lock.is_changing() and lock.owner != get_ident() for lock in list(_locks)) and time.monotonic() < end:
        time.sleep(0.001)


def _in_child() -> None:
    """Only the thread that forked goes on: free what others held. What they were changing is undone when it is used next."""
    for mutex in list(_mutexes):
        mutex._at_fork_reinit()
    for lock in list(_locks):
        lock._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
