"""The memory that a plan needs for joins in batches."""

from __future__ import annotations

import numpy as np

from kg_reasoner.storage.kernels.batches import BATCH, BATCH_STATE, FIRST_BATCH
from kg_reasoner.storage.kernels.memory.buffers import address, allocate

__all__ = ["BatchMemory"]


class BatchMemory:
    """The memory for joins in batches, see `kg_reasoner.storage.kernels.batches`.

    Args:
        plan: The plan that uses it.
        steps: The number of its steps.
        slots: The number of its slots.
    """

    __slots__ = ("addresses", "arrays", "plan", "state")

    def __init__(self, plan: int, steps: int, slots: int) -> None:
        self.plan = plan
        self.state = allocate(FIRST_BATCH + (steps + 1) * BATCH_STATE, np.int64, 0)
        self.arrays = allocate((steps + 1) * BATCH * (slots + 1), np.int32), allocate((steps + 1) * BATCH, np.int32)
        self.addresses = address(self.state), address(self.arrays[0]), slots + 1, address(self.arrays[1])
        """The arguments of the kernel: the state, the matches, their stride, and their places."""
