"""The benchmark of DBSP in small: contestants agree, memory is looked at, and it is shown. Never how fast."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import dbsp, report
from benchmarks.contestants.dbsp import CONTESTANTS, main
from benchmarks.dbsp_jobs import closure_workload, lubm_workload
from kg_reasoner.parser import parse
from kg_reasoner.terms import IRI, RDF


@pytest.fixture
def closure(tmp_path: Path) -> Path:
    """The closure of a circle of eight, as a workload."""
    graph = tmp_path / "circle.txt"
    graph.write_text("".join(f"{n} {(n + 1) % 8} a\n" for n in range(8)), encoding="ascii")
    closure_workload(graph).write(tmp_path / "closure.json")
    return tmp_path / "closure.json"


@pytest.mark.parametrize("name", CONTESTANTS)
def test_contestants(name: str, closure: Path) -> None:
    measured = main(name, closure, 0.875)
    assert (measured["facts"], measured["left"]) == (8 + 64, 7 + 28)
    assert all(measured[stage] >= 0 for stage in dbsp.STAGES)


def test_triples_as_workloads() -> None:
    rules = parse("""
        [?x, ?q, ?y] :- rdfs:subPropertyOf[?p, ?q], [?x, ?p, ?y] .
        <http://e/C>[?x] :- <http://e/p>[?x, ?y] .
        false :- <http://e/C>[?x] .
    """).rules
    triples = [(IRI("http://e/a"), IRI("http://e/p"), IRI("http://e/b")), (IRI("http://e/a"), RDF.type, IRI("http://e/C"))]
    assert [len(head[1]) for head, _ in lubm_workload("RDFS", rules, triples).rules] == [3, 3]  # type: ignore[arg-type, index]
    vertical = lubm_workload("OWL 2 RL (DLP)", rules, triples)
    assert [(len(head[1]), len(body[0][1])) for head, body in vertical.rules] == [(1, 2)]  # type: ignore[index]
    assert sorted(map(len, vertical.facts)) == [2, 3]


def test_memory_is_told(closure: Path) -> None:
    told: list[str] = []
    assert dbsp.soak(closure, 100, told.append)
    assert told[-1].lstrip().startswith("100 updates")


def test_what_is_shown() -> None:
    figures = {"initial": 0.1, "add": 0.01, "remove": 0.02, "bytes": 5e6, "facts": 72, "left": 35}
    found: dict[str, dbsp.Result | str] = {"circuit": figures, "other": figures | {"left": 36}, "pydbsp": "no module"}
    console = Console(file=io.StringIO(), width=report.WIDTH)
    console.print(dbsp.table("closure", 0.99, found))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "no module" in shown
    assert "100" in shown
    assert dbsp.disagreements(found) == ["other has (72, 36) facts, expected (72, 35)"]
