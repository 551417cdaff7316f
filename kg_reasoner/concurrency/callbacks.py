"""User functions that are called in the middle of an operation, and must not begin another one on the object being changed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import update_wrapper
from threading import get_ident
from types import FrameType
from typing import Any, Final

from kg_reasoner.concurrency.calls import is_running

__all__ = ["CALLS", "guarded", "is_in_callback"]

CALLS: Final[dict[int, FrameType]] = {}
"""The outermost call of such a function in each thread; after an interrupt, one that has ended may be left."""


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose calls are noted.

    Args:
        function: A function of a user.
    """

    def call(*arguments: Any) -> Any:
        if is_in_callback():
            return function(*arguments)
        thread = get_ident()
        CALLS[thread] = sys._getframe()
        try:
            return function(*arguments)
        finally:
            CALLS.pop(thread, None)

    return update_wrapper(call, function)


def is_in_callback() -> bool:
    """Return whether this thread is in a call of such a function."""
    thread = get_ident()
    call = CALLS.get(thread)
    return call is not None and is_running(thread, call)
