"""Sorted tables in columns: int64 arrays of equal length, whose rows are sorted lexicographically."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.errors import CapacityError

Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]
Columns: TypeAlias = tuple[Integers, ...]
Weighted: TypeAlias = tuple[Columns, Integers]
"""Rows in any order, perhaps repeated ones, and their weights."""
Side: TypeAlias = Literal["left", "right"]

KEY_BITS = 63
"""Bits of a sort key: an int64 without its sign."""

FEW = 1024
"""The maximum number of rows that are sorted column by column: making keys of them would take longer."""

SAFE = float(1 << 62)
"""The greatest sum of magnitudes of weights whose sums are not checked one by one."""

Field: TypeAlias = "tuple[int, int]"
"""The least number of a column, and how many bits the differences from it take."""


def fields_of(columns: Sequence[Integers]) -> list[Field] | None:
    """Return the bit fields that pack the columns of a row into one number, or None if they need more than `KEY_BITS` bits."""
    fields = []
    for column in columns:
        low = int(column.min())
        fields.append((low, (int(column.max()) - low).bit_length()))
    return fields if bits_of(fields) <= KEY_BITS else None


def bits_of(fields: Sequence[Field]) -> int:
    """Return the total number of bits of the fields."""
    return sum(width for _, width in fields)


def packed(columns: Sequence[Integers], fields: Sequence[Field]) -> Integers:
    """Return one number for each row, in an order compatible with that of the rows."""
    keys = np.zeros(len(columns[0]), np.int64)
    for column, (low, width) in zip(columns, fields, strict=True):
        if width:
            keys <<= width
            keys |= column - low
    return keys


def unpacked(keys: Integers, fields: Sequence[Field]) -> Columns:
    """Return the columns of rows packed by `packed`."""
    columns, shift = [], bits_of(fields)
    for low, width in fields:
        shift -= width
        column = keys >> shift
        column &= (1 << width) - 1
        column += low
        columns.append(column)
    return tuple(columns)


def concatenated(parts: Sequence[Weighted]) -> Weighted:
    """Return the concatenation of one or more tables of equal arity."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(columns for columns, _ in parts), strict=True)
    return tuple(map(np.concatenate, columns)), np.concatenate([weights for _, weights in parts])


def consolidate(columns: Columns, weights: Integers, presorted: bool = False) -> Weighted:
    """Return the rows sorted, with the weights of equal rows added, and without rows of weight 0.

    Args:
        columns: The rows, by column.
        weights: Their weights.
        presorted: Whether the rows are a few sorted tables, one after the other; sorting them then takes linear time.

    Raises:
        CapacityError: A weight exceeds 64 bits.
    """
    if len(weights) < 2 or (len(columns) == 1 and (columns[0][1:] > columns[0][:-1]).all()):
        return without_zeros(columns, weights)
    fields = fields_of(columns) if len(weights) > FEW else None
    if fields is not None and 1 << bits_of(fields) <= len(weights) and magnitude(weights) <= SAFE:
        totals = np.zeros(1 << bits_of(fields), np.int64)
        np.add.at(totals, packed(columns, fields), weights)
        (keys,) = totals.nonzero()
        return unpacked(keys, fields), totals[keys]
    columns, weights, differs = _sorted(columns, weights, fields, presorted)
    if not differs.all():
        starts = np.concatenate([[0], differs.nonzero()[0] + 1])
        weights = sums(weights, starts)
        columns = tuple(column[starts] for column in columns)
    return without_zeros(columns, weights)


def magnitude(weights: Integers) -> float:
    """Return the sum of the magnitudes of weights, which is rounded: a bound of all sums."""
    return float(np.add.reduce(np.abs(weights, dtype=np.float64)))


def sums(weights: Integers, starts: Integers) -> Integers:
    """Return the sums of weights from each start to the next one.

    Raises:
        CapacityError: One exceeds 64 bits.
    """
    found = np.add.reduceat(weights, starts)
    if magnitude(weights) > SAFE:
        upper, lower = np.add.reduceat(weights >> 32, starts), np.add.reduceat(weights & 0xFFFFFFFF, starts)
        _expect(found, upper + (lower >> 32) == found >> 32)
    return found


def products(one: Integers, other: Integers, most: float) -> Integers:
    """Return products of weights, and of other numbers, at the same places.

    Args:
        one: Numbers.
        other: Weights.
        most: A bound of the products.

    Raises:
        CapacityError: One exceeds 64 bits.
    """
    found = one * other
    if most > SAFE:
        _expect(found, found // other == one)
    return found


def _expect(found: Integers, are_right: Booleans) -> None:
    """Check that results are right, and can be negated."""
    if not are_right.all() or (found == np.iinfo(np.int64).min).any():
        raise CapacityError("a weight of a Z-set, or a sum of weighted values, exceeds 64 bits")


def without_zeros(columns: Columns, weights: Integers) -> Weighted:
    """Return the rows with nonzero weights."""
    if weights.all():
        return columns, weights
    (kept,) = weights.nonzero()
    return tuple(column[kept] for column in columns), weights[kept]


def _sorted(
    columns: Columns, weights: Integers, fields: Sequence[Field] | None, presorted: bool
) -> tuple[Columns, Integers, Booleans]:
    """Return the rows sorted, and the places where they differ from their predecessors.

    The weights are part of the keys: NumPy sorts numbers several times faster than it works out an order.
    """
    with_weights = None if fields is None else fields_of((weights,))
    if fields is not None and with_weights is not None and bits_of(fields) + bits_of(with_weights) <= KEY_BITS:
        all_fields = [*fields, *with_weights]
        keys = packed((*columns, weights), all_fields)
        keys.sort(kind="stable" if presorted else None)
        *found, weights = unpacked(keys, all_fields)
        keys >>= bits_of(with_weights)
        return tuple(found), weights, keys[1:] != keys[:-1]
    order = np.lexsort(columns[::-1])
    columns = tuple(column[order] for column in columns)
    differs = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        differs |= column[1:] != column[:-1]
    return columns, weights[order], differs


def search(columns: Sequence[Integers], rows: Sequence[Integers], side: Side) -> Integers:
    """Return where rows belong in a sorted table: before all equal rows (`left`), or after them (`right`).

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
    """Return the result of a binary search of each value in its own range, in which the column is sorted."""
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
    """Return the rows of a sorted table between each row of `low` and the row of `high` at the same place, both inclusive, compared
    by the columns of `low`.

    Returns the places of those rows, one range after the other, and for each which of the ranges it is in.
    """
    first = search(columns, low, "left")
    if low is high and len(low) == 1 and len(columns[0]):
        column = columns[0]
        (which,) = (column[np.minimum(first, len(column) - 1)] == low[0]).nonzero()
        if not len(which):
            return which, which
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
