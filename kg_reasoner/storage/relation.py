"""Relations, their sections and indexes: the arrays behind the kernels' structs, and their growth.

Kernels never allocate. If a table is full they return, `Database.grow` makes room, and they are called again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.locking import new_mutex
from kg_reasoner.errors import CapacityError
from kg_reasoner.storage.arrays import Changed, Numbers, Rows
from kg_reasoner.storage.batching import Batches
from kg_reasoner.storage.gradual_indexes import GradualIndexes
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    BLOCK,
    CLAIMED,
    DONE,
    EMPTY,
    EXPLICIT,
    MOST,
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
from kg_reasoner.storage.kernels.memory import (
    Argument,
    Record,
    StructTable,
    address,
    allocate,
    allocate_each,
    argument,
    grant,
    lend,
    mix,
    region,
    repeated,
)
from kg_reasoner.storage.renewal import Renewals
from kg_reasoner.storage.shared_loading import load_together

FILL = 0.62
"""The fullest that a hash table gets before it doubles."""

_LEAP = 16
"""The most by which a table grows at once while an index is built, if so many of its rows are still to come."""

REQUESTS = 1 << 12
"""Function calls that wait for their results at once."""

RETAINED = 1 << 12
"""Arrays for so many ids that are handed to kernels, and for their answers, are kept."""

_YES, _NO = np.array([True]), np.array([False])
"""The answers about single facts."""
for _answer in (_YES, _NO):
    _answer.flags.writeable = False

RANKS = ("ranks", "tallies")
"""The fields of a relation that only counting uses, one number for each row."""

_NO_SECTIONS: Final = allocate(16, np.int64, EMPTY), allocate(16, np.int32, -1)
"""The table of a relation's sections by their constants, before it has any; no kernel writes to it."""

SIZE_CLASSES = 40
"""Free lists of an index: vectors of up to 2**39 entries."""


@dataclass(frozen=True, slots=True)
class Capacities:
    """Initial capacities of tables, and minimal capacities after growth."""

    rows: int = 16
    slots: int = 32
    arena: int = 64
    grown_rows: int = 1024
    grown_slots: int = 2048
    grown_arena: int = 4096
    dead: int = 256
    """Fewer dead rows than this are left where they are."""
    large: int = 1 << 16
    """Relations with so many rows grow and are compacted in steps."""
    shared_triples: int = 1 << 17
    """Fewer triples than this are loaded by one thread."""
    block: int = BLOCK
    """Rows that are processed together. The order of derived rows depends on it."""
    heads: int = 1 << 16
    """The heads that a thread can keep (see `storage.parallel`)."""
    shared_instances: int = 1 << 17
    """Fewer rule instances than this are found by one thread."""
    shared_heads: int = 1 << 12
    """Fewer heads than this are inserted by one thread."""
    shared_rows: int = 1 << 15
    """An index of fewer rows than this is built by one thread."""


capacities = Capacities()
"""The capacities of new databases; tests make them tiny, so that every kernel meets every boundary."""


class PlanRoom:
    """The memory for plans and joins: plans, steps, codes and frames, and the context through which kernels access them."""

    def __init__(self) -> None:
        self._contexts = StructTable(Context, capacity=1)
        self.context = self._contexts.add(
            type_id=-1, hidden=ABSENT, compact_from=capacities.dead, renew_from=capacities.large, block_rows=capacities.block
        )
        self.address = argument(self.context.address)
        """What every kernel is called with."""
        self.plans = StructTable(Plan, self.context, "plans")
        self.steps = StructTable(Step, self.context, "steps")
        self.frames = Frames(self.context)
        self._codes = allocate(1 << 10, np.int32)
        self._code_count = 0
        self.context.codes = self._codes

    def add_codes(self, codes: Sequence[int] | npt.NDArray[np.int64]) -> int:
        """Store a list of codes, and return its position."""
        start, end = self._code_count, self._code_count + len(codes)
        if end > len(self._codes):
            self._codes = self.context.codes = _resized(self._codes, 2 * end, start)
        self._codes[start:end] = codes
        self._code_count = end
        return start

    def relation(self, number: int) -> Record:
        """Return a relation.

        Args:
            number: The number of the relation.
        """
        raise NotImplementedError

    def index(self, relation: int, columns: tuple[int, ...], constant: int = -1, apart: int = 0) -> int:
        """Return the index on columns of a relation (of a section, given its constant). It is built when a kernel requests it.

        Args:
            relation: The number of the relation.
            columns: The columns of the key.
            constant: The constant of the section, or -1.
            apart: A column, or 0: rows that have the same term there as in the first column are left out.
        """
        raise NotImplementedError

    def index_value_column(self, index: int) -> int:
        """Return the column whose value the entries of an index carry, or -1."""
        raise NotImplementedError


REMEMBERED: Final = 256
"""The maximal number of queries whose plans are remembered."""


class Workspace(PlanRoom):
    """The plans and joins of a query over the relations and indexes of a database that does not change meanwhile.

    Each thread that reads has one of its own, so that kernels join for several threads at once.
    """

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._held: tuple[Any, ...] = ()
        self._looked: object = None
        self._batches: Batches | None = None

    def batches(self, plan: int, slots: int) -> Batches:
        """Return the memory for joins in batches by a plan, which is used again.

        Args:
            plan: The plan.
            slots: The number of its slots.
        """
        batches = self._batches
        if batches is None or batches.plan != plan:
            batches = self._batches = Batches(plan, self.plans[plan].step_count, slots)
        batches.state[:] = 0
        return batches

    def relation(self, number: int) -> Record:
        """See `PlanRoom.relation`."""
        return self._database.relation(number)

    def index(self, relation: int, columns: tuple[int, ...], constant: int = -1, apart: int = 0) -> int:
        """See `PlanRoom.index`."""
        return self._database.index(relation, columns, constant, apart)

    def index_value_column(self, index: int) -> int:
        """See `PlanRoom.index_value_column`."""
        return self._database.index_value_column(index)

    def release(self) -> None:
        """Release the database's arrays, which are taken over again by `start` or `look`."""
        self._looked, self._held = None, ()

    def start(self, plan: int) -> None:
        """Prepare to fetch the matches of a plan, and build the indexes that it needs."""
        database = self._database
        self._look()
        while native.start_query(self.address, plan) != DONE:
            with database.mutex:
                if not database.indexes[self.context.wanted].built:
                    database.build(self.context.wanted)
            self._look()

    def look(self, reader: object) -> None:
        """Take over the database's relations and indexes, unless the same reader has done so, who has seen no change since."""
        if self._looked is not reader:
            self._look()
            self._looked = reader

    def _look(self) -> None:
        """Take over the database's current relations and indexes, and release the arrays of earlier ones."""
        self._looked = None
        database, words = self._database, self._contexts.words[0]
        with database.mutex:
            held = database.relations.words, database.sections.words, database.indexes.words
            words[_SHARED_WORDS] = database.context_words[_SHARED_WORDS]
        self._held = held


_OWN: Final = {"plans", "steps", "frames", "codes", "stop"}
"""What the context of a workspace has for itself."""
_SHARED_WORDS: Final = np.array([field[0] for name, field in Context.fields.items() if name not in _OWN])
"""The words of a workspace's context that are those of its database."""


class Prepared:
    """A ``with`` block that takes a workspace with a plan from those that are remembered, or makes one, and gives it back.

    Args:
        database: The database.
        known: The workspaces that nobody uses.
        key: The query.
        plan: Makes the plan in a workspace.
    """

    __slots__ = ("_database", "_key", "_known", "_plan", "_taken")

    def __init__(
        self,
        database: Database,
        known: dict[Hashable, list[tuple[Workspace, int]]],
        key: Hashable,
        plan: Callable[[Workspace], int],
    ) -> None:
        self._database, self._known, self._key, self._plan = database, known, key, plan

    def __enter__(self) -> tuple[Workspace, int]:
        try:
            self._taken = self._known[self._key].pop()
        except (KeyError, IndexError):
            self._taken = self.made()
        return self._taken

    def made(self) -> tuple[Workspace, int]:
        """Make a workspace with the plan."""
        workspace = Workspace(self._database)
        with self._database.mutex:
            return workspace, self._plan(workspace)

    def __exit__(self, *_: object) -> None:
        known, key = self._known, self._key
        self._taken[0].release()
        if len(known) >= REMEMBERED and key not in known:
            known.clear()
        known.setdefault(key, []).append(self._taken)


class Database(PlanRoom):
    """All relations of a reasoner, and the context through which kernels access them.

    Relations, sections and indexes are known by their numbers.
    """

    _argument_room: int
    _argument_answers: Changed
    _argument_addresses: tuple[Argument, Argument]

    def __init__(self, claim: Callable[[int], None] = grant) -> None:
        super().__init__()
        self.claim = claim
        """Called before so many bytes are taken; it raises an error if that is too much."""
        self.relations = StructTable(Relation, self.context, "relations")
        self.sections = StructTable(Section, self.context, "sections")
        self.indexes = StructTable(Index, self.context, "indexes")
        self.mutex = new_mutex()
        """Held where readers make or build indexes, or look something up through arrays that all of them share."""
        self._prepared: dict[Hashable, list[tuple[Workspace, int]]] = {}
        for name in ("triggers", "derivers", "blockers"):
            setattr(self.context, name, allocate(1, np.int32))
        self.materialised = self.processed = np.empty(0, np.int64)
        self._grown = np.empty(0, np.int32)
        self._extend_counts(16)
        self.context.requests, self.context.request_room = allocate(1, np.int32), 0
        self._argument_facts: Any = None
        self._argument_addresses: tuple[Argument, Argument] = 0, 0
        self._argument_answers: Changed = np.empty(0, np.bool_)
        self._allocate_arguments(RETAINED)
        self._answered: tuple[Rows | None, Changed] = None, self._argument_answers
        self.renumbered: Counter[int] = Counter()
        """How often the rows of each relation have got other numbers."""
        self._renewals = Renewals(self)
        self._gradual = GradualIndexes(self)
        self.threads = 1
        """The number of threads that load triples together."""
        self.is_fresh = True
        """Whether no row has ever been processed, so that rules will see all rows as new ones."""
        self._list_room = 0
        self._reserved = {"removed": 0, "claimed": 0}
        self._watched = self._ranked = False
        self._one = self._found = allocate(0, np.int32)[:0]
        self.context.ring_keys, self.context.ring_relations = allocate(RING, np.int64), allocate(RING, np.int32)
        self._sections: dict[int, dict[int, int]] = {}
        """The sections of each relation, by their constants."""
        self._indexes: dict[tuple[int, int, tuple[int, ...], int], int] = {}
        self._indexes_of: dict[int, list[int]] = {}
        self._index_columns: dict[tuple[int, ...], Any] = {}
        """The columns of indexes as arrays, which all indexes on these columns share."""
        self._set_arity(self.frames.arity)

    @property
    def context_words(self) -> npt.NDArray[np.int64]:
        """The words of the context."""
        words: npt.NDArray[np.int64] = self._contexts.words[0]
        return words

    @property
    def nbytes(self) -> int:
        """The used bytes of all tuples, flags, hashes and indexes."""
        total = 0
        for relation in self.relations.records:
            total += relation.count * (4 * relation.arity + 2) + 12 * (relation.mask + 1)
        for index in self.indexes.records:
            if index.built:
                total += 16 * (index.mask + 1) + 8 * index.top
        return total

    @property
    def allocated(self) -> int:
        """The allocated bytes of all tables of facts and indexes."""
        return sum(record.nbytes for table in (self.relations, self.indexes) for record in table.records)

    # --- relations --------------------------------------------------------------------------------------------------

    def relation(self, number: int) -> Record:
        """See `PlanRoom.relation`."""
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
        capacity, slots = capacities.rows, capacities.slots
        per_row = {**(_WATCHES if self._watched else {}), **(dict.fromkeys(RANKS, np.int32) if self._ranked else {})}
        self.relations.add_many(
            count,
            arity=arity,
            level=-1,
            ranked=-1,
            capacity=capacity,
            rows=allocate_each(count, capacity * max(arity, 1), np.int32),
            flags=allocate_each(count, capacity, np.int16),
            keys=allocate_each(count, slots, np.int64, EMPTY),
            key_rows=allocate_each(count, slots, np.int32),
            mask=slots - 1,
            limit=int(slots * FILL),
            section=self.sections.add_many(count, first_index=-1) + np.arange(count),
            section_column=section_column,
            section_keys=repeated(_NO_SECTIONS[0], count),
            section_ids=repeated(_NO_SECTIONS[1], count),
            section_mask=len(_NO_SECTIONS[0]) - 1,
            watch_room=capacity if self._watched else 0,
            **{name: allocate_each(count, capacity, dtype) for name, dtype in per_row.items()},
        )
        self.context.relation_count = first + count
        return first

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
                size = _power_of_two(4 * (len(members) + 1))
                keys, ids = allocate(size, np.int64, EMPTY), allocate(size, np.int32, -1)
                for key, section in members.items():
                    slot = _free_slot(keys, key)
                    keys[slot], ids[slot] = key, section
                record.publish(section_keys=keys, section_ids=ids, section_mask=size - 1)
            slot = _free_slot(keys, constant)
            keys[slot], ids[slot], members[constant] = constant, number, number  # one line: nothing interrupts between two stores
        return number

    def sections_of_constants(self) -> Iterator[tuple[int, int]]:
        """Yield the sections for a constant, each with its relation before it."""
        for relation, members in self._sections.items():
            for section in members.values():
                yield relation, section

    def share(self, threads: int) -> None:
        """Let kernels return WIDE where there is much to do for a number of threads."""
        self.context.wide = capacities.shared_instances if threads > 1 else 0

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

    def rows(self, relation: int, which: str = "all") -> Rows:
        """Return the live rows, shape (n, arity), in derivation order: ``all``, ``explicit`` or ``inferred``."""
        record = self.relations[relation]
        count, arity = record.count, record.arity
        table: Rows = np.asarray(record.rows)[: count * arity].reshape(count, arity)
        flags = np.asarray(record.flags)[:count]
        if which == "all":
            return table if record.dead == 0 else table[(flags & ABSENT) == 0]
        return table[(flags & (ABSENT | EXPLICIT)) == (EXPLICIT if which == "explicit" else 0)]

    def are_explicit(self, relation: int) -> npt.NDArray[np.bool_]:
        """Return which of the live rows, in the order of `rows`, are explicit."""
        record = self.relations[relation]
        flags = np.asarray(record.flags)[: record.count]
        explicit: npt.NDArray[np.bool_] = (flags & EXPLICIT) != 0
        return explicit if record.dead == 0 else explicit[(flags & ABSENT) == 0]

    def size(self, relation: int) -> int:
        """Return the number of live rows."""
        record = self.relations[relation]
        return record.count - record.dead

    def count(self) -> int:
        """Return the number of live rows of all relations."""
        table = self.relations.words[: len(self.relations)]
        count, dead = (table[:, Relation.fields[name][0]].sum() for name in ("count", "dead"))
        return int(count - dead)

    def reserve(self, relation: int, rows: int) -> None:
        """Make room for additional rows at once, and for some that come later: untouched memory costs nothing, growth does."""
        self.reserve_rows(relation, rows)
        record = self.relations[relation]
        needed = record.count + rows
        if needed >= record.limit:
            self.set_slots(record, self.slots_for(needed))

    def reserve_rows(self, relation: int, rows: int) -> None:
        """Make room for additional rows, but not in the hash table."""
        record = self.relations[relation]
        needed = record.count + rows
        if needed > record.capacity:
            self._set_capacity(record, max(needed + needed // 8, record.capacity + record.capacity // 2))

    def load(self, relation: int, facts: Rows, flag: int = EXPLICIT) -> Changed:
        """Insert facts, shape (n, arity), with a flag: EXPLICIT or STATED. Return a mask of the facts that are new with this
        flag.
        """
        done, count = 0, len(facts)
        self.reserve_list("claimed", count)
        if count > 64:
            self.reserve(relation, count)
        data, changed = self._arguments(facts)
        while done < count:
            done = native.load_facts(self.address, relation, data, done, count, flag, changed)
            if done < count:
                self.grow()
        return self._answers(count)

    def load_triples(self, triples: Rows, sizes: Mapping[int, int] | None = None) -> Changed:
        """Insert explicit triples, shape (n, 3), in property tables; all their relations are there. See `load`.

        Given how many of them belong to each relation, several threads may do so.
        """
        done, count = 0, len(triples)
        self.reserve_list("claimed", count)
        data, changed = self._arguments(triples)
        is_large = count >= capacities.shared_triples and self.threads > 1
        if is_large and sizes and self.is_fresh and not self.context.settled:
            by_relation = np.zeros(len(self.relations), np.int64)
            by_relation[list(sizes)] = list(sizes.values())
            load_together(self, data, count, by_relation, changed, self.threads)
            return self._answers(count)
        while done < count:
            done = native.load_triples(self.address, data, done, count, changed)
            if done < count:
                self.grow()
        return self._answers(count)

    def count_names(self, blocks: Sequence[Rows], type_id: int, terms: int) -> tuple[Numbers, Numbers]:
        """Return by id how many triples have a term as their property, and as their class.

        Args:
            blocks: The triples.
            type_id: The id of rdf:type.
            terms: The number of all terms.
        """
        properties, classes = allocate(terms, np.int64, 0), allocate(terms, np.int64, 0)
        for triples in blocks:
            data = lend(np.ascontiguousarray(triples, np.int32))
            native.count_names(address(data), len(triples), type_id, address(properties), address(classes))
        return properties, classes

    def retract(self, relation: int, facts: Rows, flag: int = EXPLICIT) -> Changed:
        """Take a flag from facts, shape (n, arity); they are in the list of removed facts then. Says of each whether it had it."""
        self.reserve_list("removed", len(facts))
        data, changed = self._arguments(facts)
        native.retract_facts(self.address, relation, data, len(facts), flag, changed)
        return self._answers(len(facts))

    def retract_triples(self, triples: Rows) -> Changed:
        """Retract explicit triples, shape (n, 3), in property tables. See `retract`."""
        self.reserve_list("removed", len(triples))
        data, changed = self._arguments(triples)
        native.retract_triples(self.address, data, len(triples), changed)
        return self._answers(len(triples))

    def have_flag(self, relation: int, facts: Rows, flag: int = EXPLICIT) -> Changed:
        """Return a mask of the facts, shape (n, arity), that hold with a flag."""
        data, answers = self._arguments(facts)
        native.have_flag(self.address, relation, data, len(facts), flag, answers)
        return self._answers(len(facts))

    def triples_have_flag(self, triples: Rows, flag: int = EXPLICIT) -> Changed:
        """The same for triples, shape (n, 3), in property tables."""
        data, answers = self._arguments(triples)
        native.triples_have_flag(self.address, data, len(triples), flag, answers)
        return self._answers(len(triples))

    def _arguments(self, facts: Rows) -> tuple[Argument, Argument]:
        """Return the addresses of the facts (few or scattered ones are copied), and of an array for one answer per fact."""
        if facts.shape == (1, 3) and self._argument_room:
            self._argument_triple[...] = facts
            self._argument_answers[0] = False
        elif facts.size > RETAINED and facts.flags.c_contiguous and facts.dtype == np.int32:
            answers = allocate(len(facts), np.uint8, 0)
            self._argument_room, self._argument_facts, self._argument_answers = 0, lend(facts), answers.view(np.bool_)
            self._answered = facts, self._argument_answers
            return address(self._argument_facts), address(answers)
        else:
            count, arity = facts.shape
            if count * max(arity, 1) > self._argument_room:
                self._allocate_arguments(count * max(arity, 1))
            self._argument_ids[: facts.size] = facts.reshape(-1)
            self._argument_answers[:count] = False
        self._answered = facts, self._argument_answers
        return self._argument_addresses

    def _answers(self, count: int) -> Changed:
        """Return a copy of the answers, and release large arrays."""
        answers: Changed
        if count == 1:
            answers = _YES if self._argument_answers[0] else _NO
        else:
            answers = np.array(self._argument_answers[:count])
        self._answered = self._answered[0], answers
        if self._argument_room > RETAINED or not self._argument_room:
            self._argument_facts = None
            self._allocate_arguments(RETAINED)
        return answers

    def answers_to(self, facts: Rows) -> Changed:
        """Return a mask of the facts that the interrupted last call has loaded or retracted, if it was for these facts."""
        native.count_rows(self.address)  # which threads may have inserted
        last, answers = self._answered
        return np.array(answers[: len(facts)]) if last is facts else np.zeros(len(facts), np.bool_)

    def _allocate_arguments(self, room: int) -> None:
        room = max(room, 3)
        answers, ids = allocate(room, np.uint8), allocate(room, np.int32)
        addresses, triple = (argument(address(ids)), argument(address(answers))), ids[:3].reshape(1, 3)
        self._argument_ids, self._argument_triple, self._argument_room = ids, triple, room
        self._argument_answers, self._argument_addresses = answers.view(np.bool_), addresses

    def reserve_list(self, name: str, count: int) -> None:
        """Make room for further facts in the list of removed or claimed ones."""
        context = self.context
        used = context.removed_count if name == "removed" else context.claimed_count
        if used + count > self._reserved[name]:
            room = 2 * (used + count) + 16
            setattr(context, name, _resized(getattr(context, name), room, used) if used else allocate(room, np.int64))
            self._reserved[name] = room

    def keep_explicit(self, relation: int) -> None:
        """Delete all rows but the explicit and stated ones; indexes are rebuilt on demand."""
        self._keep(relation, EXPLICIT | STATED)

    def filled(self) -> list[bool]:
        """Return for each relation whether it has rows."""
        return (self.relations.words[: len(self.relations), Relation.fields["count"][0]] > 0).tolist()

    @property
    def needs_care(self) -> bool:
        """Whether `care` has something to do."""
        return bool(self.context.crowded or self._renewals.running or self._gradual.running)

    def care(self) -> None:
        """Compact relations with more dead than live rows, let large ones that are nearly full grow, and build a part of an index.

        All rows have been processed.
        """
        context, self.context.crowded = self.context, 0
        table = self.relations.words[: len(self.relations)]
        dead, count = (table[:, Relation.fields[name][0]] for name in ("dead", "count"))
        is_large = count >= context.renew_from
        crowded = (dead >= context.compact_from) & (2 * dead > count)
        at_once = crowded & ~(is_large & (4 * dead < 3 * count))
        for relation in np.flatnonzero(at_once).tolist():
            self.compact(relation)
        for relation in np.flatnonzero(is_large & ~at_once).tolist():
            if crowded[relation] or native.is_full_soon(self.address, relation):
                self._renewals.begin(relation)
        self._renewals.advance()
        if self._gradual.running:
            self._gradual.advance()

    def compact(self, relation: int) -> None:
        """Remove the dead rows of a relation, all of whose rows have been processed, at once."""
        self._keep(relation, 0)
        if self.context.marked_count:
            native.renumber_marks(self.address, relation)
        self.materialised[relation] = self.relations[relation].count

    def built_indexes(self, relation: int) -> list[tuple[int, int]]:
        """Return the indexes of a relation that are maintained, each with the constant of its section, or -1."""
        numbers = (number for number in self._indexes_of.get(relation, ()) if self.indexes[number].built)
        return [(number, self.indexes[number].constant) for number in numbers]

    def slots_for(self, keys: int) -> int:
        """Return the size of a hash table with room for some keys."""
        return _power_of_two(int(keys / FILL) + 1)

    def limit_of(self, slots: int) -> int:
        """Return the number of keys with which a hash table is full."""
        return int(slots * FILL)

    def side_tables(self, relation: Record, rows: Any, capacity: int) -> dict[str, Any]:
        """Return the tables beside the rows of a relation, with some of its rows and another capacity."""
        tables = _room_for_watches(capacity) if self._watched else {}
        for name in RANKS if self._ranked else ():
            tables[name] = allocate(capacity, np.int32)
            tables[name][: len(rows)] = getattr(relation, name)[rows]
        return tables

    def note_renewal(self, relation: int, gone: int) -> None:
        """Note that the rows of a relation have other numbers, without some that were dead."""
        self.renumbered[relation] += 1
        self._gradual.discard(relation)
        self.context.total -= gone
        self.materialised[relation] = self.processed[relation] = self.relations[relation].count
        if self.context.marked_count:
            native.renumber_marks(self.address, relation)

    # --- an update under way ----------------------------------------------------------------------------------------

    def new_rows(self, relation: int) -> Rows:
        """Return the facts that this update has inserted into a relation and not deleted before, shape (n, arity)."""
        first, record = int(self.materialised[relation]), self.relations[relation]
        if first >= record.count:
            return np.empty((0, record.arity), np.int32)
        flags = np.asarray(record.flags)[first : record.count]
        return self._table(relation)[first:][(flags & (ABSENT | REBORN)) == 0]

    def grown(self) -> list[int]:
        """Return the relations with unprocessed rows."""
        count = len(self.relations)
        return np.flatnonzero(self.relations.words[:count, Relation.fields["count"][0]] > self.materialised[:count]).tolist()

    def new_row_count(self) -> int:
        """Return the number of unprocessed rows."""
        count = len(self.relations)
        return int((self.relations.words[:count, Relation.fields["count"][0]] - self.materialised[:count]).sum())

    def changes(self) -> npt.NDArray[np.int64]:
        """Return the facts changed by this update and their kinds of change (see `kernels.changes`), shape (n, 2)."""
        changes = allocate(2 * RETAINED, np.int64)
        while (count := native.list_changes(self.address, address(changes), len(changes) // 2)) > len(changes) // 2:
            changes = allocate(2 * count, np.int64)
        found: npt.NDArray[np.int64] = np.asarray(changes)[: 2 * count].reshape(count, 2)
        return found

    def flags(self, relation: int) -> npt.NDArray[np.int16]:
        """Return the flags of all rows of a relation."""
        record = self.relations[relation]
        return np.asarray(record.flags)[: record.count]

    def materialised_facts(self, relation: int) -> tuple[Rows, npt.NDArray[np.bool_]]:
        """Return the facts before the current update, shape (n, arity), and whether each was explicit. Nothing is deleted yet."""
        flags = self.flags(relation)[: self.materialised[relation]]
        rows = np.flatnonzero((flags & ABSENT) == 0)
        flags = flags[rows]
        return self.rows_at(relation, rows), ((flags & (EXPLICIT | CLAIMED)) == EXPLICIT) | ((flags & RETRACTED) > 0)

    def listed(self, name: str) -> npt.NDArray[np.int64]:
        """Return the facts in one of the context's lists: ``gone``, ``removed``, ``claimed``."""
        count = getattr(self.context, f"{name}_count")
        return np.asarray(getattr(self.context, name))[:count] if count else np.empty(0, np.int64)

    def gone_rows(self, relation: int) -> Rows:
        """Return the facts that this update has deleted from a relation, shape (n, arity); some may hold again."""
        gone = self.listed("gone")
        return self._table(relation)[(gone[gone >> 32 == relation] & ROW)]

    def delete_row(self, relation: int, row: int) -> None:
        """Delete a fact during an update."""
        self.make_lists()
        native.delete_row(self.address, relation, row)

    def delete(self, relation: int, facts: Rows) -> None:
        """Delete facts, shape (n, arity), during an update."""
        self.make_lists()
        data = _filled(facts, np.int32)
        native.delete_facts(self.address, relation, address(data), len(facts))

    def _table(self, relation: int) -> Rows:
        record = self.relations[relation]
        table: Rows = np.asarray(record.rows)[: record.count * record.arity].reshape(record.count, record.arity)
        return table

    def rows_at(self, relation: int, numbers: npt.NDArray[Any]) -> Rows:
        """Return the rows with these numbers, shape (n, arity)."""
        return self._table(relation)[numbers]

    def tuple_of(self, relation: int, row: int) -> list[int]:
        """Return the ids of a row."""
        return self._table(relation)[row].tolist()

    def matching(self, relation: int, columns: Sequence[int], key: Sequence[int]) -> npt.NDArray[np.int32]:
        """Return the numbers of the live rows with these ids in these columns."""
        columns = tuple(columns)
        with self.mutex:
            numbers = self._probe(relation, columns, key)
        if len(columns) < 3:
            return numbers
        rows = self.rows_at(relation, numbers)[:, columns]
        return numbers[(rows == np.array(key, np.int32)).all(axis=1)]

    def rows_with(self, relation: int, arguments: Mapping[int, int], which: str = "all") -> Rows:
        """Return the live rows with ids in some columns, found by an index on all of these, or on all but one if there are no
        others. Several threads may call this, while nothing is inserted or deleted.
        """
        columns = tuple(sorted(arguments))
        indexed = columns if len(columns) < self.relations[relation].arity else columns[: max(1, len(columns) - 1)]
        numbers = self.matching(relation, indexed, [arguments[column] for column in indexed])
        flags = self.flags(relation)[numbers]
        if which != "all":
            numbers = numbers[((flags & EXPLICIT) != 0) == (which == "explicit")]
        rows = self.rows_at(relation, numbers)
        for column in columns[len(indexed) :]:
            rows = rows[rows[:, column] == arguments[column]]
        return rows

    def _probe(self, relation: int, columns: tuple[int, ...], key: Sequence[int]) -> npt.NDArray[np.int32]:
        """Return the numbers of the live rows with a key in the index on some columns; for three and more columns, there may be
        others among them.
        """
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
        return np.array(self._found[: 3 * found]).reshape(-1, 3)[:, 1]

    def mark_materialised(self) -> None:
        """Declare all existing rows processed."""
        self.is_fresh = False
        self.context.settled = 0
        count = len(self.relations)
        self.materialised[:count] = self.relations.words[:count, Relation.fields["count"][0]]

    def make_lists(self) -> None:
        """Allocate the lists of a deletion with one entry per row, so they cannot overflow; untouched memory costs nothing."""
        context = self.context
        total = context.total
        if total >= self._list_room:
            room = total + total // 2 + 64
            gone = _resized(context.gone, room, used) if (used := context.gone_count) else allocate(room, np.int64)
            context.publish(gone=gone, **{name: allocate(room, np.int64) for name in ("candidates", "checked", "proved")})
            self._list_room = room

    def watch(self) -> None:
        """Allocate, from now on, room in every relation for the rule instances that wait for its facts."""
        self._watched = True
        for record in self.relations.records:
            record.publish(**_room_for_watches(record.capacity))

    def rank(self) -> None:
        """Maintain, from now on, ranks and derivation counts of rows (see `kernels.counting`)."""
        self._ranked = True
        for record in self.relations.records:
            record.publish(**{name: allocate(record.capacity, np.int32) for name in RANKS})

    def _extend_counts(self, room: int) -> None:
        used, listed = len(self.materialised), self.context.grown_count
        materialised, processed = _resized(self.materialised, room, used, 0), _resized(self.processed, room, used, 0)
        grown = _resized(self._grown, room, listed)
        self.context.publish(materialised=materialised, processed=processed, grown=grown)
        self.materialised, self.processed, self._grown = materialised, processed, grown

    def _keep(self, relation: int, wanted: int) -> None:
        """Keep the live rows in their order; with `wanted`, only those with one of these flags, and only these flags."""
        self.renumbered[relation] += 1
        self._renewals.discard(relation)
        self._gradual.discard(relation)
        self.context.settled = 0
        record = self.relations[relation]
        record.keys[:] = EMPTY
        self.context.total -= native.keep_rows(record.address, wanted, self._ranked)
        for section in self._sections.get(relation, {}).values():
            self.sections[section].first_index = -1
        self.sections[record.section].first_index = -1
        for index in self._indexes_of.get(relation, ()):
            self.indexes[index].built = 0

    # --- indexes ----------------------------------------------------------------------------------------------------

    def index(self, relation: int, columns: tuple[int, ...], constant: int = -1, apart: int = 0) -> int:
        """See `PlanRoom.index`."""
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
        array = self._index_columns.get(columns)
        if array is None:
            array = self._index_columns[columns] = _filled(columns, np.int32)
        self.indexes.add_many(
            len(relations),
            relation=np.array(relations, np.int64),
            width=len(columns),
            apart=apart,
            columns=repeated(array, len(relations)),
            value_column=value_column(example.arity, columns, section_column),
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

    def build(self, index: int) -> None:
        """Build an index from the existing rows; it is maintained from now on."""
        if not self._gradual.finish(index):
            self.fill_index(index)
            self.link_index(index)

    def postpone(self, index: int) -> bool:
        """Let a deletion scan the rows of a large relation in place of an index, which is built in slices. Return whether it
        does.
        """
        context, rows = self.context, self.relations[self.indexes[index].relation].count
        may_scan = context.scans and not context.guarding and rows >= context.renew_from
        return bool(may_scan) and self._gradual.begin(index)

    def fill_index(self, index: int) -> None:
        """Build an index from the existing rows, as `build` does, but leave it to `link_index` to maintain it."""
        record = self.indexes[index]
        slots, arena = capacities.slots, capacities.arena
        record.publish(
            keys=allocate(slots, np.int64, EMPTY),
            starts=allocate(slots, np.int32),
            lengths=allocate(slots, np.int32),
            mask=slots - 1,
            used=0,
            limit=int(slots * FILL),
            arena=allocate(arena, np.int64),
            top=0,
            capacity=arena,
            need=0,
            free=allocate(SIZE_CLASSES, np.int64, -1),
        )
        self.extend_index(index, 0)
        if record.mask + 1 > 4 * record.used / FILL and record.mask + 1 > slots:
            self.set_keys(record, _power_of_two(int(record.used / FILL) + 1))  # there were fewer keys than expected

    def index_constant(self, index: int) -> int:
        """Return the constant of an index's section, or -1."""
        return self.indexes[index].constant

    def set_empty_keys(self, index: int, slots: int) -> None:
        """Give an index that is being built a table for keys, which is not initialised."""
        self.claim(16 * slots)
        self.indexes[index].publish(
            keys=allocate(slots, np.int64),
            starts=allocate(slots, np.int32),
            lengths=allocate(slots, np.int32),
            mask=slots - 1,
            limit=self.limit_of(slots),
        )

    def set_arena(self, index: int, entries: int) -> None:
        """Give an index that is being built room for vectors of so many entries, and for some that come later."""
        if entries > MOST:
            raise CapacityError(f"an index has {entries:,} entries, the maximal number")
        capacity = min(max(entries + entries // 4, capacities.arena), MOST)
        self.claim(8 * capacity)
        arena, free = allocate(capacity, np.int64), allocate(SIZE_CLASSES, np.int64, -1)
        self.indexes[index].publish(arena=arena, capacity=capacity, top=0, need=0, free=free)

    def extend_index(self, index: int, row: int) -> None:
        """Add the rows from a row on to an index."""
        record, constant = self.indexes[index], self.indexes[index].constant
        relation = self.relations[record.relation]
        first, count = row, relation.count
        while (row := native.index_rows(relation.address, record.address, constant, row, count)) < count:
            done, rest = row - first, count - first
            self.grow_index(record, max(rest // done, 2) if first == 0 and done > rest // _LEAP else 2)

    def unlink_indexes(self, relation: int) -> list[int]:
        """Maintain the indexes of a relation no more, until they are linked again. Return them."""
        indexes = self.built_indexes(relation)
        for index, constant in indexes:
            self.indexes[index].built = 0
            self.sections[self.section(relation, constant)].first_index = -1
        return [index for index, _ in indexes]

    def link_index(self, index: int) -> None:
        """Maintain an index, which has all rows, from now on."""
        record = self.indexes[index]
        section = self.sections[self.section(record.relation, self.indexes[index].constant)]
        if not self._is_linked(section, index):  # it is, where an exception struck right here before
            record.next = section.first_index
            section.first_index = index
        record.built = 1
        self._gradual.running.pop(index, None)

    def _is_linked(self, section: Record, index: int) -> bool:
        """Return whether new rows of a section are added to an index."""
        number = section.first_index
        while number not in (-1, index):
            number = self.indexes[number].next
        return bool(number == index)

    # --- plans and frames -------------------------------------------------------------------------------------------

    def prepared(self, key: Hashable, plan: Callable[[Workspace], int]) -> Prepared:
        """Return the ``with`` block in which a query has a workspace with its plan, which is remembered.

        Args:
            key: The query. Plans of equal keys are the same.
            plan: Makes the plan in a workspace; called within the database's mutex.
        """
        return Prepared(self, self._prepared, key, plan)

    def pool_of(self, key: Hashable) -> list[tuple[Workspace, int]]:
        """Return the workspaces with the plan of a query that nobody uses: who takes one gives it back."""
        if len(self._prepared) >= REMEMBERED and key not in self._prepared:
            self._prepared.clear()
        return self._prepared.setdefault(key, [])

    @contextmanager
    def temporary_plans(self) -> Iterator[None]:
        """Discard plans made in the block. Requires exclusive access to the database."""
        marks = len(self.plans), len(self.steps), self._code_count
        try:
            yield
        finally:
            self.plans.truncate(marks[0])
            self.steps.truncate(marks[1])
            self._code_count = marks[2]

    def _set_arity(self, arity: int) -> None:
        """Make room for tuples with this number of columns. No kernel may be running."""
        self.frames.fit(arity=arity)
        self.context.publish(ring=allocate(RING * arity, np.int32, 0), ring_stride=arity)

    # --- growth -----------------------------------------------------------------------------------------------------

    def grow(self, number: int | None = None) -> None:
        """Make room in a relation, by default the one that a kernel found full, or in its indexes."""
        number = self.context.wanted if number is None else number
        relation = self.relations[number]
        if relation.count >= relation.capacity:
            self._set_capacity(relation, max(2 * relation.capacity, capacities.grown_rows))
        if relation.used >= relation.limit:
            self.set_slots(relation, max(2 * (relation.mask + 1), capacities.grown_slots))
        for index in self._indexes_of.get(number, ()):
            if self.indexes[index].built:
                self.grow_index(self.indexes[index])

    def _set_capacity(self, relation: Record, capacity: int) -> None:
        used, capacity = relation.count, min(capacity, MOST)
        if used >= capacity:
            raise CapacityError(f"a relation has {used:,} facts, the maximal number")
        self.claim(capacity * (4 * relation.arity + 2))
        grown: dict[str, Any] = {
            "rows": _resized(relation.rows, capacity * relation.arity, used * relation.arity),
            "flags": _resized(relation.flags, capacity, used),
            "capacity": capacity,
        }
        if self._watched:
            grown.update(_room_for_watches(capacity))
        if self._ranked:
            grown.update({name: _resized(getattr(relation, name), capacity, used) for name in RANKS})
        relation.publish(**grown)

    def set_slots(self, relation: Record, slots: int) -> None:
        """Give a relation a hash table of another size."""
        self.claim(12 * slots)
        keys, rows = allocate(slots, np.int64, EMPTY), allocate(slots, np.int32)
        native.rehash_tuples(
            address(relation.keys), address(relation.key_rows), len(relation.keys), address(keys), address(rows), slots - 1
        )
        relation.publish(keys=keys, key_rows=rows, mask=slots - 1, limit=int(slots * FILL))

    def grow_index(self, index: Record, times: int = 2) -> None:
        """Make room in an index that is full.

        Args:
            index: The index.
            times: The expected number of entries and keys, in multiples of the present one.
        """
        if index.used >= index.limit:
            self.set_keys(index, max(len(index.keys) << (times - 1).bit_length(), capacities.grown_slots))
        if index.need:
            needed = index.top + 2 * index.need
            if index.top + index.need > MOST:
                raise CapacityError(f"an index has {index.top:,} entries, the maximal number")
            capacity = min(max(times * index.capacity, capacities.grown_arena, needed), MOST)
            self.claim(8 * capacity)
            index.publish(arena=_resized(index.arena, capacity, index.top), capacity=capacity, need=0)

    def set_keys(self, index: Record, slots: int) -> None:
        self.claim(16 * slots)
        keys, starts, lengths = allocate(slots, np.int64, EMPTY), allocate(slots, np.int32), allocate(slots, np.int32)
        native.rehash_index(index.address, address(keys), address(starts), address(lengths), slots - 1)
        index.publish(keys=keys, starts=starts, lengths=lengths, mask=slots - 1, limit=int(slots * FILL))


class Frames:
    """All join frames: one block each of bindings, levels and scratch space, cut into equal pieces."""

    def __init__(self, context: Record) -> None:
        self._context = context
        self._retained: list[dict[str, Any]] = []
        self._use(count=1, bindings=16, depth=8, arity=4)

    def fit(self, bindings: int = 0, depth: int = 0, arity: int = 0) -> None:
        """Make room in every frame for this number of variables, of steps, and of columns in a tuple."""
        if bindings > self.bindings or depth > self.depth or arity > self.arity:
            self._use(self.count, max(bindings, self.bindings), max(depth, self.depth), max(arity, self.arity))

    def add(self, count: int) -> None:
        """Add frames; running joins continue in the old ones."""
        old, former = self.count, (self._words, self._bindings, self._levels)
        self._use(old + count, self.bindings, self.depth, self.arity)
        self._words[:old, :2] = former[0][:old, :2]
        self._bindings[:old] = former[1]
        self._levels[: old * self.depth] = former[2]

    def values(self, frame: int) -> Rows:
        """Return the bindings of a frame."""
        return self._bindings[frame]

    def _use(self, count: int, bindings: int, depth: int, arity: int) -> None:
        words = allocate((count, len(Frame.fields)), np.int64, 0)
        blocks = {
            "bindings": region((count, bindings), np.int32),
            "levels": region((count * depth, len(Level.fields)), np.int64),
            "scratch": region((count, arity), np.int32),
        }
        for field, block in blocks.items():
            items = depth if field == "levels" else 1
            words[:, Frame.fields[field][0]] = address(block) + np.arange(count) * (items * block.strides[0])
        self._retained.append(blocks)  # beside the former ones, until the kernels see the new ones
        self._context.frames = words
        self._words, self._bindings, self._levels, self._retained = words, blocks["bindings"], blocks["levels"], [blocks]
        self.count, self.bindings, self.depth, self.arity = count, bindings, depth, arity


_WATCHES: Final[dict[str, type[np.generic]]] = {"watches": np.int32}
"""The fields of a relation with one item per row that only deletion uses."""


def _room_for_watches(capacity: int) -> dict[str, Any]:
    """Return the fields of a relation for the rule instances that wait for its facts."""
    return {"watches": allocate(capacity, np.int32), "watch_room": capacity}


def _free_slot(keys: Any, key: int) -> int:
    """Return the slot where a hash table of sections gets a new key."""
    slot = mix(key) & (len(keys) - 1)
    while keys[slot] != EMPTY:
        slot = (slot + 1) & (len(keys) - 1)
    return slot


def _resized(array: Any, size: int, used: int, fill: int | None = None) -> Any:
    grown = allocate(size, array.dtype, fill)
    grown[:used] = array[:used]
    return grown


def _filled(values: Any, dtype: type[np.int32]) -> Any:
    """Return a copy of numbers as a one-dimensional array visible to kernels."""
    flat = np.asarray(values, dtype).reshape(-1)
    array = allocate(flat.size, dtype)
    array[: flat.size] = flat
    return array


def value_column(arity: int, columns: Sequence[int], section_column: int) -> int:
    """Return the column that is the only one outside of an index's key and its section, or -1."""
    rest = [column for column in range(arity) if column not in columns and column != section_column]
    return rest[0] if len(rest) == 1 else -1


def _index_key(values: Sequence[int]) -> int:
    """Return the key of ids in an index, computed as in `kernels.relations.index_key`."""
    if len(values) < 3:
        return sum(value << (32 * place) for place, value in enumerate(reversed(values)))
    key = len(values)
    for place, value in enumerate(values):
        key = mix(key ^ (value + (place << 40)))
    return key


def _power_of_two(size: int) -> int:
    return 1 << max(4, (size - 1).bit_length())
