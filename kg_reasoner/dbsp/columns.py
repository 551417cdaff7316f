"""Sorted tables in columns: int64 arrays of equal length, whose rows are sorted lexicographically."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]
Columns: TypeAlias = tuple[Integers, ...]
Side: TypeAlias = Literal["left", "right"]

KEY_BITS = 63
"""Bits of a sort key: an int64 without its sign."""


def packed(columns: Sequence[Integers]) -> Integers | None:
    """One number for each row, in the order of the rows: their columns side by side. None if they take more than `KEY_BITS`."""
    if len(columns) == 1:
        return columns[0]
    parts = []
    room = KEY_BITS
    for column in columns:
        low = int(column.min())
        width = (int(column.max()) - low).bit_length()
        room -= width
        if room < 0:
            return None
        if width:
            parts.append((column, low, width))
    if not parts:
        return np.zeros(len(columns[0]), np.int64)
    column, low, _ = parts[0]
    key = column - low if low else column.copy()
    for column, low, width in parts[1:]:
        key <<= width
        key |= column - low if low else column
    return key


def consolidate(columns: Columns, weights: Integers, presorted: bool = False) -> tuple[Columns, Integers]:
    """The rows sorted, equal ones as one with the sum of their weights, without those of weight 0.

    Args:
        presorted: whether the rows are a few sorted tables, one after the other; sorting them then takes linear time.
    """
    count = len(weights)
    if count > 1:
        key = packed(columns)
        if key is None:
            order = np.lexsort(columns[::-1])
            columns = tuple(column[order] for column in columns)
            differs = columns[0][1:] != columns[0][:-1]
            for column in columns[1:]:
                differs |= column[1:] != column[:-1]
            weights = weights[order]
        else:
            differs = key[1:] > key[:-1]
            if not differs.all():
                order = np.argsort(key, kind="stable" if presorted else None)
                key = key[order]
                columns = (key,) if len(columns) == 1 else tuple(column[order] for column in columns)
                weights = weights[order]
                differs = key[1:] != key[:-1]
        if not differs.all():
            starts = np.concatenate([[0], differs.nonzero()[0] + 1])
            weights = np.add.reduceat(weights, starts)
            columns = tuple(column[starts] for column in columns)
    if count and not weights.all():
        (kept,) = weights.nonzero()
        weights = weights[kept]
        columns = tuple(column[kept] for column in columns)
    return columns, weights


def search(columns: Sequence[Integers], rows: Sequence[Integers], side: Side) -> Integers:
    """Where rows belong in a sorted table: before all rows equal to them (`left`), or after these (`right`).

    `rows` may have fewer columns than the table; the others count for nothing.
    """
    if len(rows) == 1:
        return columns[0].searchsorted(rows[0], side)
    first, end = columns[0].searchsorted(rows[0], "left"), columns[0].searchsorted(rows[0], "right")
    last = len(rows) - 1
    for place in range(1, len(rows)):
        column, values = columns[place], rows[place]
        if place < last:
            first, end = _search_within(column, values, first, end, "left"), _search_within(column, values, first, end, "right")
        else:
            first = _search_within(column, values, first, end, side)
    return first


def _search_within(column: Integers, values: Integers, first: Integers, end: Integers, side: Side) -> Integers:
    """Binary search of each value in a range of its own, in which the column is sorted."""
    first, end = first.copy(), end.copy()
    active = np.flatnonzero(first < end)
    while len(active):
        middle = (first[active] + end[active]) >> 1
        found, sought = column[middle], values[active]
        onwards = found < sought if side == "left" else found <= sought
        first[active[onwards]] = middle[onwards] + 1
        end[active[~onwards]] = middle[~onwards]
        active = active[first[active] < end[active]]
    return first


def ranges(columns: Sequence[Integers], low: Sequence[Integers], high: Sequence[Integers]) -> tuple[Integers, Integers]:
    """The rows of a sorted table from each row of `low` to the row of `high` beside it, both included, as seen by their columns.

    Returns the places of those rows, one range after the other, and for each which of the ranges it is in.
    """
    first = search(columns, low, "left")
    if low is high and len(low) == 1 and len(columns[0]):
        column = columns[0]
        (which,) = (column[np.minimum(first, len(column) - 1)] == low[0]).nonzero()
        first = first[which]
        end = column.searchsorted(low[0][which], "right")
    else:
        end = search(columns, high, "right")
        (which,) = (first < end).nonzero()
        first, end = first[which], end[which]
    counts = end - first
    if len(counts) == 0 or counts.max() == 1:
        return first, which
    ends = counts.cumsum()
    return np.arange(ends[-1]) + (first - ends + counts).repeat(counts), which.repeat(counts)


def sums_by(which: Integers, values: Integers, count: int) -> Integers:
    """The sums of values by the number beside them, which is below `count`; the numbers ascend."""
    totals = np.zeros(count, np.int64)
    if len(which):
        starts = np.concatenate([[0], (which[1:] != which[:-1]).nonzero()[0] + 1])
        totals[which[starts]] = np.add.reduceat(values, starts)
    return totals
