"""The incremental join: a bilinear operator, in one time or in two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from kg_reasoner.dbsp.agenda import Agenda
from kg_reasoner.dbsp.operators import Operator
from kg_reasoner.dbsp.sorted_columns import Booleans, Columns, Integers, Weighted, consolidate, products
from kg_reasoner.dbsp.trace import Trace
from kg_reasoner.dbsp.zset import ZSet

Range: TypeAlias = tuple[Sequence[Integers], Sequence[Integers]]
"""The least and the greatest row, as columns; they may leave trailing columns out."""

PAIRS = 1 << 20
"""The maximum number of pairs of rows that are examined together."""

MANY = PAIRS // 2
"""The number of pairs whose results are summed up at once."""


class Matching(Protocol):
    """Which rows of two tables match, and the result of a pair. Both tables are sorted."""

    def right_range(self, left: Columns) -> Range:
        """Return, for each row on the left, the range of matching rows on the right."""
        ...

    def left_range(self, right: Columns) -> Range:
        """Return, for each row on the right, the range of matching rows on the left."""
        ...

    def combine(self, left: Columns, right: Columns) -> tuple[Columns, Booleans | None]:
        """Return the results of pairs, and a mask of those that match (None: all)."""
        ...


class EqualKeys:
    """Matching of rows with equal first columns; the result has these, then the other columns of both."""

    def __init__(self, width: int) -> None:
        self._width = width

    def right_range(self, left: Columns) -> Range:
        return left[: self._width], left[: self._width]

    def left_range(self, right: Columns) -> Range:
        return right[: self._width], right[: self._width]

    def combine(self, left: Columns, right: Columns) -> tuple[Columns, None]:
        return left + right[self._width :], None


class IncrementalJoin(Operator):
    """A join that stores both sides as traces; a change of one side is matched with the trace of the other by binary search.

    With an inner clock, the traces know the iteration of each row. A pair of changes, made at iterations i and j, belongs to
    iteration max(i, j): what a change finds at later iterations waits for these. (The sum over all pairs of times whose least upper
    bound is now is what D(Q(I(a), I(b))) comes to for a bilinear Q in two times.)

    Args:
        name: How it is printed.
        arity: The number of columns of its output.
        accepts: The arities of both sides.
        matching: Which rows of both sides match, and the result of a pair.
        nested: Whether there is an inner clock.
    """

    is_still = True

    def __init__(self, name: str, arity: int, accepts: tuple[int, int], matching: Matching, nested: bool) -> None:
        super().__init__(name, arity, accepts)
        self._matching = matching
        self._nested = nested
        self.left, self.right = (Trace(accepted + nested) for accepted in accepts)
        self._agenda = Agenda()

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        left, right = values
        results = self._agenda.take(time)
        if len(right):
            self.right.insert(self._timed(right, time))
        if len(left):
            self._probe(time, left, self.right, False, results)
        if len(right):
            self._probe(time, right, self.left, True, results)
        if len(left):
            self.left.insert(self._timed(left, time))
        return ZSet.gathered(results, self.arity)

    def pending(self) -> int | None:
        return self._agenda.next()

    def traces(self) -> Iterable[Trace]:
        return self.left, self.right

    def _timed(self, zset: ZSet, time: int) -> ZSet:
        return ZSet((*zset.columns, np.full(len(zset), time, np.int64)), zset.weights) if self._nested else zset

    def _probe(self, time: int, changes: ZSet, trace: Trace, swapped: bool, results: list[Weighted]) -> None:
        """Match changes with a trace."""
        if not trace.runs:
            return
        matching = self._matching
        low, high = matching.left_range(changes.columns) if swapped else matching.right_range(changes.columns)
        for which, places, run in trace.between(low, high):
            most = changes.magnitude * run.magnitude
            for start in range(0, len(which), PAIRS):
                some, found = which[start : start + PAIRS], places[start : start + PAIRS]
                mine = tuple(column[some] for column in changes.columns)
                theirs = tuple(column[found] for column in run.columns)
                weights = products(changes.weights[some], run.weights[found], most)
                times: Integers | None = None
                if self._nested:
                    times, theirs = theirs[-1], theirs[:-1]
                columns, meant = matching.combine(theirs, mine) if swapped else matching.combine(mine, theirs)
                if meant is not None:
                    columns, weights = tuple(column[meant] for column in columns), weights[meant]
                    times = None if times is None else times[meant]
                self._enter(time, times, columns, weights, results)

    def _enter(self, time: int, times: Integers | None, columns: Columns, weights: Integers, results: list[Weighted]) -> None:
        """Add results of the current iteration to the results, and later ones to the agenda."""
        if times is not None and len(times) and int(times.max()) > time:
            later = times > time
            self._agenda.add(times[later], tuple(column[later] for column in columns), weights[later])
            columns, weights = tuple(column[~later] for column in columns), weights[~later]
        if len(weights):
            results.append(consolidate(columns, weights) if len(weights) > MANY else (columns, weights))
