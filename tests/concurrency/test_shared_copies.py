"""Copies of rows by several threads: the same rows in the same order as by one."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.concurrency.limits import Limits
from kg_reasoner.errors import LimitError
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.parallel.shared_copies import Copy, CopySchedule, SharedSchedule, makespan
from kg_reasoner.storage.parallel.worker import Worker
from kg_reasoner.terms import literal
from tests.concurrency.test_parallel import BLOCKS, capacities, failing_call, tables
from tests.helpers.effort import CHECKED, examples

Rows = dict[int, list[int]]


@st.composite
def copies(draw: st.DrawFn) -> list[Copy]:
    """Copies among six relations, none to the relation itself."""
    sources = draw(st.lists(st.integers(0, 5), unique=True, min_size=1))
    heads = [draw(st.lists(st.integers(0, 5), unique=True)) for _ in sources]
    return [Copy(turn, source, head, turn + 1) for turn, source in enumerate(sources) for head in heads[turn] if head != source]


def in_turn(made: list[Copy], rows: Rows) -> Rows:
    """The rows if one copy is made after the other."""
    for copy in made:
        rows[copy.head] += [row for row in rows[copy.source] if row not in rows[copy.head]]
    return rows


def initial() -> Rows:
    return {relation: [10 * relation, 10 * relation + 1, 7] for relation in range(6)}


@settings(max_examples=examples(1000))
@given(copies(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_every_schedule_copies_the_same_rows(made: list[Copy], threads: int, chance: random.Random) -> None:
    """Copies read when they begin, and write when they end."""
    schedule, rows = CopySchedule(made), initial()
    running: list[tuple[Copy, list[int]]] = []
    while True:
        while len(running) < threads and (copy := schedule.begin()) is not None:
            running.append((copy, list(rows[copy.source])))
        if not running:
            break
        copy, read = running.pop(chance.randrange(len(running)))
        assert read == rows[copy.source], "rows were added while they were read"
        rows[copy.head] += [row for row in read if row not in rows[copy.head]]
        schedule.end(copy)
    assert schedule.left == 0
    assert rows == in_turn(made, initial())


@settings(max_examples=examples(300))
@given(copies(), st.integers(1, 4))
def test_makespan_has_bounds(made: list[Copy], threads: int) -> None:
    total = sum(copy.work for copy in made)
    spent = makespan(made, lambda copy: copy.work, threads)
    assert total / threads <= spent <= total
    assert spent >= max((sum(copy.work for copy in made if copy.head == head) for head in range(6)), default=0)


def test_threads_stop_when_one_fails() -> None:
    schedule = SharedSchedule([Copy(0, 0, 1, 1), Copy(0, 0, 2, 1), Copy(1, 1, 3, 1)])
    begun = threading.Barrier(2)

    def make(copy: Copy) -> bool:
        begun.wait(10)
        return copy.head != 1

    workers = [threading.Thread(target=schedule.work, args=(make, lambda: False)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(10)
    assert not schedule.is_done
    assert not any(worker.is_alive() for worker in workers)


# --- reasoners -------------------------------------------------------------------------------------------------------------

ONTOLOGY = """
person(?x) :- knows(?x, ?y) .
person(?y) :- knows(?x, ?y) .
likes(?x, ?y) :- knows(?x, ?y) .
known(?y, ?x) :- knows(?x, ?y) .
knows(?y, ?x) :- known(?x, ?y) .
person(?x) :- likes(?x, ?y) .
agent(?x) :- person(?x) .
thing(?x) :- likes(?y, ?x) .
liked(?y, ?x) :- likes(?x, ?y) .
thing(?x) :- agent(?x) .
friend(?x, ?z) :- agent(?x), likes(?x, ?y), known(?y, ?z) .
met(?x, ?y, ?z) :- friend(?x, ?y), likes(?y, ?z) .
choice(?x, ?y, ?z) :- few(?x), few(?y), few(?z) .
table(?y, ?x, ?z) :- few(?x), few(?y), few(?z) .
"""
"""Copies in chains and in circles, joins at the end, and tables that one thread fills."""


def made(threads: int, seed: int) -> Reasoner:
    chance = random.Random(seed)
    rules = [line for line in ONTOLOGY.splitlines() if line]
    chance.shuffle(rules)
    reasoner = Reasoner("\n".join(rules), threads=threads)
    for predicate in ("knows", "known", "likes"):
        reasoner.add_facts(predicate, [(literal(chance.randrange(9)), literal(chance.randrange(9))) for _ in range(30)])
    reasoner.add_facts("few", [(literal(number),) for number in range(6)])
    return reasoner


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Copy]]:
    """The copies that threads make."""
    found: list[Copy] = []
    copy = Worker.copy

    def noting(worker: Worker, one: Copy) -> bool:
        found.append(one)
        return copy(worker, one)

    monkeypatch.setattr(Worker, "copy", noting)
    monkeypatch.setattr("kg_reasoner.storage.parallel.worker_team.KEEPING", 100)
    with capacities(BLOCKS):
        yield found


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_reasoners_derive_the_same_rows(threads: int, copied: list[Copy]) -> None:
    for seed in range(2 if CHECKED else 8):
        alone, together = made(1, seed), made(threads, seed)
        assert tables(together) == tables(alone)
        assert together.core.engine.database.context.total == alone.core.engine.database.context.total
        for reasoner in (alone, together):
            reasoner.remove_facts("knows", sorted(reasoner.facts("knows", which="explicit"), key=str)[:10])
            reasoner.add_facts("likes", [(literal(number), literal(number + 1)) for number in range(20)])
        assert tables(together) == tables(alone)
    assert len(copied) >= 10


@pytest.mark.parametrize("error", [MemoryError, LimitError])
@pytest.mark.parametrize(("owner", "place"), [(Worker, "copy"), (Database, "grow"), (Database, "link_index")])
def test_error_while_copying(owner: type, place: str, error: type[Exception], copied: list[Copy]) -> None:
    expected, reasoner = made(1, 0), made(2, 0)
    with failing_call(2, owner, place, error):
        reasoner.materialise()
    assert tables(reasoner) == tables(expected)
    assert copied


def test_limits_hold_while_copying(copied: list[Copy]) -> None:
    reasoner = made(2, 0)
    with reasoner.limited(Limits(facts=120)), pytest.raises(LimitError, match="exceed the limit of 120"):
        reasoner.materialise()
    assert copied
    assert tables(reasoner) == tables(made(1, 0))
