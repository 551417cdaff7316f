"""Threads: each with reasoners of its own, many readers and a writer on one, and forks while all of them are at work.

What may crash the process runs in a forked one, so that a crash is a failure of one test.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from types import SimpleNamespace
from typing import Any
from weakref import ref

import numpy as np
import pytest
from rdflib import RDF, RDFS, Dataset, Graph, Namespace
from rdflib.plugins.sparql import prepareQuery

from kg_reasoner import KGReasonerStore, Reasoner, graph_of, store_of
from kg_reasoner.concurrency import forking
from kg_reasoner.concurrency.locking import ReadWriteLock
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.queries.searching import ANYWHERE, AS_IT_IS
from kg_reasoner.storage.terms.collections import Collections
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.value_order import ranks_of_values
from kg_reasoner.storage.writers.rdfxml_elements import ElementWriter
from kg_reasoner.storage.writers.writing import are_plain_labels, short_texts
from kg_reasoner.terms import Term, literal

if not hasattr(os, "fork"):
    pytest.skip("what may crash runs in forked processes, and this platform has none", allow_module_level=True)

from tests.concurrency import stress
from tests.faults.runner import in_child
from tests.helpers.effort import by_effort

EX = Namespace("http://example.org/")
PATHS = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) ."
PATIENCE = 20.0
"""Seconds for which a test waits for threads."""


def chain(count: int, first: int = 0) -> list[tuple[Term, Term]]:
    return [(literal(number), literal(number + 1)) for number in range(first, first + count)]


def with_paths(count: int = 20) -> Reasoner:
    reasoner = Reasoner(PATHS)
    reasoner.add_facts("edge", chain(count))
    reasoner.materialise()
    return reasoner


def paths(count: int) -> int:
    """How many paths a chain of so many edges has."""
    return count * (count + 1) // 2


def together(*functions: Callable[[], object], seconds: float = PATIENCE) -> list[BaseException]:
    """Call functions in a thread each, and wait for all. Returns what they raised."""
    errors: list[BaseException] = []

    def call(function: Callable[[], object]) -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(function,), daemon=True) for function in functions]
    with stress.switching(1e-6):
        for thread in threads:
            thread.start()
        end = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
    errors += [TimeoutError("a thread does not end") for thread in threads if thread.is_alive()]
    return errors


def survives(function: Callable[[], object]) -> Any:
    """What a function returns that is called in a forked process."""
    return in_child(function, seconds=60.0)


# --- reasoners of their own ------------------------------------------------------------------------------------------------


def test_each_thread_has_reasoners_of_its_own() -> None:
    def work(count: int) -> None:
        for _ in range(by_effort(5, 25, 25)):
            sizes = with_paths(count).sizes()
            assert (sizes.explicit, sizes.inferred) == (count, paths(count))

    def run() -> list[str]:
        return list(map(str, together(*(lambda count=count: work(count) for count in (20, 60, 100, 140)))))

    assert survives(run) == []


def test_each_thread_has_a_dictionary_of_its_own() -> None:
    """What a kernel returns is for the thread that has called it."""

    def work(count: int) -> None:
        dictionary = Dictionary()
        known = [dictionary.encode(literal(number)) for number in range(count)]
        for turn in range(8000):
            assert dictionary.find(literal(turn % count)) == known[turn % count]

    def run() -> list[str]:
        return list(map(str, together(lambda: work(50), lambda: work(950))))

    assert survives(run) == []


# --- one for all -----------------------------------------------------------------------------------------------------------


def test_a_graph_is_read_by_many_threads() -> None:
    def run() -> list[str]:
        graph = Graph(store="KGReasoner")
        graph.add((EX.Cat, RDFS.subClassOf, EX.Animal))
        for number in range(600):
            graph.add((EX[f"c{number}"], RDF.type, EX.Cat))
            graph.add((EX[f"c{number}"], EX.partOf, EX[f"c{number // 10}"]))
        graph.commit()
        query = prepareQuery(f"SELECT ?x ?y {{ ?x a <{EX.Animal}> . ?x <{EX.partOf}> ?y }}")

        def read() -> None:
            for _ in range(by_effort(10, 40, 40)):
                assert len(list(graph.query(query))) == 600
                assert len(list(graph.triples((None, RDF.type, EX.Animal)))) == 600
                assert (EX.c7, RDF.type, EX.Animal) in graph

        return list(map(str, together(*[read] * 4)))

    assert survives(run) == []


def test_readers_see_the_state_before_or_after_a_transaction() -> None:
    """And never an older one than they have seen. For as long as one likes: ``python -m tests.concurrency.stress``."""
    done: Counter[str] = Counter()
    for _ in range(60):  # a busy machine does little in the first of them
        report = survives(lambda: stress.run(threads=8, seconds=by_effort(0.5, 5.0, 50.0)))
        assert report.is_clean, str(report)
        done += report.done
        if all(done[kind] for kind in ("commits", "rollbacks", "deltas", "own reasoner", "SPARQL: BGP", "explain()")):
            return
    pytest.fail(f"some kinds of operations were not tried: {done}")


def test_the_stress_test_notices_what_is_between_states() -> None:
    """A change that is no transaction is seen by halves."""
    shared, report = stress.Shared(), stress.Report()
    reader = stress.Reader(shared, report, Random(0))
    shared.reasoner.add_facts("edge", [stress.edge(stress.LENGTH)])
    for _ in range(30):
        reader.step()
    assert any("that of none" in text for text in report.wrong)
    shared.begun = shared.committed = 1
    for step in ("remove_facts", "remove_triples"):
        getattr(shared.reasoner, step)(*(["edge", [stress.edge(0)]] if step == "remove_facts" else [stress.about(0)]))
    shared.reasoner.add_triples(stress.about(stress.LENGTH))
    shared.reasoner.remove_rules([rule for rule in shared.reasoner.program.rules if rule.head.predicate == "marked"])
    report.wrong.clear()
    for _ in range(30):
        reader.step()
    assert report.is_clean
    shared.begun = shared.committed = 2
    for _ in range(30):
        reader.step()
    assert any("that of 1, and not one of the commits 2 to 2" in text for text in report.wrong)


def test_a_reader_that_changes_what_it_reads() -> None:
    """Others read and write meanwhile."""

    def run() -> list[str]:
        graph = Graph(store=KGReasonerStore(Reasoner(ruleset="rdfs")))
        graph.add((EX.Cat, RDFS.subClassOf, EX.Animal))
        for number in range(40):
            graph.add((EX[f"c{number}"], RDF.type, EX.Cat))
        graph.commit()

        def change(name: str) -> None:
            for count, (subject, _, _) in enumerate(graph.triples((None, RDF.type, EX.Animal))):
                graph.add((subject, EX[name], EX.thing))
                graph.commit()
                if count == 10:
                    break

        def read() -> None:
            for _ in range(20):
                assert len(list(graph.triples((None, RDF.type, EX.Animal)))) == 40

        errors = together(lambda: change("likes"), read, read)
        errors += together(lambda: change("sees"), lambda: change("hears"), read)
        counts = [len(list(graph.triples((None, EX[name], None)))) for name in ("likes", "sees", "hears")]
        return [*map(repr, errors), *(f"{count} and not 11" for count in counts if count != 11)]

    assert survives(run) == []


def test_threads_that_end_the_transaction_of_a_store() -> None:
    """Whichever comes first ends it; for the others there is nothing left to do."""

    def run() -> list[str]:
        reasoner = Reasoner(ruleset="rdfs")
        graph = Graph(store=KGReasonerStore(reasoner))

        def change(name: str, end: Callable[[], object]) -> None:
            for number in range(300):
                graph.add((EX[f"{name}{number}"], EX.p, EX.o))
                end()

        def change_reasoner() -> None:
            for number in range(300):
                reasoner.add_triples([(EX[f"reasoner{number}"], EX.p, EX.o)])

        errors = together(
            lambda: change("a", graph.commit),
            lambda: change("b", graph.commit),
            lambda: change("c", graph.rollback),
            change_reasoner,
        )
        graph.commit()
        return list(map(repr, errors))

    assert survives(run) == []


def test_the_rollback_of_a_graph_waits_for_a_transaction_of_another_thread() -> None:
    def run() -> list[str]:
        reasoner = Reasoner(ruleset="rdfs")
        graph = Graph(store=KGReasonerStore(reasoner))
        is_open, may_end = threading.Event(), threading.Event()

        def transact() -> None:
            with reasoner.transaction() as transaction:
                transaction.add_triples([(EX.a, EX.p, EX.b)])
                is_open.set()
                assert may_end.wait(PATIENCE)

        def roll_back() -> None:
            assert is_open.wait(PATIENCE)
            threading.Timer(0.1, may_end.set).start()
            graph.rollback()
            assert may_end.is_set()

        return [*map(repr, together(transact, roll_back)), *([] if (EX.a, EX.p, EX.b) in graph else ["nothing was kept"])]

    assert survives(run) == []


@pytest.mark.parametrize("opened", ["triples", "facts", "graph", "SPARQL"])
@pytest.mark.sample(2)
def test_a_reader_that_stops_halfway_blocks_no_writer(opened: str) -> None:
    def run() -> list[str]:
        reasoner = with_paths(30)
        graph = Graph(store=KGReasonerStore(reasoner))
        for number in range(6000):
            graph.add((EX[f"c{number}"], EX.p, EX.o))
        graph.commit()
        readings: dict[str, tuple[Iterator[Any], int]] = {
            "triples": (reasoner.triples(), 6000),
            "facts": (reasoner.facts("path"), paths(30)),
            "graph": (iter(graph), 6000),
            "SPARQL": (iter(graph.query(f"SELECT ?x {{ ?x <{EX.p}> ?y }}")), 6000),
        }
        reading, count = readings[opened]
        next(reading)

        def write() -> None:
            for number in range(100):
                graph.remove((EX[f"c{number}"], None, None))
            graph.add((EX.c7, EX.p, EX.o))
            graph.commit()
            reasoner.add_facts("edge", chain(1, 30))
            assert len(list(reasoner.facts("path"))) == paths(31)
            assert len(graph) == 5901

        errors = list(map(repr, together(write)))
        left = 1 + sum(1 for _ in reading)
        return errors + ([] if left == count else [f"{left} and not {count}"])

    assert survives(run) == []


def test_others_read_while_a_transaction_is_open() -> None:
    """What it changes is seen when it has been committed, however early they ask."""

    def run() -> list[str]:
        reasoner, seen = with_paths(20), list[int]()
        has_changed, goes_on = threading.Event(), threading.Event()

        def write() -> None:
            with reasoner.transaction() as transaction:
                transaction.add_facts("edge", chain(1, 20))
                assert len(list(reasoner.facts("path"))) == paths(21)
                has_changed.set()
                goes_on.wait(0.3)
                transaction.add_facts("edge", chain(1, 21))

        def read() -> None:
            has_changed.wait()
            seen.extend(len(list(reasoner.facts("path"))) for _ in range(5))
            goes_on.set()

        errors = list(map(repr, together(write, read, read)))
        return errors + [f"{count} paths" for count in seen if count not in (paths(20), paths(22))]

    assert survives(run) == []


def test_writers_take_turns() -> None:
    def run() -> tuple[list[str], int]:
        reasoner = with_paths(20)

        def write(first: int) -> None:
            for number in range(15):
                with reasoner.transaction() as transaction:
                    transaction.add_facts("edge", [(literal(first + number), literal(first + number + 1))])
                    transaction.add_facts("note", [(literal(first + number),)])

        errors = together(*(lambda first=first: write(first) for first in (1000, 2000, 3000)))
        return list(map(repr, errors)), len(list(reasoner.facts("path")))

    assert survives(run) == ([], paths(20) + 3 * paths(15))


def test_a_change_that_fails_in_a_thread_leaves_others_free() -> None:
    def run() -> list[str]:
        reasoner = with_paths(20)

        def fail() -> None:
            with pytest.raises(ZeroDivisionError), reasoner.transaction() as transaction:
                transaction.add_facts("edge", chain(1, 20))
                _ = 1 // 0

        def write() -> None:
            reasoner.add_facts("edge", chain(1, 30))

        errors = together(fail) + together(write)
        assert len(list(reasoner.facts("path"))) == paths(20) + 1
        return list(map(repr, errors))

    assert survives(run) == []


def test_a_transaction_that_its_thread_has_left_open_can_be_rolled_back() -> None:
    def run() -> list[str]:
        reasoner = with_paths(20)

        def leave() -> None:
            reasoner.transaction().begin().add_facts("edge", chain(1, 20))

        errors = together(leave)
        assert reasoner.open_transaction is not None
        reasoner.open_transaction.rollback()
        reasoner.add_facts("edge", chain(1, 30))
        assert len(list(reasoner.facts("path"))) == paths(20) + 1
        return list(map(repr, errors + together(lambda: reasoner.add_facts("edge", chain(1, 20)))))

    assert survives(run) == []


def test_a_transaction_that_its_thread_has_left_open_is_undone() -> None:
    """By whatever is done next, such as reading."""

    def run() -> list[str]:
        reasoner = with_paths(20)
        errors = together(lambda: reasoner.transaction().begin().add_facts("edge", chain(1, 20)))
        assert len(list(reasoner.facts("path"))) == paths(20)
        assert reasoner.open_transaction is None
        return list(map(repr, errors))

    assert survives(run) == []


def test_datasets_are_queried_by_many_threads() -> None:
    def run() -> list[str]:
        dataset = Dataset(store=KGReasonerStore(Reasoner(ruleset="rdfs")), default_union=True)
        for number in range(5):
            part = dataset.graph(EX[f"g{number}"])
            for each in range(40):
                part.add((EX[f"c{each}"], EX[f"p{number}"], EX.o))
        dataset.commit()
        query = prepareQuery("SELECT ?g ?x { GRAPH ?g { ?x ?p <http://example.org/o> } }")

        def read() -> None:
            for _ in range(5):
                assert len(list(dataset.query(query))) == 200
                assert len(list(dataset.graphs())) in (6, 7)

        def write() -> None:
            for number in range(20):
                dataset.graph(EX.g9).add((EX[f"c{number}"], EX.p, EX.other))
                dataset.commit()

        return list(map(repr, together(read, read, write)))

    assert survives(run) == []


def test_queries_in_an_event_loop() -> None:
    async def ask(reasoner: Reasoner) -> list[int]:
        def count() -> int:
            return len(list(reasoner.facts("path")))

        def write() -> int:
            with reasoner.transaction() as transaction:
                transaction.add_facts("edge", chain(1, 20))
                transaction.add_facts("edge", chain(1, 21))
            return paths(22)

        return await asyncio.gather(*(asyncio.to_thread(write if number == 3 else count) for number in range(8)))

    seen = survives(lambda: asyncio.run(ask(with_paths(20))))
    assert set(seen) <= {paths(20), paths(22)}


def test_callbacks_run_in_the_thread_that_commits() -> None:
    reasoner, told = with_paths(5), list[int]()
    reasoner.subscribe("edge", lambda delta: told.append(threading.get_ident()))
    writers: list[int] = []

    def write(first: int) -> None:
        for number in range(3):
            reasoner.add_facts("edge", chain(1, first + 2 * number))
            writers.append(threading.get_ident())

    for first in (100, 200):
        thread = threading.Thread(target=write, args=(first,))
        thread.start()
        thread.join()
    assert told == writers


def test_each_commit_of_several_threads_is_published_once() -> None:
    def run() -> Sequence[bool]:
        reasoner, told = with_paths(5), list[tuple[int, int]]()
        reasoner.subscribe("edge", lambda delta: told.append((threading.get_ident(), len(delta))))
        writers: list[int] = []

        def write(first: int) -> None:
            for number in range(10):
                reasoner.add_facts("edge", chain(1, first + 2 * number))
                writers.append(threading.get_ident())

        errors = together(lambda: write(100), lambda: write(200))
        in_writers = {thread for thread, _ in told} <= set(writers)
        return not errors, in_writers, [count for _, count in told] == [1] * len(writers)

    assert survives(run) == (True, True, True)


# --- fork ------------------------------------------------------------------------------------------------------------------


@contextmanager
def busy(shared: stress.Shared) -> Iterator[None]:
    """Threads that write and read a reasoner, and make reasoners of their own, while the block runs."""
    stop, report = threading.Event(), stress.Report()

    ended: list[BaseException] = []

    def repeat(step: Callable[[], object]) -> None:
        try:
            while not stop.is_set():
                step()
        except BaseException as error:
            ended.append(error)

    def write(random: Random) -> None:
        shared.advance(random.random() < 0.7, random)

    reader = stress.Reader(shared, report, Random(1))
    steps: list[Callable[[], object]] = [
        lambda: write(Random()),
        reader.step,
        stress.Reader(shared, report, Random(2)).step,
        lambda: stress.own_reasoner(report, Random()),
    ]
    threads = [threading.Thread(target=repeat, args=(step,), daemon=True) for step in steps]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
    assert not ended
    assert not any(thread.is_alive() for thread in threads)
    assert report.is_clean, str(report)
    assert report.done


def use_copy(shared: stress.Shared) -> str:
    """Read and write a copy, and say what is wrong with it."""
    reasoner = shared.reasoner
    edges = stress.as_numbers(reasoner.facts("edge"))
    start = min(first for first, _ in edges)
    state = stress.State(start)
    if edges != state.edges() or stress.as_numbers(reasoner.facts("path")) != state.paths():
        return f"a copy of no commit: {sorted(edges)}"
    reasoner.add_facts("edge", [stress.edge(start + stress.LENGTH)])
    reasoner.remove_facts("edge", [stress.edge(start)])
    if stress.as_numbers(reasoner.facts("path")) != stress.State(start + 1).paths():
        return "a copy that cannot be changed"
    for name, (text, expected) in stress.QUERIES.items():
        if stress.of_result(shared.graph.query(text)) != expected(state):
            return f"a copy that cannot be queried: {name}"
    own = Reasoner(PATHS)
    own.add_facts("edge", chain(10))
    return "" if len(list(own.facts("path"))) == paths(10) else "no new reasoner"


@pytest.mark.long
def test_a_forked_process_has_a_copy_that_works() -> None:
    """Whatever other threads were doing."""

    def run() -> list[str]:
        shared = stress.Shared()
        with busy(shared):
            found = []
            for number in range(by_effort(4, 12, 12)):
                time.sleep(0.003 * number)
                found.append(in_child(lambda: use_copy(shared), seconds=20.0))
        return [text for text in found if text]

    assert survives(run) == []


_shared: stress.Shared | None = None


def _use_shared(_: int) -> str:
    assert _shared is not None
    return use_copy(_shared)


def test_a_thread_that_writes_again_and_again_lets_others_read() -> None:
    lock, has_read = ReadWriteLock(), threading.Event()
    writes = 0

    def write() -> None:
        nonlocal writes
        while not has_read.is_set():
            with lock.write():
                writes += 1
                sum(range(50_000))

    def read() -> None:
        before = writes
        while writes == before:
            time.sleep(0)
        for _ in range(20):
            with lock.read():
                pass
        has_read.set()

    threads = [threading.Thread(target=target, daemon=True) for target in (write, read)]
    for thread in threads:
        thread.start()
    in_time = has_read.wait(10.0)
    has_read.set()
    for thread in threads:
        thread.join()
    assert in_time and writes < 60, writes


@pytest.mark.parametrize(
    "leave", [lambda lock: None, lambda lock: run_in_thread(lock.write)], ids=["nobody", "a thread that has ended"]
)
def test_a_fork_does_not_wait_for_a_change_that_nobody_makes(
    leave: Callable[[ReadWriteLock], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was interrupted, and is undone at the next use: in the child, too."""
    waits: list[float] = []
    monkeypatch.setattr(forking, "PATIENCE", 0.01)
    monkeypatch.setattr(forking, "time", SimpleNamespace(sleep=waits.append, monotonic=time.monotonic))
    lock = ReadWriteLock(lambda: True)
    leave(lock)
    forking._before_fork()
    forking._let_others_go_on()
    assert not waits


def run_in_thread(function: Callable[[], object]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


@pytest.mark.long
def test_multiprocessing_forks_from_busy_threads() -> None:
    """Each process has one task, as that changes its copy; those that follow are forked by a thread of the pool."""

    def run() -> list[str]:
        global _shared
        _shared = stress.Shared()
        with busy(_shared):
            found = []
            for _ in range(2):
                with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
                    found += pool.map_async(_use_shared, range(4), chunksize=1).get(PATIENCE)
        return [text for text in found if text]

    assert survives(run) == []


def test_the_collector_does_not_stop_inspection_of_threads() -> None:
    """In CPython before 3.12, a thread's data in a cycle of garbage are enough for `sys._current_frames` to wait for ever."""
    program = """
import gc, threading
from kg_reasoner.concurrency.calls import calls_of_threads
for _ in range(200):
    gc.set_threshold(10**6)
    local = threading.local()
    local.itself = local
    del local
    gc.set_threshold(1, 1, 1)
    assert calls_of_threads()
assert gc.isenabled()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_size_during_a_transaction_of_another_thread() -> None:
    """Another thread does not see the size of what a transaction has not committed, not even if it was counted before."""
    graph = graph_of(Reasoner(ruleset="owl2rl"))
    reasoner = store_of(graph).reasoner
    graph.add((EX.a, EX.p, EX.b))
    graph.commit()
    before = len(graph)
    counted, ends = threading.Event(), threading.Event()
    sizes: list[int] = []

    def change() -> None:
        with pytest.raises(ZeroDivisionError), reasoner.transaction():
            graph.add((EX.c, EX.p, EX.d))
            sizes.append(len(graph))
            counted.set()
            ends.wait(10)
            raise ZeroDivisionError

    changing, reading = threading.Thread(target=change), threading.Thread(target=lambda: sizes.append(len(graph)))
    changing.start()
    assert counted.wait(10)
    reading.start()
    reading.join(0.1)
    assert reading.is_alive()
    ends.set()
    changing.join(10)
    reading.join(10)
    assert sizes == [before + 1, before]


def test_questions_of_several_threads_about_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread asks between the kernel's answer and the moment at which it is read."""
    reasoner = Reasoner("input multiset vote(who: string) .")
    reasoner.add_facts("vote", [(literal(name),) for name in "abc"])
    reasoner.materialise()
    expected = list(reasoner.counts("vote"))
    engine = reasoner.engine
    unknown = np.zeros((3, 1), np.int32) + engine.dictionary.encode(literal("x"))
    ask = native.have_flag

    def interrupted(*arguments: int) -> int:
        answered = ask(*arguments)
        monkeypatch.setattr(native, "have_flag", ask)
        assert not engine.base.are_explicit("vote", unknown).any()
        return answered

    monkeypatch.setattr(native, "have_flag", interrupted)
    assert list(reasoner.counts("vote")) == expected


READERS: dict[str, Callable[[Dictionary, Ids], object]] = {
    "search_values": lambda dictionary, ids: dictionary.search(ids, b"a", ANYWHERE, AS_IT_IS, takes_any=True),
    "copy_values": lambda dictionary, ids: dictionary.values_of(ids),
    "read_literals": lambda dictionary, ids: dictionary.read(ids),
    "sort_values": ranks_of_values,
    "shorten_texts": lambda dictionary, _: short_texts(dictionary, {}),
    "check_labels": are_plain_labels,
    "escape_texts": lambda dictionary, _: ElementWriter(dictionary, []),
    "count_members": lambda dictionary, ids: Collections(dictionary).sizes(ids),
    "copy_members": lambda dictionary, ids: Collections(dictionary).members(ids),
    "count_entries": lambda dictionary, ids: Collections(dictionary).numbers_of_entries(ids),
    "copy_entries": lambda dictionary, ids: Collections(dictionary).entries(ids),
    "split_values": lambda dictionary, ids: Collections(dictionary).split(ids, "e"),
    "write_lists": lambda dictionary, ids: Collections(dictionary).lists(ids, np.array([0])),
}
"""What reads terms, by the kernel that does."""


@pytest.mark.parametrize("kernel", READERS)
def test_texts_that_kernels_read_outlive_new_terms(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread loads a document while a kernel runs, for which the dictionary needs larger tables."""
    dictionary = Dictionary()
    ids = dictionary.encode_texts(['"here"', '"there"', '"everywhere"'])
    read, are_there = getattr(native, kernel), list[bool]()

    def interrupted(*arguments: Any) -> int:
        tables = [ref(table) for table in dictionary.table()[:2]]
        dictionary.encode_texts([f'"a long text with the number {number}"' for number in range(10_000)])
        assert all(table() is not new for table, new in zip(tables, dictionary.table(), strict=False))
        are_there.extend(table() is not None for table in tables)
        return int(read(*arguments))

    with monkeypatch.context() as patch:
        patch.setattr(native, kernel, interrupted)
        READERS[kernel](dictionary, ids)
    assert are_there
    assert all(are_there)


def test_sizes_beside_a_writer() -> None:
    """A size that is counted while somebody waits to write is not that of the graph afterwards."""
    graph = Graph(store="KGReasoner")
    graph.add((EX.a, EX.p, EX.b))
    graph.commit()
    store = store_of(graph)
    core, counted = store.reasoner.core, threading.Event()
    queries = core.queries
    count = queries.count

    def wait_for_a_writer(*arguments: Any) -> int:
        found, writes = count(*arguments), core.engine.lock.writes
        counted.set()
        while core.engine.lock.writes == writes:
            time.sleep(0.001)
        return found

    def write() -> None:
        counted.wait()
        store.reasoner.add_triples([(EX.a, EX.p, EX.c)])

    queries.count = wait_for_a_writer  # type: ignore[method-assign]
    writer = threading.Thread(target=write)
    writer.start()
    assert len(graph) == 1
    writer.join()
    queries.count = count  # type: ignore[method-assign]
    assert len(graph) == 2
    graph.remove((EX.a, EX.p, EX.b))
    assert len(graph) == 1
    graph.rollback()
    assert len(graph) == 2
