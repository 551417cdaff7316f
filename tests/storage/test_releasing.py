"""Memory that was needed for loading is given back to the operating system, where that is worth the time."""

from __future__ import annotations

import ctypes
import sys

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.storage import releasing

TRIPLES = b"".join(b"<http://example.org/%d> <http://example.org/p> <http://example.org/o> .\n" % number for number in range(20))


@pytest.fixture
def trims(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the C library has been asked to give back."""
    calls: list[int] = []

    def trim(padding: int) -> int:
        calls.append(padding)
        return 1

    monkeypatch.setattr(releasing, "_trim", lambda: trim)
    return calls


def test_large_operations_release_memory(trims: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releasing, "LARGE", 20)
    reasoner = Reasoner("[?y, ?p, ?x] :- [?x, ?p, ?y] .")
    reasoner.load(TRIPLES, format="ntriples")
    assert len(trims) == 1
    reasoner.materialise()
    assert len(trims) == 2
    reasoner.load(TRIPLES.splitlines()[0], format="ntriples")
    reasoner.materialise()
    assert len(trims) == 2


def test_a_materialisation_is_as_large_as_what_it_derives(trims: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releasing, "LARGE", 20)
    reasoner = Reasoner("[?x, ?p, ?x] :- [?x, ?p, <http://example.org/other>] .")
    reasoner.load(TRIPLES, format="ntriples")
    assert len(trims) == 1
    reasoner.materialise()
    assert len(trims) == 1


def test_small_operations_do_not(trims: list[int]) -> None:
    reasoner = Reasoner(ruleset="rdfs")
    reasoner.load(TRIPLES, format="ntriples")
    reasoner.materialise()
    assert trims == []


@pytest.mark.skipif(sys.platform != "linux", reason="other C libraries release memory by themselves")
def test_other_c_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    releasing.release_memory(releasing.LARGE)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    releasing._trim.cache_clear()
    releasing.release_memory(releasing.LARGE)
    assert releasing._trim()(0) == 0, "nothing is given back"
    releasing._trim.cache_clear()
