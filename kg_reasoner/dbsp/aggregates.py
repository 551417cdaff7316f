"""Reductions for `ZSet.aggregate`: a number for each group of rows. A row of weight n counts n times."""

from __future__ import annotations

import numpy as np

from kg_reasoner.dbsp.columns import Columns, Integers
from kg_reasoner.dbsp.zset import Reduction


def count(values: Columns, weights: Integers, starts: Integers) -> Integers:
    """How many rows a group has."""
    return np.add.reduceat(weights, starts)


def total(column: int = 0) -> Reduction:
    """The sum of a column; columns are counted after those of the group."""
    return lambda values, weights, starts: np.add.reduceat(values[column] * weights, starts)


def least(column: int = 0) -> Reduction:
    """The least number in a column."""
    return lambda values, weights, starts: np.minimum.reduceat(values[column], starts)


def greatest(column: int = 0) -> Reduction:
    """The greatest number in a column."""
    return lambda values, weights, starts: np.maximum.reduceat(values[column], starts)
