"""Traces: the sum of a stream of Z-sets, as a few sorted runs with geometrically decreasing sizes.

A batch is merged with runs of up to twice its size, repeatedly. Therefore the number of runs is logarithmic in the number of rows,
each row is merged a logarithmic number of times, and rows that cancel out vanish when they are merged.

Source of the idea: O'Neil, Cheng, Gawlick and O'Neil, The Log-Structured Merge-Tree (Acta Informatica 33, 1996).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from kg_reasoner.dbsp.sorted_columns import Integers, ranges
from kg_reasoner.dbsp.zset import ZSet

Found: TypeAlias = "tuple[Integers, Integers, ZSet]"
"""Which of the ranges that were looked for, a place in a run, and the run."""

RATIO = 2
"""The ratio of sizes up to which an older run is merged with a newer one."""


class Trace:
    """The sum of the inserted Z-sets, indexed by its leading columns.

    Args:
        arity: The number of columns of the Z-sets.
    """

    __slots__ = ("arity", "runs")

    def __init__(self, arity: int) -> None:
        self.arity = arity
        self.runs: list[ZSet] = []

    def insert(self, zset: ZSet) -> None:
        """Add a Z-set."""
        if not len(zset):
            return
        runs, first, size = self.runs, len(self.runs), len(zset)
        while first and len(runs[first - 1]) <= RATIO * size:
            first -= 1
            size += len(runs[first])
        merged = ZSet.sum((*runs[first:], zset), self.arity)
        runs[first:] = [merged] if len(merged) else []

    def __len__(self) -> int:
        """Return the number of stored rows; some may cancel each other out."""
        return sum(map(len, self.runs))

    @property
    def nbytes(self) -> int:
        """The size of its runs in bytes."""
        return sum(run.nbytes for run in self.runs)

    def total(self) -> ZSet:
        """Return the sum, as one Z-set."""
        return ZSet.sum(self.runs, self.arity)

    def between(self, low: Sequence[Integers], high: Sequence[Integers]) -> Iterator[Found]:
        """Yield the rows between each row of `low` and the row of `high` at the same place, both inclusive, compared by their
        columns.

        For each run: which of the ranges, the place in the run, and the run. It takes a binary search of each range in each run.
        """
        for run in self.runs:
            places, which = ranges(run.columns, low, high)
            if len(places):
                yield which, places, run
