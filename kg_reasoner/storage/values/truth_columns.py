"""Truth columns: 1 for true, 0 for false, and negative numbers where there is no truth value, such as -1 for a type error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Truth", "negated", "truth_column"]

Truth: TypeAlias = npt.NDArray[np.int8]


def truth_column(values: Sequence[bool | None]) -> Truth:
    """Return a column of truth values; None is a type error."""
    return np.array([-1 if value is None else value for value in values], np.int8)


def negated(truth: Truth) -> Truth:
    """Return the negation. What has no truth value remains as it is."""
    return np.where(truth < 0, truth, 1 - truth).astype(np.int8)
