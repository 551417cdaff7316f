"""Many facts to retract: several threads look them up, which takes most of the time, and one retracts them in their order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np

from kg_reasoner.concurrency.tasks import run_together
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import Argument, address, allocate

__all__ = ["retract_together"]

_PARTS_OF_A_THREAD: Final = 4


def retract_together(
    database: Argument, find: Callable[[int, int, int], int], count: int, flag: int, changed: Argument, threads: int
) -> None:
    """Remove a flag from facts that hold.

    Args:
        database: The address of the relations.
        find: Writes for a range of the facts which they are to an array, given its address (see `kernels.loading.find_facts`).
        count: The number of facts.
        flag: The flag.
        changed: The address of the array that says of each fact whether it had the flag.
        threads: The number of threads.
    """
    found = allocate(count, np.int64)
    parts = _PARTS_OF_A_THREAD * threads
    ranges = pairwise(count * part // parts for part in range(parts + 1))
    run_together([partial(find, first, end, address(found)) for first, end in ranges], threads)
    native.retract_found(database, address(found), count, flag, changed)
