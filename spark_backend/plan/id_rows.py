"""Rows of terms as ids: what is known of a schema can be millions of rows about some ten thousand names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.terms import Term

__all__ = ["Ids", "NumberedTerms", "Row", "Rows"]

Row: TypeAlias = tuple[Term, ...]
Ids: TypeAlias = npt.NDArray[np.int64]


class NumberedTerms:
    """Terms by id.

    Args:
        terms: The terms, each once; the first one has the id 0.
    """

    def __init__(self, terms: Sequence[Term] = ()) -> None:
        self.terms = terms

    @cached_property
    def ids(self) -> dict[Term, int]:
        """The ids by term."""
        return {term: number for number, term in enumerate(self.terms)}


class Rows(Collection[Row]):
    """Rows of terms, each of the same length.

    >>> rows = Rows(np.array([[0, 1], [0, 2], [3, 1]]), NumberedTerms("abcd"))
    >>> list(rows)
    [('a', 'b'), ('a', 'c'), ('d', 'b')]
    >>> ("d", "b") in rows, list(rows.without([("a", "b"), ("a", "e")])), list(rows.counts(0))
    (True, [('a', 'c'), ('d', 'b')], [(('a', 'b'), 2), (('d', 'b'), 1)])

    Args:
        ids: The ids of the terms, shape (n, length).
        names: The terms.
    """

    def __init__(self, ids: Ids, names: NumberedTerms) -> None:
        self.ids = ids
        self.names = names
        self._places: dict[int, tuple[Ids, dict[int, tuple[int, int]]]] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Row]:
        terms = self.names.terms
        return (tuple(terms[number] for number in row) for row in self.ids.tolist())

    def __contains__(self, row: object) -> bool:
        if not isinstance(row, tuple) or len(row) != self.ids.shape[1]:
            return False
        numbers = [self.names.ids.get(term, -1) for term in row]
        if not numbers:
            return len(self) > 0
        return bool((self.with_id(0, numbers[0]) == numbers).all(axis=1).any())

    def where(self, chosen: npt.NDArray[np.bool_]) -> Rows:
        """Return the rows for which a mask is true."""
        return Rows(self.ids[chosen], self.names)

    def where_any(self, holds: Callable[[Term], bool]) -> npt.NDArray[np.bool_]:
        """Return which rows have a term for which something holds, which is asked once of each term."""
        numbers, places = np.unique(self.ids, return_inverse=True)
        answers = np.array([holds(self.names.terms[number]) for number in numbers.tolist()], bool)
        return np.asarray(answers[places.reshape(self.ids.shape)].any(axis=1))

    def with_id(self, place: int, number: int) -> Ids:
        """Return the ids of the rows that have a term, given by its id, in a place."""
        order, slices = self._at(place)
        return self.ids[order[slice(*slices.get(number, (0, 0)))]]

    def count(self, place: int, number: int) -> int:
        """Return the number of rows that have a term in a place."""
        begin, end = self._at(place)[1].get(number, (0, 0))
        return end - begin

    def _at(self, place: int) -> tuple[Ids, dict[int, tuple[int, int]]]:
        """Return an order in which the rows with the same term in a place follow each other, and where those of each term are."""
        if place not in self._places:
            order = np.argsort(self.ids[:, place], kind="stable")
            numbers, begins = np.unique(self.ids[order, place], return_index=True)
            ends = [*begins[1:].tolist(), len(order)] if len(order) else []
            slices = zip(begins.tolist(), ends, strict=True)
            self._places[place] = order, dict(zip(numbers.tolist(), slices, strict=True))
        return self._places[place]

    def without(self, others: Iterable[Row]) -> Rows:
        """Return the rows that are not among others."""
        ids, length = self.names.ids, self.ids.shape[1]
        rows = ([ids.get(term, -1) for term in row] for row in others)
        known = np.array([row for row in rows if -1 not in row], np.int64).reshape(-1, length)
        if not len(known) or not len(self):
            return self
        keys = _keys(np.concatenate([self.ids, known]))
        return self.where(~np.isin(keys[: len(self)], keys[len(self) :]))

    def counts(self, *places: int) -> Iterator[tuple[Row, int]]:
        """Yield, for each combination of terms in some places, a row that has it, and the number of these rows."""
        _, first, sizes = np.unique(_keys(self.ids[:, places]), return_index=True, return_counts=True)
        return zip(Rows(self.ids[first], self.names), sizes.tolist(), strict=True)

    def columns(self, of: Callable[[Term], str]) -> tuple[list[str], Ids]:
        """Apply a function to each term that occurs, once. Return the results, and the rows as positions in that list."""
        numbers, places = np.unique(self.ids, return_inverse=True)
        return [of(self.names.terms[number]) for number in numbers.tolist()], places.reshape(self.ids.shape)


def _keys(rows: Ids) -> Ids:
    """Return numbers that are equal for equal rows."""
    keys = np.zeros(len(rows), np.int64)
    for column in rows.T:
        _, keys = np.unique(keys, return_inverse=True)
        keys = keys * (int(column.max(initial=0)) + 1) + column
    return keys
