"""The schema triples that a translation of axioms follows, and those that blank nodes link."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from kg_reasoner.graphs import reachable
from kg_reasoner.storage.arrays import NO_TRIPLES, Ids
from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["FollowedTriples"]

_Triple: TypeAlias = tuple[int, ...]
_Change: TypeAlias = tuple[Sequence[_Triple], Sequence[_Triple]]
"""Removed and added triples."""


class FollowedTriples:
    """Triples, as the bytes of their ids: there are many.

    Args:
        dictionary: Knows which ids are those of blank nodes.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._keys: set[bytes] = set()
        self._rows: Ids = NO_TRIPLES
        """The triples with blank nodes as they were at first, once for each of the nodes; those of a node follow each other."""
        self._nodes: Ids = NO_TRIPLES[:, 0]
        """The nodes of these, sorted."""
        self._with_node: dict[int, dict[_Triple, None]] = {}
        """The triples with each blank node that has been requested."""

    def __contains__(self, ids: _Triple) -> bool:
        return _key(ids) in self._keys

    def use(self, ids: Ids) -> None:
        """Set the triples, shape (n, 3)."""
        data = np.asarray(ids, np.int32).tobytes()
        self._keys = {data[place : place + 12] for place in range(0, len(data), 12)}
        self._rows, self._nodes, self._with_node = NO_TRIPLES, NO_TRIPLES[:, 0], {}
        blank = self._dictionary.first_bytes_of(ids[:, ::2].reshape(-1)).reshape(-1, 2) == ord("_")
        if blank.any():
            rows = np.concatenate([ids[blank[:, 0]], ids[blank[:, 1]]])
            nodes = np.concatenate([ids[blank[:, 0], 0], ids[blank[:, 1], 2]])
            order = np.argsort(nodes, kind="stable")
            self._rows, self._nodes = rows.take(order, axis=0), nodes[order]

    def change(self, gone: Iterable[_Triple], new: Iterable[_Triple]) -> tuple[_Change, _Change]:
        """Remove and add triples. Return the change without blank nodes; and for the blank nodes of the others, and those that are
        linked to them, all triples that they were in before and that they are in now.
        """
        gone, new = tuple(gone), tuple(new)
        alone = [ids for ids in gone if not self._nodes_of(ids)], [ids for ids in new if not self._nodes_of(ids)]
        starts = {node for ids in (*gone, *new) for node in self._nodes_of(ids)}
        before: dict[_Triple, None] = {}
        if starts:
            starts, before = self._linked(starts)
        self._keys.difference_update(map(_key, gone))
        self._keys.update(map(_key, new))
        if not starts:
            return alone, ((), ())
        for ids in gone:
            for node in self._nodes_of(ids):
                self._triples_with(node).pop(ids, None)
        for ids in new:
            for node in self._nodes_of(ids):
                self._triples_with(node)[ids] = None
        return alone, (tuple(before), tuple(self._linked(starts)[1]))

    def _linked(self, starts: set[int]) -> tuple[set[int], dict[_Triple, None]]:
        """Return some blank nodes with those that triples link them to, and these triples."""
        nodes = reachable(starts, lambda node: [other for ids in self._triples_with(node) for other in self._nodes_of(ids)])
        return nodes, {ids: None for node in nodes for ids in self._triples_with(node)}

    def _triples_with(self, node: int) -> dict[_Triple, None]:
        """Return the triples with a blank node."""
        found = self._with_node.get(node)
        if found is None:
            first, end = np.searchsorted(self._nodes, [node, node + 1]).tolist()
            found = self._with_node[node] = dict.fromkeys(map(tuple, self._rows[first:end].tolist()))
        return found

    def _nodes_of(self, ids: _Triple) -> list[int]:
        """Return the blank nodes of a triple."""
        return [node for node in (ids[0], ids[2]) if self._dictionary.is_blank(node)]


def _key(ids: _Triple) -> bytes:
    return np.array(ids, np.int32).tobytes()
