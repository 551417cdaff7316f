"""Reductions for `ZSet.aggregate`: one number for each group of rows. A row of weight n counts n times."""

from __future__ import annotations

import numpy as np

from kg_reasoner.dbsp.sorted_columns import Columns, Integers, magnitude, products, sums
from kg_reasoner.dbsp.zset import Reduction


def count(values: Columns, weights: Integers, starts: Integers) -> Integers:
    """Return the number of rows of each group.

    Args:
        values: The columns of the rows, sorted by group.
        weights: Their weights.
        starts: The place at which each group begins.

    Returns:
        One number for each group.
    """
    return sums(weights, starts)


def total(column: int = 0) -> Reduction:
    """Return a reduction that sums a column; column numbers begin after the group's columns.

    Args:
        column: The number of the column.

    Returns:
        The reduction.
    """

    def added(values: Columns, weights: Integers, starts: Integers) -> Integers:
        most = magnitude(values[column]) * magnitude(weights)
        return sums(products(values[column], weights, most), starts)

    return added


def least(column: int = 0) -> Reduction:
    """Return a reduction to the minimum of a column.

    Args:
        column: The number of the column, as for `total`.

    Returns:
        The reduction.
    """
    return lambda values, weights, starts: np.minimum.reduceat(values[column], starts)


def greatest(column: int = 0) -> Reduction:
    """Return a reduction to the maximum of a column.

    Args:
        column: The number of the column, as for `total`.

    Returns:
        The reduction.
    """
    return lambda values, weights, starts: np.maximum.reduceat(values[column], starts)
