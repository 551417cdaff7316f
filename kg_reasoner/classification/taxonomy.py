"""The order of classes or properties, reduced to the nearest ones above each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kg_reasoner.engine.encoding import as_term
from kg_reasoner.errors import ReasonerError
from kg_reasoner.terms import IRI, AnyTerm, Term

__all__ = ["Taxonomy", "reduced"]

Numbers = npt.NDArray[np.int64]


def reduced(count: int, pairs: Numbers) -> tuple[Numbers, Numbers]:
    """Return the transitive reduction of a transitive relation.

    The nearest nodes above a node are found from the lowest on: a node has more nodes above it than those above it have.

    Args:
        count: The number of nodes, 0 to `count` - 1.
        pairs: The relation, shape (n, 2), transitively closed: a node and one above it.

    Returns:
        For each node the first of the nodes that are above each other like it, and the pairs of such first nodes, shape (m, 2),
        of which one is above the other and nothing is between them.

    >>> first, nearest = reduced(4, np.array([[0, 1], [1, 0], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]))
    >>> first.tolist(), nearest.tolist()
    ([0, 0, 2, 3], [[0, 2], [2, 3]])
    """
    keys = np.unique(pairs[:, 0].astype(np.int64) * count + pairs[:, 1])
    low, high = np.divmod(keys, max(count, 1))
    mutual = np.isin(high * count + low, keys, assume_unique=True)
    first = np.arange(count, dtype=np.int64)
    np.minimum.at(first, low[mutual], high[mutual])
    strict = ~mutual & (first[low] == low) & (first[high] == high)
    low, high = low[strict], high[strict]
    sizes = np.bincount(low, minlength=count)
    order = np.lexsort((high, -sizes[high], low))
    high = high[order]
    ends = np.cumsum(sizes)
    starts = ends - sizes
    covered = np.full(count, -1, np.int64)
    found: list[tuple[int, int]] = []
    for node in np.flatnonzero(sizes).tolist():
        rest = high[starts[node] : ends[node]]
        while len(rest):
            near = int(rest[0])
            found.append((node, near))
            rest = rest[1:]
            if len(rest):
                covered[high[starts[near] : ends[near]]] = node
                rest = rest[covered[rest] != node]
    return first, np.array(found, np.int64).reshape(-1, 2)


class Taxonomy:
    """The order of classes, or of properties.

    Names that are equivalent share their place. `owl:Thing`, `owl:Nothing` and unsatisfiable names have no place; names are in the
    order of their IRIs.

    Args:
        names: All names, without the unsatisfiable ones.
        pairs: The numbers of a name and of one above it, transitively closed.
    """

    def __init__(self, names: Sequence[IRI], pairs: Numbers) -> None:
        order = sorted(range(len(names)), key=lambda number: names[number].value)
        rank = np.empty(len(names), np.int64)
        rank[order] = np.arange(len(names))
        self.names: tuple[IRI, ...] = tuple(names[number] for number in order)
        self._pairs = np.stack([rank[pairs[:, 0]], rank[pairs[:, 1]]], axis=1)
        self._first, self._nearest = reduced(len(names), self._pairs)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: AnyTerm) -> bool:
        return as_term(name) in self._numbers

    @cached_property
    def _numbers(self) -> Mapping[Term, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def _members(self) -> dict[int, list[int]]:
        """The numbers of the names at each place."""
        found: dict[int, list[int]] = {}
        for number, first in enumerate(self._first.tolist()):
            found.setdefault(first, []).append(number)
        return found

    @cached_property
    def _above(self) -> dict[int, list[int]]:
        return _grouped(self._nearest.tolist())

    @cached_property
    def _below(self) -> dict[int, list[int]]:
        return _grouped(self._nearest[:, ::-1].tolist())

    @cached_property
    def _all_above(self) -> dict[int, list[int]]:
        return _grouped(self._pairs.tolist())

    @cached_property
    def _all_below(self) -> dict[int, list[int]]:
        return _grouped(self._pairs[:, ::-1].tolist())

    def _place(self, name: AnyTerm) -> int:
        number = self._numbers.get(as_term(name))
        if number is None:
            raise ReasonerError(
                f"{as_term(name)} is not in this hierarchy: it is unsatisfiable, or no axiom or fact mentions it as such"
            )
        return int(self._first[number])

    def _named(self, places: Sequence[int]) -> tuple[IRI, ...]:
        return tuple(self.names[number] for number in sorted(number for place in places for number in self._members[place]))

    def parents(self, name: AnyTerm) -> tuple[IRI, ...]:
        """Return the names directly above one. See `equivalents` for those at the same place.

        Raises:
            ReasonerError: There is no such name, or it is unsatisfiable.
        """
        return self._named(self._above.get(self._place(name), ()))

    def children(self, name: AnyTerm) -> tuple[IRI, ...]:
        """Return the names directly below one; errors as for `parents`."""
        return self._named(self._below.get(self._place(name), ()))

    def equivalents(self, name: AnyTerm) -> tuple[IRI, ...]:
        """Return the other names at the same place; errors as for `parents`."""
        place = self._place(name)
        own = self._numbers[as_term(name)]
        return tuple(self.names[number] for number in self._members[place] if number != own)

    def ancestors(self, name: AnyTerm) -> tuple[IRI, ...]:
        """Return all names above one, near and far, without those at the same place; errors as for `parents`."""
        return self._beyond(self._place(name), self._all_above)

    def descendants(self, name: AnyTerm) -> tuple[IRI, ...]:
        """Return all names below one, near and far, without those at the same place; errors as for `parents`."""
        return self._beyond(self._place(name), self._all_below)

    def _beyond(self, place: int, edges: Mapping[int, list[int]]) -> tuple[IRI, ...]:
        own = set(self._members[place])
        return tuple(self.names[number] for number in sorted(edges.get(place, ())) if number not in own)

    def is_below(self, lower: AnyTerm, upper: AnyTerm) -> bool:
        """Return whether a name is below another one, or at the same place; errors as for `parents`."""
        return self._place(lower) == self._place(upper) or self._numbers[as_term(upper)] in self._all_above.get(
            self._place(lower), ()
        )

    @property
    def roots(self) -> tuple[IRI, ...]:
        """The names with nothing above them, one of each place."""
        return tuple(self.names[place] for place in self._members if place not in self._above)

    def places(self) -> Iterator[tuple[tuple[IRI, ...], tuple[IRI, ...]]]:
        """Yield the names at each place, and those directly above them, one of each place."""
        for place, members in self._members.items():
            yield (
                tuple(self.names[number] for number in members),
                tuple(self.names[above] for above in sorted(self._above.get(place, ()))),
            )


def _grouped(pairs: list[list[int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for first, second in pairs:
        found.setdefault(first, []).append(second)
    return found
