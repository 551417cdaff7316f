"""The calls that threads are in."""

from __future__ import annotations

import sys
from itertools import dropwhile
from threading import get_ident
from types import FrameType
from typing import Final

from kg_reasoner.concurrency.garbage import without_collection

__all__ = ["calls_of_threads", "is_at_work", "is_importing", "is_running"]

_IMPORTING: Final = "<frozen importlib._bootstrap>"


def calls_of_threads() -> dict[int, FrameType]:
    """Return the innermost call of each thread.

    No garbage is collected meanwhile: in CPython before 3.12, the collector would wait forever for a lock that
    `sys._current_frames` holds.
    """
    with without_collection():
        return sys._current_frames()


def is_at_work(thread: int) -> bool:
    """Return whether a thread is executing a call of this package."""
    return any(map(_is_ours, _calls(thread)))


def is_running(thread: int, call: FrameType) -> bool:
    """Return whether a thread is still in a call."""
    return any(frame is call for frame in _calls(thread))


def is_importing(thread: int) -> bool:
    """Return whether a thread is importing a module in a call of this package."""
    return any(map(_is_ours, dropwhile(lambda frame: frame.f_code.co_filename != _IMPORTING, _calls(thread))))


def _is_ours(frame: FrameType) -> bool:
    return (frame.f_globals.get("__package__") or "").startswith("kg_reasoner")


def _calls(thread: int) -> list[FrameType]:
    """Return the calls that a thread is in, the innermost first; none if it has ended.

    A call that ends meanwhile no longer knows its caller; the calls are those of one moment if the innermost is still the same.
    """
    if thread == get_ident():
        return _from(sys._getframe())
    while True:
        innermost = calls_of_threads().get(thread)
        found = _from(innermost)
        if calls_of_threads().get(thread) is innermost:
            return found


def _from(frame: FrameType | None) -> list[FrameType]:
    """Return a call, and those that led to it."""
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found
