"""Which tests run with which effort, and that no deadline measures the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import settings

from tests.helpers import passed_before
from tests.helpers.effort import EFFORTS

ROOT = Path(__file__).resolve().parents[2]
LONG = "engine/test_maintenance.py::test_the_same_in_checked_mode"
RANDOM = "engine/test_maintenance.py::test_random_transactions[usual-positive]"
SAME = "project/test_architecture.py::test_packages_import_only_packages_above_them"
SAMPLED = tuple(f"engine/test_maintenance.py::test_random_transactions[usual-{kind}]" for kind in ("positive", "negation"))
"""The first case of a test, which runs always, and the second one, which is long."""


def collected(*options: str, effort: str | None, passed: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("KG_REASONER_EFFORT", "KG_REASONER_PASSED")}
    environment |= {} if effort is None else {"KG_REASONER_EFFORT": effort}
    environment |= {} if passed is None else {"KG_REASONER_PASSED": str(passed)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        *options,
        "tests/engine/test_maintenance.py",
    ]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("options", "effort", "has_long", "has_others"),
    [
        ((), None, False, True),
        pytest.param((), "quick", False, True, marks=pytest.mark.long),
        pytest.param(("-m", "long"), None, True, False, marks=pytest.mark.long),
        pytest.param((), "ci", True, True, marks=pytest.mark.long),
        pytest.param(("-m", "not long"), "full", False, True, marks=pytest.mark.long),
    ],
    ids=["default", "quick", "asked for", "ci", "left out"],
)
def test_what_takes_long_runs_where_it_is_asked_for(
    options: tuple[str, ...], effort: str | None, has_long: bool, has_others: bool
) -> None:
    run = collected(*options, effort=effort)
    assert run.returncode == 0, run.stdout + run.stderr
    assert (LONG in run.stdout) == has_long
    assert [case in run.stdout for case in SAMPLED] == [has_others, has_long]


@pytest.mark.parametrize("effort", ["quick", "ci"])
def test_what_has_passed_before_runs_again_only_if_it_does_more(tmp_path: Path, effort: str) -> None:
    (tmp_path / "passed").write_text(f"tests/{RANDOM}\ntests/{SAME}\n")
    run = collected("tests/project/test_architecture.py", effort=effort, passed=tmp_path / "passed")
    assert run.returncode == 0, run.stdout + run.stderr
    assert RANDOM in run.stdout
    assert (SAME in run.stdout) == (effort == "quick")


def test_what_passes_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passed_before, "EFFORT", "quick")
    plugin = passed_before.PassedBefore(tmp_path / "passed")
    outcomes: list[tuple[str, Literal["passed", "failed", "skipped"], Literal["setup", "call", "teardown"]]] = [
        ("right", "passed", "setup"),
        ("right", "passed", "call"),
        ("wrong", "failed", "call"),
        ("left out", "skipped", "setup"),
        ("right, too", "passed", "call"),
    ]
    for name, outcome, when in outcomes:
        plugin.pytest_runtest_logreport(pytest.TestReport(name, ("", 0, name), {}, outcome, None, when))
    assert (tmp_path / "passed").read_text() == "right\nright, too\n"


def test_an_unknown_effort() -> None:
    command = [sys.executable, "-c", "import tests.helpers.effort"]
    environment = os.environ | {"KG_REASONER_EFFORT": "much"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert f"KG_REASONER_EFFORT is 'much', and not one of {', '.join(EFFORTS)}" in run.stderr


def test_no_deadline_measures_the_machine() -> None:
    assert settings().deadline is None
