"""Indexes are built at once, or in slices: while deletions scan the rows of a large relation, each update builds a part.

The first deletions look into many indexes that no rule has needed before, each of them once or twice. It takes as long to build an
index as to scan the rows `PATIENCE` times. So deletions scan them (see `kernels.joins.scan_for_key`), and the index grows in
proportion: an update takes twice as long as its scans do. What scans more rows than that within one update waits for the index.
Rows are only appended meanwhile; if they get other numbers, what has been built is discarded.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from kg_reasoner.errors import LimitError
from kg_reasoner.storage.arrays import unique_rows
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import EMPTY
from kg_reasoner.storage.kernels.memory import Record, StructTable, allocate

__all__ = ["IndexBuilding"]

PATIENCE: Final = 64
"""How many rows are scanned in the time in which one is added to an index."""

SLICE: Final = 1 << 13
"""Rows that are added with each update to one of the indexes, besides those that pay for scans."""

SAMPLE: Final = 1 << 10
"""Rows that are looked at to foresee the size of an index."""

FILLED: Final = 32
"""How many slots of a hash table are initialised in the time in which one row is added."""

LEAP: Final = 16
"""The most by which a table grows at once while an index is built, if so many of its rows are still to come."""

SIZE_CLASSES: Final = 40
"""Free lists of an index: vectors of up to 2**39 entries."""


Steps: TypeAlias = Generator[None, int | None, None]


class Indexed(Protocol):
    """A `kg_reasoner.storage.relation.Database`, which documents these members."""

    relations: StructTable
    indexes: StructTable
    claim: Callable[[int], None]

    def first_sizes(self) -> tuple[int, int]: ...

    def slots_for(self, keys: int) -> int: ...

    def limit_of(self, slots: int) -> int: ...

    def set_keys(self, index: Record, slots: int) -> None: ...

    def grow_index(self, index: Record, times: int = 2) -> None: ...

    def link(self, index: int) -> None: ...


class IndexBuilding:
    """Builds the indexes of a database.

    Attributes:
        running: The indexes that are being built in slices.
    """

    def __init__(self, database: Indexed) -> None:
        self._database = database
        self.running: dict[int, Steps] = {}
        self._left: dict[int, int] = {}
        """The patience of these indexes at their last steps."""

    def build(self, index: int) -> None:
        """Build an index from the existing rows, or what is left of that; it is maintained from now on."""
        for _ in self.running.pop(index, ()):
            pass
        if not self._database.indexes[index].built:
            for _ in self._steps(index, *self._database.first_sizes()):
                pass

    def begin(self, index: int) -> bool:
        """Begin to build an index in slices. Return False if that has begun before, or if there is no room for all of it."""
        database, record = self._database, self._database.indexes[index]
        if index in self.running:
            return False
        relation = database.relations[record.relation]
        keys, entries = _expected(relation, record)
        slots, arena = database.slots_for(keys), 2 * entries
        try:
            database.claim(16 * slots + 8 * arena)
            steps = self._steps(index, slots, arena)
            next(steps)
        except (LimitError, MemoryError):
            return False
        self.running[index] = steps
        self._left[index] = record.patience = PATIENCE * relation.count
        return True

    def advance(self) -> None:
        """Build a part of each index, as large as the time that the last update has taken to scan. No update is under way."""
        indexes = self._database.indexes
        first = min(self.running, key=lambda index: indexes[index].patience)
        for index, steps in list(self.running.items()):
            patience = indexes[index].patience
            rows, self._left[index] = (self._left[index] - patience) // PATIENCE, patience
            if index == first:
                rows += SLICE
            if rows:
                try:
                    steps.send(rows)
                except StopIteration:
                    self.running.pop(index, None)

    def discard(self, relation: int) -> None:
        """Discard what has been built for a relation whose rows get other numbers."""
        for index in [index for index in self.running if self._database.indexes[index].relation == relation]:
            self.running.pop(index, None)

    def _steps(self, number: int, slots: int, arena: int) -> Steps:
        """Build an index step by step, each as long as it takes to add a number of rows that is sent; None: all.

        Args:
            number: The number of the index.
            slots: The first size of its hash table.
            arena: The first size of its arena.
        """
        database, record = self._database, self._database.indexes[number]
        relation = database.relations[record.relation]
        keys = allocate(slots, np.int64)
        tables: dict[str, Any] = {"keys": keys, "starts": allocate(slots, np.int32), "lengths": allocate(slots, np.int32)}
        tables |= {"arena": allocate(arena, np.int64), "free": allocate(SIZE_CLASSES, np.int64, -1)}
        record.publish(**tables, mask=slots - 1, used=0, limit=database.limit_of(slots), top=0, capacity=arena, need=0)
        filled = row = 0
        while filled < slots:
            size = yield
            last = slots if size is None else min(slots, filled + FILLED * size)
            keys[filled:last] = EMPTY
            filled = last
        while row < relation.count:
            size = yield
            last = relation.count if size is None else min(relation.count, row + size)
            while (row := native.index_rows(relation.address, record.address, record.constant, row, last)) < last:
                database.grow_index(record, max(last // row, 2) if row > last // LEAP else 2)
        if 4 * record.used < record.limit and record.mask + 1 > database.first_sizes()[0]:
            database.set_keys(record, database.slots_for(record.used))  # there were fewer keys than expected
        database.link(number)


def _expected(relation: Record, index: Record) -> tuple[int, int]:
    """Return the expected numbers of keys and entries of an index, by a sample of the rows. There may be fewer keys."""
    count = relation.count
    sample = np.asarray(relation.rows)[: count * relation.arity].reshape(count, -1)[:: max(1, count // SAMPLE)]
    chosen = sample if index.constant < 0 else sample[sample[:, relation.section_column] == index.constant]
    keys = unique_rows(chosen[:, np.asarray(index.columns)[: index.width]])
    return count * (len(keys) + 1) // len(sample), count * (len(chosen) + 1) // len(sample)
