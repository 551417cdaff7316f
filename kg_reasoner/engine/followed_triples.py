"""The schema triples that a translation of axioms follows, and those that blank nodes link."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from kg_reasoner.graphs import reachable
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.dictionary import Dictionary

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
        self._with_node: dict[int, dict[_Triple, None]] | None = None
        """The triples with each blank node, once somebody has asked."""

    def __contains__(self, ids: _Triple) -> bool:
        return _key(ids) in self._keys

    def use(self, ids: Ids) -> None:
        """Set the triples, shape (n, 3)."""
        data = np.asarray(ids, np.int32).tobytes()
        self._keys, self._with_node = {data[place : place + 12] for place in range(0, len(data), 12)}, None

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
        index = self._index()
        for ids in gone:
            for node in self._nodes_of(ids):
                index[node].pop(ids, None)
        for ids in new:
            for node in self._nodes_of(ids):
                index[node][ids] = None
        return alone, (tuple(before), tuple(self._linked(starts)[1]))

    def _linked(self, starts: set[int]) -> tuple[set[int], dict[_Triple, None]]:
        """Return some blank nodes with those that triples link them to, and these triples."""
        index = self._index()
        nodes = reachable(starts, lambda node: [other for ids in index.get(node, ()) for other in self._nodes_of(ids)])
        return nodes, {ids: None for node in nodes for ids in index.get(node, ())}

    def _index(self) -> dict[int, dict[_Triple, None]]:
        if self._with_node is None:
            index: dict[int, dict[_Triple, None]] = defaultdict(dict)
            every = np.frombuffer(b"".join(self._keys), np.int32).reshape(-1, 3)
            blank = self._dictionary.first_bytes()[every[:, ::2]] == ord("_")
            for ids in map(tuple, every[blank.any(axis=1)].tolist()):
                for node in self._nodes_of(ids):
                    index[node][ids] = None
            self._with_node = index
        return self._with_node

    def _nodes_of(self, ids: _Triple) -> list[int]:
        """Return the blank nodes of a triple."""
        return [node for node in (ids[0], ids[2]) if self._dictionary.is_blank(node)]


def _key(ids: _Triple) -> bytes:
    return np.array(ids, np.int32).tobytes()
