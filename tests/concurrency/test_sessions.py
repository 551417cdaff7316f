"""Sessions that meet: a query and a change, two stores of one reasoner, two threads, a limit within another's block."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, pairwise

import pytest
from rdflib import OWL, RDF, RDFS, Dataset, Graph, Literal, URIRef
from rdflib.plugins.sparql import operators

from kg_reasoner import Limits, Reasoner
from kg_reasoner.concurrency.limits import NOBODY, current_watch
from kg_reasoner.errors import CancelledError, InconsistencyError, LimitError, TransactionError
from kg_reasoner.rdflib_store import KGReasonerStore, graph_of
from tests.concurrency.stress import switching
from tests.helpers.effort import thinned

COUNTING = "n(?y) :- n(?x), BIND(?x + 1 AS ?y) ."
"""A program without a fixpoint, once there is a number."""

P, Q = URIRef("urn:p"), URIRef("urn:q")
FACT = (URIRef("urn:a"), P, URIRef("urn:b"))


def subject(number: int) -> URIRef:
    return URIRef(f"urn:s{number}")


@contextmanager
def sparql_function(function: Callable[[object], object]) -> Iterator[None]:
    """Register a function that queries call as <urn:f>."""
    name = URIRef("urn:f")
    operators.register_custom_function(name, function)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        operators.unregister_custom_function(name)  # type: ignore[no-untyped-call]


def in_threads(number: int, work: Callable[[], object]) -> list[BaseException]:
    """Run something in several threads. Returns what they raised."""
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return raised


@pytest.mark.parametrize("which", thinned(["explicit", "all"], 2))
def test_the_first_queries_of_a_process_may_come_from_several_threads(which: str) -> None:
    graph = Graph(store="KGReasoner")
    graph.add(FACT)
    target = graph if which == "all" else graph.store.explicit  # type: ignore[attr-defined]
    texts = count()

    def ask() -> None:
        for _ in range(20):
            assert len(list(target.query(f"SELECT ?x ?v{next(texts)} {{ ?x <urn:p> ?y FILTER(?x != ?y) }}"))) == 1

    assert in_threads(4, ask) == []


def test_what_a_function_adds_while_its_query_is_completed_is_kept() -> None:
    graph, calls = Graph(store="KGReasoner"), count()
    for number in range(30):
        graph.add((subject(number), P, Q))

    def adds(value: object) -> object:
        graph.add((subject(next(calls)), URIRef("urn:seen"), Q))
        return value

    with sparql_function(adds):
        assert len(list(graph.query("SELECT ?z { ?x <urn:p> ?y BIND(<urn:f>(?x) AS ?z) }"))) == 30
    assert len(list(graph.triples((None, URIRef("urn:seen"), None)))) == 30


def test_a_query_that_was_interrupted_leaves_the_graph_usable() -> None:
    graph, calls = graph_of(Reasoner()), count()
    for number in range(100):
        graph.add((subject(number), P, Literal(number)))

    def interrupts(value: object) -> object:
        if next(calls) == 50:
            raise KeyboardInterrupt
        return value

    with sparql_function(interrupts):
        query = "SELECT ?y { ?x <urn:p> ?v BIND(<urn:f>(?v) AS ?y) }"
        with pytest.raises(KeyboardInterrupt):
            graph.query(query)
        graph.add(FACT)
        assert len(graph.query(query)) == len(graph) == 101


@pytest.mark.parametrize("end", ["the transaction", "another store", "the reasoner"])
@pytest.mark.sample(3)
def test_what_a_store_left_waiting_is_kept(end: str) -> None:
    reasoner = Reasoner()
    graph_of(reasoner).add(FACT)
    gc.collect()  # the store is no more
    if end == "the transaction":
        assert reasoner.open_transaction is not None
        reasoner.open_transaction.commit()
    elif end == "another store":
        graph_of(reasoner).commit()
    else:
        reasoner.materialise()
    assert len(list(reasoner.triples())) == 1
    assert (reasoner.open_transaction is None) == (end != "the reasoner")


def test_the_open_transaction_commits_what_waits() -> None:
    reasoner = Reasoner()
    graph = graph_of(reasoner)
    graph.add(FACT)
    assert reasoner.open_transaction is not None
    reasoner.open_transaction.commit()
    assert FACT in graph


@pytest.mark.parametrize("interface", ["the reasoner", "a second store", "an update of a second store"])
def test_a_removal_elsewhere_finds_what_a_store_was_given(interface: str) -> None:
    reasoner = Reasoner()
    graph, second = graph_of(reasoner), graph_of(reasoner)
    graph.add(FACT)
    if interface == "the reasoner":
        reasoner.remove_triples([FACT])
    elif interface == "a second store":
        second.remove(FACT)
    else:
        second.update("DELETE DATA { <urn:a> <urn:p> <urn:b> }")
    assert FACT not in graph
    assert FACT not in second


def test_a_limit_undoes_a_commit_of_graphs_that_are_reasoned_over_by_themselves() -> None:
    reasoner = Reasoner(ruleset="rdfs", limits=Limits(facts=100))
    graph = Dataset(store=KGReasonerStore(reasoner, reasoning="graph")).graph(URIRef("urn:g"))
    classes = [URIRef(f"urn:C{number}") for number in range(40)]
    for lower, upper in pairwise(classes):
        graph.add((lower, RDFS.subClassOf, upper))
    graph.add((FACT[0], RDF.type, classes[0]))
    with pytest.raises(LimitError):
        graph.commit()
    graph.rollback()
    graph.add(FACT)
    graph.commit()
    assert FACT in graph


def test_limits_of_a_task_are_not_those_of_another() -> None:
    reasoner, inside, outside = Reasoner(), asyncio.Event(), asyncio.Event()

    async def limited() -> None:
        with reasoner.limited(Limits(facts=10)):
            inside.set()
            await outside.wait()
            assert current_watch() is not NOBODY

    async def free() -> None:
        await inside.wait()
        assert current_watch() is NOBODY
        reasoner.add_facts("p", [(Literal(number),) for number in range(20)])
        outside.set()

    async def both() -> None:
        await asyncio.gather(limited(), free())

    asyncio.run(both())
    assert current_watch() is NOBODY


def test_a_reasoners_own_limits_hold_within_those_of_another() -> None:
    other, reasoner = Reasoner(), Reasoner(COUNTING, limits=Limits(facts=1000))
    reasoner.add_facts("n", [(Literal(1),)])
    with other.limited(Limits(seconds=60)), pytest.raises(LimitError, match=r"exceed the limit of 1,000"):
        reasoner.materialise()


def test_subscribers_receive_each_fact_once_from_several_threads() -> None:
    reasoner, told, numbers = Reasoner(), list[object](), count()
    reasoner.subscribe("p", lambda delta: told.extend(delta.added.facts("p", "explicit")))

    def add() -> None:
        for _ in range(100):
            reasoner.add_facts("p", [(Literal(next(numbers)),)])

    with switching(1e-6):
        assert in_threads(4, add) == []
    assert len(told) == len(set(told)) == 400


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_change_that_waits_for_a_transaction_is_published_and_checked_afterwards(is_refused: bool) -> None:
    """Whether it is a part of an open transaction is decided when its turn has come."""
    tom, mia, cat, dog = map(URIRef, ("urn:tom", "urn:mia", "urn:Cat", "urn:Dog"))
    reasoner = Reasoner(ruleset="owl2rl", on_inconsistency="raise" if is_refused else "report")
    reasoner.add_triples([(cat, OWL.disjointWith, dog), (tom, RDF.type, cat)])
    told: list[object] = []
    if not is_refused:
        reasoner.subscribe(None, told.append)
    raised: list[BaseException] = []

    def contradict() -> None:
        try:
            reasoner.add_triples([(tom, RDF.type, dog)])
        except InconsistencyError as error:
            raised.append(error)

    waiting = threading.Thread(target=contradict, daemon=True)
    with reasoner.transaction() as transaction:
        transaction.add_triples([(mia, RDF.type, cat)])
        waiting.start()
        while not reasoner.engine.lock.is_awaited and waiting.is_alive():
            time.sleep(0.001)
    waiting.join(60)
    assert len(raised) == is_refused
    assert len(told) == (0 if is_refused else 2)
    assert reasoner.is_consistent() == is_refused


def test_changes_of_a_graph_are_seen_one_by_one_or_together() -> None:
    graph, seen = graph_of(Reasoner()), list[int]()

    def look() -> None:
        assert in_threads(1, lambda: seen.append(len(graph))) == []

    graph.add((subject(1), P, Q))
    look()
    graph.remove((subject(1), P, Q))
    look()
    graph.commit()
    looking = threading.Thread(target=look, daemon=True)
    with graph.store.reasoner.transaction():  # type: ignore[attr-defined]
        graph.add((subject(1), P, Q))
        looking.start()
        looking.join(0.1)
        graph.add((subject(2), P, Q))
    looking.join(60)
    assert seen == [1, 0, 2]


def test_reading_a_graph_of_what_is_stated_derives_nothing() -> None:
    dataset = Dataset(store="KGReasoner")
    graph = dataset.graph(URIRef("urn:g"))
    graph.add(FACT)
    assert len(list(graph)) == len(graph) == 1
    assert not dataset.store.reasoner.engine.is_current  # type: ignore[attr-defined]
    assert list(dataset.store.reasoner.triples(*FACT))  # type: ignore[attr-defined]


def test_a_transaction_is_ended_in_the_thread_that_began_it() -> None:
    reasoner = Reasoner()
    transaction = reasoner.transaction()
    transaction.begin()
    transaction.add_facts("p", [(Literal(1),)])
    for method in (transaction.commit, transaction.rollback, lambda: transaction.add_facts("p", [(Literal(2),)])):
        raised = in_threads(1, method)
        assert [type(error) for error in raised] == [TransactionError]
    transaction.commit()
    assert len(list(reasoner.facts("p"))) == 1


def test_cancel_ends_a_wait_of_two_threads_for_each_other() -> None:
    reasoners, began = (Reasoner(), Reasoner()), threading.Barrier(3)
    raised: list[BaseException] = []

    def crosswise(first: Reasoner, second: Reasoner) -> None:
        try:
            with first.transaction():
                began.wait()
                second.add_facts("p", [(Literal(1),)])
        except CancelledError as error:
            raised.append(error)

    threads = [threading.Thread(target=crosswise, args=pair, daemon=True) for pair in (reasoners, reasoners[::-1])]
    for thread in threads:
        thread.start()
    began.wait()
    while not raised:
        reasoners[0].cancel()
        threads[0].join(0.05)
        threads[1].join(0.05)
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert len(raised) == 1
    assert len(list(reasoners[0].facts("p"))) + len(list(reasoners[1].facts("p"))) == 1


def test_graphs_that_are_reasoned_over_by_themselves_are_first_read_by_several_threads() -> None:
    store = KGReasonerStore(Reasoner(ruleset="rdfs"), reasoning="graph")
    dataset, numbers = Dataset(store=store), range(20)
    names = [URIRef(f"urn:g{number}") for number in numbers]
    for name in names:
        dataset.graph(name).add(FACT)
    turns = count()

    def read_or_write() -> None:
        step = (7, 11, 13, 0)[next(turns)]
        for number in numbers:
            graph = dataset.graph(names[number * step % len(names)] if step else names[number])
            assert FACT in graph
            if not step:
                graph.add((subject(number), P, Q))

    with switching(1e-6):
        assert in_threads(4, read_or_write) == []
    assert [number for number in numbers if (subject(number), P, Q) not in dataset.graph(names[number])] == []
