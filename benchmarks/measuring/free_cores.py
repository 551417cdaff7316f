"""How much work a machine does at the same time at the moment: the most that threads can gain.

A virtual machine may have fewer free cores than it shows, as others use those of its host.
"""

from __future__ import annotations

import hashlib
import time
from functools import partial
from typing import Final

from kg_reasoner.concurrency.tasks import run_together

__all__ = ["free_cores"]

BLOCK: Final = bytes(1 << 20)
BLOCKS: Final = 32
"""A thread hashes so many blocks, which takes some hundredths of a second."""


def free_cores(threads: int) -> float:
    """Return how many times as much work threads that share nothing do in the time of one, measured now.

    >>> free_cores(1)
    1.0
    """
    if threads == 1:
        return 1.0
    one, all_of_them = _seconds(1), _seconds(threads)
    return threads * one / all_of_them


def _seconds(threads: int) -> float:
    begin = time.perf_counter()
    run_together([partial(_work) for _ in range(threads)], threads)
    return time.perf_counter() - begin


def _work() -> None:
    """Hash blocks, during which Python's global lock is released, and little memory is used."""
    hashed = hashlib.sha256()
    for _ in range(BLOCKS):
        hashed.update(BLOCK)
