"""Results and rows of an operator in a nested circuit that are due at later iterations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kg_reasoner.dbsp.sorted_columns import Columns, Integers, Weighted


class Agenda:
    """Weighted rows by the iteration at which they are due."""

    __slots__ = ("_due",)

    def __init__(self) -> None:
        self._due: dict[int, list[Weighted]] = {}

    def add(self, times: Integers, columns: Columns, weights: Integers) -> None:
        """Add rows, each with its own iteration."""
        order = np.argsort(times.astype(np.min_scalar_type(times.max())), kind="stable")  # small numbers are sorted by radix
        times = times[order]
        starts = np.concatenate([[0], (times[1:] != times[:-1]).nonzero()[0] + 1, [len(times)]]).tolist()
        for start, end in pairwise(starts):
            part = order[start:end]
            self._due.setdefault(int(times[start]), []).append((tuple(column[part] for column in columns), weights[part]))

    def take(self, time: int) -> list[Weighted]:
        """Remove and return the rows due at an iteration."""
        return self._due.pop(time, [])

    def next(self) -> int | None:
        """Return the first iteration with rows, or None."""
        return min(self._due) if self._due else None
