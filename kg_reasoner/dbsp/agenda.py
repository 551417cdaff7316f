"""What an operator of a nested circuit has found out ahead of its time: results, and rows to look at again, by iteration."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kg_reasoner.dbsp.columns import Columns, Integers, Weighted


class Agenda:
    """Weighted rows by the iteration at which they are due."""

    __slots__ = ("_due",)

    def __init__(self) -> None:
        self._due: dict[int, list[Weighted]] = {}

    def add(self, times: Integers, columns: Columns, weights: Integers) -> None:
        """Enter rows, each for an iteration of its own."""
        order = np.argsort(times.astype(np.min_scalar_type(times.max())), kind="stable")  # small numbers are sorted by radix
        times = times[order]
        starts = np.concatenate([[0], (times[1:] != times[:-1]).nonzero()[0] + 1, [len(times)]]).tolist()
        for start, end in pairwise(starts):
            part = order[start:end]
            self._due.setdefault(int(times[start]), []).append((tuple(column[part] for column in columns), weights[part]))

    def take(self, time: int) -> list[Weighted]:
        """What is due at an iteration, which is forgotten then."""
        return self._due.pop(time, [])

    def next(self) -> int | None:
        """The first iteration at which something is due."""
        return min(self._due) if self._due else None
