"""A table that grows by iterations: the old rows, and the delta of the last iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from kg_reasoner.spark_backend.io.columns import union
from kg_reasoner.spark_backend.io.workspace import StoredStep, rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Growing", "Part"]

Part: TypeAlias = Literal["all", "old", "delta"]
"""Which rows: those before the last iteration, those that it added, or both."""


MOST_STEPS: Final = 12
"""The number of steps that are read one by one before they are stored as one."""


class Growing:
    """Rows in the order of the iterations that added them, without duplicates.

    Args:
        base: The rows before the first iteration.
        compacted: Stores the rows of several steps as one.
    """

    def __init__(
        self, base: DataFrame | None = None, compacted: Callable[[Sequence[StoredStep]], StoredStep] | None = None
    ) -> None:
        self._base = base
        self._compacted = compacted
        self._steps: list[StoredStep] = []
        self._has_delta = False

    def advance(self, added: StoredStep | None) -> None:
        """Add the rows of the next iteration, or None."""
        self._has_delta = added is not None and added.count > 0
        if added is not None and added.count:
            if self._compacted is not None and len(self._steps) >= MOST_STEPS:
                self._steps = [self._compacted(self._steps)]
            self._steps.append(added)

    @property
    def count(self) -> int:
        """The number of rows added by iterations."""
        return sum(step.count for step in self._steps)

    @property
    def delta_count(self) -> int:
        """The number of rows added by the last iteration."""
        return self._steps[-1].count if self._has_delta else 0

    def rows(self, part: Part) -> DataFrame | None:
        """Return the rows of a part, or None."""
        if part == "delta":
            return self._steps[-1].rows if self._has_delta else None
        steps = self._steps[:-1] if part == "old" and self._has_delta else self._steps
        frames = [] if self._base is None else [self._base]
        return union([*frames, rows_of(steps)] if steps else frames)

    def has(self, part: Part) -> bool:
        """Return whether a part may have rows."""
        if part == "delta":
            return self._has_delta
        return self._base is not None or len(self._steps) > (part == "old" and self._has_delta)
