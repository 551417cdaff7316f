"""Large indexes, built by several threads at once.

The threads share the keys (see `kernels.bulk_insertion`) or, where these are few, the rows (see `kernels.few_keys`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from math import log
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.tasks import Task
from kg_reasoner.storage import capacities
from kg_reasoner.storage.capacities import slots_for
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import DONE, EMPTY, RING
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.storage.kernels.thread_results import MOST_SPILLED, ROWS, SIZE, SPILLED, SPILLS, USED
from kg_reasoner.storage.relations.indexes import IndexedRelations

__all__ = ["Building"]

Marks: TypeAlias = npt.NDArray[np.uint8]
Numbers: TypeAlias = npt.NDArray[np.int64]

MARKS: Final = 1 << 20
"""The maximal size in bytes of the table of marks, with which some millions of keys can be estimated."""


class _Counts:
    """A table for the keys in a range of rows, and their numbers of rows."""

    def __init__(self, slots: int) -> None:
        self.keys, self.lengths = allocate(slots, np.int64, EMPTY), allocate(slots, np.int32)
        self.starts = allocate(slots, np.int32)
        self.mask = slots - 1

    @property
    def used(self) -> int:
        """The number of keys."""
        return int(np.count_nonzero(self.keys != EMPTY))

    @property
    def addresses(self) -> tuple[int, int]:
        """The addresses of the keys and of the numbers."""
        return address(self.keys), address(self.lengths)


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
        bounds = [self._relation.count * part // self._parts for part in range(self._parts + 1)]
        ranges = list(pairwise(bounds))
        if (few_keys := capacities.current.few_keys) > 0:
            counts, results = [_Counts(slots_for(few_keys)) for _ in ranges], list[int]()
            yield [partial(self._count_rows, *each, results) for each in zip(counts, ranges, strict=True)]
            if all(status == DONE for status in results):
                yield self._by_rows(list(zip(counts, ranges, strict=True)))
                return
            del counts
        marks = [allocate(min(MARKS, slots_for(self._relation.count)), np.uint8, 0) for _ in ranges]
        yield [partial(self._mark, *each) for each in zip(marks, ranges, strict=True)]
        yield from self._by_keys(_estimated(marks))

    def _by_keys(self, keys: int) -> Iterator[list[Task]]:
        """Yield the steps in which each thread adds a part of the keys."""
        database, index, parts, count = self._database, self._index, range(self._parts), self._relation.count
        slots = slots_for(keys)
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
        index.top = sum(sizes)

    def _by_rows(self, counted: Sequence[tuple[_Counts, tuple[int, int]]]) -> list[Task]:
        """Lay out the vectors for keys whose rows have been counted, and return the tasks in which each thread adds a range of
        rows.
        """
        database, index = self._database, self._index
        database.set_empty_keys(self._number, slots_for(sum(counts.used for counts, _ in counted)))
        index.keys[:], index.used = EMPTY, 0
        for counts, _ in counted:
            native.add_counts(index.address, *counts.addresses, counts.mask)
        database.set_arena(self._number, native.room_of_vectors(index.address))
        native.lay_out_vectors(index.address)
        return [partial(self._fill_rows, *each) for each in counted]

    def _count_rows(self, counts: _Counts, rows: tuple[int, int], results: list[int]) -> None:
        here = self._relation.address, self._index.address, self._constant
        results.append(native.count_in_range(*here, *rows, *counts.addresses, counts.mask))

    def _fill_rows(self, counts: _Counts, rows: tuple[int, int]) -> None:
        here = self._relation.address, self._index.address, self._constant
        native.fill_in_range(*here, *rows, *counts.addresses, address(counts.starts), counts.mask)

    def _mark(self, marks: Marks, rows: tuple[int, int]) -> None:
        here = self._relation.address, self._index.address, self._constant
        native.mark_keys(*here, *rows, address(marks), len(marks) - 1)

    def _count(self, part: int, results: list[int]) -> None:
        here, found = (self._relation.address, self._index.address, self._constant), self._found[part]
        scratch = address(self._waiting[part]), address(self._reports[part])
        results.append(native.count_keys(*here, part, self._parts, *scratch, address(found), len(found)))

    def _fill(self, part: int, top: int) -> None:
        here, found = (self._relation.address, self._index.address), self._found[part]
        native.fill_vectors(*here, address(found), int(self._reports[part][ROWS]), top)
        self._found[part] = allocate(0, np.int64)  # threads free large blocks at the same time


def _estimated(marks: list[Marks]) -> int:
    """Return the number of keys that have made marks, a little too high (linear counting)."""
    size = len(marks[0])
    unmarked = max(1, size - int(np.count_nonzero(np.bitwise_or.reduce([np.asarray(part) for part in marks]))))
    return int(1.02 * size * log(size / unmarked)) + 1
