"""Indexes of relations and their sections: made when they are wanted, built when a kernel asks for them, and maintained since."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.errors import CapacityError
from kg_reasoner.storage import capacities
from kg_reasoner.storage.capacities import FILL, limit_of, resized, slots_for
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import EMPTY, MOST, Index
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, grant, lend, repeated
from kg_reasoner.storage.kernels.memory.struct_tables import Record, StructTable
from kg_reasoner.storage.relations.gradual_indexes import GradualIndexes
from kg_reasoner.storage.relations.growing_relations import Relations, slot_of

__all__ = ["IndexedRelations", "item_size", "new_arena", "value_column"]

_LEAP: Final = 16
"""The maximal growth of a table in one step while an index is built."""

LISTED: Final = 1 << 8
"""Up to this number of rows of a section, adding them to an index one by one is faster than scanning all rows."""

SIZE_CLASSES: Final = 40
"""Free lists of an index: vectors of up to 2**39 entries."""

PAIR: Final = 2
"""In relations of more columns, entries are rows, without values."""


class IndexedRelations(Relations):
    """Relations with indexes.

    Args:
        claim: See `Relations`.
    """

    def __init__(self, claim: Callable[[int], None] = grant) -> None:
        super().__init__(claim)
        self.indexes = StructTable(Index, self.context, "indexes")
        self.gradual = GradualIndexes(self)
        """The indexes that are being built in slices."""
        self._indexes: dict[tuple[int, int, tuple[int, ...], int], int] = {}
        self._indexes_of: dict[int, list[int]] = {}
        self._columns: dict[tuple[int, ...], Any] = {}
        """The columns of indexes as arrays, which all indexes on these columns share."""

    @property
    def nbytes(self) -> int:
        """The used bytes of all tuples, flags, hashes and indexes."""
        total = 0
        for relation in self.relations.records:
            total += relation.count * (4 * relation.arity + 2) + 4 * (relation.mask + 1)
        for index in self.indexes.records:
            if index.built:
                total += 16 * (index.mask + 1) + item_size(index) * index.top
        return total

    @property
    def allocated(self) -> int:
        """The allocated bytes of all tables of facts and indexes."""
        return sum(record.nbytes for table in (self.relations, self.indexes) for record in table.records)

    def index(self, relation: int, columns: tuple[int, ...], constant: int = -1, apart: int = 0) -> int:
        """See `PlanMemory.index`."""
        known = self._indexes.get((relation, constant, columns, apart))
        if known is not None:
            return known
        with self.mutex:
            known = self._indexes.get((relation, constant, columns, apart))
            return self._add_index(relation, columns, constant, apart) if known is None else known

    def _add_index(self, relation: int, columns: tuple[int, ...], constant: int, apart: int) -> int:
        return self._add_indexes([relation], columns, [constant], apart)

    def _add_indexes(self, relations: Sequence[int], columns: tuple[int, ...], constants: Sequence[int], apart: int) -> int:
        """Add an index on the same columns for each of some relations of one kind, and sections of them. Return the number of the
        first one.
        """
        first = len(self.indexes)
        example = self.relations[relations[0]]
        section_column = example.section_column if constants[0] >= 0 else -1
        array = self._columns.get(columns)
        if array is None:
            array = self._columns[columns] = lend(np.array(columns, np.int32))
        value = value_column(example.arity, columns, section_column)
        self.indexes.add_many(
            len(relations),
            relation=np.array(relations, np.int64),
            width=len(columns),
            apart=apart,
            columns=repeated(array, len(relations)),
            value_column=value,
            has_values=value >= 0 and example.arity <= PAIR,
            page_bits=capacities.current.page_bits,
            constant=np.array(constants, np.int64),
            next=-1,
        )
        for number, (relation, constant) in enumerate(zip(relations, constants, strict=True), first):
            self._indexes_of.setdefault(relation, []).append(number)
            self._indexes[relation, constant, columns, apart] = number
        return first

    def all_indexes(
        self, relations: Sequence[int], columns: tuple[int, ...], constants: Sequence[int], apart: int
    ) -> npt.NDArray[np.int64]:
        """Return an index for each of some relations of one kind, as `index` does.

        Args:
            relations: The numbers of the relations, all with the same arity and section column.
            columns: The columns of the key.
            constants: The constants of the sections; or -1, each of them.
            apart: See `index`.
        """
        known = self._indexes
        keys = [(relation, constant, columns, apart) for relation, constant in zip(relations, constants, strict=True)]
        with self.mutex:
            missing = list(dict.fromkeys(key for key in keys if key not in known))
            if missing:
                self._add_indexes([key[0] for key in missing], columns, [key[1] for key in missing], apart)
        return np.array([known[key] for key in keys], np.int64)

    def index_value_column(self, index: int) -> int:
        """Return the column whose value index entries carry, or -1."""
        return self.indexes[index].value_column

    def index_constant(self, index: int) -> int:
        """Return the constant of an index's section, or -1."""
        return self.indexes[index].constant

    def built_indexes(self, relation: int) -> list[tuple[int, int]]:
        """Return the indexes of a relation that are maintained, each with the constant of its section, or -1."""
        numbers = (number for number in self._indexes_of.get(relation, ()) if self.indexes[number].built)
        return [(number, self.indexes[number].constant) for number in numbers]

    # --- building ---------------------------------------------------------------------------------------------------

    def build(self, index: int) -> None:
        """Build an index from the existing rows; it is maintained from now on."""
        if not self.gradual.finish(index):
            self.fill_index(index)
            self.link_index(index)

    def postpone(self, index: int) -> bool:
        """Begin to build an index of a large relation in slices, while an update scans the rows. Return whether it has begun.

        It is built at once instead if the update changes so many facts that slices would not be ready in time, or if the index is
        built from few listed rows.
        """
        context, rows = self.context, self.relations[self.indexes[index].relation].count
        may_scan = context.scans and not context.guarding and rows >= context.renew_from
        return bool(may_scan) and self._listed_rows(self.indexes[index]) is None and self.gradual.begin(index)

    def fill_index(self, index: int) -> None:
        """Build an index from the existing rows, as `build` does, but leave it to `link_index` to maintain it."""
        record = self.indexes[index]
        slots, arena = capacities.current.slots, capacities.current.arena
        record.publish(
            keys=allocate(slots, np.int64, EMPTY),
            starts=allocate(slots, np.int32),
            lengths=allocate(slots, np.int32),
            mask=slots - 1,
            used=0,
            limit=limit_of(slots),
            **new_arena(record, arena),
        )
        listed = self._listed_rows(record)
        if listed is None:
            self.extend_index(index, 0)
        else:
            for row in listed:
                self.extend_index(index, row, row + 1)
        if record.mask + 1 > 4 * record.used / FILL and record.mask + 1 > slots:
            self.set_keys(record, slots_for(record.used))  # there were fewer keys than expected

    def size_of(self, index: int) -> int:
        """Return the number of rows that an index will have, or the number of all rows of its relation where that is not known."""
        record = self.indexes[index]
        listed = self._listed(record)
        count: int = self.relations[record.relation].count if listed is None else listed[2]
        return count

    def _listed_rows(self, index: Record) -> list[int] | None:
        """Return the rows of an index's section where an index on the section column has them, and they are few; otherwise None."""
        listed = self._listed(index)
        if listed is None or listed[2] > LISTED:
            return None
        listing, start, length = listed
        found = np.asarray(
            listing.arena[start : start + length] >> 32 if listing.has_values else listing.row_arena[start : start + length]
        )
        return found.tolist()

    def _listed(self, index: Record) -> tuple[Record, int, int] | None:
        """Return where an index on the section column has the rows of an index's section: that index, the first place in its
        vectors and the number of rows. Return None if there is no such index, or it has them in pages.
        """
        number = self._listing(index)
        if number is None or not self.indexes[number].built:
            return None
        listing = self.indexes[number]
        slot = slot_of(listing.keys, index.constant)
        if listing.keys[slot] == EMPTY:
            return listing, 0, 0
        start, length = int(listing.starts[slot]), int(listing.lengths[slot])
        return None if start < 0 else (listing, start, length)

    def _listing(self, index: Record) -> int | None:
        """Return the index on the section column of an index's relation, if the index has the rows of one section only."""
        column = self.relations[index.relation].section_column
        return self._indexes.get((index.relation, -1, (column,), 0)) if index.constant >= 0 else None

    def in_turns(self, indexes: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return some indexes in two groups, to be built one after the other: an index of one section is in the second group if
        the first has the index that lists the rows of sections, from which few rows are read without a scan of the relation.
        """
        turns: tuple[list[int], list[int]] = [], []
        for index in indexes:
            turns[self._listing(self.indexes[index]) in indexes].append(index)
        return turns

    def extend_index(self, index: int, row: int, end: int | None = None) -> None:
        """Add the rows from a row on to an index, or those up to an end."""
        record, constant = self.indexes[index], self.indexes[index].constant
        relation = self.relations[record.relation]
        first, count = row, relation.count if end is None else end
        while (row := native.index_rows(relation.address, record.address, constant, row, count)) < count:
            done, rest = row - first, count - first
            self.grow_index(record, max(rest // done, 2) if first == 0 and done > rest // _LEAP else 2)

    def set_empty_keys(self, index: int, slots: int) -> None:
        """Give an index that is being built a table for keys, which is not initialised."""
        self.claim(16 * slots)
        self.indexes[index].publish(
            keys=allocate(slots, np.int64),
            starts=allocate(slots, np.int32),
            lengths=allocate(slots, np.int32),
            mask=slots - 1,
            limit=limit_of(slots),
        )

    def set_arena(self, index: int, entries: int) -> None:
        """Give an index that is being built room for vectors of a number of entries, and for some later ones."""
        if entries > MOST:
            raise CapacityError(f"an index has {entries:,} entries, the maximal number")
        capacity = min(max(entries + entries // 2, capacities.current.arena), MOST)
        record = self.indexes[index]
        self.claim(item_size(record) * capacity)
        record.publish(**new_arena(record, capacity))

    def link_index(self, index: int) -> None:
        """Maintain an index, which has all rows, from now on."""
        record = self.indexes[index]
        section = self.sections[self.section(record.relation, self.indexes[index].constant)]
        if not self._is_linked(section, index):  # it may be, if an interrupt came at this line before
            record.next = section.first_index
            section.first_index = index
        record.built = 1
        self.gradual.end(index)

    def _is_linked(self, section: Record, index: int) -> bool:
        """Return whether new rows of a section are added to an index."""
        number = section.first_index
        while number not in (-1, index):
            number = self.indexes[number].next
        return bool(number == index)

    def unlink_indexes(self, relation: int) -> list[int]:
        """Stop maintaining the indexes of a relation until they are linked again. Return them."""
        indexes = self.built_indexes(relation)
        for index, constant in indexes:
            self.indexes[index].built = 0
            self.sections[self.section(relation, constant)].first_index = -1
        return [index for index, _ in indexes]

    def drop_indexes(self, relation: int) -> None:
        """Discard all indexes of a relation; they are built again when they are needed."""
        for section in self._sections.get(relation, {}).values():
            self.sections[section].first_index = -1
        self.sections[self.relations[relation].section].first_index = -1
        for index in self._indexes_of.get(relation, ()):
            self.indexes[index].built = 0

    # --- growth -----------------------------------------------------------------------------------------------------

    def grow(self, number: int | None = None) -> None:
        """Make room in a relation, by default the one that a kernel found full, or in its indexes."""
        number = self.context.wanted if number is None else number
        relation = self.relations[number]
        is_full = relation.used >= relation.limit
        if relation.count >= relation.capacity:
            self._set_capacity(relation, max(2 * relation.capacity, capacities.current.grown_rows))
            is_full |= 2 * relation.used > relation.limit and relation.mask + 1 < capacities.current.grown_slots  # soon full
        if is_full:
            self.set_slots(relation, max(2 * (relation.mask + 1), capacities.current.grown_slots))
        for index in self._indexes_of.get(number, ()):
            if self.indexes[index].built:
                self.grow_index(self.indexes[index])

    def grow_index(self, index: Record, times: int = 2) -> None:
        """Make room in an index that is full.

        Args:
            index: The index.
            times: The expected number of entries and keys, in multiples of the present one.
        """
        if index.used >= index.limit:
            self.set_keys(index, max(len(index.keys) << (times - 1).bit_length(), capacities.current.grown_slots))
        if index.need:
            needed = index.top + 2 * index.need
            if index.top + index.need > MOST:
                raise CapacityError(f"an index has {index.top:,} entries, the maximal number")
            entries = times * index.capacity
            entries *= 2 if entries < capacities.current.doubled else 1
            capacity = min(max(entries, capacities.current.grown_arena, needed), MOST)
            self.claim(item_size(index) * capacity)
            name = "arena" if index.has_values else "row_arena"
            index.publish(**{name: resized(getattr(index, name), capacity, index.top)}, capacity=capacity, need=0)

    def set_keys(self, index: Record, slots: int) -> None:
        self.claim(16 * slots)
        keys, starts, lengths = allocate(slots, np.int64, EMPTY), allocate(slots, np.int32), allocate(slots, np.int32)
        native.rehash_index(index.address, address(keys), address(starts), address(lengths), slots - 1)
        index.publish(keys=keys, starts=starts, lengths=lengths, mask=slots - 1, limit=limit_of(slots))


def new_arena(index: Record, capacity: int) -> dict[str, Any]:
    """Return the fields of an index that has no vectors yet, with room for vectors of a number of entries."""
    free = allocate(SIZE_CLASSES, np.int64, -1)
    arena = {"arena": allocate(capacity, np.int64)} if index.has_values else {"row_arena": allocate(capacity, np.int32)}
    return {**arena, "capacity": capacity, "top": 0, "need": 0, "free": free}


def item_size(index: Record) -> int:
    """Return the bytes of an entry."""
    return 8 if index.has_values else 4


def value_column(arity: int, columns: Sequence[int], section_column: int) -> int:
    """Return the column that is the only one outside of an index's key and its section, or -1."""
    rest = [column for column in range(arity) if column not in columns and column != section_column]
    return rest[0] if len(rest) == 1 else -1
