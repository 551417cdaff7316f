"""The types of arrays that modules exchange, and a function on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    *("NO_QUADS", "NO_TRIPLES", "Changed", "Flags", "Ids", "Numbers", "Rows", "TripleIds"),
    *("among_sorted", "in_order", "ranges", "selected_rows", "unique_ids", "unique_rows"),
]

SPARSE: Final = 16
"""The ratio of the range of ids to the number of ids to look up, above which they are looked up by bisection instead of in a table.
"""

Ids: TypeAlias = npt.NDArray[np.int32]
"""Ids of terms, in any shape."""
Rows: TypeAlias = npt.NDArray[np.int32]
"""Facts of a relation as ids, shape (n, arity)."""
TripleIds: TypeAlias = npt.NDArray[np.int32]
"""Triples as ids, shape (n, 3)."""
Numbers: TypeAlias = npt.NDArray[np.int64]
"""Row numbers, or counts."""
Flags: TypeAlias = npt.NDArray[np.bool_]
"""A truth value for each item."""
Changed: TypeAlias = npt.NDArray[np.bool_]
"""For each fact passed to an operation, whether the operation changed it."""

NO_TRIPLES: Final[TripleIds] = np.empty((0, 3), np.int32)
NO_QUADS: Final[Ids] = np.empty((0, 4), np.int32)

_LARGE: Final = 1 << 10
_KEY_BITS: Final = 64
_DENSE: Final = 8
"""The ratio of the range of a large column's ids to its length up to which they are not sorted."""
_PART: Final = 1 << 16
"""The number of rows that are selected together."""


def unique_ids(ids: Ids) -> Ids:
    """Return the different ids of a column, in order.

    ``numpy.unique(ids)`` gives the same by a hash table, which takes several times as long for columns of this size. Large columns
    in which most ids of a range occur are not sorted.

    >>> unique_ids(np.array([7, 5, 7], np.int32)).tolist()
    [5, 7]
    """
    if len(ids) >= _LARGE:
        low, span = int(ids.min()), int(ids.max()) - int(ids.min()) + 1
        if span <= _DENSE * len(ids):
            occurs = np.zeros(span, np.bool_)
            occurs[ids.astype(np.int64) - low] = True
            return (np.flatnonzero(occurs) + low).astype(ids.dtype)
    ordered = np.sort(ids)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    unique: Ids = ordered[is_new]
    return unique


def unique_rows(rows: Ids) -> Ids:
    """Return the different rows of a table, shape (n, columns), in lexicographic order.

    ``numpy.unique(rows, axis=0)`` gives the same, but compares rows by code in Python, where an interrupt becomes a TypeError.

    >>> unique_rows(np.array([[2, 1], [1, 3], [2, 1]], np.int32)).tolist()
    [[1, 3], [2, 1]]
    """
    if rows.shape[1] == 0:
        return rows[:1]
    if rows.shape[1] == 1:
        return unique_ids(rows[:, 0]).reshape(-1, 1)
    ordered = in_order(rows)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    unique: Ids = ordered[is_new]
    return unique


def in_order(rows: Ids) -> Ids:
    """Return the rows of a table, shape (n, columns), in lexicographic order.

    Many rows whose columns together have values of less than 64 bits are sorted as integers, which takes a small part of the time.

    >>> in_order(np.array([[2, 1], [1, 3], [2, 0]], np.int32)).tolist()
    [[1, 3], [2, 0], [2, 1]]
    """
    if len(rows) >= _LARGE:
        lows = [int(column.min()) for column in rows.T]
        widths = [(int(column.max()) - low).bit_length() for column, low in zip(rows.T, lows, strict=True)]
        if sum(widths) < _KEY_BITS:
            return _sorted_as_integers(rows, lows, widths)
    ordered: Ids = rows.take(np.lexsort(rows.T[::-1]), axis=0)
    return ordered


def _sorted_as_integers(rows: Ids, lows: Sequence[int], widths: Sequence[int]) -> Ids:
    keys = np.zeros(len(rows), np.int64)
    for column, low, width in zip(rows.T, lows, widths, strict=True):
        keys <<= width
        keys |= column.astype(np.int64) - low
    keys.sort()
    ordered: Ids = np.empty(rows.shape, rows.dtype)
    for column, low, width in reversed(list(zip(ordered.T, lows, widths, strict=True))):
        column[:] = (keys & ((1 << width) - 1)) + low
        keys >>= width
    return ordered


def selected_rows(rows: Rows, chosen: Flags) -> Rows:
    """Return some rows of a table.

    ``rows[chosen]`` gives the same, but takes several times as long, and as much memory for numbers as for the rows.

    >>> selected_rows(np.array([[2, 1], [1, 3], [2, 0]], np.int32), np.array([True, False, True])).tolist()
    [[2, 1], [2, 0]]
    """
    found, used = np.empty((int(np.count_nonzero(chosen)), rows.shape[1]), rows.dtype), 0
    for begin in range(0, len(rows), _PART):
        numbers = np.flatnonzero(chosen[begin : begin + _PART])
        rows[begin : begin + _PART].take(numbers, axis=0, out=found[used : used + len(numbers)], mode="clip")
        used += len(numbers)
    return found


def ranges(starts: Numbers, sizes: Numbers) -> Numbers:
    """Return the numbers in several ranges, one range after the other.

    >>> ranges(np.array([5, 1]), np.array([2, 3])).tolist()
    [5, 6, 1, 2, 3]

    Args:
        starts: The first number of each range.
        sizes: The number of numbers in each range.
    """
    ends = np.cumsum(sizes)
    numbers: Numbers = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - sizes), sizes)
    return numbers


def among_sorted(ids: Ids, members: Ids, room: int | None = None) -> Flags:
    """Return whether each of some ids is one of the members, which are sorted.

    ``numpy.isin`` gives the same, but sorts all ids, and imports the masked arrays of NumPy when it is called first.

    >>> among_sorted(np.array([3, 1, 4]), np.array([1, 3])).tolist()
    [True, True, False]

    Args:
        ids: The ids.
        members: The members.
        room: A number that all ids are below, if it is known: many ids are then looked up in a table.
    """
    if len(members) == 0:
        return np.zeros(ids.shape, np.bool_)
    if room is not None and SPARSE * len(ids) > room:
        is_member = np.zeros(room, np.bool_)
        is_member[members] = True
        return is_member[ids]
    places = members.searchsorted(ids)
    places[places == len(members)] = 0
    found: Flags = members[places] == ids
    return found


def contains(rows: Rows, sought: Rows) -> Flags:
    """Return whether each row of `sought` is among `rows`. Both have the same number of columns."""
    if len(rows) == 0 or len(sought) == 0:
        return np.zeros(len(sought), bool)
    if rows.shape[1] == 0:
        return np.ones(len(sought), bool)
    found: Flags = np.isin(_as_items(sought), _as_items(rows))
    return found


def _as_items(rows: Rows) -> npt.NDArray[np.void]:
    """Return each row as one comparable item."""
    table = np.ascontiguousarray(rows)
    if table.shape[1] == 1:
        return table[:, 0]  # type: ignore[return-value]
    if table.shape[1] == 2:
        return table.view(np.int64)[:, 0]  # type: ignore[return-value]
    return table.view([("", table.dtype)] * table.shape[1])[:, 0]
