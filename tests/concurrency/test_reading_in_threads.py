"""Documents read, and triples loaded, by several threads: ids, rows and errors are those of one thread, and no thread is left."""

from __future__ import annotations

import io
import random
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.concurrency import tasks
from kg_reasoner.concurrency.ordered_work import ThreadPipeline
from kg_reasoner.concurrency.tasks import run_together
from kg_reasoner.errors import LimitError, LoadError
from kg_reasoner.loaders.rdf.document_reading import Reading
from kg_reasoner.loaders.rdf.formats import TURTLE
from kg_reasoner.loaders.rdf.readers.reader import read
from kg_reasoner.loaders.rdf.readers.turtle import read_turtle
from kg_reasoner.loaders.rdf.sources import document_of
from kg_reasoner.program import TRIPLE
from kg_reasoner.storage import capacities as table_capacities
from kg_reasoner.storage.parallel.shared_loading import shares_of
from kg_reasoner.storage.terms.dictionary import Dictionary
from tests.helpers.effort import examples
from tests.loaders.test_turtle_reader import HEADER, _statements

THREADS = (2, 3, 7)

SUBJECTS = ["<http://a.org/1>", "<http://a.org/2>", "_:a", "_:b1", "<http://a.org/é>", "_:a.b"]
PROPERTIES = ["<http://a.org/p>", "<http://a.org/q>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"]
VALUES = [*SUBJECTS, '"x"', '"x"@en', '"X"@EN', '"\\u00e9"', '"1"^^<http://a.org/t>', '"é"', '"x\\n"']
WRONG = [
    "<a> <b> <c> .",
    '<http://a.org/1> <http://a.org/p> "x',
    "x",
    '"x" <http://a.org/p> "x" .',
    "<<( _:a <p:p> _:b )>> <p:p> <p:o> .",
]
ENDS = ["\n", "\r\n", "\r", " # comment\n", "\n# comment <>\n", "\n\n"]


def lines(chance: random.Random, quads: bool) -> bytes:
    """Return N-Triples or N-Quads, some with an error."""
    parts = []
    for _ in range(chance.randint(1, 60)):
        graph = chance.choice(["", "", *SUBJECTS]) if quads else ""
        value = chance.choice(VALUES)
        subject = chance.choice([*SUBJECTS, f"<http://a.org/s{chance.randint(0, 99)}>"])
        parts.append(f"{subject} {chance.choice(PROPERTIES)} {value} {graph} .{chance.choice(ENDS)}")
    if chance.random() < 0.3:
        parts[chance.randrange(len(parts))] = chance.choice(WRONG) + "\n"
    return "".join(parts).encode()


def found_by(reading: Callable[[Dictionary], Iterator[Any]]) -> tuple[list[list[Any]], list[str], str]:
    """Return the batches, the terms by their ids, and the error."""
    dictionary, batches, error = Dictionary(), list[list[Any]](), ""
    before = set(threading.enumerate())  # of reasoners of other tests, say
    try:
        for triples, graphs in reading(dictionary):
            batches.append([triples.tolist(), None if graphs is None else graphs.tolist()])
    except LoadError as caught:
        error = str(caught)
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name == tasks.NAME]
    return batches, dictionary.texts(), error


def in_texts(batches: list[list[Any]], texts: list[str]) -> list[list[Any]]:
    """Return batches of triples with texts in place of ids."""
    return [[[[texts[number] for number in row] for row in triples], graphs] for triples, graphs in batches]


def read_all(data: Any, format: str, threads: int, block: int, dictionary: Dictionary) -> Iterator[Any]:
    source = io.BytesIO(data) if block % 2 else data  # a stream cannot be read again to show the line of an error
    for found in read(source, dictionary=dictionary, format=format, threads=threads, block=block):
        yield found.triples, found.graphs


@settings(max_examples=examples(150))
@given(st.randoms(use_true_random=False), st.sampled_from(["nt", "nq"]), st.integers(1, 8))
def test_lines(chance: random.Random, format: str, block: int) -> None:
    data = lines(chance, format == "nq")
    expected = found_by(partial(read_all, data, format, 1, block))
    for threads in THREADS:
        found = found_by(partial(read_all, data, format, threads, block))
        assert found[0] == expected[0]
        assert found[2] == expected[2]
        if not found[2]:
            assert found[1] == expected[1]


def turtle(data: bytes, threads: int, window: int, part: int, is_stream: bool, dictionary: Dictionary) -> Iterator[Any]:
    document = document_of(io.BytesIO(data) if is_stream else data, TURTLE)
    assert document is not None
    with document.open() as opened:
        yield from read_turtle(opened, TURTLE, Reading(dictionary, 10, threads=threads), window=window, part=part)


@settings(max_examples=examples(150))
@given(st.randoms(use_true_random=False), st.integers(60, 400), st.integers(50, 200), st.booleans())
@pytest.mark.long
def test_turtle(chance: random.Random, window: int, part: int, is_stream: bool) -> None:
    """Plain statements, now and then others, and now and then something wrong."""
    plain = [f':s{number} a :C{number % 3} ; :p _:b{number % 7} , "x{number}", {number % 5} .\n' for number in range(40)]
    parts = [HEADER]
    for _ in range(chance.randint(1, 5)):
        parts += plain[: chance.randint(0, 40)]
        if chance.random() < 0.5:
            parts.append(_statements(chance).removeprefix(HEADER))
    if chance.random() < 0.2:
        parts[chance.randrange(len(parts))] = chance.choice([":a :p é .\n", ':a :p """x .\n', ":a :p"])
    data = "".join(parts).encode()
    expected = found_by(partial(turtle, data, 1, window, part, is_stream))
    for threads in THREADS:
        found = found_by(partial(turtle, data, threads, window, part, is_stream))
        assert found[2] == expected[2]
        if not found[2]:
            assert in_texts(*found[:2]) == in_texts(*expected[:2])
            assert sorted(found[1]) == sorted(expected[1])
            assert _without_nodes(found[1]) == _without_nodes(expected[1])
        if not found[2] and b"(" not in data and b"[" not in data:
            assert found[0] == expected[0]
            assert found[1] == expected[1]


def _without_nodes(texts: list[str]) -> list[str]:
    """Return texts without those of blank nodes: those without a label get their ids before the other terms of their statement, or
    after them, which depends on what reads it.
    """
    return [text for text in texts if not text.startswith("_:")]


def test_a_long_string_that_looks_like_statements() -> None:
    """A part may begin inside a long string; what was read there does not count."""
    inside = "".join(f":x{number} :p :y .\n" for number in range(50))
    data = f'{HEADER}{inside}:a :p """{inside}""" .\n{inside}'.encode()
    expected = found_by(partial(turtle, data, 1, 300, 100, False))
    assert found_by(partial(turtle, data, 3, 300, 100, False)) == expected
    assert sum(len(triples) for triples, _ in expected[0]) == 101


def test_the_windows_of_turtle_leave_no_trace() -> None:
    """A token that the end of a window cuts in two is no term."""
    data = (HEADER + "".join(f':subject{number} :property{number} "text{number}"@en , true .\n' for number in range(30))).encode()
    expected = found_by(partial(turtle, data, 1, 1 << 16, 100, False))
    for window in range(150, 170):
        assert found_by(partial(turtle, data, 1, window, 100, False))[1] == expected[1]


def test_two_documents_with_the_same_beginning_at_the_same_time() -> None:
    """Their blank nodes stay apart, although threads name those of the first before the dictionary has them."""
    data = "".join(f"<http://a.org/{number}> <http://a.org/p> _:a .\n" for number in range(100)).encode()
    dictionary = Dictionary()
    first = read(data, dictionary=dictionary, format="nt", block=2, threads=2)
    second = read(data, dictionary=dictionary, format="nt", block=2, threads=3)
    values = [set[int](), set[int]()]
    for some in zip(first, second, strict=True):
        for block, found in zip(some, values, strict=True):
            found.update(block.triples[:, 2].tolist())
    assert len(values[0]) == len(values[1]) == 1
    assert values[0] != values[1]


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, LimitError])
def test_errors_in_threads(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    """What a thread raises is raised by the call, and no thread is left."""
    data = "".join(f"<http://a.org/{number}> <http://a.org/p> _:a .\n" for number in range(5000)).encode()
    usual = Dictionary.merge

    def failing(self: Dictionary, other: Dictionary, hashes: Any) -> Any:
        if len(self) > 2500:
            raise error("no")
        return usual(self, other, hashes)

    dictionary = Dictionary()
    monkeypatch.setattr(Dictionary, "merge", failing)
    with pytest.raises(error):
        for _ in read(data, dictionary=dictionary, format="nt", block=10, threads=3):
            pass
    assert not [thread for thread in threading.enumerate() if thread.name == tasks.NAME]


@settings(max_examples=examples(30), deadline=None)
@given(st.randoms(use_true_random=False))
def test_loading(chance: random.Random) -> None:
    """Rows come in the same order, duplicates are found, and everything can be taken back."""
    usual = table_capacities.current
    triples = [[chance.randint(0, 30) for _ in range(3)] for _ in range(chance.randint(17, 300))]
    results = []
    for threads in (1, *THREADS):
        table_capacities.current = table_capacities.Capacities(rows=1, slots=2, shared_triples=17)
        try:
            results.append(loaded(triples, threads))
        finally:
            table_capacities.current = usual
    for result in results[1:]:
        assert result == results[0]


def loaded(triples: list[list[int]], threads: int) -> Any:
    """Return what a reasoner has after triples are loaded, and again after half of them are retracted."""
    reasoner = Reasoner()
    ids = reasoner.dictionary.encode_texts([f"<http://a.org/{number}>" for number in range(31)])
    rows = ids[np.array(triples)]
    database = reasoner.engine.base.database
    database.threads = threads
    half = len(rows) // 2
    first = reasoner.engine.load(TRIPLE, rows[: 2 * half]).tolist()
    second = reasoner.engine.load(TRIPLE, rows[half:]).tolist()
    before = reasoner.triple_ids().tolist()
    gone = reasoner.engine.retract(TRIPLE, rows[:half]).tolist()
    assert database.context.total == sum(record.count for record in database.relations.records)
    return first, second, before, gone, reasoner.triple_ids().tolist()


def test_equal_shares() -> None:
    for threads in (1, 2, 5):
        shares = shares_of(np.array([10, 1, 1, 7, 0, 30, 2]), threads)
        sums = [int(np.array([10, 1, 1, 7, 0, 30, 2])[np.asarray(shares) == share].sum()) for share in range(threads)]
        assert sum(sums) == 51
        assert max(sums) <= 30 or threads == 1


def test_tasks_are_done_once() -> None:
    for threads in (1, 2, 7):
        done: list[int] = []
        run_together([partial(done.append, number) for number in range(50)], threads)
        assert sorted(done) == list(range(50))


def test_the_first_error_ends_the_tasks() -> None:
    begun: list[int] = []

    def task(number: int) -> None:
        begun.append(number)
        if number == 3:
            raise ValueError(number)

    with pytest.raises(ValueError, match="3"):
        run_together([partial(task, number) for number in range(1000)], 3)
    assert len(begun) < 1000
    assert not [thread for thread in threading.enumerate() if thread.name == tasks.NAME]


@pytest.mark.parametrize("threads", [2, 3])
def test_a_pipeline_keeps_the_order(threads: int) -> None:
    pipeline = ThreadPipeline(iter(range(100)), lambda part: part * part, lambda part, square: (part, square), threads)
    assert list(pipeline) == [(number, number * number) for number in range(100)]


def test_a_pipeline_that_ends_early_returns_the_rest() -> None:
    seen: list[int] = []
    pipeline = ThreadPipeline(iter(range(100)), lambda part: part, lambda part, _: seen.append(part), 2, lambda: len(seen) < 10)
    assert len(list(pipeline)) == 10
    assert pipeline.rest == list(range(10, 10 + len(pipeline.rest)))


def test_an_error_of_reading_comes_behind_the_results_before_it() -> None:
    def parts() -> Iterator[int]:
        yield from range(20)
        raise OSError("gone")

    found: list[int] = []
    with pytest.raises(OSError, match="gone"):
        found.extend(ThreadPipeline(parts(), lambda part: part, lambda part, _: part, 2))
    assert found == list(range(20))
