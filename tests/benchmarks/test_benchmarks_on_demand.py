"""The benchmark of queries on demand in small: it asks its queries, compares answers, and shows them. Never how fast."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from click import ClickException
from rich.console import Console

from benchmarks.contests import report
from benchmarks.on_demand import Comparison, OnDemandWorkload, compared, generations, table, workloads
from kg_reasoner import Reasoner


def test_everybody_has_two_parents() -> None:
    pairs = list(generations(people=10, count=4))
    assert len(pairs) == len(set(pairs)) == 3 * 10 * 2
    assert pairs == list(generations(people=10, count=4))


@pytest.mark.filterwarnings("ignore::kg_reasoner.BeyondProfileWarning")
@pytest.mark.long
def test_answers_agree_and_less_of_a_family_is_derived(one_department: Path) -> None:
    family, university = (list(compared(workload)) for workload in workloads(20, 6, (1,), one_department))
    assert all(each.answers > 0 for each in family)
    assert any(each.answers > 0 for each in university)
    for each in family:
        assert 0 < each.derived < each.inferred


def test_what_is_materialised_is_an_error() -> None:
    def load() -> Reasoner:
        return Reasoner("p(?x) :- q(?x) . q(1) .", equality="rewrite")

    with pytest.raises(ClickException, match="by materialisation"):
        list(compared(OnDemandWorkload("merged", load, {"all": "p(?x)"})))


def test_the_table_shows_ratios() -> None:
    console = Console(file=io.StringIO(), width=report.WIDTH)
    console.print(table([Comparison("people", "one", 3, 0.5, 0.25, 10, 2.0, 1000, 0.5)]))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    for cell in ("people", "one", "500.0", "250.0", "2,000.0", "1,000", "5.0", "100"):
        assert cell in shown
