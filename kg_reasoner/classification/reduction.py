"""The transitive reduction of an order: what is directly above what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Numbers", "Small", "Reduction", "reduced"]

Numbers: TypeAlias = npt.NDArray[np.int64]
Small: TypeAlias = npt.NDArray[np.int32]

_STEPS: Final = 1 << 20
"""How many nodes two steps above some nodes are looked at together."""

_MARKS: Final = 1 << 24
"""The bytes of a table of marks."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """A transitive relation and its reduction.

    Attributes:
        count: The number of nodes, 0 to `count` - 1.
        keys: The pairs of a node and one above it, as ``node * count + upper``, in order.
        first: For each node the first of the nodes that are above each other like it.
        nearest: The pairs, shape (m, 2), of such first nodes of which one is above the other and nothing is between them.
    """

    count: int
    keys: Numbers
    first: Numbers
    nearest: Numbers

    def pairs(self) -> Numbers:
        """Return the relation, shape (n, 2)."""
        return np.stack(np.divmod(self.keys, max(self.count, 1)), axis=1)


def reduced(count: int, pairs: Numbers | Small, before: Reduction | None = None) -> Reduction:
    """Return the transitive reduction of a transitive relation.

    Args:
        count: The number of nodes.
        pairs: The relation, shape (n, 2), transitively closed: a node and one above it.
        before: A former relation between the same nodes and its reduction. Only what is below a change is looked at again.

    >>> found = reduced(4, np.array([[0, 1], [1, 0], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]))
    >>> found.first.tolist(), found.nearest.tolist()
    ([0, 0, 2, 3], [[0, 2], [2, 3]])
    >>> reduced(4, np.array([[0, 1], [1, 0], [0, 2], [1, 2]]), found).nearest.tolist()
    [[0, 2]]
    """
    keys = pairs[:, 0].astype(np.int64)
    keys *= count
    keys += pairs[:, 1]
    keys.sort()
    if len(keys) > 1:
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]  # without duplicates
    first, changed = _firsts(count, keys, before)
    low = (keys // max(count, 1)).astype(np.int32)
    high = (keys % max(count, 1)).astype(np.int32)
    is_first = first == np.arange(count)
    if not is_first.all():
        strict = is_first[low] & is_first[high]
        low, high = low[strict], high[strict]
    if before is None or changed is None:
        return Reduction(count, keys, first, _nearest(count, low, high, np.flatnonzero(np.bincount(low, minlength=count))))
    below = changed.copy()
    below[low[changed[high]]] = True
    again = _nearest(count, low, high, np.flatnonzero(below))
    kept = before.nearest[~below[before.nearest[:, 0]]]
    return Reduction(count, keys, first, np.concatenate([kept, again]))


def _firsts(count: int, keys: Numbers, before: Reduction | None) -> tuple[Numbers, npt.NDArray[np.bool_] | None]:
    """Return the first of the nodes that are like each, and which nodes have changed; None for these if the first ones differ."""
    if before is not None:
        differing = np.setxor1d(keys, before.keys, assume_unique=True)
        if not (_mutual(count, differing, keys).any() or _mutual(count, differing, before.keys).any()):
            changed = np.zeros(count, bool)
            changed[differing // max(count, 1)] = True
            return before.first, changed
    first = np.arange(count, dtype=np.int64)
    low, high = np.divmod(keys[_mutual(count, keys, keys)], max(count, 1))
    np.minimum.at(first, low, high)
    return first, None


def _mutual(count: int, pairs: Numbers, keys: Numbers) -> npt.NDArray[np.bool_]:
    """Return which pairs are in a relation in the other direction."""
    low, high = np.divmod(pairs, max(count, 1))
    above = np.zeros(count, bool)
    above[keys % max(count, 1)] = True
    found = above[low]  # few nodes are above others
    candidates = np.flatnonzero(found)
    mirrored = high[candidates] * count + low[candidates]
    places = np.searchsorted(keys, mirrored)
    places[places == len(keys)] = 0
    found[candidates] = keys[places] == mirrored if len(keys) else False
    return found


def _nearest(count: int, low: Small, high: Small, nodes: Numbers) -> Numbers:
    """Return the pairs of some nodes that are not made of two others, of a strict order that is sorted."""
    sizes = np.bincount(low, minlength=count)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    places = _ranges(starts[nodes], sizes[nodes])
    steps = np.cumsum(sizes[high[places]])
    bounds = np.cumsum(sizes[nodes])
    found = np.ones(len(places), bool)
    done = 0
    while done < len(nodes):
        begin = int(bounds[done - 1]) if done else 0
        passed = int(steps[begin - 1]) if begin else 0
        last = int(np.searchsorted(steps, passed + _STEPS, side="right"))
        until = int(np.searchsorted(bounds, last, side="right"))
        until = max(done + 1, min(until, done + max(1, _MARKS // max(count, 1))))
        end = int(bounds[until - 1])
        part = places[begin:end]
        uppers = high[part]
        rows = np.repeat(np.arange(until - done), sizes[nodes[done:until]])
        marks = np.zeros((until - done, count), bool)
        marks[np.repeat(rows, sizes[uppers]), high[_ranges(starts[uppers], sizes[uppers])]] = True
        found[begin:end] = ~marks[rows, uppers]
        done = until
    chosen = places[found]
    return np.stack([low[chosen], high[chosen]], axis=1).astype(np.int64)


def _ranges(starts: Numbers, sizes: Numbers) -> Numbers:
    """Return the numbers of several ranges, one after the other."""
    total = int(sizes.sum())
    offsets = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    return offsets + np.arange(total)
