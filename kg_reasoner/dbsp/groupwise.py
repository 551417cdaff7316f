"""Incremental versions of functions that look at one group of rows at a time: distinct, and aggregates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from kg_reasoner.dbsp.agenda import Agenda
from kg_reasoner.dbsp.columns import Columns, Integers, consolidate, search, sums_by
from kg_reasoner.dbsp.operators import Operator
from kg_reasoner.dbsp.trace import Trace
from kg_reasoner.dbsp.zset import ZSet


class Groupwise(Operator):
    """What changes in a function's result is looked for in the groups that change, and nowhere else.

    With an inner clock, the result at iteration i of this update is f(i) - f(i - 1), f(i) being by how much this update changes the
    function of all changes up to iteration i. So a group has to be looked at when it changes now, and also when it has changed in
    this update and changed at this iteration in earlier ones: it waits on the agenda. The past is kept by iteration for that.

    Args:
        width: the leading columns that make a group.
        function: of a Z-set, whose result for a group depends on the rows of the group only.
    """

    def __init__(
        self, name: str, arity: int, accepts: int, width: int, function: Callable[[ZSet], ZSet], nested: bool
    ) -> None:
        super().__init__(name, arity, (accepts,))
        self._width = width
        self._function = function
        self._nested = nested
        self._past = Trace(accepts + nested)
        self._present = Trace(accepts + nested)
        self._agenda = Agenda(width)

    def step(self, time: int, values: Sequence[ZSet]) -> ZSet:
        (change,) = values
        due = self._agenda.take(time)
        if not len(change) and not len(due):
            return ZSet.empty(self.arity)
        changed = self._groups(change)
        if self._nested and len(change):
            self._wait(time, changed)
        groups = changed if not len(due) else consolidate(
            tuple(map(np.concatenate, zip(changed, due.columns, strict=True))), np.ones(len(changed[0]) + len(due), np.int64)
        )[0]
        result = self._result(time, groups, change)
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

    def _groups(self, change: ZSet) -> Columns:
        """The groups of some rows."""
        key = change.columns[: self._width]
        return key if self._width == change.arity else consolidate(key, np.ones(len(change), np.int64))[0]

    def _wait(self, time: int, groups: Columns) -> None:
        """Look at groups again at the later iterations at which they changed in earlier updates."""
        for which, places, run in self._past.between(groups, groups):
            times = run.columns[-1][places]
            if int(times.max()) > time:
                later = times > time
                which = which[later]
                self._agenda.add(times[later], tuple(column[which] for column in groups), np.ones(len(which), np.int64))

    def _result(self, time: int, groups: Columns, change: ZSet) -> ZSet:
        old = self._rows(self._past, groups)
        new = [*old, *self._rows(self._present, groups)]
        accepted = self.accepts[0]
        function = self._function

        def until(rows: list[tuple[Columns, Integers]], last: int) -> ZSet:
            parts = []
            for columns, weights in rows:
                if self._nested:
                    known = columns[-1] <= last
                    columns, weights = tuple(column[known] for column in columns[:-1]), weights[known]
                parts.append(ZSet.consolidated(columns, weights))
            return ZSet.sum(parts, accepted)

        result = function(until(new, time) + change) - function(until(old, time))
        if self._nested and time:
            result = result - function(until(new, time - 1)) + function(until(old, time - 1))
        return result

    def _rows(self, trace: Trace, groups: Columns) -> list[tuple[Columns, Integers]]:
        return [
            (tuple(column[places] for column in run.columns), run.weights[places])
            for _, places, run in trace.between(groups, groups)
        ]


class Distinct(Groupwise):
    """The incremental version of `ZSet.distinct`: each row is a group, and all that matters of it is its weight."""

    def __init__(self, arity: int, nested: bool) -> None:
        super().__init__("distinct", arity, arity, arity, ZSet.distinct, nested)

    def _result(self, time: int, groups: Columns, change: ZSet) -> ZSet:
        old, old_before = self._weights(self._past, groups, time)
        new, new_before = self._weights(self._present, groups, time)
        if len(change) == len(groups[0]):
            new += change.weights
        else:
            new[search(groups, change.columns, "left")] += change.weights
        new += old
        result = (new > 0).astype(np.int64) - (old > 0)
        if self._nested and time:
            new_before += old_before
            result -= (new_before > 0).astype(np.int64) - (old_before > 0)
        kept = np.flatnonzero(result)
        return ZSet(tuple(column[kept] for column in groups), result[kept])

    def _weights(self, trace: Trace, rows: Columns, time: int) -> tuple[Integers, Integers]:
        """The weights of rows by the changes until an iteration, and by those before it."""
        count = len(rows[0])
        now, before = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for which, places, run in trace.between(rows, rows):
            weights = run.weights[places]
            if not self._nested:
                now += sums_by(which, weights, count)
                continue
            times = run.columns[-1][places]
            now += sums_by(which, np.where(times <= time, weights, 0), count)
            before += sums_by(which, np.where(times < time, weights, 0), count)
        return now, before

