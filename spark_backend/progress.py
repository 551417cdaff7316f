"""What a run is doing: on a terminal for people, as lines of JSON for machines."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TextIO, TypeAlias

__all__ = ["LOGGER", "Progress", "Report", "log", "on_terminal", "reporting"]

LOGGER = logging.getLogger("kg_reasoner.spark")
"""Gets one line of JSON for each report, at level INFO."""


@dataclass(frozen=True, slots=True)
class Report:
    """Something that is done: what, in which stratum and iteration, how many new facts, how many seconds it took."""

    stage: str
    """``look`` (one pass over the input), ``masks`` (features of all terms), ``iteration``, ``equality``, ``schema``."""
    stratum: int | None = None
    iteration: int | None = None
    facts: int = 0
    seconds: float = 0.0

    def json(self) -> str:
        """One line, without what does not apply.

        >>> Report("iteration", stratum=0, iteration=2, facts=17, seconds=1.2345).json()
        '{"stage": "iteration", "stratum": 0, "iteration": 2, "facts": 17, "seconds": 1.234}'
        """
        values = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(values | {"seconds": round(self.seconds, 3)})

    def text(self) -> str:
        """One line for people.

        >>> Report("iteration", stratum=0, iteration=2, facts=17000, seconds=1.2345).text()
        'stratum 0, iteration 2: 17,000 new facts, 1.2 s'
        """
        what = self.stage if self.stratum is None else f"stratum {self.stratum}, iteration {self.iteration}"
        return f"{what}: {self.facts:,} {'new facts' if self.stage == 'iteration' else 'facts'}, {self.seconds:.1f} s"


Progress: TypeAlias = Callable[[Report], None]


def log(report: Report) -> None:
    """Write a report to `LOGGER`."""
    LOGGER.info("%s", report.json())


def on_terminal(stream: TextIO | None = None) -> Progress:
    """Shows reports to people, if the stream (standard error) is a terminal."""

    def show(report: Report) -> None:
        target = sys.stderr if stream is None else stream
        if target.isatty():
            print(report.text(), file=target, flush=True)

    return show


def reporting(progress: Progress | None) -> Progress:
    """Logs every report, and hands it on."""

    def report(done: Report) -> None:
        log(done)
        if progress is not None:
            progress(done)

    return report
