"""The changes between two readings of a table to which rows are appended; deletion keeps the order of the others."""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.storage.arrays import Ids

__all__ = ["changed_rows", "changes_of_rows"]

_CHUNK: Final = 1 << 16


def changed_rows(old: Ids, new: Ids, most: int = 1000) -> Ids | None:
    """Return the rows that only one of two tables has; None if that is not certain, or there are more than `most`.

    >>> old, new = np.array([[1, 2], [3, 4], [5, 6]], np.int32), np.array([[1, 2], [5, 6], [7, 8]], np.int32)
    >>> changed_rows(old, new).tolist()
    [[3, 4], [7, 8]]
    >>> changed_rows(old, new[:0], most=2) is None
    True
    """
    changes = changes_of_rows(old, new, most)
    return None if changes is None else np.concatenate(changes)


def changes_of_rows(old: Ids, new: Ids, most: int = 1000) -> tuple[Ids, Ids] | None:
    """Return the rows that only the old one of two tables has, and those that only the new one has; see `changed_rows`."""
    deleted: list[int] = []
    place = 0  # of the next row in the new table
    row = 0
    while row < len(old):
        equal = _equal_rows(old[row : row + _CHUNK], new[place : place + _CHUNK])
        row, place = row + equal, place + equal
        if row < len(old) and equal < _CHUNK:
            deleted.append(row)
            row += 1
            if len(deleted) > most:
                return None
    if len(new) - place + len(deleted) > most:
        return None
    return old[deleted], new[place:]


def _equal_rows(old: Ids, new: Ids) -> int:
    """Return the number of equal rows at the beginning of two tables."""
    size = min(len(old), len(new))
    if np.array_equal(old[:size], new[:size]):
        return size
    return int(np.argmax(old[:size] != new[:size])) // old.shape[1]
