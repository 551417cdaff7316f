"""Large indexes, built by several threads at once (see `kernels.bulk_insertion`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import log
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.tasks import Task
from kg_reasoner.storage.capacities import slots_for
from kg_reasoner.storage.indexes import IndexedRelations
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.bulk_insertion import MOST_SPILLED, ROWS, SIZE, SPILLED, SPILLS, USED
from kg_reasoner.storage.kernels.layout import DONE, RING
from kg_reasoner.storage.kernels.memory import address, allocate

__all__ = ["Building"]

Marks: TypeAlias = npt.NDArray[np.uint8]
Numbers: TypeAlias = npt.NDArray[np.int64]

MARKS: Final = 1 << 20
"""The most bytes for marks of keys; they are enough to estimate some millions of keys."""


class Building:
    """The building of an index in parts. `steps` yields the tasks of each step, which may run at the same time.

    Args:
        database: The database.
        index: The number of the index.
        parts: The number of parts.
    """

    def __init__(self, database: IndexedRelations, index: int, parts: int) -> None:
        self._database, self._number, self._parts = database, index, parts
        self._index = database.indexes[index]
        self._relation = database.relations[self._index.relation]
        self._constant = database.index_constant(index)
        self._waiting = [allocate(2 * RING + 2, np.int64) for _ in range(parts)]
        self._reports = [allocate(SPILLS + 2 * MOST_SPILLED, np.int64, 0) for _ in range(parts)]
        self._found: list[Numbers] = []
        """The row and the slot of each entry, for each part."""

    def steps(self) -> Iterator[list[Task]]:
        """Yield the tasks of each step. They have been run when the next step is asked for."""
        database, index, parts = self._database, self._index, range(self._parts)
        count = self._relation.count
        marks = [allocate(min(MARKS, slots_for(count)), np.uint8, 0) for _ in parts]
        bounds = [count * part // self._parts for part in range(self._parts + 1)]
        yield [partial(self._mark, marks[part], bounds[part], bounds[part + 1]) for part in parts]
        slots = slots_for(_estimated(marks))
        room = min(count, 2 * count // self._parts) + RING
        while True:
            database.set_empty_keys(self._number, slots)
            self._found = [allocate(room, np.int64) for _ in parts]
            results: list[int] = []
            yield [partial(self._count, part, results) for part in parts]
            if all(status == DONE for status in results):
                break
            slots, room = 2 * slots, count + RING
        for report in self._reports:
            native.place_spilled(index.address, address(report))
        sizes = [int(report[SIZE]) for report in self._reports]
        index.used = sum(int(report[USED] + report[SPILLED]) for report in self._reports)
        database.set_arena(self._number, sum(sizes))
        yield [partial(self._fill, part, sum(sizes[:part])) for part in parts]
        self._found = []
        index.top = sum(sizes)

    def _mark(self, marks: Marks, first: int, end: int) -> None:
        here = self._relation.address, self._index.address, self._constant
        native.mark_keys(*here, first, end, address(marks), len(marks) - 1)

    def _count(self, part: int, results: list[int]) -> None:
        here, found = (self._relation.address, self._index.address, self._constant), self._found[part]
        scratch = address(self._waiting[part]), address(self._reports[part])
        results.append(native.count_keys(*here, part, self._parts, *scratch, address(found), len(found)))

    def _fill(self, part: int, top: int) -> None:
        here, found = (self._relation.address, self._index.address), self._found[part]
        native.fill_vectors(*here, address(found), int(self._reports[part][ROWS]), top)


def _estimated(marks: list[Marks]) -> int:
    """Return the number of keys that have made marks, a little too high (linear counting)."""
    size = len(marks[0])
    unmarked = max(1, size - int(np.count_nonzero(np.bitwise_or.reduce([np.asarray(part) for part in marks]))))
    return int(1.02 * size * log(size / unmarked)) + 1
