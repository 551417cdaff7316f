"""The benchmark of threads in small: it finds the triangles that there are, counts queries, and shows them. Never how fast."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from click import ClickException
from rich.console import Console

from benchmarks.contests import report
from benchmarks.threads import PLANTED, THREADS, Rate, ThreadWorkload, measured, rate, table, triangles, workloads


def test_there_are_hardly_any_triangles() -> None:
    sides: dict[object, set[tuple[object, object]]] = {}
    for start, side, end in triangles(nodes=40, degree=5):
        sides.setdefault(side, set()).add((start, end))
    first, second, third = sides.values()
    ways = [(a, b, c) for a, b in first for other, c in second if other == b]
    closed = {way for way in ways if (way[2], way[0]) in third}
    assert PLANTED <= len(closed) < len(ways) / 10


def test_workloads_agree_and_are_counted(one_department: Path) -> None:
    ids, sparql, university = workloads(40, 5, one_department)
    assert ids.solutions == sparql.solutions >= PLANTED
    assert university.solutions > 0
    assert rate(ids, 1, 0.05) > 0


def test_a_wrong_answer_is_an_error() -> None:
    with pytest.raises(ClickException, match="3 solutions, not 4"):
        rate(ThreadWorkload("wrong", lambda: 3, 4), 2, 0.01)

    def fail() -> int:
        raise ValueError("broken")

    with pytest.raises(ClickException, match="broken"):
        rate(ThreadWorkload("broken", fail, 4), 2, 0.01)


def test_the_table_shows_ratios() -> None:
    found = measured(ThreadWorkload("question", lambda: 4, 4), 1, 0.01)
    assert set(found.rates) == set(THREADS)
    console = Console(file=io.StringIO(), width=report.WIDTH)
    console.print(table([Rate("question", 4, {1: 100.0, 2: 150.0, 4: 120.0})]))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert shown.split()[-7:] == ["question", "4", "100.0", "150.0", "1.50", "120.0", "1.20"]
