"""The order of strings, IRIs and blank nodes, found in the dictionary's bytes."""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.storage.kernels.queries.sorting import SEGMENT
from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["ranks_of_values"]

SEGMENTS: Final = 1 << 10
"""The maximal number of segments that wait to be sorted."""

AT_ONCE: Final = 1 << 20
"""The number of terms that are looked at between two checks of the limits."""


def ranks_of_values(dictionary: Dictionary, ids: Ids) -> Numbers | None:
    """Return the ranks of terms by their values: the text inside their quotation marks or brackets, or the label of a blank node.

    Args:
        dictionary: The dictionary.
        ids: The terms, of which literals are strings without languages; shape (n,).

    Returns:
        The ranks, which are equal for equal values; None if bytes do not tell them, because a value has escapes.
    """
    count = len(ids)
    given, order, same = allocate(count, np.int32), allocate(count, np.int32), allocate(count, np.uint8, 0)
    keys, stack = allocate(count, np.int64), allocate(SEGMENT * SEGMENTS, np.int64)
    given[:count], order[:count], stack[:SEGMENT] = ids, np.arange(count), (0, count, 0)
    addresses = [address(array) for array in (given, order, keys, same, stack)]
    waiting = int(count > 1)
    while waiting > 0:
        current_watch().check()
        waiting = dictionary.read_with(native.sort_values, *addresses, waiting, SEGMENTS, AT_ONCE)
    if waiting < 0:
        return None
    found = np.empty(count, np.int64)
    found[order[:count]] = np.cumsum(1 - same[:count].astype(np.int64))
    return found
