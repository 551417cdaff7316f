"""Loops of Python over many items, which end when a limit is exceeded or the query is cancelled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from time import monotonic
from typing import Final, TypeVar

from kg_reasoner.concurrency.limits import current_watch

__all__ = ["MANY", "blocks", "mapped", "short_blocks", "watched"]

T = TypeVar("T")
R = TypeVar("R")

MANY: Final = 1 << 10
"""The number of items between two checks."""

FIRST: Final = 1 << 8
"""The length of the first of blocks whose duration is not known."""

SHORT: Final = 0.01
"""The seconds that a block should take."""


def watched(items: Iterable[T], every: int = MANY) -> Iterator[T]:
    """Yield items, and check the limits of the operation every now and then.

    Args:
        items: The items.
        every: The number of items between two checks.
    """
    watch, rest = current_watch(), iter(items)
    while block := list(islice(rest, every)):
        watch.check()
        yield from block


def mapped(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return the results of a function for items, and check the limits of the operation every now and then.

    Args:
        function: The function.
        items: Its arguments.
    """
    watch, rest, found = current_watch(), iter(items), list[R]()
    while block := list(map(function, islice(rest, MANY))):
        watch.check()
        found += block
    return found


def blocks(count: int, size: int) -> Iterator[slice]:
    """Yield the numbers below `count` as slices, and check the limits of the operation before each.

    Args:
        count: How many numbers.
        size: The length of a slice.
    """
    watch = current_watch()
    for start in range(0, count, size):
        watch.check()
        yield slice(start, start + size)


def short_blocks(count: int, size: int) -> Iterator[slice]:
    """Yield the numbers below `count` as slices, as `blocks` does, but shorter ones where the caller takes long for them.

    Args:
        count: How many numbers.
        size: The maximal length of a slice.
    """
    watch = current_watch()
    start, length = 0, min(FIRST, size)
    while start < count:
        watch.check()
        began = monotonic()
        yield slice(start, min(start + length, count))
        start += length
        length = max(1, length // 2) if monotonic() - began > SHORT else min(size, length * 4)
