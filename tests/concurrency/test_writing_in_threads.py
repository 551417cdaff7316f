"""Files written by several threads are those that one thread writes."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import numpy as np
import pytest

from kg_reasoner.concurrency import tasks
from kg_reasoner.concurrency.ordered_work import deliver
from kg_reasoner.errors import OutputError
from kg_reasoner.io import lines, readable_turtle
from kg_reasoner.io.output import triple_writer
from kg_reasoner.storage.arrays import TripleIds
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import RDF

NODES = [*(f"<http://a.org/{number}>" for number in range(9)), *(f"_:b{number}" for number in range(9)), "_:é", "_:a:b"]
PROPERTIES = [f"<{RDF}{name}>" for name in ("type", "first", "rest")] + ["<http://a.org/p>", "<http://b.org/q>"]
VALUES = [*NODES, f"<{RDF}nil>", '"x"', '"x\\n"@en', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', f'"{"long" * 5000}"']


def some_triples(seed: int) -> tuple[TripleIds, Dictionary]:
    chance, dictionary = random.Random(seed), Dictionary()
    texts = [chance.choice(names) for _ in range(200) for names in (NODES, PROPERTIES, VALUES)]
    return np.unique(dictionary.encode_texts(texts).reshape(-1, 3), axis=0), dictionary


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lines, readable_turtle):
        monkeypatch.setattr(module, "ROWS_OF_A_PART", 3)
        monkeypatch.setattr(module, "ROWS_TOGETHER", 4)


@pytest.mark.parametrize("format", ["nt", "nq", "ttl", "trig", "nt.gz"])
@pytest.mark.parametrize("seed", range(3))
def test_the_same_file(tmp_path: Path, format: str, seed: int) -> None:
    triples, dictionary = some_triples(seed)
    found = []
    for threads in (1, 2, 3, 7):
        counts: list[int] = []
        path = tmp_path / f"{threads}.{format}"
        with triple_writer(path, None, {"a": "http://a.org/"}, lambda _, done, __, to=counts: to.append(done), threads) as write:
            assert write.ids(triples, dictionary) == len(triples)
        assert counts == sorted(counts)
        assert counts[-1] == len(triples)
        found.append(path.read_bytes())
    assert len(set(found)) == 1


def test_the_same_quads(tmp_path: Path) -> None:
    triples, dictionary = some_triples(1)
    found = []
    for threads in (1, 2, 7):
        path = tmp_path / f"{threads}.nq"
        with triple_writer(path, threads=threads) as write:
            write.quads([(triples, "", dictionary), (triples[:50], "_:é", dictionary), (triples[50:], "<urn:g>", dictionary)])
        found.append(path.read_bytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OutputError])
def test_an_error_leaves_the_file_as_it_was(tmp_path: Path, error: type[BaseException]) -> None:
    triples, dictionary = some_triples(2)
    path = tmp_path / "x.nt"
    path.write_text("before")

    def progress(_: str, done: int, __: int | None) -> None:
        if done > 60:
            raise error("no")

    with pytest.raises(error), triple_writer(path, progress=progress, threads=3) as write:
        write.ids(triples, dictionary)
    assert path.read_text() == "before"
    assert not [thread for thread in threading.enumerate() if thread.name == tasks.NAME]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_are_delivered_in_order_in_this_thread(threads: int) -> None:
    found: list[tuple[int, int]] = []
    deliver(range(100), lambda part: part, lambda part: found.append((part, threading.get_ident())), threads)
    assert found == [(number, threading.get_ident()) for number in range(100)]


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, 65])
def test_a_wrong_number_of_threads(tmp_path: Path, threads: int) -> None:
    with pytest.raises(ValueError, match="threads="), triple_writer(tmp_path / "x.nt", threads=threads):
        pass
