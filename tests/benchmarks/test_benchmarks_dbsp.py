"""The benchmark of DBSP in small: contestants agree, memory is looked at, and it is shown. Never how fast."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import dbsp
from benchmarks.contestants.dbsp import CONTESTANTS
from benchmarks.contests import dbsp_report, report
from benchmarks.contests.dbsp_report import STAGES, Comparison, Outcome
from benchmarks.inputs.dbsp_jobs import closure_workload, lubm_workload
from kg_reasoner.language.parser import parse
from kg_reasoner.terms import IRI, RDF
from tests.helpers.effort import thinned
from tests.helpers.extras import needed


@pytest.fixture
def closure(tmp_path: Path) -> Path:
    """The closure of a circle of eight, as a workload."""
    graph = tmp_path / "circle.txt"
    graph.write_text("".join(f"{n} {(n + 1) % 8} a\n" for n in range(8)), encoding="ascii")
    closure_workload(graph).write(tmp_path / "closure.json")
    return tmp_path / "closure.json"


@pytest.mark.parametrize("name", thinned(CONTESTANTS, 2))
@pytest.mark.sample(2)
def test_contestants(name: str, closure: Path) -> None:
    found = dbsp.measure(name, closure, 0.875, sys.executable, 100, runs=1)
    assert not found.failure
    assert [found.figures[f"{stage} facts"] for stage in STAGES] == [7 + 28, 8 + 64, 7 + 28]
    assert all(found.figures[stage] >= 0 for stage in STAGES)


@pytest.mark.parametrize(
    ("ending", "failure", "limit"),
    [("sys.exit('no more')", "no more", 0), ("while True: pass", "stopped at 1 s", 1), ("sys.exit(3)", "exit code 3", 0)],
)
@pytest.mark.sample(3)
def test_contestants_that_do_not_get_through(ending: str, failure: str, limit: int, closure: Path, tmp_path: Path) -> None:
    """What one has printed until then is known."""
    python = tmp_path / "python"
    line = '{"initial": 0.5}'
    python.write_text(f"#!{sys.executable}\nimport sys\nprint({line!r}, flush=True)\n{ending}\n", encoding="utf-8")
    python.chmod(0o755)
    assert dbsp.measure(dbsp.PYDBSP, closure, 0.5, str(python), 1, runs=3) == Outcome({"initial": 0.5}, failure, limit)


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


@pytest.mark.long
def test_memory_is_reported(closure: Path) -> None:
    told: list[str] = []
    assert dbsp.soak(closure, 100, told.append)
    assert told[-1].lstrip().startswith("100 updates")


FIGURES = {"initial": 0.1, "add": 0.01, "remove": 0.02, "initial facts": 30, "add facts": 72, "remove facts": 35, "bytes": 5e6}
FOUND = Comparison(
    "closure",
    0.99,
    {
        "circuit": Outcome(FIGURES),
        "other": Outcome(FIGURES | {"remove facts": 36}),
        "slow": Outcome({"initial": 2, "initial facts": 30, "bytes": 1e9}, "stopped at 60 s", 60),
        "pydbsp": Outcome({}, "no module"),
    },
)


def test_what_is_shown() -> None:
    console = Console(file=io.StringIO(), width=report.WIDTH)
    console.print(dbsp_report.table(FOUND))
    shown = {line.split()[0]: line.split()[1:] for line in console.file.getvalue().splitlines() if line.strip()}  # type: ignore[attr-defined]
    assert shown["circuit"] == ["100", "10", "20", "1.00", "1.00", "1.00", "5", "72"]
    assert shown["slow"] == ["2,000", "stopped", "at", "60", "s", "20.00", "1,000"]
    assert shown["pydbsp"] == ["no", "module"]


def test_disagreements_are_found() -> None:
    assert dbsp_report.disagreements(FOUND) == ["closure: 99%, then 1%, remove: other has 36 facts, circuit has 35"]


@pytest.mark.long
def test_plots(tmp_path: Path) -> None:
    needed("matplotlib")
    dbsp_report.plot(
        [FOUND, Comparison("closure", 0.5, {"circuit": Outcome(FIGURES)}), Comparison("other", 0.5)], tmp_path / "plot.svg"
    )
    assert (tmp_path / "plot.svg").stat().st_size > 10_000
