"""Backward/forward: a candidate for deletion is deleted only if it has no other derivation.

Source: Motik, Nenov, Piro and Horrocks, Incremental Update of Datalog Materialisation: the Backward/Forward Algorithm (AAAI 2015);
forward proving by watched rule instances, see `kernels.deletion`.
"""

from __future__ import annotations

import numpy as np

from kg_reasoner.engine.maintenance import Work
from kg_reasoner.engine.maintenance.collect import collect
from kg_reasoner.engine.maintenance.strata import StratumByStratum
from kg_reasoner.engine.materialise import Materialiser
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import DONE, GROW, PAUSE, Goal
from kg_reasoner.storage.kernels.memory import allocate
from kg_reasoner.storage.kernels.update import PROCESS

FIRST_GOALS, FIRST_POOL = 64, 1 << 12


class BackwardForward(StratumByStratum):
    """Deletes only facts without another derivation, so that no fact must be inserted again."""

    def __init__(self, materialiser: Materialiser) -> None:
        super().__init__(materialiser)
        context = self.database.context
        self._goals = allocate((0, len(Goal.fields)), np.int64)
        context.pool = allocate(FIRST_POOL, np.int64)
        context.pool_room = FIRST_POOL
        self._add_goals(FIRST_GOALS)
        self.database.watch()

    def update(self, work: Work) -> None:
        """See `StratumByStratum.update`."""
        materialiser, database, context = self.materialiser, self.database, self.database.context
        strata = materialiser.make_strata()
        if not (self._is_simple(work) and materialiser.is_simple) or database.is_fresh:
            super().update(work)
            return
        materialiser.enter(strata[0])
        if context.removed_count:
            self.prepare()
        while (status := native.update_stratum(database.address, int(work.collects))) != DONE:
            if status == PAUSE:
                collect(database, work)
            elif status == GROW and context.phase == PROCESS:
                self._grow()
            else:
                materialiser.help(status)
        materialiser.rest()

    def _is_simple(self, work: Work) -> bool:
        """Return whether only facts have changed, and nobody follows what happens."""
        is_followed = work.progress is not None or self.materialiser.inserter is not None
        return not (work.new_rules or work.gone_rules or work.gone_aggregates or is_followed)

    def process_candidates(self) -> None:
        """See `StratumByStratum.process_candidates`."""
        context = self.database.context
        context.depth = context.pending = -1
        with self.materialiser.recorder.measure("backward"):
            while (status := native.process_candidates(self.database.address)) != DONE:
                if status == GROW:
                    self._grow()
                else:
                    self.materialiser.help(status)

    def _grow(self) -> None:
        """Allocate room for deeper searches, or for more waiting rule instances."""
        context = self.database.context
        if context.depth + 1 >= context.goal_room:
            self._add_goals(context.goal_room)
        else:
            room = 2 * context.pool_room + 3 + self.database.frames.depth
            pool = allocate(room, np.int64)
            pool[: context.pool_count] = context.pool[: context.pool_count]
            context.pool, context.pool_room = pool, room

    def _add_goals(self, count: int) -> None:
        context = self.database.context
        used = context.goal_room
        goals = allocate((used + count, len(Goal.fields)), np.int64, 0)
        goals[:used] = self._goals[:used]
        self.database.frames.add(count)
        context.goals = self._goals = goals
        context.goal_room = used + count
