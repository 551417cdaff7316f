"""Backward/forward deletion: the Python side of `kernels.deletion`, which names the source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kg_reasoner.kernels import native
from kg_reasoner.kernels.layout import BUILD_INDEX, DONE, GROW, VALUES, Goal
from kg_reasoner.kernels.memory import Table, allocate
from kg_reasoner.maintenance import Fact
from kg_reasoner.materialise import Materialiser, PlannedRule, by_section
from kg_reasoner.planner import plan_backward

FIRST_GOALS, FIRST_POOL = 64, 1 << 12


class BackwardForward:
    """Deletes from the database of a materialiser whose rules negate nothing.

    The lists are as long as there are facts, so that kernels never find them full; memory that is never touched costs nothing.
    """

    def __init__(self, materialiser: Materialiser) -> None:
        self.materialiser = materialiser
        self.database = materialiser.database
        self._room = 0
        self._goals = Table(Goal, self.database.context, "goals", FIRST_GOALS)
        self._plans: dict[int, int] = {}
        self._version = self._sections = -1
        context = self.database.context
        context.pool = allocate(FIRST_POOL, np.int64)
        context.pool_room = FIRST_POOL
        context.derivers = allocate(1, np.int32)
        self._add_goals(FIRST_GOALS)

    def delete(self, facts: Sequence[Fact], rules: Sequence[PlannedRule]) -> int:
        """See `Maintenance.delete`."""
        context = self.database.context
        self._make_room()
        context.doubted_count = context.doubted_done = context.checked_count = context.checked_done = 0
        context.proved_count = context.proved_done = context.pool_count = 0
        context.depth = context.pending = -1
        for relation, row in facts:
            native.doubt_row(self.database.address, relation, row)
        for planned in rules:
            plan = self.materialiser.whole_plan(planned)
            while (status := native.doubt_rule(self.database.address, plan)) != DONE:
                self._help(status)
        self.materialiser.remove_rules(rules)
        self._enter_derivers()
        for stratum in self.materialiser.strata:
            self.materialiser.enter(stratum)
            while (status := native.settle_doubts(self.database.address)) != DONE:
                self._help(status)
        return native.finish_deletion(self.database.address)

    def _help(self, status: int) -> None:
        """Do what a kernel asked for."""
        context = self.database.context
        if status == BUILD_INDEX:
            self.database.build(context.wanted)
        elif status == VALUES:
            self.materialiser.values.update()
        elif status == GROW:
            if context.depth + 1 >= context.goal_room:
                self._add_goals(len(self._goals))
            else:
                room = 2 * context.pool_room + 3 + self.database.frames.depth
                pool = allocate(room, np.int64)
                pool[: context.pool_count] = context.pool[: context.pool_count]
                context.pool, context.pool_room = pool, room

    def _add_goals(self, count: int) -> None:
        for _ in range(count):
            self._goals.add()
        self.database.frames.add(count)
        self.database.context.goal_room = len(self._goals)

    def _make_room(self) -> None:
        """Make the lists as long as there are facts, and give every relation room for watches."""
        database, context = self.database, self.database.context
        facts = sum(record.count for record in database.relations.records)
        if facts >= self._room:
            self._room = facts + facts // 2 + 16
            context.doubted, context.checked, context.proved = (allocate(self._room, np.int64) for _ in range(3))
        for record in database.relations.records:
            if record.watch_room < record.capacity:
                record.watches, record.watch_room = allocate(record.capacity, np.int32), record.capacity

    def _enter_derivers(self) -> None:
        """Enter the plans that find the instances of a rule from its head, by the sections of the heads."""
        materialiser, database = self.materialiser, self.database
        if self._version == materialiser.version and self._sections == len(database.sections):
            return
        heads = []
        for stratum in materialiser.strata:
            for planned in stratum.rules:
                if planned.number not in self._plans:
                    self._plans[planned.number] = plan_backward(database, planned.rule, planned.number)
                heads.append((planned.rule.head, self._plans[planned.number]))
        plans, ranges = by_section(database, heads)
        database.context.derivers = plans
        for record, (first, end) in zip(database.sections.records, ranges.tolist(), strict=True):
            record.first_deriver, record.end_deriver = first, end
        self._version, self._sections = materialiser.version, len(database.sections)
