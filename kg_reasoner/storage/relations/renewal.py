"""Growth in steps and compaction in slices: large relations get new tables, a part with each update, and then change over.

A relation with many rows that is nearly full, or has many dead rows, would make one update wait until all rows are copied. Its
successor is filled ahead instead: with the live rows in their order, their hash, and the indexes. Rows are only appended, so what
has been copied remains valid but for the flags, which are copied at the end. A successor that is not complete in time is discarded,
and the relation grows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import numpy as np

from kg_reasoner.errors import LimitError
from kg_reasoner.storage.capacities import fill_of, limit_of, row_mask_for, slots_for
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import ABSENT, EMPTY, MOST, Index, Relation
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.storage.kernels.memory.struct_tables import Record, StructTable
from kg_reasoner.storage.relations.indexes import item_size, new_arena

__all__ = ["Renewals"]

SLICE: Final = 1 << 10
"""Fewer rows than this are not copied in one step: small updates take a step only now and then."""

WORK: Final = 32
"""Rows that are copied for each row that updates have added or deleted, at least."""

LEAST: Final = 8
"""Rows that are copied for each update, at least."""

FILLED: Final = 1 << 13
"""Slots of hash tables that are initialised in one step, at least."""


class Renewable(Protocol):
    """A `kg_reasoner.storage.databases.database.Database`, which documents these members."""

    relations: StructTable
    indexes: StructTable
    claim: Callable[[int], None]

    def built_indexes(self, relation: int) -> list[tuple[int, int]]: ...

    def side_tables(self, relation: Record, rows: Any, capacity: int) -> dict[str, Any]: ...

    def note_renewal(self, relation: int, gone: int) -> None: ...


class Renewals:
    """The successors of a database's relations.

    Attributes:
        running: The renewals under way, by relation.
    """

    def __init__(self, database: Renewable) -> None:
        self._database = database
        self.running: dict[int, Iterator[None]] = {}

    def begin(self, relation: int) -> None:
        """Begin to renew a relation, unless that is under way."""
        self.running.setdefault(relation, self._renewing(relation))

    def discard(self, relation: int) -> None:
        """Discard the successor of a relation, whose rows get other numbers or tables."""
        self.running.pop(relation, None)

    def advance(self) -> None:
        """Take the next step of each renewal. No update is under way."""
        for relation, steps in list(self.running.items()):
            if next(steps, self) is self:
                self.discard(relation)

    def _renewing(self, number: int) -> Iterator[None]:
        """Renew a relation, step by step."""
        database = self._database
        record = database.relations[number]
        indexes = database.built_indexes(number)
        try:
            target, successors = self._successors(record, indexes)
            sources = allocate(target.capacity, np.int32)
        except (LimitError, MemoryError):  # there is no room for two of them: the relation grows when it must
            return
        work = max(WORK, min(SLICE, 2 * record.count // max(1, self._room(record, indexes))))
        known = record.count + record.dead

        def due() -> int:
            """Return how many rows are to be copied for the last update."""
            nonlocal known
            changed, known = record.count + record.dead - known, record.count + record.dead
            return max(LEAST, work * changed)

        for keys in (target.slots, *(successor.keys for successor in successors)):
            first = 0
            while first < len(keys):
                end = first + max(FILLED, due())
                keys[first:end] = EMPTY
                first = end
                yield
        done, owed = 0, 0
        while True:
            owed += due()
            if owed < min(SLICE, record.count - done):
                yield
                continue
            last, owed = min(record.count, done + owed), 0
            first = target.count
            if native.renew_rows(record.address, target.address, address(sources), done, last) < last:
                return
            for (_, constant), successor in zip(indexes, successors, strict=True):
                if native.index_rows(target.address, successor.address, constant, first, target.count) < target.count:
                    return
            if database.built_indexes(number) != indexes:
                return
            done = last
            if done == record.count:
                break
            yield
        self._change_over(number, target, sources[: target.count], list(zip(indexes, successors, strict=True)))

    def _room(self, record: Record, indexes: list[tuple[int, int]]) -> int:
        """Return for how many rows a relation and the indexes of all its rows have room. Indexes with few keys grow at once."""
        room = min(record.capacity - record.count, record.limit - record.used)
        for index in (self._database.indexes[number] for number, constant in indexes if constant < 0):
            room = min(room, index.capacity - index.top)
            if 16 * index.limit > record.count:
                room = min(room, index.limit - index.used)
        return int(room)

    def _successors(self, record: Record, indexes: list[tuple[int, int]]) -> tuple[Record, list[Record]]:
        """Return empty tables with room for twice the live rows; their keys are not initialised yet."""
        database = self._database
        live = record.count - record.dead
        capacity, slots = min(2 * live + SLICE, MOST), slots_for(2 * live, fill_of(record.arity))
        database.claim(capacity * (4 * record.arity + 6) + 4 * slots)
        target = StructTable(Relation, capacity=1).add(
            arity=record.arity,
            section_column=record.section_column,
            capacity=capacity,
            rows=allocate(capacity * record.arity, np.int32),
            flags=allocate(capacity, np.int16),
            slots=allocate(slots, np.int32),
            row_mask=row_mask_for(capacity, slots),
            mask=slots - 1,
            limit=limit_of(slots, fill_of(record.arity)),
        )
        table = StructTable(Index, capacity=max(1, len(indexes)))
        return target, [self._successor(table, database.indexes[number]) for number, _ in indexes]

    def _successor(self, table: StructTable, index: Record) -> Record:
        """Return an empty index with twice the room."""
        database = self._database
        slots, capacity = slots_for(2 * index.used), 2 * index.top + SLICE
        database.claim(16 * slots + item_size(index) * capacity)
        arena = new_arena(index, capacity)
        return table.add(
            relation=index.relation,
            width=index.width,
            apart=index.apart,
            columns=index.columns,
            value_column=index.value_column,
            has_values=index.has_values,
            page_bits=index.page_bits,
            keys=allocate(slots, np.int64),
            starts=allocate(slots, np.int32),
            lengths=allocate(slots, np.int32),
            mask=slots - 1,
            limit=limit_of(slots),
            **arena,
        )

    def _change_over(self, number: int, target: Record, sources: Any, indexes: list[tuple[tuple[int, int], Record]]) -> None:
        """Let a relation use its successor's tables.

        An interrupt in the middle leaves a relation that is whole, and indexes that are discarded with the database.
        """
        database = self._database
        record, count = database.relations[number], target.count
        flags = target.flags
        flags[:count] = record.flags[sources]
        dead = int(np.count_nonzero(flags[:count] & ABSENT))
        gone = record.count - count
        tables: dict[str, Any] = {name: getattr(target, name) for name in ("rows", "slots", "row_mask", "mask", "used", "limit")}
        tables |= database.side_tables(record, sources, target.capacity)
        record.publish(**tables, flags=flags, capacity=target.capacity, count=count, dead=dead)
        for (index, _), successor in indexes:
            arena = "arena" if successor.has_values else "row_arena"
            names = ("keys", "starts", "lengths", "mask", "used", "limit", arena, "top", "capacity", "free")
            database.indexes[index].publish(**{name: getattr(successor, name) for name in names}, need=0)
        database.note_renewal(number, gone)
