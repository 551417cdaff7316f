"""A table that grows by iterations: what was there before the last one, and what that one has added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from kg_reasoner.spark_backend.columns import union

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Growing", "Part"]

Part: TypeAlias = Literal["all", "old", "delta"]
"""Which rows: those before the last iteration, those that it added, or both."""


class Growing:
    """Rows in the order of the iterations that added them. No row is added twice."""

    def __init__(self, base: DataFrame | None = None) -> None:
        self._old = [] if base is None else [base]
        self._delta: DataFrame | None = None
        self.delta_count = 0

    def advance(self, added: DataFrame | None, count: int) -> None:
        """The next iteration added these rows, or none."""
        if self._delta is not None:
            self._old.append(self._delta)
        self._delta = added if count else None
        self.delta_count = count

    def rows(self, part: Part) -> DataFrame | None:
        """The rows of a part; None if there are none."""
        delta = [] if self._delta is None else [self._delta]
        return union(delta if part == "delta" else self._old if part == "old" else self._old + delta)

    def has(self, part: Part) -> bool:
        """Whether there may be rows in a part."""
        return self._delta is not None if part == "delta" else bool(self._old) or (part == "all" and self._delta is not None)
