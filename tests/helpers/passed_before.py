"""Tests that a run before this one has passed are not run again where they would do the same: `.ci/run` runs the README's command,
and then all tests with more effort. `KG_REASONER_PASSED` names the file through which the runs tell each other.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest
from hypothesis import is_hypothesis_test

from tests.helpers.effort import EFFORT

PASSED: Final = os.environ.get("KG_REASONER_PASSED")
"""The file with the names of the tests that passed, one in each line: written with the effort `quick`, read with more."""

_DEPENDS: Final = re.compile(r"\b(by_effort|EFFORT|TRANSACTIONS|DOCUMENTS|PHASES)\b")
"""What of `tests.helpers.effort` depends on the effort, apart from which tests are long and the examples that hypothesis tries."""


class PassedBefore:
    """A plugin of pytest that writes the file, or leaves out what is in it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if EFFORT == "quick" and report.when == "call" and report.passed:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(report.nodeid + "\n")

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if EFFORT == "quick" or not self._path.exists():
            return
        passed = set(self._path.read_text(encoding="utf-8").splitlines())
        left_out = [item for item in items if item.nodeid in passed and not _does_more(item)]
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


def _does_more(item: pytest.Item) -> bool:
    """Return whether a test does more with more effort."""
    if not isinstance(item, pytest.Function):
        return False
    return is_hypothesis_test(item.obj) or _depends_on_effort(item.module.__name__)


@cache
def _depends_on_effort(name: str) -> bool:
    """Return whether a module of tests, or one that it imports from `tests`, looks at the effort."""
    module = sys.modules[name]
    if module.__file__ is None or name == "tests.helpers.effort":
        return False
    if _DEPENDS.search(Path(module.__file__).read_text(encoding="utf-8")):
        return True
    imported = {
        value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) for value in vars(module).values()
    }
    return any(
        _depends_on_effort(other)
        for other in imported - {name}
        if isinstance(other, str) and other.startswith("tests.") and other in sys.modules
    )
