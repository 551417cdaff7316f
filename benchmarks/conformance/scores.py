"""Execution of test cases, their scores, and a table of scores."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.conformance.cases import Case
from benchmarks.conformance.systems import System, SystemClosure, is_right
from benchmarks.contests.report import new_table

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Score", "legend", "run", "table"]


@dataclass
class Score:
    """The score of a system on some cases."""

    system: System
    seconds: float = 0.0
    """CPU seconds for all of them; a premise that several cases share is closed once."""
    right: list[Case] = field(default_factory=list)
    wrong: dict[Case, str] = field(default_factory=dict)
    """What was not right, and the error if there was one."""

    @property
    def fails(self) -> bool:
        """Whether a case that rules can decide has a wrong answer."""
        return any(case.level != "cannot" for case in self.wrong)

    def of(self, kind: tuple[str, ...]) -> str:
        """Return the numbers of right cases and of all cases of a kind."""
        right = sum(_kind(case) == kind for case in self.right)
        total = right + sum(_kind(case) == kind for case in self.wrong)
        return f"{right} / {total}" if total else "-"


def run(system: System, cases: Sequence[Case]) -> Score:
    """Run a system on the cases of the regimes that it supports."""
    score = Score(system)
    closures: dict[object, SystemClosure] = {}
    start = time.process_time()
    for case in cases:
        if case.regime not in system.regimes:
            continue
        premise = case.premise, case.regime, case.datatypes
        try:
            if premise not in closures:
                closures.clear()
                closures[premise] = system.close(case)
            right, remark = is_right(case, closures[premise]), ""
        except Exception as error:  # whatever a system raises, it has not got the case right
            right, remark = False, f": {type(error).__name__}: {error}"
        if right:
            score.right.append(case)
        else:
            score.wrong[case] = remark
    score.seconds = time.process_time() - start
    return score


def _kind(case: Case) -> tuple[str, ...]:
    return case.regime, case.kind, case.level


def legend() -> str:
    """Return the legend of the table."""
    return (
        "by the book: owl2rl-full and rdfs-full; for speed: owl2rl and rdfs. right / all cases. CPU seconds for the suite. "
        "owlrl and reasonable apply rules of their own; whether a conclusion is among their triples is found out by our matching. "
        "reasonable does not tell of inconsistencies and has no RDFS. 'extension' needs rules beyond the profile's; 'cannot' is "
        "not expected of rules."
    )


def table(suite: str, cases: Sequence[Case], scores: Sequence[Score]) -> Table:
    """A row for each kind of case, a column for each system."""
    left = ("regime", "what is asked", "level")
    made = new_table((*left, *(score.system.name for score in scores)), left, title=suite)
    for kind in sorted({_kind(case) for case in cases}):
        made.add_row(*kind, *(score.of(kind) for score in scores))
    made.add_section()
    made.add_row("CPU seconds", "", "", *(f"{score.seconds:.1f}" if score.right or score.wrong else "-" for score in scores))
    return made
