"""Backward/forward: a candidate for deletion is deleted only if it has no other derivation.

Source: Motik, Nenov, Piro and Horrocks, Incremental Update of Datalog Materialisation: the Backward/Forward Algorithm (AAAI 2015);
forward proving by watched rule instances, see `kernels.maintenance.proving`.
"""

from __future__ import annotations

import numpy as np

from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.maintenance.strata import StratumByStratum
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import DONE, GROW, PROCESS, Goal
from kg_reasoner.storage.kernels.memory.buffers import allocate

FIRST_GOALS, FIRST_POOL = 64, 1 << 12


class BackwardForward(StratumByStratum):
    """Deletes only facts without another derivation, so that no fact must be inserted again."""

    deletes_at_once = True

    def __init__(self, materialiser: Materialiser) -> None:
        super().__init__(materialiser)
        context = self.database.context
        self._goals = allocate((0, len(Goal.fields)), np.int64)
        context.pool = allocate(FIRST_POOL, np.int64)
        context.pool_room = FIRST_POOL
        self._add_goals(FIRST_GOALS)
        self.database.watch()

    def fulfil(self, status: int) -> None:
        """See `StratumByStratum.fulfil`."""
        if status == GROW and self.database.context.phase == PROCESS:
            self._grow()
        else:
            super().fulfil(status)

    def process_candidates(self) -> None:
        """See `StratumByStratum.process_candidates`."""
        context = self.database.context
        context.depth = context.pending = context.unsettled = -1
        with self.materialiser.recorder.measure("backward"):
            while (status := self.materialiser.run(native.process_candidates)) != DONE:
                if status == GROW:
                    self._grow()
                else:
                    self.materialiser.fulfil(status)

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
