"""Sorts rows in several threads, each of which takes those in a range of the first column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np

from kg_reasoner.concurrency.tasks import Task, ThreadPool, run_together
from kg_reasoner.storage.arrays import Ids

__all__ = ["in_ranges"]

_RANGES_OF_A_THREAD: Final = 3
"""The number of ranges per thread: the more there are, the more evenly the work is shared."""
_SAMPLE: Final = 1 << 10


def in_ranges(rows: Ids, arrange: Callable[[Ids], Ids], threads: int, beside: Sequence[Task] = ()) -> Ids:
    """Return the rows of a table as a function arranges those of each range of the first column, one range after the other.

    Args:
        rows: The table, with as many columns as the function gives.
        arrange: Gives as many rows as it gets. Several threads call it.
        threads: The number of threads.
        beside: Further tasks for them.

    >>> from kg_reasoner.storage.arrays import in_order
    >>> in_ranges(np.array([[5, 1], [1, 3], [5, 0], [2, 2]], np.int32), in_order, threads=2).tolist()
    [[1, 3], [2, 2], [5, 0], [5, 1]]
    """
    bounds = _bounds(rows[:, 0], _RANGES_OF_A_THREAD * threads)
    chosen: list[Ids] = [rows[:0]] * (len(bounds) - 1)
    arranged: Ids = np.empty(rows.shape, rows.dtype)

    def choose(number: int) -> None:
        first = rows[:, 0]
        chosen[number] = rows[(first >= bounds[number]) & (first < bounds[number + 1])]

    def fill(number: int, start: int) -> None:
        some = chosen[number]
        chosen[number] = rows[:0]
        arranged[start : start + len(some)] = arrange(some)

    with ThreadPool() as pool:
        run_together([partial(choose, number) for number in range(len(chosen))], threads, pool)
        starts = np.cumsum([0, *map(len, chosen)]).tolist()
        filling = [partial(fill, number, start) for number, start in enumerate(starts[:-1])]
        run_together([*beside, *filling], threads, pool)
    return arranged


def _bounds(column: Ids, ranges: int) -> list[int]:
    """Return the ends of ranges with about as many values in each."""
    if not len(column):
        return [0, 1]
    sample = np.sort(column[:: max(1, len(column) // _SAMPLE)])
    inner = sample[np.arange(1, ranges) * len(sample) // ranges]
    return np.unique([column.min(), *inner, int(column.max()) + 1]).tolist()
