"""Indexes and hash tables that threads build in parts are those that one thread builds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.concurrency.tasks import Task, run_together
from kg_reasoner.storage import capacities
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import EMPTY
from kg_reasoner.storage.kernels.memory.struct_tables import Record
from kg_reasoner.storage.kernels.primitives import mix
from kg_reasoner.storage.kernels.thread_results import MOST_SPILLED
from kg_reasoner.storage.kernels.vectors import entry_place, vector_room, vector_size
from kg_reasoner.storage.relations import index_building, indexes
from kg_reasoner.storage.relations.index_building import Building
from kg_reasoner.storage.relations.rehashing import Rehashing
from tests.helpers.effort import examples

Tuples = list[tuple[int, ...]]


def run(steps: Iterator[Iterable[Task]]) -> None:
    for tasks in steps:
        for task in tasks:
            task()


def filled(rows: Tuples, arity: int, section_column: int = -1) -> tuple[Database, int]:
    database = Database()
    relation = database.add_relation(arity, section_column)
    database.load(relation, np.array(rows, np.int32).reshape(-1, arity))
    return database, relation


def built(parts: int, **changes: int) -> Callable[[Database, int], None]:
    """Return what builds an index in parts."""

    def build(database: Database, index: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(capacities, "current", replace(capacities.current, **changes))
            run(Building(database, index, parts).steps())

    return build


def vectors(database: Database, index: int) -> dict[int, list[int]]:
    """The entries of an index by their keys, found as joins find them."""
    record = database.indexes[index]
    found = {}
    for slot in np.flatnonzero(np.asarray(record.keys) != EMPTY).tolist():
        key, start = int(record.keys[slot]), int(record.starts[slot])
        home = mix(key) & record.mask
        assert all(
            record.keys[place & record.mask] != EMPTY for place in range(home, slot if slot >= home else slot + len(record.keys))
        )
        places = [entry_place(record, start, position) for position in range(int(record.lengths[slot]))]
        found[key] = (record.arena if record.has_values else record.row_arena)[places].tolist()
    assert len(found) == record.used
    return found


@pytest.mark.parametrize("page_bits", [1, 2, 10])
@pytest.mark.parametrize("arity", [2, 3])
def test_vectors_do_not_overlap(monkeypatch: pytest.MonkeyPatch, arity: int, page_bits: int) -> None:
    """Vectors with their directories take all of the room, whether one thread builds them row by row, or three in parts."""
    monkeypatch.setattr(capacities, "current", replace(capacities.current, page_bits=page_bits))
    for build in (built(3), built(3, few_keys=-1), Database.fill_index):
        database, relation = filled([(number % 7, number, number)[:arity] for number in range(200)], arity)
        index = database.index(relation, (0,))
        build(database, index)
        record = database.indexes[index]
        taken = [place for slot in np.flatnonzero(np.asarray(record.keys) != EMPTY).tolist() for place in room(record, slot)]
        unused = [place for size in range(len(record.free)) for place in unused_places(record, size)]
        assert len(taken + unused) == len({*taken, *unused}) == record.top <= record.capacity
        assert record.top - len(unused) <= vector_rooms(record)
        values = range(200) if arity == 2 else [0] * 200
        assert sorted(pair for vector in vectors(database, index).values() for pair in vector) == [
            (number << 32) | value if arity == 2 else number for number, value in enumerate(values)
        ]


def room(record: Record, slot: int) -> list[int]:
    """The places that a vector takes, and its directory."""
    start, length, page = int(record.starts[slot]), int(record.lengths[slot]), 1 << record.page_bits
    if start >= 0:
        return list(range(start, start + vector_size(length)))
    arena, pages = (record.arena if record.has_values else record.row_arena), (length - 1) // page + 1
    directory = range(~start, ~start + vector_size(pages))
    return [*directory, *(int(arena[place]) + number for place in directory[:pages] for number in range(page))]


def unused_places(record: Record, size_class: int) -> list[int]:
    """The places of the parts of an arena, of some size, that are free again."""
    arena, place, found = (record.arena if record.has_values else record.row_arena), int(record.free[size_class]), []
    while place >= 0:
        found += range(place, place + (1 << size_class))
        place = int(arena[place])
    return found


def vector_rooms(record: Record) -> int:
    """The room that the vectors of an index need."""
    return sum(vector_room(record, int(record.lengths[slot])) for slot in np.flatnonzero(np.asarray(record.keys) != EMPTY).tolist())


@settings(max_examples=examples(200))
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30), st.integers(0, 5)), min_size=1, max_size=150),
    st.sampled_from([(0,), (1,), (0, 1), (2, 0), (), (0, 1, 2)]),
    st.sampled_from([-1, 3]),
    st.sampled_from([0, 1]),
    st.integers(1, 5),
)
def test_index_in_parts(rows: Tuples, columns: tuple[int, ...], constant: int, apart: int, parts: int) -> None:
    both = []
    for build in (built(parts), built(parts, few_keys=-1), Database.fill_index):
        database, relation = filled(rows, 3, 1)
        database.keep_explicit(relation)
        index = database.index(relation, columns, constant, apart)
        build(database, index)
        both.append(vectors(database, index))
        database.link_index(index)
        database.load(relation, np.array([(number, 3, number) for number in range(6, 90)], np.int32))  # it can be extended
        both[-1] = both[-1], vectors(database, index)
    assert both[0] == both[1] == both[2]


def test_more_keys_than_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of the ranges become larger until all keys fit."""
    monkeypatch.setattr(index_building, "_estimated", lambda marks: 1)
    both = []
    for build in (built(3), built(3, few_keys=-1), Database.fill_index):
        database, relation = filled([(number * number, number) for number in range(500)], 2)
        index = database.index(relation, (0,))
        build(database, index)
        both.append(vectors(database, index))
    assert both[0] == both[1] == both[2]


def colliding(count: int) -> list[int]:
    """Numbers whose home is the last slot of the first half of small tables: all but the first leave that part."""
    found = []
    number = 0
    while len(found) < count:
        if mix(number) & 255 == 127:
            found.append(number)
        number += 1
    return found


@pytest.mark.parametrize("count", [5, MOST_SPILLED + 10])
def test_keys_that_leave_their_part(count: int) -> None:
    """Also more of them than are kept: the table gets larger then."""
    rows: Tuples = [(number, place) for number in colliding(count) for place in range(2)]
    database, relation = filled(rows, 2)
    index = database.index(relation, (0,))
    built(2, few_keys=-1)(database, index)
    expected = {number: [(2 * place + entry) << 32 | entry for entry in range(2)] for place, number in enumerate(colliding(count))}
    assert vectors(database, index) == expected


@settings(max_examples=examples(100))
@given(st.integers(1, 3), st.lists(st.tuples(*[st.integers(0, 40)] * 3), min_size=1, max_size=150, unique=True), st.integers(1, 5))
def test_hash_table_in_parts(arity: int, rows: Tuples, parts: int) -> None:
    rows = list(dict.fromkeys(row[:arity] for row in rows))
    database, relation = filled(rows, arity)
    run(Rehashing(database, relation, 4 * (database.relations[relation].mask + 1), parts).steps())
    assert database.have_flag(relation, np.array(rows, np.int32).reshape(-1, arity)).all()
    assert not database.have_flag(relation, np.array(rows, np.int32).reshape(-1, arity) + 41).any()


@pytest.mark.parametrize("is_reversed", [False, True])
@settings(max_examples=examples(60))
@given(
    arity=st.integers(1, 3),
    changes=st.lists(st.tuples(st.booleans(), st.tuples(*[st.integers(0, 2)] * 3)), min_size=1, max_size=60),
    parts=st.integers(1, 5),
)
def test_the_last_row_of_a_tuple_gets_the_slot(
    is_reversed: bool, arity: int, changes: list[tuple[bool, tuple[int, ...]]], parts: int
) -> None:
    """Whatever the order in which parts are added."""
    database, relation = filled([], arity)
    present: dict[tuple[int, ...], None] = {}
    for is_added, values in changes:
        row = np.array([values[:arity]], np.int32)
        if is_added:
            database.load(relation, row)
            present[values[:arity]] = None
        else:
            database.retract(relation, row)
            present.pop(values[:arity], None)
    run(reversed(tasks) if is_reversed else tasks for tasks in Rehashing(database, relation, 256, parts).steps())
    rows = database.relations[relation].rows
    table = np.array(rows, np.int32)[: database.relations[relation].count * arity].reshape(-1, arity).tolist()
    last = {tuple(values): row for row, values in enumerate(table)}
    slots = np.asarray(database.relations[relation].slots)
    assert sorted(slots[slots != EMPTY] & database.relations[relation].row_mask) == sorted(last.values())
    everything = np.array(list(np.ndindex((3,) * arity)), np.int32).reshape(-1, arity)
    assert {tuple(row) for row in everything[database.have_flag(relation, everything)].tolist()} == set(present)


def test_threads_that_want_the_same_slots() -> None:
    rows = np.array(colliding(300), np.int32).reshape(-1, 1)
    database, relation = filled([], 1)
    database.load(relation, rows)
    for tasks in Rehashing(database, relation, 512, 4).steps():
        run_together(tasks, 4)
    assert database.have_flag(relation, rows).all()
    assert len(database.relations[relation].slots) == 512


@pytest.mark.parametrize("page_bits", [1, 10])
@pytest.mark.parametrize("apart", [0, 2])
@settings(max_examples=examples(40))
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 4)), max_size=40, unique=True),
    removed=st.integers(0, 5),
    listed=st.integers(0, 9),
)
def test_a_section_is_built_from_the_rows_that_another_index_lists(
    page_bits: int, apart: int, rows: Tuples, removed: int, listed: int
) -> None:
    """`listed`: the rows up to which that is done."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capacities, "current", replace(capacities.current, page_bits=page_bits, arena=1, slots=4))
        patch.setattr(indexes, "LISTED", listed)
        database, relation = filled(rows, 3, section_column=1)
        database.retract(relation, np.array(rows[:removed], np.int32).reshape(-1, 3))
        scanned = [database.index(relation, (column,), constant, apart) for column in (0, 2) for constant in range(4)]
        for index in scanned:
            database.fill_index(index)
        expected = [vectors(database, index) for index in scanned]
        database.build(database.index(relation, (1,)))
        sizes = Counter(row[1] for row in rows[removed:])
        for index, former in zip(scanned, expected, strict=True):
            size = sizes[database.index_constant(index)]
            assert (database._listed_rows(database.indexes[index]) is None) == (size > min(listed, 1 << page_bits))
            database.fill_index(index)
            assert vectors(database, index) == former
