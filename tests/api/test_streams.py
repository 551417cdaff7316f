"""Streams of updates: order, the look ahead, and what happens when something goes wrong.

Over a reasoner that only writes down what it is told.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from typing import Any

import pytest

from kg_reasoner.api.streams import AHEAD, process
from kg_reasoner.api.update import Row, Update
from kg_reasoner.errors import ArityError, ReasonerError, StreamError
from kg_reasoner.program import TRIPLE, Atom, Program, Rule
from kg_reasoner.query.delta import Delta
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import RDF, Term, literal

A, B = literal("a"), literal("b")


class Notes:
    """A reasoner and its transaction in one: writes down what it is told. Facts of ``bad`` have the wrong arity, and what an update
    with ``unforeseeable`` will do cannot be told before."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.is_open = False
        self.delta = Delta.nothing(Dictionary())

    def foresee(self, update: Update | None, /) -> None:
        if update is not None and "unforeseeable" in update.added:
            raise ArityError("later")
        self.lines.append(f"foresee {'nothing' if update is None else name(update)}")

    def transaction(self) -> Notes:
        return self

    def begin(self) -> None:
        self.is_open, self.before = True, len(self.lines)

    def commit(self) -> None:
        self.delta = Delta.nothing(self.delta.added.dictionary)
        self.is_open, self.lines[self.before :] = False, [f"apply {', '.join(self.lines[self.before :])}"]

    def rollback(self) -> None:
        self.is_open, self.lines[self.before :] = False, ["rollback"]

    def note(self, what: str, values: Iterable[object]) -> None:
        self.lines.append(f"{what}{' '.join(str(value) for value in values)}")

    def remove_facts(self, predicate: str, rows: Iterable[Row], /) -> None:
        self.note(f"-{predicate}", rows and ())

    def remove_triples(self, triples: Iterable[tuple[Term, Term, Term]], /) -> None:
        self.note("-", (" ".join(map(str, triple)) for triple in triples))

    def remove_rules(self, rules: Iterable[Rule], /) -> None:
        self.note("-rule ", (rule.head.predicate for rule in rules))

    def add_program(self, program: Program | str, /) -> None:
        self.note("+rules ", [program])

    def add_facts(self, predicate: str, rows: Iterable[Row], /) -> None:
        if predicate == "bad":
            raise ArityError("bad has 1 argument, not 2")
        self.note(f"+{predicate}", rows and ())

    def add_triples(self, triples: Iterable[tuple[Term, Term, Term]], /) -> None:
        self.note("+", (" ".join(map(str, triple)) for triple in triples))


def update(*names: str) -> Update:
    """An update that adds a fact of each of the predicates, or removes it if the name begins with a minus."""
    rows = [(A, B)]
    return Update(
        {added: rows for added in names if added[0] != "-"},
        {removed[1:]: rows for removed in names if removed[0] == "-"},
    )


def name(update: Update) -> str:
    return ",".join([*(f"-{predicate}" for predicate in update.removed), *update.added])


ONE, TWO, THREE, BAD = update("one"), update("two", "-one"), update("three"), update("good", "bad")
LIMIT = 30.0
"""Seconds after which something that should happen in another thread has not happened."""


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for something that another thread does."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "kg_reasoner stream"]


class Source:
    """Endless updates ``n1``, ``n2`` ...; counts those that were read."""

    def __init__(self, last: int | None = None) -> None:
        self.read = 0
        self.last = last
        self.threads: set[threading.Thread] = set()

    def __iter__(self) -> Iterator[Update]:
        while self.read != self.last:
            self.read += 1
            self.threads.add(threading.current_thread())
            yield update(f"n{self.read}")


# --- iterators -------------------------------------------------------------------------------------------------------------


READ_AHEAD = [
    "foresee -one,two",
    "apply +one",
    "foresee three",
    "apply -one, +two",
    "foresee nothing",
    "apply +three",
    "foresee nothing",
]


def test_a_sequence_is_looked_at() -> None:
    notes = Notes()
    deltas = list(process(notes, [ONE, TWO, THREE], marking=True))
    assert len(deltas) == 3
    assert readers() == []
    assert notes.lines == READ_AHEAD


def test_nothing_happens_before_it_is_asked_for() -> None:
    notes = Notes()
    deltas = process(notes, Source(), marking=True)
    assert notes.lines == readers() == []
    del deltas


def test_all_parts_of_an_update_are_applied() -> None:
    notes = Notes()
    rule = "path(?x, ?y) :- edge(?x, ?y) ."
    added = {"edge": [(A, B)], TRIPLE: [(A, RDF.type, B)]}
    removed = {TRIPLE: [(B, RDF.type, A)], "node": [(A,)]}
    list(process(notes, [Update(added, removed, rule, [Rule(Atom("old", ()))])]))
    assert notes.lines == [f'apply -"b" {RDF.type} "a", -node, -rule old, +rules {rule}, +edge, +"a" {RDF.type} "b"']


def test_an_iterator_is_read_ahead() -> None:
    notes, source = Notes(), Source()
    deltas = process(notes, source, marking=True)
    for applied in range(4):
        next(deltas)
        wait_until(lambda applied=applied: source.read == applied + 1 + AHEAD)  # type: ignore[misc]
    foreseen = [line for line in notes.lines if line.startswith("foresee")]
    assert foreseen[1:] == ["foresee n3", "foresee n4", "foresee n5"]
    assert [line for line in notes.lines if line.startswith("apply")] == ["apply +n1", "apply +n2", "apply +n3", "apply +n4"]
    time.sleep(0.01)
    assert source.read == 4 + AHEAD
    assert source.threads == set(readers())
    deltas.close()  # type: ignore[attr-defined]
    wait_until(lambda: readers() == [])
    assert notes.lines[-1] == "foresee nothing"


def test_nobody_waits_for_the_next_update() -> None:
    """The second update comes only after the first one was applied."""
    notes, applied = Notes(), threading.Event()

    def stream() -> Iterator[Update]:
        yield ONE
        assert applied.wait(LIMIT)
        yield TWO

    deltas = process(notes, stream(), marking=True)
    next(deltas)
    applied.set()
    assert len(list(deltas)) == 1
    assert notes.lines == ["foresee nothing", "apply +one", "foresee nothing", "apply -one, +two", "foresee nothing"]
    wait_until(lambda: readers() == [])


def test_deltas_that_are_dropped() -> None:
    deltas = process(Notes(), Source(), marking=True)
    next(deltas)
    assert len(readers()) == 1
    del deltas
    gc.collect()
    wait_until(lambda: readers() == [])


def test_without_marking_the_stream_is_read_in_turn() -> None:
    notes, source = Notes(), Source(last=2)
    deltas = process(notes, source)
    next(deltas)
    assert source.read == 1
    assert len(list(deltas)) == 1
    assert source.threads == {threading.current_thread()}
    assert notes.lines == ["apply +n1", "apply +n2"]


@pytest.mark.parametrize("marking", [True, False])
@pytest.mark.parametrize("empty", [[], iter([])], ids=["list", "iterator"])
def test_no_updates(empty: Iterable[Update], marking: bool) -> None:
    assert list(process(Notes(), empty, marking)) == []
    wait_until(lambda: readers() == [])


# --- what goes wrong -------------------------------------------------------------------------------------------------------


def failing(*updates: Update) -> Iterator[Update]:
    yield from updates
    raise ConnectionResetError("the other side has gone")


@pytest.mark.parametrize("marking", [True, False])
@pytest.mark.parametrize(
    ("updates", "says"),
    [
        ((), "the stream failed before the first update: ConnectionResetError: the other side has gone"),
        ((ONE,), "the stream failed after 1 update: ConnectionResetError"),
        ((ONE, TWO), "the stream failed after 2 updates: ConnectionResetError"),
    ],
)
def test_a_stream_that_raises(updates: tuple[Update, ...], says: str, marking: bool) -> None:
    notes = Notes()
    deltas = process(notes, failing(*updates), marking)
    for _ in updates:
        next(deltas)
    with pytest.raises(StreamError, match=says) as caught:
        next(deltas)
    assert caught.value.applied == len(updates)
    assert isinstance(caught.value.__cause__, ConnectionResetError)
    assert sum(line.startswith("apply") for line in notes.lines) == len(updates)
    assert next(deltas, "the end") == "the end"
    wait_until(lambda: readers() == [])


@pytest.mark.parametrize("marking", [True, False])
@pytest.mark.parametrize("kind", [list, iter])
def test_an_update_that_is_wrong(kind: Callable[[list[Update]], Iterable[Update]], marking: bool) -> None:
    notes = Notes()
    deltas = process(notes, kind([ONE, BAD, TWO]), marking)
    next(deltas)
    with pytest.raises(StreamError, match="update 2 of the stream was not applied: bad has 1 argument, not 2") as caught:
        next(deltas)
    assert caught.value.applied == 1
    assert isinstance(caught.value.__cause__, ArityError)
    assert [line for line in notes.lines if "foresee" not in line] == ["apply +one", "rollback"]
    assert next(deltas, "the end") == "the end"
    wait_until(lambda: readers() == [])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"edge": [(A, B)]}, "update 2 of the stream was not applied: {.*} is not an Update"),
        (Update({TRIPLE: [(A, B)]}), "update 2 of the stream was not applied: a triple has 3 terms, not 2"),
    ],
)
def test_what_is_not_an_update(wrong: Update, says: str) -> None:
    notes = Notes()
    with pytest.raises(StreamError, match=says):
        list(process(notes, [ONE, wrong], marking=True))
    assert "apply +one" in notes.lines


def test_an_error_in_the_next_update_is_raised_when_it_is_applied() -> None:
    notes = Notes()
    deltas = process(notes, [ONE, update("unforeseeable")], marking=True)
    next(deltas)
    assert notes.lines == ["apply +one"]


def test_what_is_not_a_stream() -> None:
    with pytest.raises(ReasonerError, match="7 is not a stream of updates"):
        process(Notes(), 7)  # type: ignore[call-overload]


# --- asynchronous iterators ------------------------------------------------------------------------------------------------


async def at_once(*updates: Update) -> AsyncIterator[Update]:
    for one in updates:
        yield one


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, LIMIT))


def test_an_asynchronous_stream_is_read_ahead() -> None:
    notes = Notes()

    async def read() -> None:
        assert len([delta async for delta in process(notes, at_once(ONE, TWO, THREE), marking=True)]) == 3

    run(read())
    assert notes.lines == READ_AHEAD


def test_nobody_waits_for_the_next_update_of_an_asynchronous_stream() -> None:
    notes = Notes()

    async def read() -> None:
        applied = asyncio.Event()
        tasks = set()

        async def stream() -> AsyncIterator[Update]:
            tasks.add(asyncio.current_task())
            yield ONE
            await applied.wait()
            yield TWO
            tasks.add(asyncio.current_task())

        deltas = process(notes, stream(), marking=True)
        await anext(deltas)
        applied.set()
        assert len([delta async for delta in deltas]) == 1
        assert len(tasks) == 1  # time limits and the like work within one task only

    run(read())
    assert notes.lines == ["foresee nothing", "apply +one", "foresee nothing", "apply -one, +two", "foresee nothing"]


def test_an_asynchronous_stream_is_bounded_and_ended() -> None:
    notes, ends = Notes(), []

    async def read() -> None:
        read = 0

        async def stream() -> AsyncIterator[Update]:
            nonlocal read
            try:
                while True:
                    read += 1
                    yield update(f"n{read}")
                    await asyncio.sleep(0)
            finally:
                ends.append(read)

        deltas = process(notes, stream(), marking=True)
        await anext(deltas)
        await anext(deltas)
        for _ in range(20):
            await asyncio.sleep(0)
        assert read == 2 + AHEAD
        await deltas.aclose()  # type: ignore[attr-defined]
        assert len(asyncio.all_tasks()) <= 2  # `run` and `wait_for`
        for _ in range(20):
            await asyncio.sleep(0)
        assert ends == [2 + AHEAD]

    run(read())
    assert notes.lines[-1] == "foresee nothing"


@pytest.mark.parametrize("marking", [True, False])
def test_an_asynchronous_stream_that_raises(marking: bool) -> None:
    notes = Notes()

    async def stream() -> AsyncIterator[Update]:
        for one in failing(ONE, TWO):
            yield one

    async def read() -> None:
        deltas = process(notes, stream(), marking)
        await anext(deltas)
        await anext(deltas)
        with pytest.raises(StreamError, match="the stream failed after 2 updates: ConnectionResetError") as caught:
            await anext(deltas)
        assert isinstance(caught.value.__cause__, ConnectionResetError)
        assert caught.value.applied == 2

    run(read())
    assert [line for line in notes.lines if "foresee" not in line] == ["apply +one", "apply -one, +two"]


@pytest.mark.parametrize("marking", [True, False])
def test_an_update_of_an_asynchronous_stream_that_is_wrong(marking: bool) -> None:
    notes = Notes()

    async def read() -> None:
        with pytest.raises(StreamError, match="update 2 of the stream was not applied: bad has 1 argument"):
            [delta async for delta in process(notes, at_once(ONE, BAD, TWO), marking)]

    run(read())
    assert [line for line in notes.lines if "foresee" not in line] == ["apply +one", "rollback"]


def test_whoever_waits_for_an_asynchronous_stream_can_be_cancelled() -> None:
    async def read() -> None:
        async def never() -> AsyncIterator[Update]:
            await asyncio.Event().wait()
            yield ONE

        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(anext(process(Notes(), never())), 0.001)

    run(read())


def test_an_asynchronous_stream_without_marking() -> None:
    notes = Notes()

    async def read() -> None:
        assert len([delta async for delta in process(notes, at_once(ONE, TWO))]) == 2

    run(read())
    assert notes.lines == ["apply +one", "apply -one, +two"]
