"""Limits and cancellation: what exceeds a limit ends soon, with one error, and leaves everything as it was."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import SimpleNamespace

import pytest
from rdflib import Graph, Literal, Namespace

from kg_reasoner import Reasoner, graph_of
from kg_reasoner.concurrency.limits import Limits, Watch
from kg_reasoner.concurrency.watching import short_blocks
from kg_reasoner.errors import CancelledError, LimitError
from kg_reasoner.program import Atom
from kg_reasoner.terms import Literal as Term
from kg_reasoner.terms import literal

ENDLESS = "n(?y) :- n(?x), BIND(?x + 1 AS ?y) ."
"""Its facts have no end."""

PRODUCT = "far(?a) :- e(?a, ?x), e(?b, ?y), e(?c, ?z), FILTER(?x < ?b), FILTER(?y < ?c), FILTER(?z < ?a) ."
"""Its joins have no results, and no end in sight."""

EX = Namespace("http://example.org/")


def pairs(count: int) -> list[tuple[Term, Term]]:
    return [(literal(number), literal(number + 1)) for number in range(count)]


def with_pairs(program: str, count: int = 3000, **settings: Limits) -> Reasoner:
    reasoner = Reasoner(**settings)  # type: ignore[arg-type]
    reasoner.add_facts("e", pairs(count))
    reasoner.materialise()
    if program:
        reasoner.add_program(program)
    return reasoner


def test_blocks_are_short_where_they_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    monkeypatch.setattr("kg_reasoner.concurrency.watching.monotonic", lambda: next(clock))
    assert [part.stop - part.start for part in short_blocks(2000, 4096)] == [256, 1024, 512, 208]


def soon(call: Callable[[], object], error: type[Exception], match: str) -> None:
    """An error is raised; the operation by itself would take minutes at least, or would not end."""
    with pytest.raises(error, match=match):
        call()


def test_limits_are_positive_numbers() -> None:
    for wrong in (0, -1, float("nan"), True, "1"):
        with pytest.raises(ValueError, match=f"seconds={wrong!r} is not a positive number"):
            Limits(seconds=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds", [float("inf"), 1e12])
def test_an_endless_time_is_no_limit(seconds: float) -> None:
    with Watch(Limits(seconds=seconds)) as watch:
        assert watch.remaining is None
    reasoner = with_pairs("f(?x) :- e(?x, ?y) .", limits=Limits(seconds=seconds))
    assert len(list(reasoner.facts("f"))) == 3000


def test_limits_of_another_type_are_refused() -> None:
    with pytest.raises(TypeError, match=r"limits are given as Limits\(.*\), for example, and not as 5"):
        Reasoner(limits=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="and not as 5"):
        Reasoner().limited(5)  # type: ignore[arg-type]
    reasoner = Reasoner()
    reasoner.materialise()
    with pytest.raises(TypeError, match="and not as 5"):
        reasoner.materialise(limits=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("inner", [Limits(facts=10_000_000), Limits(seconds=60)])
def test_who_waits_for_a_thread_observes_outer_limits(inner: Limits) -> None:
    reasoner, is_open, is_over = with_pairs(""), threading.Event(), threading.Event()

    def change() -> None:
        with reasoner.transaction():
            is_open.set()
            is_over.wait(60)

    thread = threading.Thread(target=change)
    thread.start()
    is_open.wait(60)
    with reasoner.limited(Limits(seconds=0.2)), reasoner.limited(inner):
        soon(lambda: reasoner.add_facts("e", pairs(1)), LimitError, "other threads kept the reasoner busy")
    is_over.set()
    thread.join()


def test_an_inner_block_keeps_the_limits_that_it_does_not_set() -> None:
    reasoner = with_pairs("")
    with reasoner.limited(Limits(facts=3100)), reasoner.limited(Limits(seconds=60)):
        soon(lambda: reasoner.add_facts("f", pairs(200)), LimitError, "facts exceed the limit of 3,100")


@pytest.mark.parametrize("limits", [Limits(facts=10_000_000), Limits(seconds=60)])
def test_a_block_that_is_entered_again_is_no_longer_cancelled(limits: Limits) -> None:
    reasoner = with_pairs("")
    block = reasoner.limited(limits)
    with block:
        reasoner.cancel()
        soon(lambda: reasoner.add_facts("e", pairs(3001)), CancelledError, "cancelled")
    with block:
        reasoner.add_facts("e", pairs(3002))
    assert len(list(reasoner.facts("e"))) == 3002


@pytest.mark.parametrize("maintenance", ["backward-forward", "delete-rederive", "counting", "rematerialise", "dbsp"])
@pytest.mark.sample(3)
def test_facts_without_end(maintenance: str) -> None:
    reasoner = Reasoner(maintenance=maintenance)
    reasoner.add_facts("n", [(literal(1),)])
    reasoner.materialise()
    with reasoner.limited(Limits(facts=2000)):
        soon(lambda: reasoner.add_program(ENDLESS) or reasoner.materialise(), LimitError, r"facts exceed the limit of 2,000")
    reasoner.remove_rules(reasoner.rules)
    assert len(list(reasoner.facts("n"))) == 1


def test_more_facts_than_there_may_be_are_not_added() -> None:
    reasoner = with_pairs("", 10, limits=Limits(facts=100))
    soon(lambda: reasoner.add_facts("e", pairs(200)), LimitError, "200 facts exceed the limit of 100")
    assert len(list(reasoner.facts("e"))) == 10
    reasoner.add_facts("e", pairs(90))
    assert len(list(reasoner.facts("e"))) == 90


def test_time_ends_while_kernels_join() -> None:
    reasoner = with_pairs(PRODUCT)
    soon(lambda: reasoner.materialise(limits=Limits(seconds=0.2)), LimitError, "longer than its limit of 0.2 s")
    reasoner.remove_rules(reasoner.rules)
    assert len(list(reasoner.facts("e"))) == 3000


def test_a_transaction_that_takes_too_long_is_undone() -> None:
    reasoner = with_pairs("")

    def change() -> None:
        with reasoner.limited(Limits(seconds=0.3)), reasoner.transaction() as transaction:
            transaction.add_facts("e", [(literal("a"), literal("b"))])
            transaction.add_program(PRODUCT)

    soon(change, LimitError, "longer than")
    assert reasoner.open_transaction is None
    assert len(list(reasoner.facts("e"))) == 3000 and reasoner.rules == ()


def test_memory_that_facts_and_terms_may_take() -> None:
    closure = "path(?x, ?y) :- e(?x, ?y) . path(?x, ?z) :- path(?x, ?y), e(?y, ?z) ."
    reasoner = with_pairs(closure, 10, limits=Limits(memory=1 << 22))

    def add() -> None:
        with reasoner.transaction() as transaction:
            transaction.add_facts("e", pairs(1000))

    soon(add, LimitError, "bytes and exceed the limit of 4,194,304")
    assert len(list(reasoner.facts("path"))) == 55
    reasoner.add_facts("e", pairs(100))
    assert len(list(reasoner.facts("path"))) == 5050


def test_documents_are_loaded_within_limits() -> None:
    reasoner = Reasoner()
    data = "".join(f"<http://e/{number}> <http://e/p> <http://e/{number + 1}> .\n" for number in range(5000)).encode()
    soon(lambda: reasoner.load(data, format="ntriples", limits=Limits(facts=1000)), LimitError, "exceed the limit of 1,000")
    assert list(reasoner.triples()) == []
    reasoner.load(data, format="ntriples", limits=Limits(facts=10_000))
    assert len(list(reasoner.triples())) == 5000


def cancelled(reasoner: Reasoner, call: Callable[[], object]) -> None:
    """A call is cancelled by another thread, once it is at work."""
    done = threading.Event()

    def cancel() -> None:
        while not done.wait(0.05):
            reasoner.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        soon(call, CancelledError, "cancelled")
    finally:
        done.set()
        thread.join()


def test_an_update_is_cancelled_by_another_thread() -> None:
    reasoner = with_pairs(PRODUCT)
    cancelled(reasoner, reasoner.materialise)
    reasoner.remove_rules(reasoner.rules)
    assert len(list(reasoner.facts("e"))) == 3000


def test_of_several_threads_under_one_watch_each_is_stopped_until_it_is_through() -> None:
    first, second, watch = SimpleNamespace(stop=0), SimpleNamespace(stop=0), Watch(Limits(seconds=60))
    with watch:
        watch.attach(first)
        watch.attach(second)
        watch.detach(first)
        watch.cancel()
        assert (first.stop, second.stop) == (0, 1)
        watch.detach(second)
        assert second.stop == 0


class CancelledWhenReset:
    """The context of kernels, cancelled by another thread just when it is made ready for others."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._stop, self.is_ready = watch, 0, False

    @property
    def stop(self) -> int:
        return self._stop

    @stop.setter
    def stop(self, value: int) -> None:
        self._stop = value
        if self.is_ready:
            self.is_ready = False
            self._watch.cancel()


def test_a_late_cancellation_stops_nothing_else() -> None:
    watch = Watch()
    context = CancelledWhenReset(watch)
    with watch:
        watch.attach(context)
        context.is_ready = True
        watch.detach(context)
    assert context.stop == 0


def test_a_query_that_waits_for_an_index_is_still_cancelled() -> None:
    database = with_pairs("").engine.database
    with database.prepared("a query", lambda workspace: 0) as (workspace, _):
        with database.mutex:
            looking = threading.Thread(target=workspace._look, daemon=True)
            looking.start()
            looking.join(0.2)
            workspace.context.stop = 1
        looking.join(60)
        assert workspace.context.stop == 1
        workspace.context.stop = 0


def test_what_has_not_begun_is_not_cancelled() -> None:
    reasoner = with_pairs("")
    reasoner.cancel()
    reasoner.add_facts("e", pairs(3010))
    assert len(list(reasoner.facts("e"))) == 3010


@pytest.fixture(scope="module")
def people() -> Iterator[Graph]:
    graph = Graph(store="KGReasoner")
    for number in range(3000):
        graph.add((EX[f"p{number}"], EX.knows, EX[f"p{number + 1}"]))
        graph.add((EX[f"p{number}"], EX.age, Literal(number)))
    layers = [[f"<{EX}{layer}{number}>" for number in range(150)] for layer in "abcd"]
    edges = [f"{a} <{EX}to> {b} ." for one, other in pairwise(layers) for a in one for b in other]
    graph.store.reasoner.load("\n".join(edges).encode(), format="ntriples")
    graph.commit()
    yield graph
    assert len(list(graph.query("SELECT * { ?x <http://example.org/age> 7 }"))) == 1, "queries that ended leave the graph usable"


QUERIES = {
    "join": "SELECT ?a { ?a ex:to ?b . ?b ex:to ?c . ?c ex:to ?d . ?d ex:to ?a }",
    "product": "SELECT (COUNT(*) AS ?n) { ?a ex:age ?x . ?b ex:age ?y . ?c ex:age ?z }",
    "minus": "SELECT ?a { ?a ex:age ?x MINUS { SELECT ?x { ?b ex:age ?x . ?c ex:age ?y . ?d ex:age ?z } } }",
    "filter": "SELECT ?a { ?a ex:age ?x . ?b ex:age ?y FILTER(?x + ?y < 0) }",
    "optional": "SELECT ?a { ?a ex:age ?x . ?b ex:age ?y OPTIONAL { ?a ex:knows ?b } FILTER(?x + ?y < -1) }",
    "order": "SELECT ?a { ?a ex:age ?x . ?b ex:age ?y . ?c ex:age ?z } ORDER BY ?z LIMIT 1",
    "construct": "CONSTRUCT { ?a ex:age ?y } WHERE { ?a ex:age ?x . ?b ex:age ?y . ?c ex:age ?z }",
    "ask": "ASK { ?a ex:age ?x . ?b ex:age ?y . ?c ex:age ?z FILTER(?x + ?y + ?z < -1) }",
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.sample(4)
def test_queries_end_in_time(people: Graph, name: str) -> None:
    reasoner = people.store.reasoner
    query = f"PREFIX ex: <{EX}> {QUERIES[name]}"

    def ask() -> None:
        with reasoner.limited(Limits(seconds=0.15)):
            list(people.query(query))

    soon(ask, LimitError, "longer than its limit of 0.15 s")


def test_a_query_is_cancelled_by_another_thread(people: Graph) -> None:
    query = f"PREFIX ex: <{EX}> {QUERIES['join']}"
    cancelled(people.store.reasoner, lambda: list(people.query(query)))


def test_solutions_of_a_pattern_are_limited(people: Graph) -> None:
    with people.store.reasoner.limited(Limits(facts=100_000)):
        soon(lambda: list(people.query(f"PREFIX ex: <{EX}> {QUERIES['product']}")), LimitError, "exceed the limit of 100,000")


def test_the_time_of_a_query_runs_while_it_is_evaluated() -> None:
    reasoner = with_pairs("", 10, limits=Limits(seconds=0.5))
    graph = graph_of(reasoner)
    for number in range(50):
        graph.add((EX[f"p{number}"], EX.age, Literal(number)))
    rows = iter(graph.query(f"SELECT ?x {{ ?x <{EX.age}> ?a }}"))
    next(rows)
    time.sleep(0.7)
    assert len(list(rows)) == 49


def test_time_runs_while_other_threads_keep_the_reasoner_busy() -> None:
    reasoner = with_pairs("", 10)
    begun, end = threading.Event(), threading.Event()

    def keep() -> None:
        with reasoner.transaction():
            begun.set()
            end.wait(20)

    thread = threading.Thread(target=keep)
    thread.start()
    begun.wait()
    try:
        with reasoner.limited(Limits(seconds=0.2)):
            soon(lambda: list(reasoner.facts("e")), LimitError, "busy until the time limit")
            soon(lambda: reasoner.add_facts("e", pairs(11)), LimitError, "busy until the time limit")
    finally:
        end.set()
        thread.join()
    assert len(list(reasoner.facts("e"))) == 10


def closure(count: int = 60) -> tuple[Reasoner, Atom]:
    """A reasoner whose shortest proofs take a second to find, and a fact that it derives. What explains has been imported, which is
    not part of an operation.
    """
    reasoner = Reasoner("p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .")
    reasoner.add_facts("p", pairs(count))
    reasoner.materialise()
    reasoner.explain(Atom("p", (literal(0), literal(1))))
    return reasoner, Atom("p", (literal(0), literal(count - 1)))


def test_explanations_end_in_time() -> None:
    reasoner, fact = closure()
    for _ in range(2):
        with pytest.raises(LimitError), reasoner.limited(Limits(seconds=0.01)):
            reasoner.explain(fact)
    expected, _ = closure()
    assert reasoner.explain(fact).text() == expected.explain(fact).text()


def test_an_explanation_is_cancelled_by_another_thread() -> None:
    reasoner, fact = closure()
    timer = threading.Timer(0.02, reasoner.cancel)
    timer.start()
    with pytest.raises(CancelledError):
        reasoner.explain(fact)
    timer.join()
    expected, _ = closure()
    assert reasoner.explain(fact).text() == expected.explain(fact).text()


def test_proofs_one_by_one_end_in_time() -> None:
    reasoner, fact = closure()
    with pytest.raises(LimitError), reasoner.limited(Limits(seconds=0.01)):
        list(reasoner.all_proofs(fact))
