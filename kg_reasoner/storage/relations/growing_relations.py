"""Relations and their sections: tables of rows with a hash, which grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.forking import new_mutex
from kg_reasoner.errors import CapacityError
from kg_reasoner.storage import capacities
from kg_reasoner.storage.arrays import Rows, selected_rows
from kg_reasoner.storage.capacities import Copier, copy_items, fill_of, limit_of, resized, row_mask_for, slots_for, table_size
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import ABSENT, EMPTY, EXPLICIT, MOST, RING, Relation, Section
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, allocate_each, grant, repeated
from kg_reasoner.storage.kernels.memory.struct_tables import Record, StructTable
from kg_reasoner.storage.kernels.primitives import mix
from kg_reasoner.storage.relations.plan_memory import PlanMemory

__all__ = ["NO_BITS", "Relations", "slot_of"]

RANKS: Final = ("ranks", "tallies")
"""The fields of a relation that only counting uses, one number for each row."""

_NO_SECTIONS: Final = allocate(16, np.int64, EMPTY), allocate(16, np.int32, -1)
"""The table of a relation's sections by their constants, before it has any; no kernel writes to it."""

NO_BITS: Final = allocate(1, np.uint8, 0)
"""The bits of a relation that has none (see `known_terms`)."""


class Relations(PlanMemory):
    """Relations and their sections, known by their numbers.

    Args:
        claim: Called with a number of bytes before they are allocated; raises an error if that is too much.
    """

    def __init__(self, claim: Callable[[int], None] = grant) -> None:
        super().__init__()
        self.claim = claim
        """See the argument."""
        self.relations = StructTable(Relation, self.context, "relations")
        self.sections = StructTable(Section, self.context, "sections")
        self.mutex = new_mutex()
        """Held where readers make or build indexes, or look something up through arrays that all of them share."""
        for name in ("triggers", "derivers", "blockers"):
            setattr(self.context, name, allocate(1, np.int32))
        self.materialised = self.processed = np.empty(0, np.int64)
        self._grown = np.empty(0, np.int32)
        self._extend_counts(16)
        self.context.requests, self.context.request_room = allocate(1, np.int32), 0
        self._watched = self._ranked = False
        self._sections: dict[int, dict[int, int]] = {}
        """The sections of each relation, by their constants."""
        self._set_arity(self.frames.arity)

    def relation(self, number: int) -> Record:
        """See `PlanMemory.relation`."""
        return self.relations[number]

    def add_relation(self, arity: int, section_column: int = -1) -> int:
        """Return a new, empty relation. With a section column, rows are grouped by the constant in that column."""
        return self.add_relations(1, arity, section_column)

    def add_relations(self, count: int, arity: int, section_column: int = -1) -> int:
        """Add empty relations, and return the number of the first one. See `add_relation`."""
        first = len(self.relations)
        if first + count > MOST:
            raise CapacityError(f"the database has {MOST:,} relations (of predicates, properties and classes), the maximal number")
        if first + count > len(self.materialised):
            self._extend_counts(max(2 * first, first + count))
        if arity > self.frames.arity:
            self._set_arity(arity)
        capacity, slots = capacities.current.rows, capacities.current.slots
        per_row = (*(("watches",) if self._watched else ()), *(RANKS if self._ranked else ()))
        self.relations.add_many(
            count,
            arity=arity,
            level=-1,
            ranked=-1,
            capacity=capacity,
            rows=allocate_each(count, capacity * max(arity, 1), np.int32),
            flags=allocate_each(count, capacity, np.int16),
            slots=allocate_each(count, slots, np.int32, EMPTY),
            row_mask=row_mask_for(capacity, slots),
            mask=slots - 1,
            limit=limit_of(slots, fill_of(arity)),
            section=self.sections.add_many(count, first_index=-1) + np.arange(count),
            section_column=section_column,
            section_keys=repeated(_NO_SECTIONS[0], count),
            section_ids=repeated(_NO_SECTIONS[1], count),
            section_mask=len(_NO_SECTIONS[0]) - 1,
            known=repeated(NO_BITS, count),
            **{name: allocate_each(count, capacity, np.int32) for name in per_row},
        )
        self.context.relation_count = first + count
        return first

    # --- sections ---------------------------------------------------------------------------------------------------

    def _add_section(self) -> int:
        self.sections.add(first_index=-1)
        return len(self.sections) - 1

    def section(self, relation: int, constant: int) -> int:
        """Return the section of a relation for a constant in its section column, created if necessary; constant -1 selects all
        rows.
        """
        record = self.relations[relation]
        if constant < 0:
            return record.section
        members = self._sections.setdefault(relation, {})
        number = members.get(constant)
        if number is None:
            number = self._add_section()
            keys, ids = record.section_keys, record.section_ids
            if not members or 2 * (len(members) + 1) > len(keys):
                size = table_size(4 * (len(members) + 1))
                keys, ids = allocate(size, np.int64, EMPTY), allocate(size, np.int32, -1)
                for key, section in members.items():
                    slot = slot_of(keys, key)
                    keys[slot], ids[slot] = key, section
                record.publish(section_keys=keys, section_ids=ids, section_mask=size - 1)
            slot = slot_of(keys, constant)
            keys[slot], ids[slot], members[constant] = constant, number, number  # one line: nothing interrupts between two stores
        return number

    def sections_of_constants(self) -> Iterator[tuple[int, int]]:
        """Yield the sections for a constant, each with its relation before it."""
        for relation, members in self._sections.items():
            for section in members.values():
                yield relation, section

    def set_ranges(self, kind: str, ranges: npt.NDArray[np.int64]) -> None:
        """Set the range of plans of a kind (``trigger``, ``blocker``, ``deriver``) for each section."""
        words, count = self.sections.words, len(self.sections)
        words[:count, Section.fields[f"first_{kind}"][0]] = ranges[:count, 0]
        words[:count, Section.fields[f"end_{kind}"][0]] = ranges[:count, 1]

    def set_range(self, kind: str, section: int, first: int, end: int) -> None:
        """Set the range of plans of a kind for one section."""
        words = self.sections.words
        words[section, Section.fields[f"first_{kind}"][0]] = first
        words[section, Section.fields[f"end_{kind}"][0]] = end

    # --- rows -------------------------------------------------------------------------------------------------------

    def rows(self, relation: int, which: str = "all") -> Rows:
        """Return the live rows, shape (n, arity), in derivation order: ``all``, ``explicit`` or ``inferred``."""
        record = self.relations[relation]
        count, arity = record.count, record.arity
        table: Rows = np.asarray(record.rows)[: count * arity].reshape(count, arity)
        flags = np.asarray(record.flags)[:count]
        if which == "all":
            return table if record.dead == 0 else selected_rows(table, (flags & ABSENT) == 0)
        return selected_rows(table, (flags & (ABSENT | EXPLICIT)) == (EXPLICIT if which == "explicit" else 0))

    def rows_from(self, relation: int, first: int, end: int | None = None) -> Rows:
        """Return the live rows from a number on, or those in a range of numbers, shape (n, arity)."""
        if first == 0 and end is None:
            return self.rows(relation)
        table, record = self._table(relation)[first:end], self.relations[relation]
        return table if record.dead == 0 else selected_rows(table, (self.flags(relation)[first:end] & ABSENT) == 0)

    def are_explicit(self, relation: int) -> npt.NDArray[np.bool_]:
        """Return which of the live rows, in the order of `rows`, are explicit."""
        record = self.relations[relation]
        flags = np.asarray(record.flags)[: record.count]
        explicit: npt.NDArray[np.bool_] = (flags & EXPLICIT) != 0
        return explicit if record.dead == 0 else explicit[(flags & ABSENT) == 0]

    def flags(self, relation: int) -> npt.NDArray[np.int16]:
        """Return the flags of all rows of a relation."""
        record = self.relations[relation]
        return np.asarray(record.flags)[: record.count]

    def rows_at(self, relation: int, numbers: npt.NDArray[Any]) -> Rows:
        """Return the rows with these numbers, shape (n, arity)."""
        return self._table(relation).take(numbers, axis=0)

    def tuple_of(self, relation: int, row: int) -> list[int]:
        """Return the ids of a row."""
        return self._table(relation)[row].tolist()

    def _table(self, relation: int) -> Rows:
        record = self.relations[relation]
        table: Rows = np.asarray(record.rows)[: record.count * record.arity].reshape(record.count, record.arity)
        return table

    def size(self, relation: int) -> int:
        """Return the number of live rows."""
        record = self.relations[relation]
        return record.count - record.dead

    def count(self, relations: Iterable[int] | None = None) -> int:
        """Return the number of live rows of some relations, or of all."""
        table = self.relations.words[: len(self.relations)]
        if relations is not None:
            table = table[list(relations)]
        count, dead = (table[:, Relation.fields[name][0]].sum() for name in ("count", "dead"))
        return int(count - dead)

    def filled(self) -> list[bool]:
        """Return for each relation whether it has rows."""
        return (self.relations.words[: len(self.relations), Relation.fields["count"][0]] > 0).tolist()

    # --- growth -----------------------------------------------------------------------------------------------------

    def reserve(self, relation: int, rows: int) -> None:
        """Make room for additional rows at once, and for some that come later: untouched memory costs nothing, growth does."""
        self.reserve_rows(relation, rows)
        record = self.relations[relation]
        needed = record.count + rows
        if needed >= record.limit:
            self.set_slots(record, slots_for(needed, fill_of(record.arity)))

    def reserve_rows(self, relation: int, rows: int, copy: Copier = copy_items) -> None:
        """Make room for additional rows, but not in the hash table, which remains as it is if it has room for their numbers.

        Args:
            relation: The relation.
            rows: The number of rows.
            copy: Copies the present rows.
        """
        record = self.relations[relation]
        needed, numbers = record.count + rows, record.row_mask + 1
        if needed > record.capacity:
            spare = needed if needed < capacities.current.doubled else needed // 2
            capacity = max(needed + spare, record.capacity + record.capacity // 2)
            self._set_capacity(record, min(capacity, numbers) if needed <= numbers else capacity, copy)

    def _set_capacity(self, relation: Record, capacity: int, copy: Copier = copy_items) -> None:
        used, capacity = relation.count, min(capacity, MOST)
        if used >= capacity:
            raise CapacityError(f"a relation has {used:,} facts, the maximal number")
        self.claim(capacity * (4 * relation.arity + 2))
        grown: dict[str, Any] = {
            "rows": resized(relation.rows, capacity * relation.arity, used * relation.arity, copy=copy),
            "flags": resized(relation.flags, capacity, used, copy=copy),
            "capacity": capacity,
        }
        if self._watched:
            grown["watches"] = allocate(capacity, np.int32)
        if self._ranked:
            grown.update({name: resized(getattr(relation, name), capacity, used) for name in RANKS})
        if capacity > relation.row_mask + 1:
            grown.update(self._hashed(relation, relation.mask + 1, capacity))
        relation.publish(**grown)

    def set_slots(self, relation: Record, slots: int, rows: int = 0) -> None:
        """Give a relation a hash table of another size, with room for the numbers of at least `rows` rows."""
        relation.publish(**self._hashed(relation, slots, max(rows, relation.capacity)))

    def _hashed(self, relation: Record, size: int, rows: int) -> dict[str, Any]:
        """Return a hash table of the rows of a relation, with room for the numbers of `rows` rows."""
        self.claim(4 * size)
        slots, row_mask = allocate(size, np.int32, EMPTY), row_mask_for(rows, size)
        hashes = allocate(RING, np.int64)
        native.rehash_tuples(relation.address, address(slots), size - 1, row_mask, address(hashes))
        return {"slots": slots, "row_mask": row_mask, "mask": size - 1, "limit": limit_of(size, fill_of(relation.arity))}

    def side_tables(self, relation: Record, rows: Any, capacity: int) -> dict[str, Any]:
        """Return the tables beside the rows of a relation, with some of its rows and another capacity."""
        tables: dict[str, Any] = {"watches": allocate(capacity, np.int32)} if self._watched else {}
        for name in RANKS if self._ranked else ():
            tables[name] = allocate(capacity, np.int32)
            tables[name][: len(rows)] = getattr(relation, name)[rows]
        return tables

    def watch(self) -> None:
        """Allocate, from now on, room in every relation for the rule instances that wait for its facts."""
        self._watched = True
        for record in self.relations.records:
            record.publish(watches=allocate(record.capacity, np.int32))

    def rank(self) -> None:
        """Maintain, from now on, ranks and derivation counts of rows (see `kernels.maintenance.derivation_counts`)."""
        self._ranked = True
        for record in self.relations.records:
            record.publish(**{name: allocate(record.capacity, np.int32) for name in RANKS})

    def _extend_counts(self, room: int) -> None:
        used, listed = len(self.materialised), self.context.grown_count
        materialised, processed = resized(self.materialised, room, used, 0), resized(self.processed, room, used, 0)
        grown = resized(self._grown, room, listed)
        self.context.publish(materialised=materialised, processed=processed, grown=grown)
        self.materialised, self.processed, self._grown = materialised, processed, grown

    def _set_arity(self, arity: int) -> None:
        """Make room for tuples with this number of columns. No kernel may be running."""
        self.frames.fit(arity=arity)
        self.context.publish(ring=allocate(RING * arity, np.int32, 0), ring_stride=arity)


def slot_of(keys: Any, key: int) -> int:
    """Return the slot of a key in a hash table of numbers, or the one where it is inserted."""
    slot = mix(key) & (len(keys) - 1)
    while keys[slot] not in (key, EMPTY):
        slot = (slot + 1) & (len(keys) - 1)
    return slot
