"""The order of classes or properties, reduced to the nearest ones above each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from kg_reasoner.classification.reduction import Numbers, Small, reduced
from kg_reasoner.engine.facts.row_encoding import as_term
from kg_reasoner.errors import ReasonerError
from kg_reasoner.terms import IRI, AnyTerm, Term

__all__ = ["Taxonomy"]


class Taxonomy:
    """The order of classes, or of properties.

    Names that are equivalent share their place. `owl:Thing`, `owl:Nothing` and unsatisfiable names have no place; names are in the
    order of their IRIs.

    Args:
        names: All names.
        pairs: The numbers of a name and of one above it, transitively closed.
        absent: The numbers of the unsatisfiable names. Pairs with them are left out.
    """

    def __init__(self, names: Sequence[IRI], pairs: Numbers | Small, absent: Collection[int] = ()) -> None:
        order = sorted(range(len(names)), key=lambda number: names[number].value)
        self._rank = np.empty(len(names), np.int32)
        self._rank[order] = np.arange(len(names))
        self._names = tuple(names[number] for number in order)
        self._absent = frozenset(self._rank[list(absent)].tolist())
        self._reduction = reduced(len(names), pairs, nodes=self._places())

    def changed(self, pairs: Numbers | Small, absent: Collection[int] = ()) -> Taxonomy:
        """Return the order of the same names, in which other pairs hold. What is not below a change is taken from this one.

        Args:
            pairs: As above, with the same numbers.
            absent: As above.

        Returns:
            The new order.
        """
        other = self._with(absent)
        other._reduction = reduced(len(self._names), pairs, self._reduction, other._places())
        return other

    def after(self, gone: Numbers, new: Numbers, absent: Collection[int] = ()) -> Taxonomy:
        """Return the order of the same names after a change.

        Args:
            gone: Pairs that no longer hold, with the numbers that the names were given with. The pairs of names that are
                absent now need not be among them.
            new: Pairs that hold now. All pairs of the names that are not absent any more are among them.
            absent: As above.

        Returns:
            The new order.
        """
        other = self._with(absent)
        lost = self._reduction.pairs_with(np.array(sorted(other._absent - self._absent), np.int64))
        gone = np.concatenate([self._rank[gone].astype(np.int64), lost])
        found = other._places()[new].astype(np.int64)
        other._reduction = self._reduction.after(gone, found[(found >= 0).all(axis=1)])
        return other

    def _with(self, absent: Collection[int]) -> Taxonomy:
        """Return another order of the same names, without the reduction."""
        other = object.__new__(Taxonomy)
        other._rank, other._names = self._rank, self._names
        other._absent = frozenset(self._rank[list(absent)].tolist())
        if "_numbers" in self.__dict__ and other._absent == self._absent:
            other.__dict__["_numbers"] = self._numbers
        return other

    def _places(self) -> Small:
        """Return the places of the names in the order of the IRIs, by their given numbers; -1 of those that are absent."""
        if not self._absent:
            return self._rank
        is_absent = np.zeros(len(self._names), bool)
        is_absent[list(self._absent)] = True
        places: Small = np.where(is_absent[self._rank], np.int32(-1), self._rank)
        return places

    @property
    def names(self) -> tuple[IRI, ...]:
        """The names that have a place."""
        return self._names if not self._absent else tuple(self._numbers)  # type: ignore[arg-type]  # all are IRIs

    def __len__(self) -> int:
        return len(self._names) - len(self._absent)

    def __contains__(self, name: AnyTerm) -> bool:
        return as_term(name) in self._numbers

    @cached_property
    def _numbers(self) -> Mapping[Term, int]:
        return {name: number for number, name in enumerate(self._names) if number not in self._absent}

    @cached_property
    def _members(self) -> dict[int, list[int]]:
        """The numbers of the names at each place."""
        found: dict[int, list[int]] = {}
        for number, first in enumerate(self._reduction.first.tolist()):
            if number not in self._absent:
                found.setdefault(first, []).append(number)
        return found

    @cached_property
    def _above(self) -> dict[int, list[int]]:
        return _grouped(self._reduction.nearest.tolist())

    @cached_property
    def _below(self) -> dict[int, list[int]]:
        return _grouped(self._reduction.nearest[:, ::-1].tolist())

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
        return int(self._reduction.first[number])

    def _named(self, places: Sequence[int]) -> tuple[IRI, ...]:
        return tuple(self._names[number] for number in sorted(number for place in places for number in self._members[place]))

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
        return tuple(self._names[number] for number in self._members[place] if number != own)

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
        return tuple(self._names[number] for number in sorted(edges.get(place, ())) if number not in own)

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
        return tuple(self._names[place] for place in self._members if place not in self._above)

    def places(self) -> Iterator[tuple[tuple[IRI, ...], tuple[IRI, ...]]]:
        """Yield the names at each place, and those directly above them, one of each place.

        Returns:
            An iterator of pairs of tuples.
        """
        for place, members in self._members.items():
            yield (
                tuple(self._names[number] for number in members),
                tuple(self._names[above] for above in sorted(self._above.get(place, ()))),
            )


def _grouped(pairs: list[list[int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for first, second in pairs:
        found.setdefault(first, []).append(second)
    return found
