"""The order of classes or properties, reduced to the nearest ones above each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from kg_reasoner.classification.reduction import Numbers, Reduction, Small, reduced
from kg_reasoner.engine.encoding import as_term
from kg_reasoner.errors import ReasonerError
from kg_reasoner.terms import IRI, AnyTerm, Term

__all__ = ["Taxonomy"]


class Taxonomy:
    """The order of classes, or of properties.

    Names that are equivalent share their place. `owl:Thing`, `owl:Nothing` and unsatisfiable names have no place; names are in the
    order of their IRIs.

    Args:
        names: All names, without the unsatisfiable ones.
        pairs: The numbers of a name and of one above it, transitively closed.
    """

    def __init__(self, names: Sequence[IRI], pairs: Numbers | Small) -> None:
        order = sorted(range(len(names)), key=lambda number: names[number].value)
        self._rank = np.empty(len(names), np.int32)
        self._rank[order] = np.arange(len(names))
        self._set(tuple(names[number] for number in order), reduced(len(names), self._rank[pairs]))

    def changed(self, pairs: Numbers | Small) -> Taxonomy:
        """Return the order of the same names, in which other pairs hold. What is not below a change is taken from this one.

        Args:
            pairs: As above, with the same numbers.

        Returns:
            The new order.
        """
        other = object.__new__(Taxonomy)
        other._rank = self._rank
        other._set(self.names, reduced(len(self.names), self._rank[pairs], self._reduction))
        if "_numbers" in self.__dict__:
            other.__dict__["_numbers"] = self._numbers
        return other

    def _set(self, names: tuple[IRI, ...], reduction: Reduction) -> None:
        self.names = names
        self._reduction = reduction
        self._first, self._nearest = reduction.first, reduction.nearest

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
        return _grouped(self._reduction.pairs().tolist())

    @cached_property
    def _all_below(self) -> dict[int, list[int]]:
        return _grouped(self._reduction.pairs()[:, ::-1].tolist())

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

        Args:
            name: A class or property.

        Returns:
            The names.

        Raises:
            ReasonerError: There is no such name, or it is unsatisfiable.
        """
        return self._named(self._above.get(self._place(name), ()))

    def children(self, name: AnyTerm) -> tuple[IRI, ...]:
        """Return the names directly below one; errors as for `parents`.

        Args:
            name: A class or property.

        Returns:
            The names.
        """
        return self._named(self._below.get(self._place(name), ()))

    def equivalents(self, name: AnyTerm) -> tuple[IRI, ...]:
        """Return the other names at the same place; errors as for `parents`.

        Args:
            name: A class or property.

        Returns:
            The names.
        """
        place = self._place(name)
        own = self._numbers[as_term(name)]
        return tuple(self.names[number] for number in self._members[place] if number != own)

    def ancestors(self, name: AnyTerm) -> tuple[IRI, ...]:
        """Return all names above one, near and far, without those at the same place; errors as for `parents`.

        Args:
            name: A class or property.

        Returns:
            The names.
        """
        return self._beyond(self._place(name), self._all_above)

    def descendants(self, name: AnyTerm) -> tuple[IRI, ...]:
        """Return all names below one, near and far, without those at the same place; errors as for `parents`.

        Args:
            name: A class or property.

        Returns:
            The names.
        """
        return self._beyond(self._place(name), self._all_below)

    def _beyond(self, place: int, edges: Mapping[int, list[int]]) -> tuple[IRI, ...]:
        own = set(self._members[place])
        return tuple(self.names[number] for number in sorted(edges.get(place, ())) if number not in own)

    def is_below(self, lower: AnyTerm, upper: AnyTerm) -> bool:
        """Return whether a name is below another one, or at the same place; errors as for `parents`.

        Args:
            lower: The one name.
            upper: The other name.

        Returns:
            Whether it is.
        """
        return self._place(lower) == self._place(upper) or self._numbers[as_term(upper)] in self._all_above.get(
            self._place(lower), ()
        )

    @property
    def roots(self) -> tuple[IRI, ...]:
        """The names with nothing above them, one of each place."""
        return tuple(self.names[place] for place in self._members if place not in self._above)

    def places(self) -> Iterator[tuple[tuple[IRI, ...], tuple[IRI, ...]]]:
        """Yield the names at each place, and those directly above them, one of each place.

        Returns:
            An iterator of pairs of tuples.
        """
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
