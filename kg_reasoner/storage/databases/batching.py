"""The memory that a plan needs for joins in batches."""

from __future__ import annotations

import numpy as np

from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.kernels.queries.batches import BATCH, BatchedJoin, MatchBatch

__all__ = ["BatchMemory"]


class BatchMemory:
    """The memory for joins in batches, see `kg_reasoner.storage.kernels.queries.batches`.

    Args:
        plan: The plan that uses it.
        steps: The number of its steps.
        slots: The number of its slots.
    """

    __slots__ = ("address", "join", "plan")

    def __init__(self, plan: int, steps: int, slots: int) -> None:
        self.plan = plan
        self.join = StructTable(BatchedJoin, capacity=1).add(
            batches=allocate((steps + 1, len(MatchBatch.fields)), np.int64),
            matches=allocate((steps + 1) * BATCH * (slots + 1), np.int32),
            places=allocate((steps + 1) * BATCH, np.int32),
            stride=slots + 1,
        )
        self.address = self.join.address

    def begin(self, width: int, seed_width: int, seed_count: int, *, once: bool) -> None:
        """Begin a join.

        Args:
            width: The number of ids of an answer: those of the plan's head, and the number of the seed.
            seed_width: The number of ids of a seed.
            seed_count: The number of seeds.
            once: Whether only the first answer of each seed is wanted.
        """
        join = self.join
        join.batches[:] = 0
        join.width, join.seed_width, join.seed_count, join.once = width, seed_width, seed_count, int(once)
        join.depth = join.top = join.next_seed = join.answered = 0
