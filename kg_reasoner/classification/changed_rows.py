"""What has changed between two readings of a table to which rows are appended; deletion keeps the order of the others."""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.storage.arrays import Ids

__all__ = ["changed_rows"]

_CHUNK: Final = 1 << 16


def changed_rows(old: Ids, new: Ids, most: int = 1000) -> Ids | None:
    """Return the rows that only one of two tables has; None if that is not certain, or there are more than `most`.

    >>> old, new = np.array([[1, 2], [3, 4], [5, 6]], np.int32), np.array([[1, 2], [5, 6], [7, 8]], np.int32)
    >>> changed_rows(old, new).tolist()
    [[3, 4], [7, 8]]
    >>> changed_rows(old, new[:0], most=2) is None
    True
    """
    deleted: list[int] = []
    place = 0  # of the next row in the new table
    row = 0
    while row < len(old):
        end = min(row + _CHUNK, len(old))
        size = min(end - row, len(new) - place)
        differs = (old[row : row + size] != new[place : place + size]).any(axis=1)
        equal = int(np.argmax(differs)) if differs.any() else size
        row, place = row + equal, place + equal
        if row < len(old) and (equal < size or place == len(new)):
            deleted.append(row)
            row += 1
            if len(deleted) > most:
                return None
    if len(new) - place + len(deleted) > most:
        return None
    return np.concatenate([old[deleted], new[place:]])
