"""How long updates take: the typical one, the slow ones, and the slowest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from rich.table import Table

from benchmarks.contests import report

__all__ = ["MOST_MILLISECONDS", "MOST_TIMES", "Tail", "table"]

MOST_TIMES: Final = 20
"""The 99th percentile is to be at most this many medians."""

MOST_MILLISECONDS: Final = 50
"""The slowest update is to take at most this long."""


@dataclass(frozen=True)
class Tail:
    """The distribution of the CPU times of some updates, in milliseconds."""

    name: str
    count: int
    first: float
    """The very first update, which loads what only updates need and builds indexes."""
    median: float
    percent99: float
    percent999: float
    worst: float
    """The slowest of all but the first."""
    worst_number: int
    """The place of the slowest among the updates."""

    @classmethod
    def of(cls, name: str, nanoseconds: Sequence[int]) -> Tail:
        """Return the distribution of times in their order; there are at least two."""
        ordered = sorted(nanoseconds)
        percent99, percent999 = (ordered[len(ordered) * share // 1000] / 1e6 for share in (990, 999))
        worst = max(range(1, len(nanoseconds)), key=nanoseconds.__getitem__)
        slowest, middle = nanoseconds[worst] / 1e6, median(ordered) / 1e6
        return cls(name, len(ordered), nanoseconds[0] / 1e6, middle, percent99, percent999, slowest, worst)

    @property
    def times(self) -> float:
        """The 99th percentile in medians."""
        return self.percent99 / max(self.median, 1e-9)

    @property
    def is_short(self) -> bool:
        """Whether the limits of this module are kept."""
        return self.times <= MOST_TIMES and self.worst <= MOST_MILLISECONDS


def table(tails: Sequence[Tail], title: str = "CPU milliseconds of single updates") -> Table:
    """Return the distributions, one a row."""
    columns = ("", "updates", "first", "p50", "p99", "p99.9", "worst", "its place", "p99 / p50", "worst / p50")
    made = report.new_table(columns, ("",), title=title, caption="worst: of all but the first")
    for tail in tails:
        figures = (tail.first, tail.median, tail.percent99, tail.percent999, tail.worst)
        made.add_row(
            tail.name,
            f"{tail.count:,}",
            *(f"{figure:,.3f}" for figure in figures),
            f"{tail.worst_number:,}",
            f"{tail.times:.1f}",
            f"{tail.worst / max(tail.median, 1e-9):,.0f}",
            style="" if tail.is_short else "bold red",
        )
    return made
