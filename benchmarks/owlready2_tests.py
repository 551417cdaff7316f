"""owlready2's own tests of its reasoners, with ours in place: ``python -m benchmarks.owlready2_tests test/regtest.py``.

The file is in owlready2's source distribution. The tests that call a reasoner run once with ours and, unless ``--alone``, once
with owlready2's, each in a process of its own. A test is *beyond the profile* if it did not pass with ours, and our answer said so:
it was not complete, and warned of the axioms; the first is shown. A test that does not pass though the answer was complete has
*failed*. The seconds are CPU time of the calls and of Java.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import json
import os
import re
import subprocess
import sys
import unittest
import warnings
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from benchmarks.measuring.commands import SETTINGS
from benchmarks.owlready2 import cpu_seconds

__all__ = ["main"]

_CALLS = ("sync_reasoner", "sync_reasoner_hermit", "sync_reasoner_pellet")


@click.command(context_settings=SETTINGS, help=__doc__)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--alone", is_flag=True, help="Leave owlready2's reasoners out.")
@click.option("--test", "pattern", default="", help="Run the tests whose names contain this.")
@click.option("--ruleset", default="owl2rl", show_default=True, help="The rule set of our reasoner.")
@click.option("--one", hidden=True, help="Run one test in this process.")
@click.option("--theirs", is_flag=True, hidden=True, help="Run it with owlready2's reasoners.")
def main(file: str, alone: bool, pattern: str, ruleset: str, one: str | None, theirs: bool) -> None:
    if one is not None:
        click.echo(json.dumps(run_test(Path(file), one, Calls(None if theirs else ruleset))))
        return
    file = str(Path(file).resolve())
    counts: Counter[str] = Counter()
    sums = [0.0, 0.0]
    for name in tests_of(Path(file)):
        if pattern not in name:
            continue
        ours = in_own_process(file, name, "--ruleset", ruleset)
        counts[ours["outcome"]] += 1
        line = f"{name:48}{ours['outcome']:22}{ours['seconds']:7.2f} s"
        sums[0] += ours["seconds"]
        if not alone:
            other = in_own_process(file, name, "--theirs")
            sums[1] += other["seconds"]
            line += f"   owlready2's: {other['outcome']:8}{other['seconds']:7.2f} s"
        click.echo(line + "".join(f"\n    {reason}" for reason in ours["reasons"]))
    click.echo(", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()), nl=False)
    click.echo(f"; {sums[0]:.1f} s" + ("" if alone else f", owlready2's {sums[1]:.1f} s"))
    sys.exit(1 if counts["failed"] else 0)


def tests_of(file: Path) -> list[str]:
    """Return the names of the tests whose code names a reasoner."""
    module = loaded(file)
    found = []
    for case in [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, unittest.TestCase)]:
        for name, function in inspect.getmembers(case, inspect.isfunction):
            if name.startswith("test") and re.search(r"sync_reasoner\w*\(|sync_reasoner = ", inspect.getsource(function)):
                found.append(f"{case.__name__}.{name}")
    return found


def in_own_process(file: str, name: str, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.owlready2_tests", file, "--one", name, *options]
    result = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    lines = [line for line in result.stdout.splitlines() if line.startswith('{"outcome"')]
    if result.returncode or not lines:
        return {"outcome": "failed", "seconds": 0.0, "reasons": result.stderr.splitlines()[-3:]}
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def run_test(file: Path, name: str, calls: Calls) -> dict[str, Any]:
    """Run one test in this process; return its outcome, the CPU seconds of its calls, and why it did not pass."""
    module = loaded(file)
    for each in _CALLS:
        setattr(module, each, calls.replacement(each))
    case, method = name.split(".")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = unittest.TestResult()
        getattr(module, case)(method).run(result)
    wrong = result.failures + result.errors
    outcome = "passed" if not wrong else "beyond the profile" if calls.warnings else "failed"
    reasons = calls.warnings[:1] or [line.strip() for _, text in wrong for line in text.splitlines()[-3:]]
    return {"outcome": outcome, "seconds": calls.seconds, "reasons": reasons if wrong else []}


class Calls:
    """What the calls of a reasoner in a test took, and why its answers were not complete.

    Args:
        ruleset: The rule set of our reasoner; None for owlready2's reasoners.
    """

    def __init__(self, ruleset: str | None) -> None:
        self.ruleset = ruleset
        self.seconds = 0.0
        self.warnings: list[str] = []

    def replacement(self, name: str) -> Any:
        """Return a function that calls and measures the reasoner of this name."""

        def call(*arguments: Any, **options: Any) -> None:
            start = cpu_seconds()
            try:
                self.run(name, *arguments, **options)
            finally:
                self.seconds += cpu_seconds() - start

        return call

    def run(self, name: str, *arguments: Any, **options: Any) -> None:
        if self.ruleset is None:
            import owlready2

            getattr(owlready2, name)(*arguments, **options)
            return
        from kg_reasoner.owlready2 import sync_reasoner

        found = sync_reasoner(*arguments, **options, ruleset=self.ruleset)
        if not found.complete:
            self.warnings += map(str, found.warnings)


def loaded(file: Path) -> ModuleType:
    """Import the file of tests from its folder, so that it finds its ontologies."""
    os.chdir(file.resolve().parent)
    spec = importlib.util.spec_from_file_location("regtest", file.name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["regtest"] = module
    with contextlib.redirect_stdout(io.StringIO()):
        spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
