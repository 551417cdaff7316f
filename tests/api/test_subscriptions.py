"""Subscriptions and feeds: who is told what, when, and how often."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner.api.change_feed import ChangeFeed
from kg_reasoner.api.operations.subscriptions import RETAINED_ERRORS, Pattern, Subscriptions
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.facts.collector import Committed
from kg_reasoner.errors import ArityError, CallbackError, LoadError, ReasonerError
from kg_reasoner.program import FALSE, TRIPLE, Atom, Variable
from kg_reasoner.query.delta import Change, Changes, Delta
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import IRI, RDF, Term, literal
from tests.faults.injectors import Lines, MemoryLines

EX = "http://example.org/"
ANN, BOB, CAT, KNOWS = (IRI(EX + name) for name in ("ann", "bob", "Cat", "knows"))
X, Y = Variable("x"), Variable("y")


class Commits:
    """What a reasoner does about its subscribers. A commit is written as lines: ``+ path a b``, ``- [] ann knows bob``."""

    def __init__(self, arities: Callable[[], dict[str, int]] = dict) -> None:
        self.dictionary = Dictionary()
        self.subscriptions = Subscriptions(self.dictionary, arities)
        self.last: Committed | None = None

    def commit(self, *lines: str) -> None:
        self.last = Committed(self.last, Delta(self.changes("+", lines), self.changes("-", lines)))
        self.subscriptions.publish(lambda: self.last)

    def changes(self, sign: str, lines: tuple[str, ...]) -> Changes:
        rows: dict[str, list[list[int]]] = {}
        for line in lines:
            mark, predicate, *names = line.split()
            if mark == sign:
                rows.setdefault(predicate, []).append([self.dictionary.encode(IRI(EX + name)) for name in names])
        return Changes(
            self.dictionary,
            {name: Change(np.array(ids, np.int32).reshape(len(ids), -1), np.ones(len(ids), bool)) for name, ids in rows.items()},
        )

    def listen(self, pattern: Pattern, told: list[str] | None = None) -> list[str]:
        """Subscribe, and write down what is told, in the form of `commit`."""
        notes: list[str] = [] if told is None else told
        self.subscriptions.subscribe(pattern, lambda delta: notes.append(note(delta)))
        return notes


def note(delta: Delta) -> str:
    parts = []
    for sign, changes in (("-", delta.removed), ("+", delta.added)):
        for predicate in changes.predicates():
            for row in changes.facts(predicate):
                names = [term.value.removeprefix(EX) for term in row if isinstance(term, IRI)]
                parts.append(" ".join([sign, predicate, *names]))
    return ", ".join(parts)


@pytest.fixture
def commits() -> Commits:
    return Commits()


# --- patterns --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("path", ["- path b c, + path a b, + path a a"]),
        ("node", ["+ node a"]),
        ("edge", []),
        (TRIPLE, ["+ [] ann knows bob, + [] bob knows bob"]),
        (None, ["- path b c, + path a b, + path a a, + node a, + [] ann knows bob, + [] bob knows bob"]),
        (Atom("path", (X, Y)), ["- path b c, + path a b, + path a a"]),
        (Atom("path", (X, X)), ["+ path a a"]),
        (Atom("path", (IRI(EX + "b"), X)), ["- path b c"]),
        (Atom("path", (IRI(EX + "unheard-of"), X)), []),
        ((None, None, None), ["+ [] ann knows bob, + [] bob knows bob"]),
        ((ANN, KNOWS, None), ["+ [] ann knows bob"]),
        ((X, KNOWS, X), ["+ [] bob knows bob"]),
        ((None, rdflib.URIRef(EX + "knows"), rdflib.URIRef(EX + "bob")), ["+ [] ann knows bob, + [] bob knows bob"]),
        ((BOB, None, ANN), []),
    ],
    ids=str,
)
def test_a_callback_receives_changes_of_its_pattern(commits: Commits, pattern: Pattern, told: list[str]) -> None:
    heard = commits.listen(pattern)
    commits.commit("+ path a b", "+ path a a", "- path b c", "+ node a", "+ [] ann knows bob", "+ [] bob knows bob")
    assert heard == told


def test_constants_may_come_up_later(commits: Commits) -> None:
    heard = commits.listen((ANN, None, None))
    commits.commit("+ [] bob knows bob")
    commits.commit("+ [] ann knows bob")
    commits.commit("- [] ann knows bob")
    assert heard == ["+ [] ann knows bob", "- [] ann knows bob"]


TERMS = [IRI(EX + name) for name in "abc"]
ROWS = st.lists(st.tuples(*[st.sampled_from(TERMS)] * 3), unique=True, max_size=12)
PATTERNS = st.tuples(*[st.sampled_from([None, X, Y, *TERMS])] * 3)


@given(ROWS, PATTERNS)
def test_matching_means_what_it_says(rows: list[tuple[IRI, ...]], pattern: tuple[Variable | Term | None, ...]) -> None:
    def matches(row: tuple[IRI, ...]) -> bool:
        values: dict[Variable, IRI] = {}
        return all(
            wanted is None or (values.setdefault(wanted, term) == term if isinstance(wanted, Variable) else wanted == term)
            for wanted, term in zip(pattern, row, strict=True)
        )

    commits = Commits()
    heard = commits.listen((pattern[0], pattern[1], pattern[2]))
    commits.commit(*(f"+ [] {' '.join(term.value.removeprefix(EX) for term in row)}" for row in rows))
    expected = [f"+ [] {' '.join(term.value.removeprefix(EX) for term in row)}" for row in rows if matches(row)]
    assert ", ".join(heard) == ", ".join(expected)


@pytest.mark.parametrize(
    ("pattern", "error", "says"),
    [
        (KNOWS, ReasonerError, r"the triples of a property match \(None, property, None\)"),
        (rdflib.URIRef(EX + "knows"), ReasonerError, r"match \(None, property, None\)"),
        ("path(?x, ?y)", ReasonerError, "not the name of a predicate; give a pattern with arguments as an Atom"),
        ("", ReasonerError, "not the name of a predicate"),
        ((None, KNOWS), ReasonerError, "give the name of a predicate, a triple pattern"),
        (7, ReasonerError, "7 is not a pattern"),
        ((None, "knows", None), LoadError, "'knows' is not an RDF term"),
        ((None, IRI("a b"), None), LoadError, "not a valid IRI"),
        (Atom(FALSE, ()), ReasonerError, "`inconsistencies`"),
        (Atom("path", (X,)), ArityError, r"path has 2 arguments, and the pattern path\(\?x\) has 1"),
    ],
    ids=str,
)
def test_what_is_not_a_pattern(pattern: Pattern, error: type[ReasonerError], says: str) -> None:
    commits = Commits(arities=lambda: {"path": 2})
    with pytest.raises(error, match=says):
        commits.listen(pattern)
    assert not commits.subscriptions


def test_what_is_not_a_callback(commits: Commits) -> None:
    with pytest.raises(ReasonerError, match="cannot subscribe with None: it is not callable"):
        commits.subscriptions.subscribe("path", None)  # type: ignore[arg-type]


# --- order -----------------------------------------------------------------------------------------------------------------


def test_in_order_and_once(commits: Commits) -> None:
    commits.commit("+ path a b")
    heard = commits.listen("path")
    for line in ("+ path b c", "- path a b", "+ node a", "- path b c"):
        commits.commit(line)
    commits.commit()
    assert heard == ["+ path b c", "- path a b", "- path b c"]
    assert commits.subscriptions.commits == 6


def test_cancelled_is_cancelled(commits: Commits) -> None:
    heard: list[str] = []
    with commits.subscriptions.subscribe("path", lambda delta: heard.append(note(delta))) as subscription:
        assert subscription.active
        assert len(commits.subscriptions) == 1
        commits.commit("+ path a b")
    assert not subscription.active
    assert repr(subscription) == "<Subscription to path, cancelled>"
    commits.commit("+ path b c")
    subscription.cancel()
    assert heard == ["+ path a b"]
    assert not commits.subscriptions


def test_a_callback_that_commits(commits: Commits) -> None:
    """Its commits are told after the present one, to everybody."""
    told: list[str] = []

    def close_the_loop(delta: Delta) -> None:
        told.append(f"first: {note(delta)}")
        if "+ path a b" in note(delta):
            commits.commit("+ path b a")
            commits.commit("- path a b")
            told.append("first is done")

    commits.subscriptions.subscribe("path", close_the_loop)
    commits.subscriptions.subscribe("path", lambda delta: told.append(f"second: {note(delta)}"))
    commits.commit("+ path a b")
    assert told == [
        "first: + path a b",
        "first is done",
        "second: + path a b",
        "first: + path b a",
        "second: + path b a",
        "first: - path a b",
        "second: - path a b",
    ]


def test_subscribing_and_cancelling_in_a_callback(commits: Commits) -> None:
    told: list[str] = []

    def hand_over(delta: Delta) -> None:
        told.append(f"old: {note(delta)}")
        commits.commit("+ path b c")  # before anybody else subscribes
        old.cancel()
        other.cancel()
        commits.listen("path", told)

    old = commits.subscriptions.subscribe("path", hand_over)
    other = commits.subscriptions.subscribe("path", lambda delta: told.append(f"other: {note(delta)}"))
    commits.commit("+ path a b")
    assert told == ["old: + path a b"]
    commits.commit("+ path c d")
    assert told == ["old: + path a b", "+ path c d"]


# --- callbacks that raise --------------------------------------------------------------------------------------------------


def test_a_callback_that_raises(commits: Commits, caplog: pytest.LogCaptureFixture) -> None:
    def divide(delta: Delta) -> None:
        raise ZeroDivisionError("by nothing")

    failing = commits.subscriptions.subscribe((ANN, None, None), divide)
    heard = commits.listen(TRIPLE)
    with caplog.at_level(logging.ERROR, "kg_reasoner.subscriptions"):
        commits.commit("+ [] bob knows bob")
        commits.commit("+ [] ann knows bob", "+ node a")
    assert heard == ["+ [] bob knows bob", "+ [] ann knows bob"]
    (error,) = failing.errors
    assert isinstance(error, CallbackError)
    assert error.commit == 2
    assert isinstance(error.__cause__, ZeroDivisionError)
    says = "divide for [<http://example.org/ann>, _, _] failed at commit 2 (2 added, 0 removed): ZeroDivisionError: by nothing"
    assert says in str(error)
    (record,) = caplog.records
    assert says in record.message
    assert record.exc_info
    assert record.exc_info[1] is error.__cause__
    assert failing.active


@pytest.mark.usefixtures("caplog")
def test_errors_do_not_pile_up(commits: Commits) -> None:
    failing = commits.subscriptions.subscribe("node", lambda _: 1 / 0)
    for _ in range(RETAINED_ERRORS + 5):
        commits.commit("+ node a")
    assert [error.commit for error in failing.errors] == list(range(6, RETAINED_ERRORS + 6))


def test_an_interrupt_goes_through_and_nobody_misses_anything(commits: Commits) -> None:
    def interrupt(delta: Delta) -> None:
        if note(delta) == "+ node a":
            raise KeyboardInterrupt

    commits.subscriptions.subscribe("node", interrupt)
    heard = commits.listen("node")
    with pytest.raises(KeyboardInterrupt):
        commits.commit("+ node a")
    assert heard == []
    commits.commit("+ node b")
    assert heard == ["+ node a", "+ node b"]


@pytest.mark.parametrize("next_thread", [False, True], ids=["the same thread", "another thread"])
@pytest.mark.parametrize("fault", [Lines, MemoryLines])
def test_a_fault_at_any_line_of_publishing_loses_and_repeats_no_notification(fault: type[Lines], next_thread: bool) -> None:
    def interrupted_at(place: int) -> bool:
        """Interrupt the commit of a at a line of the package. Says whether there was such a line."""
        commits, heard = Commits(), (list[Delta](), list[Delta]())
        for deltas in heard:
            commits.subscriptions.subscribe("node", deltas.append)
        commits.last = Committed(None, Delta(commits.changes("+", ("+ node a",)), commits.changes("-", ())))
        injector = fault(place)
        injector.call(lambda: commits.subscriptions.publish(lambda: commits.last))
        if next_thread:
            thread = threading.Thread(target=commits.commit, args=("+ node b",))
            thread.start()
            thread.join()
        else:
            commits.commit("+ node b")
        assert [list(map(note, deltas)) for deltas in heard] == [["+ node a", "+ node b"]] * 2, f"interrupted at {injector.where}"
        return injector.where is not None

    places = next(place for place in count(1) if not interrupted_at(place))
    assert places > 20


@pytest.mark.usefixtures("caplog")
def test_an_arity_that_turns_out_later(commits: Commits) -> None:
    heard: list[str] = []
    subscription = commits.subscriptions.subscribe(Atom("path", (X, Y)), lambda delta: heard.append(note(delta)))
    commits.commit("+ path a b c")
    (error,) = subscription.errors
    assert isinstance(error.__cause__, ArityError)
    assert "path has 3 arguments, and the pattern path(?x, ?y) has 2" in str(error)
    assert heard == []


# --- feeds -----------------------------------------------------------------------------------------------------------------


def test_a_feed_is_polled(commits: Commits) -> None:
    with ChangeFeed(commits.subscriptions, "path") as feed:
        assert feed.poll() == []
        commits.commit("+ path a b")
        commits.commit("+ node a")
        commits.commit("- path a b")
        assert [note(delta) for delta in feed.poll()] == ["+ path a b", "- path a b"]
        assert feed.poll(timeout=0.001) == []
        assert repr(feed) == "<ChangeFeed of path>"
    assert repr(feed) == "<ChangeFeed of path, closed>"
    commits.commit("+ path a b")
    assert feed.poll() == []


def test_a_closed_feed_gives_what_is_waiting(commits: Commits) -> None:
    feed = ChangeFeed(commits.subscriptions, (None, RDF.type, None))
    other = ChangeFeed(commits.subscriptions, (None, KNOWS, None))
    commits.commit("+ [] ann knows bob")
    commits.commit("+ [] bob knows bob")
    feed.close()
    other.close()
    assert list(feed) == []
    assert [note(delta) for delta in other] == ["+ [] ann knows bob", "+ [] bob knows bob"]
    assert feed.closed
    assert not commits.subscriptions


def test_a_feed_that_is_dropped(commits: Commits) -> None:
    feed = ChangeFeed(commits.subscriptions, "path")
    assert len(commits.subscriptions) == 1
    del feed
    gc.collect()
    assert len(commits.subscriptions) == 0


def test_a_feed_in_another_thread(commits: Commits) -> None:
    feed = ChangeFeed(commits.subscriptions, "path")
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.extend(map(note, feed)), daemon=True)
    reader.start()
    lines = [f"+ path a{number} b{number}" for number in range(200)]
    for line in lines:
        commits.commit(line)
    feed.close()
    reader.join(timeout=30)
    assert not reader.is_alive()
    assert heard == lines


def test_a_feed_in_an_event_loop(commits: Commits) -> None:
    lines = [f"+ path a{number} b{number}" for number in range(50)]

    def write(feed: ChangeFeed) -> None:
        for line in lines:
            commits.commit(line)
        feed.close()

    async def read() -> list[str]:
        feed = ChangeFeed(commits.subscriptions, "path")
        writer = asyncio.get_running_loop().run_in_executor(None, write, feed)
        heard = [note(delta) async for delta in feed]
        await writer
        return heard

    assert asyncio.run(asyncio.wait_for(read(), 30)) == lines


def test_a_feed_and_commits_in_one_event_loop(commits: Commits) -> None:
    """Commits in other tasks of the loop wake up a reader; one that gives up misses nothing."""

    async def both() -> list[str]:
        feed = ChangeFeed(commits.subscriptions, "path")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(feed.__anext__(), 0.001)
        reader = asyncio.ensure_future(feed.__anext__())
        await asyncio.sleep(0)
        assert not reader.done()
        commits.commit("+ path a b")
        heard = [note(await reader)]
        commits.commit("+ path b c")
        feed.close()
        heard += [note(delta) async for delta in feed]
        return heard

    assert asyncio.run(asyncio.wait_for(both(), 30)) == ["+ path a b", "+ path b c"]


def test_terms_are_read_from_deltas(commits: Commits) -> None:
    feed = ChangeFeed(commits.subscriptions, (None, None, literal(5)))
    commits.commit("+ [] ann knows bob")
    assert feed.poll() == []
    assert commits.dictionary.find(literal(5)) < 0  # asking for a term does not store it
    assert commits.dictionary.find(CAT) < 0


# --- with a reasoner ----------------------------------------------------------------------------------------------------------


IMPORTING = b"""
@prefix ex: <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:ontology a owl:Ontology ; owl:imports ex:other .
ex:Cat rdfs:subClassOf [ owl:unionOf (ex:Tame ex:Wild) ] .
"""


def test_subscribers_see_the_warnings_of_a_load() -> None:
    reasoner, seen = Reasoner(ruleset="owl2rl"), list[list[str]]()
    reasoner.subscribe(None, lambda _: seen.append([warning.axiom for warning in reasoner.warnings]))
    reasoner.load(IMPORTING, format="turtle")
    (axioms,) = seen
    assert axioms[0] == "Import(<http://example.org/other>)"
    assert "ObjectUnionOf" in axioms[1]
    other = Reasoner(ruleset="owl2rl")
    other.load(IMPORTING, format="turtle")
    assert [warning.axiom for warning in other.warnings] == axioms


@pytest.mark.parametrize("collects", [True, False])
def test_subscribing_in_an_open_transaction(collects: bool) -> None:
    reasoner, told = Reasoner("q(?x) :- p(?x) ."), list[str]()
    tx = reasoner.transaction(collects=collects).begin()
    tx.add_facts("p", [(literal(1),)])
    reasoner.subscribe("q", lambda delta: told.append(str(delta)))
    tx.add_facts("p", [(literal(2),)])
    assert told == []
    tx.commit()
    assert told == ["+ q(1)  derived\n+ q(2)  derived" if collects else "+ q(2)  derived"]
    with reasoner.transaction() as later:
        later.remove_facts("p", [(literal(1),)])
    assert told[1:] == ["- q(1)  derived"]


def test_a_transaction_whose_changes_nobody_else_wants_is_told() -> None:
    reasoner, told = Reasoner("q(?x) :- p(?x) ."), list[str]()
    transaction = reasoner.transaction(collects=False)
    reasoner.subscribe("q", lambda delta: told.append(str(delta)))
    with transaction:
        reasoner.add_facts("p", [(literal(1),)])
    assert told == ["+ q(1)  derived"]


def test_a_feed_whose_making_was_interrupted_collects_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner = Reasoner("path(?x, ?y) :- edge(?x, ?y) .")
    subscribe = Subscriptions.subscribe

    def interrupt(*arguments: Any) -> None:
        subscribe(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Subscriptions, "subscribe", interrupt)
        with pytest.raises(KeyboardInterrupt) as caught:
            reasoner.changes("path")
    del caught
    gc.collect()
    assert not reasoner.has_subscribers
