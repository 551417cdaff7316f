"""Relations, their sections and indexes: the arrays behind the kernels' structs, and their growth.

Kernels never allocate: when something is full they return, `Database.grow` makes room, and they are called again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.kernels import native
from kg_reasoner.kernels.layout import (
    ABSENT,
    CLAIMED,
    EMPTY,
    EXPLICIT,
    REBORN,
    RETRACTED,
    RING,
    ROW,
    STATED,
    Context,
    Frame,
    Index,
    Level,
    Plan,
    Relation,
    Section,
    Step,
)
from kg_reasoner.kernels.memory import Record, Table, address, allocate, mix, region

Rows: TypeAlias = npt.NDArray[np.int32]
Changed: TypeAlias = npt.NDArray[np.bool_]

FILL = 0.62
"""The fullest that a hash table gets before it doubles."""

REQUESTS = 1 << 12
"""Function calls that wait for their results at once."""

KEPT = 1 << 12
"""Arrays for so many ids that are handed to kernels, and for their answers, are kept."""

SIZE_CLASSES = 40
"""Free lists of an index: vectors of up to 2**39 entries."""


@dataclass(frozen=True, slots=True)
class Capacities:
    """How large things are at first, and at least after they have grown."""

    rows: int = 16
    slots: int = 32
    arena: int = 64
    grown_rows: int = 1024
    grown_slots: int = 2048
    grown_arena: int = 4096
    dead: int = 256
    """Fewer dead rows than this are left where they are."""


capacities = Capacities()
"""The capacities of new databases; tests make them tiny, so that every kernel meets every boundary."""


class Database:
    """All relations of one reasoner, and the context through which kernels see them.

    Relations, sections and indexes are known by their numbers.
    """

    def __init__(self) -> None:
        self._contexts = Table(Context, capacity=1)
        self.context = self._contexts.add(type_id=-1, hidden=ABSENT, compact_from=capacities.dead)
        self.address = self.context.address
        """What every kernel is called with."""
        self.relations = Table(Relation, self.context, "relations")
        self.sections = Table(Section, self.context, "sections")
        self.indexes = Table(Index, self.context, "indexes")
        self.plans = Table(Plan, self.context, "plans")
        self.steps = Table(Step, self.context, "steps")
        self.frames = Frames(self.context)
        self._codes = allocate(1 << 10, np.int32)
        self._code_count = 0
        self.context.codes = self._codes
        for name in ("triggers", "derivers", "blockers"):
            setattr(self.context, name, allocate(1, np.int32))
        self.settled = self.processed = np.empty(0, np.int64)
        self._extend_counts(16)
        self.context.marked, self.context.foreseen = allocate(1, np.int64), allocate(1, np.int64)
        self.context.requests, self.context.request_room = allocate(1, np.int32), 0
        self._allocate_arguments(KEPT)
        self.renumbered = 0
        """How often rows have got other numbers."""
        self.is_fresh = True
        """Whether no row has ever been processed, so that rules will see all rows as new ones."""
        self._list_room = 0
        self._reserved = {"removed": 0, "claimed": 0}
        self._watched = self._ranked = False
        self._one = self._found = allocate(0, np.int32)[:0]
        self.context.ring_keys, self.context.ring_relations = allocate(RING, np.int64), allocate(RING, np.int32)
        self._sections: dict[tuple[int, int], int] = {}
        self._indexes: dict[tuple[int, int, tuple[int, ...]], int] = {}
        self._index_constants: list[int] = []
        self._indexes_of: dict[int, list[Record]] = {}
        self._set_arity(self.frames.arity)

    @property
    def nbytes(self) -> int:
        """The bytes of all tuples, flags, hashes and indexes, as far as they are filled."""
        total = 0
        for relation in self.relations.records:
            total += relation.count * (4 * relation.arity + 2) + 12 * (relation.mask + 1)
        for index in self.indexes.records:
            if index.built:
                total += 16 * (index.mask + 1) + 8 * index.top
        return total

    # --- relations --------------------------------------------------------------------------------------------------

    def add_relation(self, arity: int, section_column: int = -1) -> int:
        """A new, empty relation. With a section column, rows are told apart by the constant in that column."""
        number = len(self.relations)
        capacity, slots = capacities.rows, capacities.slots
        self.relations.add(
            arity=arity,
            level=-1,
            ranked=-1,
            capacity=capacity,
            rows=allocate(capacity * arity, np.int32),
            flags=allocate(capacity, np.int16),
            keys=allocate(slots, np.int64, EMPTY),
            key_rows=allocate(slots, np.int32),
            mask=slots - 1,
            limit=int(slots * FILL),
            section=self._add_section(),
            section_column=section_column,
            section_keys=allocate(16, np.int64, EMPTY),
            section_ids=allocate(16, np.int32, -1),
            section_mask=15,
        )
        self.context.relation_count = number + 1
        if number >= len(self.settled):
            self._extend_counts(2 * number)
        if self._watched:
            self._watch(self.relations[number])
        if self._ranked:
            self._rank(self.relations[number], 0)
        if arity > self.frames.arity:
            self._set_arity(arity)
        return number

    def _add_section(self) -> int:
        self.sections.add(first_index=-1)
        return len(self.sections) - 1

    def section(self, relation: int, constant: int) -> int:
        """The section of a relation for a constant in its section column, made if need be; constant -1: the section of all rows."""
        record = self.relations[relation]
        if constant < 0:
            return record.section
        number = self._sections.get((relation, constant))
        if number is None:
            number = self._sections[relation, constant] = self._add_section()
            members = [(c, s) for (r, c), s in self._sections.items() if r == relation]
            size = _power_of_two(4 * len(members))
            keys, ids = allocate(size, np.int64, EMPTY), allocate(size, np.int32, -1)
            for key, section in members:
                slot = mix(key) & (size - 1)
                while keys[slot] != EMPTY:
                    slot = (slot + 1) & (size - 1)
                keys[slot], ids[slot] = key, section
            record.section_keys, record.section_ids, record.section_mask = keys, ids, size - 1
        return number

    def set_ranges(self, kind: str, ranges: npt.NDArray[np.int64]) -> None:
        """Say for each section which plans of a kind (``trigger``, ``blocker``, ``deriver``) are its own: first and end."""
        words = self.sections.words
        words[: len(ranges), Section.fields[f"first_{kind}"][0]] = ranges[:, 0]
        words[: len(ranges), Section.fields[f"end_{kind}"][0]] = ranges[:, 1]

    def rows(self, relation: int, which: str = "all") -> Rows:
        """The living rows, shape (n, arity), in derivation order: ``all``, ``explicit`` or ``inferred``."""
        record = self.relations[relation]
        count, arity = record.count, record.arity
        table: Rows = np.asarray(record.rows)[: count * arity].reshape(count, arity)
        flags = np.asarray(record.flags)[:count]
        if which == "all":
            return table if record.dead == 0 else table[(flags & ABSENT) == 0]
        return table[(flags & (ABSENT | EXPLICIT)) == (EXPLICIT if which == "explicit" else 0)]

    def size(self, relation: int) -> int:
        """The number of living rows."""
        record = self.relations[relation]
        return record.count - record.dead

    def reserve(self, relation: int, rows: int) -> None:
        """Make room for further rows at once."""
        record = self.relations[relation]
        needed = record.count + rows
        if needed > record.capacity:
            self._set_capacity(record, max(needed, record.capacity + record.capacity // 2))
        if needed >= record.limit:
            self._set_slots(record, _power_of_two(int(needed / FILL) + 1))

    def load(self, relation: int, facts: Rows, flag: int = EXPLICIT) -> Changed:
        """Insert facts, shape (n, arity), that are not derived: EXPLICIT ones, or STATED ones. Says of each whether that is new."""
        done, count = 0, len(facts)
        self._reserve("claimed", count)
        if count > 64:
            self.reserve(relation, count)
        data, changed = self._arguments(facts)
        while done < count:
            done = native.load_facts(self.address, relation, data, done, count, flag, changed)
            if done < count:
                self.grow()
        return self._answers(count)

    def load_triples(self, triples: Rows) -> Changed:
        """Insert explicit triples, shape (n, 3), in the vertical layout; all their relations are there. See `load`."""
        done, count = 0, len(triples)
        self._reserve("claimed", count)
        data, changed = self._arguments(triples)
        while done < count:
            done = native.load_triples(self.address, data, done, count, changed)
            if done < count:
                self.grow()
        return self._answers(count)

    def retract(self, relation: int, facts: Rows, flag: int = EXPLICIT) -> Changed:
        """Take a flag from facts, shape (n, arity); they are in the list of removed facts then. Says of each whether it had it."""
        self._reserve("removed", len(facts))
        data, changed = self._arguments(facts)
        native.retract_facts(self.address, relation, data, len(facts), flag, changed)
        return self._answers(len(facts))

    def retract_triples(self, triples: Rows) -> Changed:
        """Retract explicit triples, shape (n, 3), in the vertical layout. See `retract`."""
        self._reserve("removed", len(triples))
        data, changed = self._arguments(triples)
        native.retract_triples(self.address, data, len(triples), changed)
        return self._answers(len(triples))

    def _arguments(self, facts: Rows) -> tuple[int, int]:
        """The addresses of a copy of some facts, and of an array that can hold an answer to each."""
        if max(facts.size, len(facts)) > len(self._argument_ids):
            self._allocate_arguments(max(facts.size, len(facts)))
        self._argument_ids[: facts.size] = facts.reshape(-1)
        return self._argument_addresses

    def _answers(self, count: int) -> Changed:
        """The answers, as a copy; large arrays are given back."""
        answers = np.array(self._argument_answers[:count])
        if len(self._argument_ids) > KEPT:
            self._allocate_arguments(KEPT)
        return answers

    def _allocate_arguments(self, room: int) -> None:
        answers = allocate(room, np.uint8)
        self._argument_ids, self._argument_answers = allocate(room, np.int32), answers.view(np.bool_)
        self._argument_addresses = address(self._argument_ids), address(answers)

    def _reserve(self, name: str, count: int) -> None:
        """Make room for further facts in the list of removed or claimed ones."""
        used = self.context.removed_count if name == "removed" else self.context.claimed_count
        if used + count > self._reserved[name]:
            room = self._reserved[name] = 2 * (used + count) + 16
            setattr(self.context, name, _resized(getattr(self.context, name), room, used) if used else allocate(room, np.int64))

    def keep_explicit(self, relation: int) -> None:
        """Forget all but the explicit and stated rows; indexes will be built anew when they are asked for."""
        self._keep(relation, EXPLICIT | STATED)

    def filled(self) -> list[bool]:
        """For each relation, whether it has rows."""
        return (self.relations.words[: len(self.relations), Relation.fields["count"][0]] > 0).tolist()

    def crowded(self) -> list[int]:
        """The relations that have more dead rows than living ones, and not just a few."""
        if not self.context.crowded:
            return []
        self.context.crowded = 0
        table = self.relations.words[: len(self.relations)]
        dead, count = (table[:, Relation.fields[name][0]] for name in ("dead", "count"))
        return np.flatnonzero((dead >= self.context.compact_from) & (2 * dead > count)).tolist()

    def compact(self, relation: int) -> None:
        """Forget the dead rows of a relation. Everything has been processed."""
        self._keep(relation, 0)
        self.settled[relation] = self.relations[relation].count

    # --- an update under way ----------------------------------------------------------------------------------------

    def new_rows(self, relation: int) -> Rows:
        """The facts that this update has inserted into a relation and not deleted before, shape (n, arity)."""
        first, record = int(self.settled[relation]), self.relations[relation]
        if first >= record.count:
            return np.empty((0, record.arity), np.int32)
        flags = np.asarray(record.flags)[first : record.count]
        return self._table(relation)[first:][(flags & (ABSENT | REBORN)) == 0]

    def grown(self) -> list[int]:
        """The relations that have rows beyond the settled ones."""
        count = len(self.relations)
        return np.flatnonzero(self.relations.words[:count, Relation.fields["count"][0]] > self.settled[:count]).tolist()

    def unsettled(self) -> int:
        """How many rows there are beyond the settled ones."""
        count = len(self.relations)
        return int((self.relations.words[:count, Relation.fields["count"][0]] - self.settled[:count]).sum())

    def changes(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The facts that this update has changed, and how (see `kernels.changes`)."""
        changes = allocate(2 * KEPT, np.int64)
        while (count := native.list_changes(self.address, address(changes), len(changes) // 2)) > len(changes) // 2:
            changes = allocate(2 * count, np.int64)
        found = np.asarray(changes)[: 2 * count].reshape(count, 2)
        return found[:, 0], found[:, 1]

    def flags(self, relation: int) -> npt.NDArray[np.int16]:
        """The flags of all rows of a relation."""
        record = self.relations[relation]
        return np.asarray(record.flags)[: record.count]

    def settled_facts(self, relation: int) -> tuple[Rows, npt.NDArray[np.bool_]]:
        """The facts before the update under way, shape (n, arity), and whether each was explicit. Nothing is deleted yet."""
        flags = self.flags(relation)[: self.settled[relation]]
        rows = np.flatnonzero((flags & ABSENT) == 0)
        flags = flags[rows]
        return self.rows_at(relation, rows), ((flags & (EXPLICIT | CLAIMED)) == EXPLICIT) | ((flags & RETRACTED) > 0)

    def listed(self, name: str) -> npt.NDArray[np.int64]:
        """The facts in one of the context's lists: ``gone``, ``removed``, ``claimed``."""
        count = getattr(self.context, f"{name}_count")
        return np.asarray(getattr(self.context, name))[:count] if count else np.empty(0, np.int64)

    def gone_rows(self, relation: int) -> Rows:
        """The facts that this update has deleted from a relation, shape (n, arity); some may be back."""
        gone = self.listed("gone")
        return self._table(relation)[(gone[gone >> 32 == relation] & ROW)]

    def delete_row(self, relation: int, row: int) -> None:
        """Delete a fact in an update."""
        self.make_lists()
        native.delete_row(self.address, relation, row)

    def delete(self, relation: int, facts: Rows) -> None:
        """Delete facts, shape (n, arity), in an update."""
        self.make_lists()
        data = _filled(facts, np.int32)
        native.delete_facts(self.address, relation, address(data), len(facts))

    def _table(self, relation: int) -> Rows:
        record = self.relations[relation]
        table: Rows = np.asarray(record.rows)[: record.count * record.arity].reshape(record.count, record.arity)
        return table

    def rows_at(self, relation: int, numbers: npt.NDArray[Any]) -> Rows:
        """Some rows, by their numbers, shape (n, arity)."""
        return self._table(relation)[numbers]

    def tuple_of(self, relation: int, row: int) -> list[int]:
        """The ids of a row."""
        return self._table(relation)[row].tolist()

    def matching(self, relation: int, columns: Sequence[int], key: Sequence[int]) -> npt.NDArray[np.int32]:
        """The numbers of the living rows that have these ids in these columns."""
        columns = tuple(columns)
        if len(self._one) == 0:
            self._one = allocate(1, np.int32)
            self._found = allocate(3 * 64, np.int32)
        self._one[0] = self.index(relation, columns)
        while True:
            room = len(self._found) // 3
            found = native.probe_each(self.address, address(self._one), 1, _index_key(key), ABSENT, 0, address(self._found), room)
            if found < 0:
                self.build(int(self._one[0]))
            elif found > room:
                self._found = allocate(3 * 2 * found, np.int32)
            else:
                break
        numbers = np.array(self._found[: 3 * found]).reshape(-1, 3)[:, 1]
        if len(columns) < 3:
            return numbers
        rows = self.rows_at(relation, numbers)[:, columns]
        return numbers[(rows == np.array(key, np.int32)).all(axis=1)]

    def grow_marks(self) -> None:
        """Make the list of marked facts longer."""
        context = self.context
        room = 2 * context.marked_room + 1024
        context.marked, context.marked_room = _resized(context.marked, room, context.marked_count), room

    def expect_marked(self) -> None:
        """The facts that were marked for the next update are those that were marked for this one now."""
        context = self.context
        free = context.foreseen
        context.foreseen, context.foreseen_count = context.marked, context.marked_count
        context.marked, context.marked_count, context.marked_room = free, 0, len(free)
        native.use_marks(self.address)

    def drop_marks(self) -> None:
        """Forget what was marked for the next update."""
        self.expect_marked()
        native.forget_marks(self.address)

    def mark(self, relation: int, facts: Rows) -> int:
        """Mark those of the facts, shape (n, arity), that are explicit; returns how many."""
        while self.context.marked_room < self.context.marked_count + len(facts):
            self.grow_marks()
        data = _filled(facts, np.int32)
        return native.mark_explicit(self.address, relation, address(data), len(facts))

    def settle(self) -> None:
        """Say that all rows there are have been processed."""
        self.is_fresh = False
        count = len(self.relations)
        self.settled[:count] = self.relations.words[:count, Relation.fields["count"][0]]

    def make_lists(self) -> None:
        """Make the lists of a deletion as long as there are rows, so that they are never full; untouched memory costs nothing."""
        context = self.context
        total = context.total
        if total >= self._list_room:
            self._list_room = total + total // 2 + 64
            gone = _resized(context.gone, self._list_room, used) if (used := context.gone_count) else None
            for name in ("doubted", "checked", "proved"):
                setattr(context, name, allocate(self._list_room, np.int64))
            context.gone = allocate(self._list_room, np.int64) if gone is None else gone

    def watch(self) -> None:
        """From now on, give every relation room for the rule instances that wait for its facts."""
        self._watched = True
        for record in self.relations.records:
            self._watch(record)

    def rank(self) -> None:
        """From now on, keep ranks and tallies of rows (see `kernels.counting`)."""
        self._ranked = True
        for record in self.relations.records:
            self._rank(record, 0)

    def _rank(self, record: Record, used: int) -> None:
        for name in ("ranks", "tallies"):
            old = getattr(record, name)
            setattr(record, name, _resized(old, record.capacity, used) if used else allocate(record.capacity, np.int32))

    def _watch(self, record: Record) -> None:
        if record.watch_room < record.capacity:
            record.watches, record.watch_room = allocate(record.capacity, np.int32), record.capacity

    def _extend_counts(self, room: int) -> None:
        used = len(self.settled)
        self.settled, self.processed = _resized(self.settled, room, used, 0), _resized(self.processed, room, used, 0)
        self.context.settled, self.context.processed = self.settled, self.processed

    def _keep(self, relation: int, wanted: int) -> None:
        """Keep the living rows, in their order; with `wanted`, only those that have one of these flags, and only these flags."""
        self.renumbered += 1
        record = self.relations[relation]
        record.keys[:] = EMPTY
        self.context.total -= native.keep_rows(record.address, wanted, self._ranked)
        for (number, _), section in self._sections.items():
            if number == relation:
                self.sections[section].first_index = -1
        self.sections[record.section].first_index = -1
        for index in self._indexes_of.get(relation, ()):
            index.built = 0

    # --- indexes ----------------------------------------------------------------------------------------------------

    def index(self, relation: int, columns: tuple[int, ...], constant: int = -1) -> int:
        """The index on some columns of a relation (of a section, given its constant). It is built when a kernel asks for it."""
        known = self._indexes.get((relation, constant, columns))
        if known is not None:
            return known
        number = self._indexes[relation, constant, columns] = len(self.indexes)
        arity = self.relations[relation].arity
        section_column = self.relations[relation].section_column if constant >= 0 else -1
        rest = [column for column in range(arity) if column not in columns and column != section_column]
        self._index_constants.append(constant)
        record = self.indexes.add(
            relation=relation,
            width=len(columns),
            columns=_filled(columns, np.int32),
            value_column=rest[0] if len(rest) == 1 else -1,
            next=-1,
        )
        self._indexes_of.setdefault(relation, []).append(record)
        return number

    def index_value_column(self, index: int) -> int:
        """The column whose value index entries carry, or -1."""
        return self.indexes[index].value_column

    def build(self, index: int) -> None:
        """Fill an index from the rows there are, and keep it up to date from now on."""
        record = self.indexes[index]
        slots, arena = capacities.slots, capacities.arena
        record.keys = allocate(slots, np.int64, EMPTY)
        record.starts, record.lengths = allocate(slots, np.int32), allocate(slots, np.int32)
        record.mask, record.used, record.limit = slots - 1, 0, int(slots * FILL)
        record.arena, record.top, record.capacity = allocate(arena, np.int64), 0, arena
        record.free = allocate(SIZE_CLASSES, np.int64, -1)
        constant = self._index_constants[index]
        count = self.relations[record.relation].count
        row = 0
        while True:
            row = native.build_index(self.address, index, constant, row)
            if row == count:
                break
            self._grow_index(record)
        section = self.sections[self.section(record.relation, constant)]
        record.next, section.first_index = section.first_index, index
        record.built = 1

    # --- codes, plans, frames ---------------------------------------------------------------------------------------

    def add_codes(self, codes: list[int]) -> int:
        """Store a list of codes; its position."""
        start, end = self._code_count, self._code_count + len(codes)
        if end > len(self._codes):
            self._codes = _resized(self._codes, 2 * end, start)
            self.context.codes = self._codes
        self._codes[start:end] = codes
        self._code_count = end
        return start

    @contextmanager
    def temporary_plans(self) -> Iterator[None]:
        """Plans made inside are forgotten afterwards (those of queries)."""
        marks = len(self.plans), len(self.steps), self._code_count
        try:
            yield
        finally:
            self.plans.truncate(marks[0])
            self.steps.truncate(marks[1])
            self._code_count = marks[2]

    def _set_arity(self, arity: int) -> None:
        """Make room for tuples of so many columns. No kernel is at work."""
        self.context.ring, self.context.ring_stride = allocate(RING * arity, np.int32, 0), arity
        self.frames.fit(arity=arity)

    # --- growth -----------------------------------------------------------------------------------------------------

    def grow(self) -> None:
        """Make room in the relation that a kernel found full, or in its indexes."""
        if self.context.marking and self.context.marked_count >= self.context.marked_room:
            self.grow_marks()
            return
        number = self.context.wanted
        relation = self.relations[number]
        if relation.count >= relation.capacity:
            self._set_capacity(relation, max(2 * relation.capacity, capacities.grown_rows))
        if relation.used >= relation.limit:
            self._set_slots(relation, max(2 * (relation.mask + 1), capacities.grown_slots))
        for index in self._indexes_of.get(number, ()):
            if index.built:
                self._grow_index(index)

    def _set_capacity(self, relation: Record, capacity: int) -> None:
        used = relation.count
        relation.rows = _resized(relation.rows, capacity * relation.arity, used * relation.arity)
        relation.flags = _resized(relation.flags, capacity, used)
        relation.capacity = capacity
        if self._watched:
            self._watch(relation)
        if self._ranked:
            self._rank(relation, used)

    def _set_slots(self, relation: Record, slots: int) -> None:
        keys, rows = relation.keys, relation.key_rows
        relation.keys, relation.key_rows = allocate(slots, np.int64, EMPTY), allocate(slots, np.int32)
        relation.mask, relation.limit = slots - 1, int(slots * FILL)
        native.rehash_tuples(relation.address, address(keys), address(rows), len(keys))

    def _grow_index(self, index: Record) -> None:
        if index.used >= index.limit:
            keys, starts, lengths = index.keys, index.starts, index.lengths
            slots = max(2 * len(keys), capacities.grown_slots)
            index.keys = allocate(slots, np.int64, EMPTY)
            index.starts, index.lengths = allocate(slots, np.int32), allocate(slots, np.int32)
            index.mask, index.limit = slots - 1, int(slots * FILL)
            native.rehash_index(index.address, address(keys), address(starts), address(lengths), len(keys))
        if index.need or index.top * 3 > index.capacity * 2:
            capacity = max(2 * index.capacity, capacities.grown_arena, index.top + 2 * index.need)
            index.arena = _resized(index.arena, capacity, index.top)
            index.capacity, index.need = capacity, 0


class Frames:
    """All join frames: one block of bindings, one of levels and one of scratch, cut into equal pieces."""

    def __init__(self, context: Record) -> None:
        self._context = context
        self.bindings, self.depth, self.arity, self.count = 16, 8, 4, 1
        self._allocate()

    def fit(self, bindings: int = 0, depth: int = 0, arity: int = 0) -> None:
        """Make room in every frame for so many variables and steps, and for tuples of so many columns."""
        wanted = max(bindings, self.bindings), max(depth, self.depth), max(arity, self.arity)
        if wanted != (self.bindings, self.depth, self.arity):
            self.bindings, self.depth, self.arity = wanted
            self._allocate()

    def add(self, count: int) -> None:
        """More frames; joins that are under way go on in the old ones."""
        old, self.count = self.count, self.count + count
        kept = self._words, self._bindings, self._levels
        self._allocate()
        self._words[:old, :2] = kept[0][:old, :2]
        self._bindings[:old] = kept[1]
        self._levels[: old * self.depth] = kept[2]

    def values(self, frame: int) -> Rows:
        """The bindings of a frame."""
        return self._bindings[frame]

    def _allocate(self) -> None:
        count = self.count
        self._words = allocate((count, len(Frame.fields)), np.int64, 0)
        self._bindings = region((count, self.bindings), np.int32)
        self._levels = region((count * self.depth, len(Level.fields)), np.int64)
        self._scratch = region((count, self.arity), np.int32)
        frames = np.arange(count)
        for field, block, items in (
            ("bindings", self._bindings, 1),
            ("levels", self._levels, self.depth),
            ("scratch", self._scratch, 1),
        ):
            self._words[:, Frame.fields[field][0]] = address(block) + frames * (items * block.strides[0])
        self._context.frames = self._words


def _resized(array: Any, size: int, used: int, fill: int | None = None) -> Any:
    grown = allocate(size, array.dtype, fill)
    grown[:used] = array[:used]
    return grown


def _filled(values: Any, dtype: type[np.int32]) -> Any:
    """A copy of some numbers that kernels may see, in one dimension."""
    flat = np.asarray(values, dtype).reshape(-1)
    array = allocate(flat.size, dtype)
    array[: flat.size] = flat
    return array


def _index_key(values: Sequence[int]) -> int:
    """The key of some ids in an index, as `kernels.relations.index_key` makes it."""
    if len(values) < 3:
        return sum(value << (32 * place) for place, value in enumerate(reversed(values)))
    key = len(values)
    for place, value in enumerate(values):
        key = mix(key ^ (value + (place << 40)))
    return key


def _power_of_two(size: int) -> int:
    return 1 << max(4, (size - 1).bit_length())
