"""What an operator of a nested circuit has found out ahead of its time: results, and rows to look at again, by iteration."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kg_reasoner.dbsp.columns import Columns, Integers
from kg_reasoner.dbsp.zset import ZSet


class Agenda:
    """Weighted rows by the iteration at which they are due."""

    __slots__ = ("_due", "arity")

    def __init__(self, arity: int) -> None:
        self.arity = arity
        self._due: dict[int, list[tuple[Columns, Integers]]] = {}

    def add(self, times: Integers, columns: Columns, weights: Integers) -> None:
        """Enter rows, each for an iteration of its own."""
        order = np.argsort(times, kind="stable")
        times = times[order]
        starts = np.concatenate([[0], (times[1:] != times[:-1]).nonzero()[0] + 1, [len(times)]]).tolist()
        for start, end in pairwise(starts):
            part = order[start:end]
            self._due.setdefault(int(times[start]), []).append((tuple(column[part] for column in columns), weights[part]))

    def take(self, time: int) -> ZSet:
        """The sum of what is due at an iteration, which is forgotten then."""
        parts = self._due.pop(time, None)
        if parts is None:
            return ZSet.empty(self.arity)
        if len(parts) == 1:
            return ZSet.consolidated(*parts[0])
        columns = tuple(np.concatenate([part[place] for part, _ in parts]) for place in range(self.arity))
        return ZSet.consolidated(columns, np.concatenate([weights for _, weights in parts]))

    def next(self) -> int | None:
        """The first iteration at which something is due."""
        return min(self._due, default=None)
