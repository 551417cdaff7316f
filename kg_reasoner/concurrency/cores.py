"""The number of threads that work together on one operation."""

from __future__ import annotations

import os
from typing import Final

__all__ = ["MOST_THREADS", "thread_count"]

MOST_THREADS: Final = 64
"""The maximal number of threads that work together."""


def thread_count(threads: int | None) -> int:
    """Return a number of threads.

    Args:
        threads: The number, or None for one thread per core that this process may use.

    Raises:
        ValueError: The number is not between 1 and `MOST_THREADS`.
    """
    if threads is None:
        return max(1, min(usable_cores(), MOST_THREADS))
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"threads={threads!r} is not a number from 1 to {MOST_THREADS}")
    return threads


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
