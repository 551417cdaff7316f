"""Which tests run with which effort, and that no deadline measures the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from .effort import EFFORTS

ROOT = Path(__file__).resolve().parents[1]
LONG = "test_maintenance.py::test_the_same_in_checked_mode"
SAMPLED = tuple(f"test_maintenance.py::test_random_transactions[usual-{kind}]" for kind in ("positive", "negation"))
"""The first case of a test, which runs always, and the second one, which is long."""


def collected(*options: str, effort: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "KG_REASONER_EFFORT"}
    environment |= {} if effort is None else {"KG_REASONER_EFFORT": effort}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        *options,
        "tests/test_maintenance.py",
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


def test_an_unknown_effort() -> None:
    command = [sys.executable, "-c", "import tests.effort"]
    environment = os.environ | {"KG_REASONER_EFFORT": "much"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert f"KG_REASONER_EFFORT is 'much', and not one of {', '.join(EFFORTS)}" in run.stderr


def test_no_deadline_measures_the_machine() -> None:
    assert settings().deadline is None
