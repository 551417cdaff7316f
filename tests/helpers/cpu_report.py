"""The CPU time of tests, and a report that names those with the most of it where a default run takes too much."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from typing import Final

import pytest

ENOUGH: Final = 180.0
"""The seconds of CPU, of all processes, that ``python -m pytest`` may take: CONTRIBUTING.md says so."""

NAMED: Final = 10
"""The number of tests that are named."""


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def closing_lines(total: float, seconds: Mapping[str, float]) -> Iterator[str]:
    """Yield what a run reports: nothing, unless it took too much.

    Args:
        total: The CPU time of the run.
        seconds: That of each test, with its fixtures.

    >>> list(closing_lines(100.0, {"tests/test_a.py::test_a": 90.0}))
    []
    >>> for line in closing_lines(200.0, {"tests/test_a.py::test_a": 3.0, "tests/test_b.py::test_b": 90.0}):
    ...     print(line)
    The run took 200 s of CPU, more than 180 s. These tests took most, in seconds:
      90.0 tests/test_b.py::test_b
       3.0 tests/test_a.py::test_a
    Mark what takes seconds as `long`, or reduce its examples (tests/helpers/effort.py).
    """
    if total > ENOUGH:
        yield f"The run took {total:.0f} s of CPU, more than {ENOUGH:.0f} s. These tests took most, in seconds:"
        for test, spent in Counter(seconds).most_common(NAMED):
            yield f"{spent:6.1f} {test}"
        yield "Mark what takes seconds as `long`, or reduce its examples (tests/helpers/effort.py)."


class CpuReport:
    """A plugin that measures tests, and reports at the end of a run in one process."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure a test, with its fixtures."""
        before = cpu_seconds()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] += cpu_seconds() - before

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the tests that took most."""
        for line in closing_lines(cpu_seconds(), self._seconds):
            terminalreporter.write_line(line)
