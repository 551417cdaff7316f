"""The solutions of a plan, fetched one after the other until there are enough."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final, TypeAlias

import numpy as np

from kg_reasoner.concurrency.limits import NOBODY, current_watch
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.databases.workspaces import Workspace
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate

__all__ = ["CHUNK", "Prepare", "Proper", "fetched_one_by_one"]

Prepare: TypeAlias = Callable[[], AbstractContextManager[tuple[Workspace, int]]]
"""Makes the ``with`` block in which a query has a plan."""

Proper: TypeAlias = Callable[[Ids], Ids]
"""Returns those solutions that are answers, or the answers that they represent."""

FIRST_CHUNK: Final = 64
CHUNK: Final = 1 << 16
"""The numbers of solutions that are fetched at once: initially, and afterwards."""


def fetched_one_by_one(prepare: Prepare, proper: Proper | None, width: int, limit: int) -> Ids:
    """Run a plan for a few solutions, one after the other.

    Args:
        prepare: Makes the block in which the query has its plan.
        proper: Chooses those that are answers; None: all of them are.
        width: The number of columns of a solution.
        limit: At least this number is sufficient.
    """
    chunks: list[Ids] = []
    with prepare() as (workspace, plan):
        watch = current_watch()
        if watch is not NOBODY:
            watch.attach(workspace.context)
        try:
            workspace.start(plan)
            size = count = min(FIRST_CHUNK, max(1, limit))
            total = fetched = 0
            while count == size and total < limit:
                size = CHUNK if fetched else size
                out = allocate(size * width, np.int32)
                count = native.fetch(workspace.address, width, address(out), size)
                fetched += count
                watch.check(fetched, 4 * width * fetched)
                found: Ids = np.asarray(out[: count * width]).reshape(count, width)
                chunks.append(found if proper is None else proper(found))
                total += len(chunks[-1])
        finally:
            if watch is not NOBODY:
                watch.detach(workspace.context)
    return chunks[0] if len(chunks) == 1 else np.concatenate([np.empty((0, width), np.int32), *chunks])
