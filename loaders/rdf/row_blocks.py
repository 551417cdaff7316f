"""Blocks of rows of ids."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kg_reasoner.storage.arrays import Ids

__all__ = ["in_blocks"]


def in_blocks(pieces: Iterator[Ids], size: int, width: int) -> Iterator[Ids]:
    """Yield the rows of some pieces in blocks of a size that does not depend on these.

    Args:
        pieces: Rows of ids.
        size: The rows of a block.
        width: The ids of a row.
    """
    waiting, count = [np.empty((0, width), np.int32)], 0
    for rows in pieces:
        waiting.append(rows)
        count += len(rows)
        if count >= size:
            joined = np.concatenate(waiting)
            for start in range(0, count - size + 1, size):
                yield joined[start : start + size]
            waiting = [joined[count - count % size :]]
            count %= size
    yield np.concatenate(waiting)
