"""The benchmark of values in small: everybody has the same results. Never how fast."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from benchmarks.values import CONTESTANTS, Result, jobs, measured, table


@pytest.mark.long
def test_all_have_the_same_results() -> None:
    results = list(measured(jobs(0.002), runs=1))
    assert {result.contestant for result in results} >= {"kg_reasoner", "one by one"}
    assert {result.job for result in results} == {job.name for job in jobs(0.002)}
    assert all(result.checksum[0] > 1 for result in results)
    lines = list(table(iter(results)))
    assert len(lines) == len(results) + len(jobs(0.002))
    assert "1.00 of ours" in lines[1]


def test_other_results_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    run, _ = CONTESTANTS["kg_reasoner"]
    monkeypatch.setitem(CONTESTANTS, "one by one", (lambda job: (0.0, (1, 1)), lambda: True))
    assert run(jobs(0.002)[0]) is not None
    with pytest.raises(AssertionError, match=r"one by one has \(1, 1\) for x \* x \+ 1"):
        list(measured(jobs(0.002)[:1], runs=1))


def test_numbers_that_overflow_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Soufflé with numbers of 32 bits has no part in jobs with greater ones."""
    started: list[str] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        started.append(command[1])
        return subprocess.CompletedProcess(command, 0, stdout="Version: 2.5\nWord size: 32 bits\n")

    monkeypatch.setattr(subprocess, "run", run)
    souffle, _ = CONTESTANTS["souffle, with reading"]
    wide = jobs(1.0)[0]
    assert wide.is_wide and not jobs(0.1)[0].is_wide
    assert souffle(wide) is None
    assert started == ["--version"]


def test_the_table_compares_with_ours() -> None:
    lines = list(table(iter([Result("a", "kg_reasoner", 2.0, (3, 6)), Result("a", "other", 1.0, (3, 6))])))
    assert lines[0] == "a: 3 results"
    assert lines[2].split() == ["other", "1.000", "s", "0.50", "of", "ours"]
