"""Indexes that are built in slices: updates scan the rows of a large relation meanwhile, and each of them builds a part.

The first updates look into many indexes that no rule has needed before, each of them once or twice. It takes as long to build an
index as to scan the rows `PATIENCE` times. So updates of few facts scan them (see `kernels.joins.scan_for_key`), and the index
grows in proportion: an update takes twice as long as its scans do. One that would scan more rows than that waits for the index.
Rows are only appended meanwhile; if they get other numbers, what has been built is discarded.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final, Protocol, TypeAlias

import numpy as np

from kg_reasoner.errors import LimitError
from kg_reasoner.storage.arrays import unique_rows
from kg_reasoner.storage.capacities import slots_for
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import EMPTY
from kg_reasoner.storage.kernels.memory.struct_tables import Record, StructTable

__all__ = ["GradualIndexes"]

PATIENCE: Final = 64
"""The number of rows that are scanned in the time in which one is added to an index."""

SLICE: Final = 1 << 10
"""The number of rows that each update adds to one of the indexes, in addition to those that pay for scans."""

SAMPLE: Final = 1 << 10
"""The number of rows that are sampled to estimate the size of an index."""

FILLED: Final = 24
"""The number of bytes of new tables that are initialised in the time in which one row is added. The system clears them first."""


Steps: TypeAlias = Generator[None, int | None, None]


class Indexed(Protocol):
    """A `kg_reasoner.storage.relations.indexes.IndexedRelations`, which documents these members."""

    relations: StructTable
    indexes: StructTable

    def set_empty_keys(self, index: int, slots: int) -> None: ...

    def set_arena(self, index: int, entries: int) -> None: ...

    def set_keys(self, index: Record, slots: int) -> None: ...

    def grow_index(self, index: Record, times: int = 2) -> None: ...

    def link_index(self, index: int) -> None: ...


class GradualIndexes:
    """The indexes of a database that are being built in slices.

    Attributes:
        running: The steps that build them.
    """

    def __init__(self, database: Indexed) -> None:
        self._database = database
        self.running: dict[int, Steps] = {}
        self._left: dict[int, int] = {}
        """The patience of these indexes at their last steps."""

    def begin(self, index: int) -> bool:
        """Begin to build an index. Return False if that has begun before, or if there is no room for all of it."""
        record = self._database.indexes[index]
        if index in self.running:
            return False
        relation = self._database.relations[record.relation]
        keys, entries = _expected(relation, record)
        slots = slots_for(keys)
        steps = self._steps(index, slots, entries)
        try:
            next(steps)
        except (LimitError, MemoryError):
            return False
        self.running[index] = steps
        tables = sum(table.itemsize for table in (record.keys, record.starts, record.lengths))
        self._left[index] = record.patience = PATIENCE * (relation.count + slots * tables // FILLED)
        return True

    def finish(self, index: int) -> bool:
        """Build the rest of an index at once. Return whether it is built, which it is not if nothing had begun."""
        for _ in self.running.pop(index, ()):
            pass
        return bool(self._database.indexes[index].built)

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
                except (StopIteration, LimitError, MemoryError):  # if there is no room, updates begin again
                    self.end(index)

    def discard(self, relation: int) -> None:
        """Discard the parts of indexes built for a relation whose rows get other numbers."""
        for index in [index for index in self.running if self._database.indexes[index].relation == relation]:
            self.end(index)

    def end(self, index: int) -> None:
        """End the steps of an index that is built or discarded. Updates do not scan in its place, unless it is begun again."""
        self.running.pop(index, None)
        self._database.indexes[index].patience = 0

    def _steps(self, number: int, slots: int, entries: int) -> Steps:
        """Build an index step by step, each as long as it takes to add a number of rows that is sent; None: all.

        The tables of keys are initialised first: rows touch them all over, and the system clears memory when it is used first.

        Args:
            number: The number of the index.
            slots: The number of slots for its keys.
            entries: The expected number of its entries.
        """
        database, record = self._database, self._database.indexes[number]
        relation = database.relations[record.relation]
        database.set_empty_keys(number, slots)
        database.set_arena(number, 2 * entries)
        record.used = 0
        for table, fill in ((record.keys, EMPTY), (record.starts, 0), (record.lengths, 0)):
            filled = 0
            while filled < slots:
                size = yield
                last = slots if size is None else min(slots, filled + max(1, FILLED * size // table.itemsize))
                table[filled:last] = fill
                filled = last
        row = 0
        while row < relation.count:
            size = yield
            last = relation.count if size is None else min(relation.count, row + size)
            while (row := native.index_rows(relation.address, record.address, record.constant, row, last)) < last:
                database.grow_index(record)
        if 4 * record.used < record.limit:
            database.set_keys(record, slots_for(record.used))  # there were fewer keys than expected
        database.link_index(number)


def _expected(relation: Record, index: Record) -> tuple[int, int]:
    """Return the expected numbers of keys and entries of an index, by a sample of the rows. There may be fewer keys.

    There are at most as many keys as rows with another key than the row before: often the rows of a key come together.
    """
    count = relation.count
    rows = np.asarray(relation.rows)[: count * relation.arity].reshape(count, -1)
    places = np.arange(0, count, max(1, count // SAMPLE))
    if index.constant >= 0:
        chosen = places[rows[places, relation.section_column] == index.constant]
    else:
        chosen = places
    columns = np.asarray(index.columns)[: index.width]
    keys = rows[chosen][:, columns]
    begins = (keys != rows[chosen - 1][:, columns]).any(axis=1).sum()
    return count * (min(len(unique_rows(keys)), begins) + 1) // len(places), count * (len(chosen) + 1) // len(places)
