"""Rule evaluation by several threads: the same rows in the same order as by one, and no thread left behind by errors."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.cli import main
from kg_reasoner.concurrency import tasks
from kg_reasoner.concurrency.cores import thread_count
from kg_reasoner.concurrency.limits import Limits
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import CancelledError, LimitError
from kg_reasoner.program import Program
from kg_reasoner.storage import capacities as table_capacities
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import EMPTY, LIST_BITS, NOT_NEW
from kg_reasoner.storage.kernels.listed_heads import holder
from kg_reasoner.storage.parallel.shared_insertion import SharedInsertion
from kg_reasoner.storage.parallel.worker import MOST_HEADS, Worker
from kg_reasoner.storage.parallel.worker_team import WorkerTeam
from kg_reasoner.storage.preparation.index_needs import soon_wanted
from kg_reasoner.terms import Literal, literal
from tests.conftest import SHARED
from tests.helpers.effort import CHECKED, examples
from tests.helpers.oracle import Facts
from tests.helpers.reasoners import stratifiable
from tests.helpers.strategies import facts, programs, triple_programs, triples

CLOSURE = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."
BLOCKS = replace(
    table_capacities.Capacities(),
    block=4,
    heads=4,
    shared_instances=1,
    shared_heads=1,
    shared_facts=1,
    shared_rows=1,
    shared_triples=1,
    few_keys=2,
    inserted_heads=3,
)
"""Blocks of a few rows, all of which threads share. Most lists of heads are too short for heads to claim slots early."""
EARLY = replace(BLOCKS, heads=1 << 12, inserted_heads=1 << 16)
"""Lists are long enough, and only heads of small hash tables claim slots when all threads have joined."""
OVERFLOWING = replace(EARLY, heads=24)
"""Some lists are full before their thread ends."""


@contextmanager
def capacities(chosen: table_capacities.Capacities) -> Iterator[None]:
    usual = table_capacities.current
    table_capacities.current = chosen
    try:
        yield
    finally:
        table_capacities.current = usual


def tables(reasoner: Reasoner) -> list[list[list[int]]]:
    """The rows of all relations, in their order."""
    reasoner.materialise()
    database = reasoner.engine.database
    return [database.rows(number).tolist() for number in range(len(database.relations))]


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heads claim slots while threads join, also if many are the same."""
    monkeypatch.setattr(WorkerTeam, "_claims_early", property(lambda team: True, lambda team, value: None), raising=False)


def links(count: int) -> list[tuple[Literal, Literal]]:
    """Links of nodes, fewer of them in checked mode."""
    count = count // 4 if CHECKED else count
    return [
        (literal(number), literal(end)) for number in range(count) for end in ((7 * number + 1) % count, (3 * number + 2) % count)
    ]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the blocks of rows that threads share."""
    found: list[int] = []
    process = WorkerTeam.process

    def counting(team: WorkerTeam, relation: int) -> int:
        found.append(1)
        return process(team, relation)

    monkeypatch.setattr(WorkerTeam, "process", counting)
    return found


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("sizes", [BLOCKS, EARLY, OVERFLOWING], ids=["blocks", "early", "overflowing"])
@pytest.mark.parametrize(
    "text", [CLOSURE, CLOSURE.replace("path(?y, ?z)", "edge(?y, ?z)"), "[?y, ?p, ?x] :- [?x, ?p, ?y] . " + CLOSURE]
)
@pytest.mark.sample(3)
def test_same_rows_in_same_order(
    text: str, sizes: table_capacities.Capacities, threads: int, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if sizes is not BLOCKS:
        request.getfixturevalue("early")
    with capacities(sizes):
        alone, together = Reasoner(text, threads=1), Reasoner(text, threads=threads)
        shared = counted(monkeypatch)
        for reasoner in (alone, together):
            reasoner.add_facts("edge", links(60))
        assert tables(together) == tables(alone)
        assert shared
        for reasoner in (alone, together):
            reasoner.remove_facts("edge", links(60)[10:15])
            reasoner.add_facts("edge", [(literal(number), literal(number + 1)) for number in range(10, 20)])
        assert tables(together) == tables(alone)


@settings(max_examples=examples(100))
@given(programs(functions=True), facts(), st.lists(facts(), max_size=3), st.sampled_from(list(STRATEGIES)))
def test_random_programs(program: Program, first: Facts, updates: list[Facts], strategy: str) -> None:
    """Functions are called by Python, and blocks of rows that trigger them are not shared; others are."""
    assume(stratifiable(program))
    with capacities(SHARED):
        both = [Reasoner(program, maintenance=strategy, threads=threads) for threads in (1, 3)]
        for number, update in enumerate([first, *updates]):
            for predicate, rows in sorted(update.items()):
                for reasoner in both:
                    (reasoner.add_facts if number % 2 == 0 else reasoner.remove_facts)(predicate, sorted(rows, key=str))
            names = {atom.predicate for rule in program.rules for atom in (rule.head, *rule.body_atoms())} & set(first)
            one, other = ({name: list(reasoner.facts(name)) for name in names} for reasoner in both)  # functions may be called more
            assert one == other


@settings(max_examples=examples(100))
@given(st.booleans().flatmap(triple_programs), st.lists(triples(), min_size=1, max_size=4), st.sampled_from(list(STRATEGIES)))
def test_random_triples(program: Program, updates: list[set], strategy: str) -> None:  # type: ignore[type-arg]
    """In both layouts."""
    with capacities(SHARED):
        both = [Reasoner(program, maintenance=strategy, threads=threads) for threads in (1, 3)]
        for number, update in enumerate(updates):
            for reasoner in both:
                (reasoner.add_triples if number % 2 == 0 else reasoner.remove_triples)(sorted(update, key=str))
            assert tables(both[0]) == tables(both[1])


def test_relations_grow_in_the_order_of_their_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in that of their numbers: an update processes relations in the order in which they grow."""
    text = "start(?x) :- link(?x, ?y) . end(?y) :- link(?x, ?y) . node(?x) :- start(?x) . node(?x) :- end(?x) ."
    grown = [(literal(0), literal(end)) for end in range(100, 108)] + [(literal(start), literal(1)) for start in range(2, 10)]
    with capacities(EARLY):
        alone, together = Reasoner(text, threads=1), Reasoner(text, threads=2)
        shared = counted(monkeypatch)
        for reasoner in (alone, together):
            reasoner.add_facts("link", [(literal(0), literal(1))])
            reasoner.materialise()
            reasoner.add_facts("link", grown)
        assert tables(together) == tables(alone)
        assert shared


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("slots", [2, 64])
def test_rows_of_a_new_rule_do_not_depend_on_when_tables_grow(threads: int, slots: int) -> None:
    """A kernel begins again when a table has grown. Threads build indexes with other capacities than one thread does."""
    found = []
    for sizes in (
        table_capacities.Capacities(),
        replace(BLOCKS, block=table_capacities.current.block, slots=slots, rows=1, arena=1),
    ):
        with capacities(sizes):
            reasoner = Reasoner(threads=threads)
            reasoner.add_facts("edge", links(40))
            reasoner.materialise()
            reasoner.add_program("edge(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .")
            found.append(tables(reasoner))
    assert found[0] == found[1]


@pytest.mark.parametrize("repeated", [False, True])
def test_heads_claim_slots_early_if_few_are_the_same(repeated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms, join = list[int](), Worker.join

    def noted(self: Worker, relation: int, low: int, high: int, task: int) -> int:
        rooms.append(self.context.claim_room)
        return join(self, relation, low, high, task)

    monkeypatch.setattr(Worker, "join", noted)
    monkeypatch.setattr("kg_reasoner.storage.parallel.worker_team.FEW_KEPT", 32)
    with capacities(replace(EARLY, heads=64, slots=1 << 10)):
        reasoner = Reasoner("seen(?z) :- link(?x, ?y), of(?y, ?z) .", threads=2)
        reasoner.add_facts("of", [(literal(number), literal(number % 3 if repeated else number)) for number in range(200)])
        reasoner.add_facts("link", [(literal(number), literal(number + 1)) for number in range(199)])
        reasoner.materialise()
    assert any(rooms) is not repeated


@pytest.mark.parametrize("second", ["edge", "path"])
@pytest.mark.parametrize("heads", [8, 64, 1 << 10])
def test_repeated_heads_of_inner_loops_claim_slots(second: str, heads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most pairs of a dense closure are derived many times. Lists that are too short for the heads of a block become longer."""
    text = f"path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), {second}(?y, ?z) ."
    rooms, listed = list[int](), list[int]()
    join, insert = Worker.join, WorkerTeam._insert

    def noted(self: Worker, relation: int, low: int, high: int, task: int) -> int:
        rooms.append(self.context.claim_room)
        return join(self, relation, low, high, task)

    def watched(self: WorkerTeam, segments: Any, sizes: Any) -> None:
        if self._database.context.claim_room:
            listed.append(segments.heads)
        insert(self, segments, sizes)

    monkeypatch.setattr(Worker, "join", noted)
    monkeypatch.setattr(WorkerTeam, "_insert", watched)
    with capacities(replace(BLOCKS, heads=heads, inserted_heads=1 << 16)):
        alone, together = Reasoner(text, threads=1), Reasoner(text, threads=2)
        for reasoner in (alone, together):
            reasoner.add_facts("edge", links(100))
        assert tables(together) == tables(alone)
    assert any(rooms)
    assert 0 < sum(listed) < 1.2 * alone.engine.database.count(), "hardly any head is listed twice"


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("call", [3, 4, 5, 6])
def test_an_interrupt_while_threads_start_leaves_rows_as_they_are(call: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lists still have the heads of the round before, which are rows, and no longer claim slots."""
    calls, start = count(1), Worker.start

    def interrupted(self: Worker, room: int | None = None) -> None:
        if next(calls) == call:
            raise KeyboardInterrupt
        start(self, room)

    with capacities(EARLY):
        alone, together = Reasoner(CLOSURE, threads=1), Reasoner(CLOSURE, threads=2)
        for reasoner in (alone, together):
            reasoner.add_facts("edge", links(60))
        monkeypatch.setattr(Worker, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            together.materialise()
        relations = together.engine.base.database.relations
        filled = [int((np.asarray(record.slots)[: record.mask + 1] != EMPTY).sum()) for record in relations.records]
        assert filled == [record.used for record in relations.records]
        assert tables(together) == tables(alone)


@pytest.mark.usefixtures("early")
def test_the_first_of_equal_heads_is_the_new_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the thread that derives it comes later."""
    text, second_has_joined = "even(?y) :- link(?x, ?y) . seen(?y) :- even(?y) .", threading.Event()
    join, insert, replaced = Worker.join, WorkerTeam._insert, list[int]()

    def late(self: Worker, relation: int, low: int, high: int, task: int) -> int:
        if task == 0:
            assert second_has_joined.wait(60)
        status = join(self, relation, low, high, task)
        if task == 1:
            second_has_joined.set()
        return status

    def watched(self: WorkerTeam, segments: Any, sizes: Any) -> None:
        for worker in self._workers:
            places = worker.kept.places[: worker.kept.count]
            replaced.append(int((places == NOT_NEW).sum()))
            assert not worker.kept.has_unclaimed
        insert(self, segments, sizes)

    monkeypatch.setattr(Worker, "join", late)
    monkeypatch.setattr(WorkerTeam, "_insert", watched)
    with capacities(replace(EARLY, heads=16, slots=1 << 10)):
        alone, together = Reasoner(text, threads=1), Reasoner(text, threads=2)
        for reasoner in (alone, together):
            reasoner.add_facts("link", [(literal(number), literal(number % 4 + number // 4)) for number in range(16)])
        assert tables(together) == tables(alone)
    assert sum(replaced) > 0


def test_too_many_heads_for_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block with more heads than a list can hold is left to one thread."""
    monkeypatch.setattr("kg_reasoner.storage.parallel.worker.MOST_HEADS", 64)
    with capacities(BLOCKS):
        both = [Reasoner(CLOSURE, threads=threads) for threads in (1, 2)]
        for reasoner in both:
            reasoner.add_facts("edge", links(60))
        assert tables(both[0]) == tables(both[1])


def test_longer_lists_are_claimed() -> None:
    """All of a list's columns count towards the limit of memory."""
    reasoner = Reasoner(CLOSURE, threads=2)
    database, claimed = reasoner.engine.database, list[int]()
    (worker,) = WorkerTeam(database, 1)._workers
    worker.start()
    database.claim = claimed.append
    worker.lengthen()
    columns = (np.asarray(getattr(worker.kept, name)) for name in ("keys", "values", "relations", "places", "tasks"))
    assert claimed == [sum(column.nbytes for column in columns)]


def test_lists_are_not_longer_than_numbers_of_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists grow by a factor, but slots of hash tables hold the numbers of their heads."""
    most, rooms, lengthen = 50, set[int](), Worker.lengthen

    def noting(worker: Worker, most: int | None = None) -> None:
        lengthen(worker, most)
        rooms.add(worker.kept.room)

    monkeypatch.setattr("kg_reasoner.storage.parallel.worker.MOST_HEADS", most)
    monkeypatch.setattr(Worker, "lengthen", noting)
    with capacities(replace(BLOCKS, block=32, inserted_heads=1 << 16)):
        alone, together = (Reasoner(CLOSURE, threads=threads) for threads in (1, 2))
        for reasoner in (alone, together):
            reasoner.add_facts("edge", links(60))
        assert tables(together) == tables(alone)
    assert max(rooms) == most


def test_the_number_of_the_last_head_fits_in_a_slot() -> None:
    slots = np.zeros(1, np.int32)
    slots[0] = holder((1 << LIST_BITS) - 1, MOST_HEADS - 1)
    assert slots[0] < EMPTY


def test_indexes_are_built_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One request of a kernel is enough for the indexes that several rules want."""
    built: list[list[int]] = []

    def noting(database: Database) -> list[int]:
        built.append(soon_wanted(database))
        return built[-1]

    monkeypatch.setattr("kg_reasoner.storage.parallel.worker_team.soon_wanted", noting)
    rules = "a(?x, ?z) :- e(?x, ?y), f(?y, ?z) . b(?x, ?z) :- e(?x, ?y), g(?y, ?z) . c(?y, ?z) :- e(?x, ?y), h(?x, ?z) ."
    with capacities(BLOCKS):
        reasoner = Reasoner(rules, threads=2)
        for predicate in "fghe":
            reasoner.add_facts(predicate, links(40 if predicate == "e" else 8))
        reasoner.materialise()
    assert max(map(len, built)) == 3


# --- errors ----------------------------------------------------------------------------------------------------------------


def pool_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(tasks.NAME)]


def waited(condition: Callable[[], bool]) -> bool:
    """Whether a condition becomes true within seconds: a thread that has done its last task takes a moment to end."""
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return condition()


@contextmanager
def failing_call(number: int, owner: type, place: str, error: type[Exception]) -> Iterator[None]:
    """Expect an error in the block, which a method raises when it is called for a number of times, and no thread afterwards."""
    original: Callable[..., object] = getattr(owner, place)
    numbers = count(1)

    def failing(*arguments: object) -> object:
        if next(numbers) == number:
            raise error("injected")
        return original(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, place, failing)
        with pytest.raises(error, match="injected"):
            yield
    assert waited(lambda: not pool_threads())


@pytest.mark.parametrize("error", [MemoryError, LimitError])
@pytest.mark.parametrize(
    ("owner", "place"),
    [
        (Worker, "join"),
        (SharedInsertion, "_number"),
        (Database, "reserve_rows"),
        (Database, "unlink_indexes"),
        (Database, "extend_index"),
    ],
)
@pytest.mark.sample(4)
def test_error_in_a_thread(owner: type, place: str, error: type[Exception]) -> None:
    with capacities(BLOCKS):
        expected = Reasoner(CLOSURE, threads=1)
        expected.add_facts("edge", links(60))
        reasoner = Reasoner(CLOSURE, threads=3)
        reasoner.add_facts("edge", links(60)[:20])
        reasoner.materialise()
        reasoner.add_facts("edge", links(60)[20:])
        with failing_call(3, owner, place, error):
            reasoner.materialise()
        for either in (reasoner, expected):  # some of these had claimed slots of the hash table
            either.add_facts("path", sorted(expected.facts("path"), key=str)[:100])
        reasoner.materialise()
        assert set(reasoner.facts("path")) == set(expected.facts("path"))
        reasoner.remove_facts("edge", links(60)[:5])
        expected.remove_facts("edge", links(60)[:5])
        assert set(reasoner.facts("path")) == set(expected.facts("path"))


@pytest.mark.parametrize("pool", [None, tasks.ThreadPool()])
def test_interrupt_waits_for_threads(pool: tasks.ThreadPool | None) -> None:
    """Whatever interrupts the thread that waits, no task is running afterwards, and none begins."""
    stopped, running, begun = threading.Event(), [], []

    def task() -> None:
        begun.append(1)
        running.append(1)
        stopped.wait(30)
        time.sleep(0.05)
        running.pop()

    def interrupt() -> bool:
        if len(begun) == 2:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        tasks.Round(interrupt, stopped.set, pool).run([task] * 5, 2)
    assert (running, len(begun)) == ([], 2)


def test_threads_of_a_pool_run_the_tasks_of_several_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, threads = tasks.ThreadPool(), list[int]()
    both = threading.Barrier(2)

    def task() -> None:
        both.wait(10)
        threads.append(threading.get_ident())

    def run() -> set[int]:
        threads.clear()
        tasks.Round(lambda: False, lambda: None, pool).run([task] * 6, 2)
        assert len(threads) == 6
        return set(threads)

    monkeypatch.setattr(tasks, "IDLE_TIME", 10.0)
    first = run()
    assert len(first) == 2
    assert run() == first
    monkeypatch.setattr(tasks, "IDLE_TIME", 0.001)
    assert run() == first
    assert waited(lambda: not pool_threads())
    assert len(run()) == 2


def test_a_pool_runs_tasks_after_a_failed_round() -> None:
    pool, done = tasks.ThreadPool(), list[int]()

    def fail() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        tasks.Round(lambda: False, lambda: None, pool).run([fail] * 3, 2)
    tasks.Round(lambda: False, lambda: None, pool).run([partial(done.append, number) for number in range(5)], 2)
    assert sorted(done) == [0, 1, 2, 3, 4]


class FailingOnce(threading.Condition):
    """A condition whose next block raises MemoryError as it begins, in a thread of tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.is_failing = True

    def __enter__(self) -> bool:
        if self.is_failing and threading.current_thread().name == tasks.NAME:
            self.is_failing = False
            raise MemoryError("injected")
        return super().__enter__()


@pytest.mark.parametrize("pool", [None, tasks.ThreadPool()])
def test_a_thread_that_fails_before_its_first_task(pool: tasks.ThreadPool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    done = list[int]()
    make_queue = tasks._TaskQueue.__init__

    def make(team: Any, waiting: Any) -> None:
        make_queue(team, waiting)
        team._changed = FailingOnce()

    with monkeypatch.context() as patch:
        patch.setattr(tasks._TaskQueue, "__init__", make)
        with pytest.raises(MemoryError, match="injected"):
            tasks.Round(lambda: False, lambda: None, pool).run([partial(done.append, 1)] * 3, 1)
    assert not done
    tasks.Round(lambda: False, lambda: None, pool).run([partial(done.append, 1)] * 3, 1)
    assert done == [1] * 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_threads_that_end_without_their_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """This thread does the tasks. What has ended the others, Python shows."""
    pool, threads = tasks.ThreadPool(), list[int]()

    def fail(_: Any) -> None:
        raise MemoryError("injected")

    def run() -> set[int]:
        threads.clear()
        tasks.Round(lambda: False, lambda: None, pool).run([lambda: threads.append(threading.get_ident())] * 3, 2)
        assert len(threads) == 3
        return set(threads)

    with monkeypatch.context() as patch:
        patch.setattr(tasks._PoolThread, "_next", fail)
        assert run() == {threading.get_ident()}
    assert threading.get_ident() not in run()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no forks")
def test_threads_of_a_pool_are_not_forked() -> None:
    pool, done = tasks.ThreadPool(), list[int]()
    tasks.Round(lambda: False, lambda: None, pool).run([partial(done.append, 1)] * 3, 2)
    child = os.fork()
    if child == 0:
        tasks.Round(lambda: False, lambda: None, pool).run([partial(done.append, 1)] * 3, 2)
        os._exit(len(done))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 6


def test_system_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with capacities(BLOCKS):
        both = [Reasoner(CLOSURE, threads=threads) for threads in (1, 2)]
        for reasoner in both:
            reasoner.add_facts("edge", links(40))
        first = tables(both[0])
        monkeypatch.setattr(threading.Thread, "start", refuse)
        assert tables(both[1]) == first


BUSY = "far(?a) :- e(?a, ?x), e(?b, ?y), e(?c, ?z), FILTER(?x < ?b), FILTER(?y < ?c), FILTER(?z < ?a) ."
"""Its joins have no results, and no end in sight."""


def busy() -> Reasoner:
    """A reasoner that is about to join for a long time in all threads."""
    reasoner = Reasoner(BUSY, threads=2)
    reasoner.add_facts("e", [(literal(number), literal(number + 1)) for number in range(3000)])
    return reasoner


def test_limit_stops_threads() -> None:
    with capacities(BLOCKS):
        reasoner = busy()
        with reasoner.limited(Limits(seconds=0.3)), pytest.raises(LimitError, match="longer than its limit"):
            reasoner.materialise()
        assert waited(lambda: not pool_threads())
        reasoner.remove_rules(reasoner.rules)
        assert reasoner.sizes().inferred == 0


def test_cancellation_stops_threads() -> None:
    with capacities(BLOCKS):
        reasoner = busy()
        timer = threading.Timer(0.3, reasoner.cancel)
        timer.start()
        with pytest.raises(CancelledError):
            reasoner.materialise()
        assert waited(lambda: not pool_threads())
        timer.join()
        reasoner.remove_rules(reasoner.rules)
        assert reasoner.sizes().inferred == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no forks")
def test_fork() -> None:
    """Threads are gone in a forked process, which makes its own."""
    with capacities(BLOCKS):
        alone, reasoner = (Reasoner(CLOSURE, threads=threads) for threads in (1, 2))
        for one in (alone, reasoner):
            one.add_facts("edge", links(40))
            one.materialise()
            one.add_facts("edge", links(60))
        expected = tables(alone)
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if tables(reasoner) == expected else 1)
            finally:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0


# --- settings --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [0, -1, 65, 1.5, "2", True])
def test_wrong_number_of_threads(threads: object) -> None:
    with pytest.raises(ValueError, match="is not a number from 1 to 64"):
        Reasoner(threads=threads)  # type: ignore[arg-type]


def test_number_of_threads() -> None:
    assert 1 <= thread_count(None) <= 64
    reasoner = Reasoner(CLOSURE, threads=3)
    assert (reasoner.threads, reasoner.without_facts().threads, Reasoner().threads) == (3, 3, None)


def test_command_line(tmp_path: Path) -> None:
    data = tmp_path / "data.nt"
    data.write_text("<http://a/s> <http://a/p> <http://a/o> .\n")
    outputs = []
    for number in ("1", "2"):
        output = tmp_path / f"{number}.nt"
        run = CliRunner().invoke(main, ["materialise", "--threads", number, "-q", str(data), "-o", str(output)])
        assert run.exit_code == 0, run.output
        outputs.append(output.read_text())
    assert outputs[0] == outputs[1] != ""
    assert CliRunner().invoke(main, ["materialise", "--threads", "0", str(data), "-o", str(tmp_path / "0.nt")]).exit_code == 2
