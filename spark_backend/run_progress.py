"""Progress reports of a run: readable lines on a terminal, lines of JSON elsewhere."""

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
    """A completed action: its stage, stratum and iteration, the number of new facts, and its duration in seconds."""

    stage: str
    """``look`` (one pass over the input), ``masks`` (features of all terms), ``iteration``, ``in process`` (the last iteration of a
    stratum, by the driver), ``equality``, ``schema``, ``doubtful`` (an iteration of overdeletion)."""
    stratum: int | None = None
    iteration: int | None = None
    facts: int = 0
    seconds: float = 0.0

    def json(self) -> str:
        """Return one line of JSON, without fields that do not apply.

        >>> Report("iteration", stratum=0, iteration=2, facts=17, seconds=1.2345).json()
        '{"stage": "iteration", "stratum": 0, "iteration": 2, "facts": 17, "seconds": 1.234}'
        """
        values = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(values | {"seconds": round(self.seconds, 3)})

    def text(self) -> str:
        """Return one readable line.

        >>> Report("iteration", stratum=0, iteration=2, facts=17000, seconds=1.2345).text()
        'stratum 0, iteration 2: 17,000 new facts, 1.2 s'
        >>> Report("in process", stratum=0, iteration=3, facts=17).text()
        'stratum 0, iteration 3 in process: 17 new facts, 0.0 s'
        """
        what = self.stage
        if self.stratum is not None:
            what = f"stratum {self.stratum}, iteration {self.iteration}{'' if self.stage == 'iteration' else f' {self.stage}'}"
        return f"{what}: {self.facts:,} {'facts' if self.stratum is None else 'new facts'}, {self.seconds:.1f} s"


Progress: TypeAlias = Callable[[Report], None]


def log(report: Report) -> None:
    """Write a report to `LOGGER`."""
    LOGGER.info("%s", report.json())


def on_terminal(stream: TextIO | None = None) -> Progress:
    """Return a function that shows reports on a stream (standard error), if it is a terminal."""

    def show(report: Report) -> None:
        target = sys.stderr if stream is None else stream
        if target.isatty():
            print(report.text(), file=target, flush=True)

    return show


def reporting(progress: Progress | None) -> Progress:
    """Return a function that logs every report, and passes it on."""

    def report(done: Report) -> None:
        log(done)
        if progress is not None:
            progress(done)

    return report
