"""Forks: the child process has a copy of each reasoner that no other thread was changing, and in which no lock is held.

A thread that forks waits until no other thread is in a critical section or completing a change; then it prevents them from
beginning another one until it has forked.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterable
from itertools import chain
from operator import methodcaller
from threading import get_ident
from typing import Any, Final, Protocol
from weakref import WeakValueDictionary

from kg_reasoner.concurrency.calls import calls_of_threads, is_importing

__all__ = ["FORKS", "copy_at_forks", "new_mutex", "wait_for_forks"]

PATIENCE: Final = 10.0
"""Seconds for which a fork waits for other threads."""

POLL: Final = 0.001

FORKS: Final[dict[int, list[Any]]] = {}
"""The threads that are about to fork, each with the mutexes that it has acquired for that. The lowest entry of a list is None."""


class Copied(Protocol):
    """Something that a forked process gets a copy of: the lock of a reasoner."""

    def is_changed_elsewhere(self) -> bool:
        """Return whether another thread is changing it."""
        ...

    def after_fork(self) -> None:
        """Remove, in a child process, the holds of threads that do not exist there."""
        ...


_mutexes: Final[WeakValueDictionary[int, Any]] = WeakValueDictionary()
_copied: Final[WeakValueDictionary[int, Copied]] = WeakValueDictionary()


def new_mutex() -> Any:
    """Return a re-entrant lock that other threads do not hold during a fork, and that is free in the child process."""
    mutex = threading.RLock()
    _mutexes[id(mutex)] = mutex
    return mutex


def copy_at_forks(copied: Copied) -> None:
    """Let a fork wait for changes of something, and tell its copy in the child process."""
    _copied[id(copied)] = copied


def wait_for_forks() -> None:
    """Wait until no thread is about to fork. What the caller had begun to change would be copied half changed."""
    while FORKS:
        time.sleep(POLL)


def _existing(known: WeakValueDictionary[int, Any]) -> list[Any]:
    """Return the items of a dictionary, to which other threads may add meanwhile."""
    return [each for reference in known.valuerefs() if (each := reference()) is not None]


_ACQUIRE: Final = methodcaller("acquire", False)
_RELEASE: Final = methodcaller("release")


def _before_fork() -> None:
    """Wait until no other thread is changing anything, and acquire all mutexes."""
    end = time.monotonic() + PATIENCE
    while not _is_quiet(FORKS.setdefault(get_ident(), [])) and time.monotonic() < end:
        _let_others_go_on()
        time.sleep(POLL)


def _is_quiet(held: list[Any]) -> bool:
    """Acquire the mutexes that are free; return whether these are all, and nothing is being changed."""
    mutexes = _existing(_mutexes)
    _acquire(held, mutexes)
    if len(held) <= len(mutexes) or any(copied.is_changed_elsewhere() for copied in _existing(_copied)):
        return False
    return not any(is_importing(thread) for thread in calls_of_threads() if thread != get_ident())


def _acquire(held: list[Any], mutexes: Iterable[Any]) -> None:
    """Add to a list the mutexes that are free, and acquire them, in a single step for interrupts."""
    held.extend(chain((None,), filter(_ACQUIRE, mutexes)))


def _let_others_go_on() -> None:
    """Release all mutexes that were acquired, in a single step for interrupts."""
    held = FORKS.get(get_ident())
    if held is not None:
        if held:
            deque(map(_RELEASE, iter(held.pop, None)), 0)
        FORKS.pop(get_ident(), None)


def _in_child() -> None:
    """Free the locks that were held by other threads of the parent. Unfinished changes are undone at the next use."""
    FORKS.clear()
    for mutex in _existing(_mutexes):
        mutex._at_fork_reinit()
    for copied in _existing(_copied):
        copied.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_let_others_go_on, after_in_child=_in_child)
