"""The benchmark of materialisation by several threads in small: it compares rows and adds times up. Never how fast."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from click import ClickException
from rich.console import Console

from benchmarks.contests import report
from benchmarks.parallel import (
    Run,
    Times,
    Workload,
    deletion_workloads,
    graph_workloads,
    makespan,
    measured,
    table,
    timed,
    watched_rounds,
)
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.concurrency.tasks import Round
from kg_reasoner.terms import literal


def test_closures_of_a_graph(tmp_path: Path) -> None:
    graph = tmp_path / "ring.txt"
    graph.write_text("".join(f"{number} {(number + 1) % 9} e\n" for number in range(9)))
    linear, other = graph_workloads(graph)
    for workload in (linear, other):
        for simulate in (False, True):
            times = measured(workload, (1, 2), 1, simulate)
            assert (times.facts, set(times.runs)) == (90, {1, 2})


def test_deletion_of_half_a_department(one_department: Path) -> None:
    for workload in deletion_workloads([1], one_department):
        times = measured(workload, (1, 2), 1)
        assert set(times.runs) == {1, 2}
        assert 0 < times.facts < workload.make(1).engine.database.count()


def test_other_rows_are_an_error() -> None:
    def make(threads: int) -> Reasoner:
        reasoner = Reasoner("q(?x) :- p(?x) .")
        reasoner.add_facts("p", [(literal(threads),)])
        return reasoner

    with pytest.raises(ClickException, match="2 threads have derived other rows than 1"):
        measured(Workload("wrong", lambda threads: make(threads) if threads == 1 else Reasoner("q(1) .")), (1, 2), 1)


def test_rounds_are_watched() -> None:
    done: list[int] = []
    with watched_rounds() as longest:
        Round(lambda: False, lambda: None).run([lambda: done.append(sum(range(100_000)))] * 3, 2)
    assert len(done) == 3
    assert len(longest) == 1
    assert longest[0] > 0
    assert timed(Reasoner.materialise, Reasoner("q(1) .")).critical > 0


def test_threads_take_the_next_task() -> None:
    assert makespan([3, 1, 1, 4], 2) == 6
    assert makespan([3, 1, 1, 4], 4) == 4
    assert makespan([], 2) == 0


def test_the_table_shows_ratios() -> None:
    console = Console(file=io.StringIO(), width=report.WIDTH)
    console.print(table([Times("closure", 90, {1: Run(1.0, 1.0, 1.0), 2: Run(0.8, 1.2, 0.5, 1.5)})]))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "closure" in shown
    for ratio in ("1.25", "2.00", "1.50"):  # of the wall times, of the critical paths, and the free cores
        assert ratio in shown
