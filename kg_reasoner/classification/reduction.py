"""The transitive reduction of an order, as arrays: the nearest above each, and which are above each other.

A relation is kept as compressed rows: what is above a node is a range of one array, in order. After a change, only what is below it
is looked at again.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.data_classes import dataclass
from kg_reasoner.storage.arrays import ranges

__all__ = ["Numbers", "Small", "TransitiveReduction", "reduced"]

Numbers: TypeAlias = npt.NDArray[np.int64]
Small: TypeAlias = npt.NDArray[np.int32]
_Flags: TypeAlias = npt.NDArray[np.bool_]

_STEPS: Final = 1 << 20
"""The number of nodes, two steps above given ones, that are processed together."""

_MARKS: Final = 1 << 22
"""The bytes of a table of marks."""

_PART: Final = 1 << 16
"""The number of pairs that are converted together."""

_MANY: Final = 10_000
"""The number of changes after which everything is computed again."""


@dataclass(frozen=True, eq=False)
class TransitiveReduction:
    """A transitive relation and its reduction.

    Attributes:
        starts: Where the nodes above each begin in `high`; the last item is the length of that.
        high: The nodes above each, in order, without itself.
        first: For each node the first of the nodes that are above each other like it.
        nearest: The pairs, shape (m, 2), of such first nodes of which one is above the other and nothing is between them.
    """

    starts: Numbers
    high: Small
    first: Numbers
    nearest: Numbers

    @property
    def count(self) -> int:
        """The number of nodes."""
        return len(self.first)

    @cached_property
    def sizes(self) -> Numbers:
        """The number of nodes above each node."""
        return np.diff(self.starts)

    def pairs(self) -> Small:
        """Return the relation, shape (n, 2)."""
        return np.stack([np.repeat(np.arange(self.count, dtype=np.int32), self.sizes), self.high], axis=1)

    def pairs_with(self, nodes: Numbers) -> Numbers:
        """Return the pairs, shape (n, 2), with one of some nodes."""
        if not len(nodes):
            return np.empty((0, 2), np.int64)
        sought = np.zeros(self.count, bool)
        sought[nodes] = True
        above = np.stack([np.repeat(nodes, self.sizes[nodes]), self.high[ranges(self.starts[nodes], self.sizes[nodes])]], axis=1)
        places = np.flatnonzero(sought[self.high])
        below = np.stack([np.searchsorted(self.starts, places, side="right") - 1, self.high[places]], axis=1)
        return np.concatenate([above, below]).astype(np.int64)

    def after(self, gone: Numbers, new: Numbers) -> TransitiveReduction:
        """Return the reduction of the relation after a change.

        Args:
            gone: Pairs that no longer hold, shape (n, 2).
            new: Pairs that hold now.

        Returns:
            The new reduction.

        >>> found = reduced(4, np.array([[0, 2], [1, 2]])).after(np.array([[0, 2]]), np.array([[0, 1], [0, 2]]))
        >>> found.nearest.tolist()
        [[1, 2], [0, 1]]
        """
        removed, added = (np.unique(pairs[:, 0] * self.count + pairs[:, 1]) for pairs in (gone, new))
        removed, added = np.setdiff1d(removed, added), np.setdiff1d(added, removed)
        places, held = self._places(removed)
        removed, places = removed[held], places[held]
        high, starts = np.delete(self.high, places), _shifted(self.starts, removed // max(self.count, 1), -1)
        between = TransitiveReduction(starts, high, self.first, self.nearest)
        places, held = between._places(added)
        added, places = added[~held], places[~held]
        high = np.insert(high, places, (added % max(self.count, 1)).astype(np.int32))
        found = TransitiveReduction(_shifted(starts, added // max(self.count, 1), 1), high, self.first, self.nearest)
        if len(self._mutual(removed)) or len(found._mutual(added)):
            return _complete(found.starts, found.high)
        return found._reduced_below(np.union1d(removed, added) // max(self.count, 1))

    def _reduced_below(self, changed: Numbers) -> TransitiveReduction:
        """Return this relation with its own reduction, given the former ones and the nodes above which something has changed."""
        below = np.zeros(self.count, bool)
        below[changed] = True
        below[np.searchsorted(self.starts, np.flatnonzero(below[self.high]), side="right") - 1] = True
        nodes = np.flatnonzero(below & (self.first == np.arange(self.count)))
        kept = self.nearest[~below[self.nearest[:, 0]]]
        return TransitiveReduction(self.starts, self.high, self.first, np.concatenate([kept, self._nearest(nodes)]))

    def _places(self, keys: Numbers) -> tuple[Numbers, _Flags]:
        """Return where pairs, as ``node * count + upper``, are in `high` or would be, and which are there."""
        places = np.empty(len(keys), np.int64)
        held = np.zeros(len(keys), bool)
        for number, key in enumerate(keys.tolist()):
            node, upper = divmod(key, self.count)
            start, end = int(self.starts[node]), int(self.starts[node + 1])
            place = start + int(np.searchsorted(self.high[start:end], upper))
            places[number], held[number] = place, place < end and self.high[place] == upper
        return places, held

    def _mutual(self, keys: Numbers) -> Numbers:
        """Return those of some pairs of the relation that also hold the other way round."""
        low, high = np.divmod(keys, max(self.count, 1))
        like = self.sizes[low] == self.sizes[high]  # what is above another one has less above it
        low, high = low[like], high[like]
        return keys[like][self._places(high * self.count + low)[1]]

    def _firsts(self) -> Numbers:
        """Return `first`."""
        first = np.arange(self.count, dtype=np.int64)
        nodes = np.flatnonzero(self.sizes)
        for begin in range(0, len(nodes), _PART):
            part = nodes[begin : begin + _PART]
            sizes = self.sizes[part]
            for some in np.array_split(part, 1 + int(sizes.sum()) // _PART):
                low = np.repeat(some, self.sizes[some])
                high = self.high[ranges(self.starts[some], self.sizes[some])].astype(np.int64)
                like = self.sizes[low] == self.sizes[high]
                low, high = np.divmod(self._mutual(low[like] * self.count + high[like]), self.count)
                np.minimum.at(first, low, high)
        return first

    def _nearest(self, nodes: Numbers) -> Numbers:
        """Return the pairs of some of the first nodes and those above them that are not made of two others."""
        is_first = self.first == np.arange(self.count)
        room = max(1, _MARKS // max(self.count, 1))
        waiting = [nodes[begin : begin + room] for begin in range(0, len(nodes), room)]
        waiting.reverse()
        found = [np.empty((0, 2), np.int64)]
        while waiting:
            part = waiting.pop()
            rows = np.repeat(np.arange(len(part)), self.sizes[part])
            upper = self.high[ranges(self.starts[part], self.sizes[part])]
            strict = is_first[upper]
            rows, upper = rows[strict], upper[strict]
            sizes = self.sizes[upper]
            if sizes.sum() > _STEPS and len(part) > 1:
                waiting += [part[len(part) // 2 :], part[: len(part) // 2]]
                continue
            far = np.zeros((len(part), self.count), bool)
            far[np.repeat(rows, sizes), self.high[ranges(self.starts[upper], sizes)]] = True
            near = ~far[rows, upper]
            found.append(np.stack([part[rows[near]], upper[near]], axis=1))
        return np.concatenate(found)


def reduced(
    count: int, pairs: npt.NDArray[Any], before: TransitiveReduction | None = None, nodes: Small | None = None
) -> TransitiveReduction:
    """Return the transitive reduction of a transitive relation.

    Args:
        count: The number of nodes, which are 0 to `count` - 1.
        pairs: The relation, shape (n, 2), transitively closed: a node and one above it.
        before: A former relation between the same nodes and its reduction. Only what is below a change is looked at again.
        nodes: The nodes that the numbers in the pairs stand for; -1: none, and such pairs are left out. By default themselves.

    >>> found = reduced(4, np.array([[0, 1], [1, 0], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]))
    >>> found.first.tolist(), found.nearest.tolist()
    ([0, 0, 2, 3], [[0, 2], [2, 3]])
    >>> reduced(4, np.array([[0, 1], [1, 0], [0, 2], [1, 2]]), found).nearest.tolist()
    [[0, 2]]
    """
    keys = _keys(count, pairs, nodes)
    keys.sort()
    if len(keys) > 1 and (same := keys[1:] == keys[:-1]).any():
        keys = keys[np.concatenate([[True], ~same])]
    if before is not None:
        known = before.pairs().astype(np.int64)
        differing = np.setxor1d(keys, known[:, 0] * count + known[:, 1], assume_unique=True)
        differing = differing[differing // max(count, 1) != differing % max(count, 1)]
        changed = np.stack(np.divmod(differing, max(count, 1)), axis=1)
        if len(changed) < _MANY:
            holds = np.isin(differing, keys, assume_unique=True)
            return before.after(changed[~holds], changed[holds])
    starts, high = _compressed(count, keys)
    del keys
    return _complete(starts, high)


def _keys(count: int, pairs: npt.NDArray[Any], nodes: Small | None) -> Numbers:
    """Return the pairs of a relation as ``lower * count + upper``, with little additional memory."""
    keys, used = np.empty(len(pairs), np.int64), 0
    for begin in range(0, len(pairs), _PART):
        part = pairs[begin : begin + _PART]
        if nodes is not None:
            part = nodes[part]
            part = part[(part >= 0).all(axis=1)]
        made = keys[used : used + len(part)]
        np.multiply(part[:, 0], count, out=made, dtype=np.int64)
        made += part[:, 1]
        used += len(part)
    return keys[:used]


def _compressed(count: int, keys: Numbers) -> tuple[Numbers, Small]:
    """Return the rows of a relation, given as sorted keys, with little additional memory."""
    high = np.empty(len(keys), np.int32)
    used, sizes = 0, np.zeros(count, np.int64)
    for begin in range(0, len(keys), _PART):
        low, upper = np.divmod(keys[begin : begin + _PART], count)
        others = low != upper
        sizes += np.bincount(low[others], minlength=count)
        end = used + int(np.count_nonzero(others))
        high[used:end] = upper[others]
        used = end
    return np.concatenate([[0], np.cumsum(sizes)]), high[:used]


def _complete(starts: Numbers, high: Small) -> TransitiveReduction:
    """Return the reduction of a relation."""
    nodes = np.arange(len(starts) - 1)
    relation = TransitiveReduction(starts, high, nodes, np.empty((0, 2), np.int64))
    relation = TransitiveReduction(starts, high, relation._firsts(), relation.nearest)
    firsts = np.flatnonzero((relation.first == nodes) & (relation.sizes > 0))
    return TransitiveReduction(starts, high, relation.first, relation._nearest(firsts))


def _shifted(starts: Numbers, nodes: Numbers, by: int) -> Numbers:
    """Return where rows begin after each of some nodes, which may occur repeatedly, has got or lost an item."""
    return starts + by * np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=len(starts) - 1))])
