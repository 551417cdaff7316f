"""Incremental versions of functions that work on one group of rows at a time: distinct, and aggregates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from kg_reasoner.dbsp.agenda import Agenda
from kg_reasoner.dbsp.operators import Operator
from kg_reasoner.dbsp.sorted_columns import SAFE, Columns, Integers, Weighted, search
from kg_reasoner.dbsp.trace import Found, Trace
from kg_reasoner.dbsp.zset import ZSet


class Groupwise(Operator):
    """The incremental version of a groupwise function, which re-evaluates only the groups that change.

    With an inner clock, the result at iteration i of this update is f(i) - f(i - 1), f(i) being by how much this update changes the
    function of all changes up to iteration i. So a group has to be looked at when it changes now, and also when it has changed in
    this update and changed at this iteration in earlier ones: it waits on the agenda. For this purpose, the past is stored by
    iteration.

    Args:
        name: The name of the operator.
        arity: The number of columns of its output.
        accepts: The number of columns of its input.
        width: The number of leading columns that identify a group.
        function: The function of a Z-set. Its result for a group depends on the rows of the group only.
        nested: Whether there is an inner clock.
    """

    is_still = True

    def __init__(self, name: str, arity: int, accepts: int, width: int, function: Callable[[ZSet], ZSet], nested: bool) -> None:
        super().__init__(name, arity, (accepts,))
        self._width = width
        self._function = function
        self._nested = nested
        self._past = Trace(accepts + nested)
        self._present = Trace(accepts + nested)
        self._agenda = Agenda()

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        (change,) = values
        due = self._agenda.take(time)
        if not len(change) and not due:
            return self.nothing
        groups = self._groups(change, due)
        found = list(self._past.between(groups, groups))
        if self._nested:
            self._wait(time, groups, found)
        result = self._result(time, groups, change, found)
        if len(change):
            columns = (*change.columns, np.full(len(change), time, np.int64)) if self._nested else change.columns
            self._present.insert(ZSet(columns, change.weights))
        return result

    def pending(self) -> int | None:
        return self._agenda.next()

    def finish(self) -> None:
        for run in self._present.runs:
            self._past.insert(run)
        self._present = Trace(self._present.arity)

    def traces(self) -> Iterable[Trace]:
        return self._past, self._present

    def integral(self) -> ZSet:
        """Return the sum of all changes so far. To be called between updates."""
        total = self._past.total()
        return ZSet.consolidated(total.columns[:-1], total.weights) if self._nested else total

    def _groups(self, change: ZSet, due: list[Weighted]) -> Columns:
        """Return the groups to re-evaluate now."""
        key = change.columns[: self._width]
        if not due and self._width == change.arity:
            return key
        return ZSet.gathered([(key, np.ones(len(change), np.int64)), *due], self._width).columns

    def _wait(self, time: int, groups: Columns, found: Sequence[Found]) -> None:
        """Schedule groups for the later iterations at which they changed in earlier updates."""
        for which, places, run in found:
            times = run.columns[-1][places]
            if len(times) and int(times.max()) > time:
                later = times > time
                which = which[later]
                self._agenda.add(times[later], tuple(column[which] for column in groups), np.ones(len(which), np.int64))

    def _result(self, time: int, groups: Columns, change: ZSet, found: Sequence[Found]) -> ZSet:
        """Return the change of the function's result, given the past rows of these groups."""
        old = _rows(found)
        new = [*old, *_rows(self._present.between(groups, groups))]
        result = self._applied(self._until(time, new) + change) - self._applied(self._until(time, old))
        if self._nested and time:
            result = result - self._applied(self._until(time - 1, new)) + self._applied(self._until(time - 1, old))
        return result

    def _applied(self, rows: ZSet) -> ZSet:
        return self.checked(self._function(rows))

    def _until(self, last: int, rows: Sequence[tuple[Columns, Integers]]) -> ZSet:
        """Return the sum of the rows up to an iteration."""
        parts = []
        for columns, weights in rows:
            if self._nested:
                known = columns[-1] <= last
                columns, weights = tuple(column[known] for column in columns[:-1]), weights[known]
            parts.append(ZSet.consolidated(columns, weights))
        return ZSet.sum(parts, self.accepts[0])


def _rows(found: Iterable[Found]) -> list[tuple[Columns, Integers]]:
    """Return the rows of search results with their weights."""
    return [(tuple(column[places] for column in run.columns), run.weights[places]) for _, places, run in found]


class DistinctOperator(Groupwise):
    """The incremental version of `ZSet.distinct`: each row is a group of its own, described by its weight."""

    def __init__(self, arity: int, nested: bool) -> None:
        super().__init__("distinct", arity, arity, arity, ZSet.distinct, nested)

    def _result(self, time: int, groups: Columns, change: ZSet, found: Sequence[Found]) -> ZSet:
        if sum((run.magnitude for run in (*self._past.runs, *self._present.runs)), change.magnitude) > SAFE:
            return super()._result(time, groups, change, found)  # which checks the sums
        count = len(groups[0])
        old, old_before = self._weights(time, count, found)
        new, new_before = self._weights(time, count, self._present.between(groups, groups))
        if len(change) == count:
            new += change.weights
        else:
            new[search(groups, change.columns, "left")] += change.weights
        new += old
        result = (new > 0).astype(np.int64) - (old > 0)
        if self._nested and time:
            new_before += old_before
            result -= (new_before > 0).astype(np.int64) - (old_before > 0)
        (kept,) = result.nonzero()
        return ZSet(tuple(column[kept] for column in groups), result[kept])

    def _weights(self, time: int, count: int, found: Iterable[Found]) -> tuple[Integers, Integers]:
        """Return the weights of rows from the changes up to an iteration, and from those before it."""
        now, before = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for which, places, run in found:
            weights = run.weights[places]
            if self._nested:
                times = run.columns[-1][places]
                np.add.at(before, which, weights * (times < time))
                weights *= times <= time
            np.add.at(now, which, weights)
        return now, before
