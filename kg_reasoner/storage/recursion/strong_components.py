"""Strongly connected components of graphs of numbered nodes, with the kernels."""

from __future__ import annotations

import numpy as np

from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate

__all__ = ["StrongComponents"]


class StrongComponents:
    """The strongly connected components of a graph.

    >>> found = StrongComponents(np.array([[0, 1], [1, 0], [1, 2]]), 3)
    >>> found.least().tolist(), found.levels().tolist()
    ([0, 0, 2], [0, 0, 1])

    Args:
        edges: The edges as numbers of nodes, shape (n, 2).
        nodes: The number of nodes, which are at least one.
    """

    def __init__(self, edges: Numbers, nodes: int) -> None:
        self._nodes = nodes
        self._starts, self._targets = allocate(nodes + 1, np.int64), allocate(max(len(edges), 1), np.int32)
        self._starts[: nodes + 1] = np.concatenate([[0], np.cumsum(np.bincount(edges[:, 0], minlength=nodes))])
        self._targets[: len(edges)] = edges[np.argsort(edges[:, 0], kind="stable"), 1]
        seen, self._labels, places = allocate(nodes, np.int32, 0), allocate(nodes, np.int32, -1), allocate(nodes, np.int64)
        lows, stack, path, self._order = (allocate(nodes, np.int32) for _ in range(4))
        places[:nodes] = self._starts[:nodes]
        work = seen, lows, stack, path, places, self._labels, self._order
        self._count = native.find_components(address(self._starts), address(self._targets), nodes, *map(address, work))

    def least(self) -> Numbers:
        """Return the least node of the component of each node."""
        found = np.full(self._count, self._nodes, np.int64)
        np.minimum.at(found, self._label_of_each(), np.arange(self._nodes))
        return found[self._label_of_each()]

    def levels(self) -> Numbers:
        """Return how many components are before that of each node, on the longest way to it."""
        levels = allocate(self._count, np.int64, 0)
        graph = address(self._starts), address(self._targets), self._nodes
        native.find_levels(*graph, address(self._labels), address(self._order), address(levels))
        return np.asarray(levels)[self._label_of_each()]

    def _label_of_each(self) -> Ids:
        return np.asarray(self._labels[: self._nodes])
