"""Transitive closures from some nodes, with the kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.graphs.reaching import NodeSearch
from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable

__all__ = ["reached"]

ROOM: Final = 1 << 12
"""The least number of pairs for which a call of the kernel has room."""


def reached(
    sources: Ids, targets: Ids, origins: Ids, check: Callable[[int, int], None], enough: int | None = None
) -> tuple[Numbers, Ids]:
    """Return the nodes that can be reached in one step or more.

    Args:
        sources: The start of each step.
        targets: Its end.
        origins: Nodes from which to start, which may be any numbers.
        check: Called with the number of pairs so far, and their size in bytes; raises an error if that exceeds a limit.
        enough: A sufficient number of pairs; by default, all.

    Returns:
        For each pair, the position of the origin among `origins`, in order, and the node.

    >>> steps = np.array([[1, 2], [2, 3], [3, 2]], np.int32)
    >>> [each.tolist() for each in reached(steps[:, 0], steps[:, 1], np.array([1, 3, 7], np.int32), lambda count, size: None)]
    [[0, 0, 1, 1], [2, 3, 2, 3]]
    """
    nodes, numbered = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    numbered = numbered.reshape(-1)
    steps, count = len(sources), len(nodes)
    places = np.searchsorted(nodes, origins)
    known = np.flatnonzero((places < count) & (nodes[np.minimum(places, max(count - 1, 0))] == origins)) if count else places[:0]
    if len(known) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int32)
    order = np.argsort(numbered[:steps], kind="stable")
    starts = allocate(count + 1, np.int64)
    starts[: count + 1] = np.searchsorted(numbered[:steps][order], np.arange(count + 1))
    ends, given = allocate(steps, np.int32), allocate(len(known), np.int32)
    ends[:steps], given[: len(known)] = numbered[steps:][order], places[known]
    search = StructTable(NodeSearch, capacity=1).add(
        starts=starts,
        targets=ends,
        origins=given,
        origin_count=len(known),
        stamps=allocate(count, np.int32, 0),
        queue=allocate(count, np.int32),
    )
    room, total = max(ROOM, count), 0
    origin_numbers, found = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    while search.done < len(known) and (enough is None or total < enough):
        out = allocate(2 * room, np.int32)
        search.publish(out=out, room=room)
        written = native.reach(search.address)
        total += written
        check(total, 12 * total)
        pairs = np.asarray(out[: 2 * written]).reshape(-1, 2)
        origin_numbers.append(known[pairs[:, 0]])
        found.append(nodes[pairs[:, 1]].astype(np.int32))
        room = max(room, 4 * count)
    return np.concatenate(origin_numbers), np.concatenate(found)
