"""Z-sets: tables whose rows have integer weights, the group over which circuits compute.

A set is a Z-set whose weights are all 1. A change of a set is a Z-set with weight 1 for added and -1 for deleted rows; added to the
set, it gives the new set. Source: Budiu, Chajed, McSherry, Ryzhyk and Tannen, DBSP: Automatic Incremental View Maintenance for
Rich Query Languages (PVLDB 16, 2023), section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from kg_reasoner.dbsp.sorted_columns import (
    Booleans,
    Columns,
    Integers,
    Weighted,
    concatenated,
    consolidate,
    magnitude,
    products,
    ranges,
)
from kg_reasoner.errors import plural

Row: TypeAlias = tuple[int, ...]

Mapper: TypeAlias = Callable[[Columns], Sequence[Integers]]
"""Columns to the columns of another table, row by row."""

Condition: TypeAlias = Callable[[Columns], Booleans]

Reduction: TypeAlias = Callable[[Columns, Integers, Integers], Integers]
"""From the columns of rows sorted by group, their weights and where each group starts, to one number for each group."""


class ZSet:
    """Sorted, unique rows of integers with nonzero weights; immutable.

    Args:
        columns: At least one int64 array, whose rows are sorted and unique. `ZSet.consolidated` takes rows in any order, and
            `ZSet.of` Python tuples.
        weights: Their weights, an int64 array without zeros.

    >>> ZSet.of([(1, 2), (1, 2), (3, 4)]) - ZSet.of([(3, 4)])
    ZSet({(1, 2): 2})
    """

    __slots__ = ("_magnitude", "columns", "weights")

    def __init__(self, columns: Columns, weights: Integers) -> None:
        self.columns = columns
        self.weights = weights
        self._magnitude = -1.0

    @classmethod
    def of(cls, rows: Mapping[Row, int] | Iterable[Row], arity: int | None = None) -> ZSet:
        """Return the Z-set of rows with weights, or of rows of weight 1 each. For an empty collection, `arity` is required.

        Args:
            rows: The rows, as tuples of integers, with their weights or without.
            arity: The number of columns.

        Returns:
            The Z-set.

        Raises:
            ValueError: The collection is empty, and its arity is not given; or a row or a weight is none.
        """
        weighted = rows if isinstance(rows, Mapping) else None
        listed = list(rows)
        if arity is None and not listed:
            raise ValueError("an empty Z-set needs its arity: ZSet.empty(arity)")
        try:
            table = _integers(listed).reshape(len(listed), len(listed[0]) if arity is None else arity)
            weights = np.ones(len(listed), np.int64) if weighted is None else _integers([weighted[row] for row in listed])
        except (TypeError, ValueError, OverflowError):
            raise ValueError("the rows of a Z-set are tuples of one length, of integers of 64 bits, and so are weights") from None
        if (weights == np.iinfo(np.int64).min).any():
            raise ValueError("a weight of a Z-set is more than -2^63, so that it can be negated")
        return cls.consolidated(tuple(np.ascontiguousarray(table.T)), weights)

    @classmethod
    def empty(cls, arity: int) -> ZSet:
        """Return the zero of the group of Z-sets with this number of columns.

        Args:
            arity: The number of columns.

        Returns:
            The Z-set.
        """
        if arity not in _EMPTY:
            _EMPTY[arity] = cls((np.empty(0, np.int64),) * arity, np.empty(0, np.int64))
        return _EMPTY[arity]

    @classmethod
    def consolidated(cls, columns: Sequence[Integers], weights: Integers | None = None) -> ZSet:
        """Return the Z-set of rows in any order, with repetitions; the default weight is 1.

        Args:
            columns: The columns.
            weights: The weight of each row.

        Returns:
            The Z-set, with each row once and none of weight 0.

        Raises:
            CapacityError: A weight exceeds 64 bits.
        """
        return cls(*consolidate(tuple(columns), np.ones(len(columns[0]), np.int64) if weights is None else weights))

    @classmethod
    def sum(cls, zsets: Sequence[ZSet], arity: int) -> ZSet:
        """Return the sum of Z-sets.

        Args:
            zsets: The Z-sets.
            arity: The number of their columns, as there may be none of them.

        Returns:
            The sum.
        """
        filled = [zset for zset in zsets if len(zset)]
        if len(filled) < 2:
            return filled[0] if filled else cls.empty(arity)
        return cls(*consolidate(*concatenated([(zset.columns, zset.weights) for zset in filled]), presorted=True))

    @classmethod
    def gathered(cls, parts: Sequence[Weighted], arity: int) -> ZSet:
        """Return the Z-set of the rows of several tables, in any order.

        Args:
            parts: The tables, each with the weights of its rows.
            arity: The number of their columns.

        Returns:
            The Z-set.
        """
        return cls(*consolidate(*concatenated(parts))) if parts else cls.empty(arity)

    # --- reading ------------------------------------------------------------------------------------------------------

    @property
    def arity(self) -> int:
        """The number of columns."""
        return len(self.columns)

    def __len__(self) -> int:
        return len(self.weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZSet):
            return NotImplemented
        mine, theirs = (*self.columns, self.weights), (*other.columns, other.weights)
        return len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))

    __hash__ = None  # type: ignore[assignment]  # arrays are compared, not hashed

    def as_dict(self) -> dict[Row, int]:
        """Return the rows with their weights.

        Returns:
            The weights, by row.
        """
        return dict(zip(self.rows(), self.weights.tolist(), strict=True))

    def rows(self) -> list[Row]:
        """Return the rows, sorted, without their weights.

        Returns:
            The rows, as tuples of integers.
        """
        return list(zip(*(column.tolist() for column in self.columns), strict=True))

    def __repr__(self) -> str:
        return f"ZSet({self.as_dict()})" if len(self) <= 16 else f"<ZSet of {len(self)} rows of {self.arity} columns>"

    @property
    def magnitude(self) -> float:
        """The sum of the magnitudes of its weights, rounded."""
        if self._magnitude < 0:
            self._magnitude = magnitude(self.weights)
        return self._magnitude

    @property
    def nbytes(self) -> int:
        """The size of its arrays in bytes."""
        return int(self.weights.nbytes + sum(column.nbytes for column in self.columns))

    # --- the group ----------------------------------------------------------------------------------------------------

    def __add__(self, other: ZSet) -> ZSet:
        if self.arity != other.arity:
            raise ValueError(f"Z-sets of {self.arity} and {other.arity} columns have no sum")
        return ZSet.sum((self, other), self.arity)

    def __neg__(self) -> ZSet:
        return ZSet(self.columns, -self.weights)

    def __sub__(self, other: ZSet) -> ZSet:
        return self + -other

    # --- linear functions ---------------------------------------------------------------------------------------------

    def map(self, function: Mapper) -> ZSet:
        """Return a Z-set with each row replaced by another one, of any arity; weights of equal rows are added.

        Args:
            function: Takes the columns and gives those of the new rows.

        Returns:
            The Z-set.
        """
        return ZSet.consolidated([np.asarray(column, np.int64) for column in function(self.columns)], self.weights)

    def project(self, places: Sequence[int]) -> ZSet:
        """Return a Z-set with each row reduced to some of its columns, in the given order.

        Args:
            places: The numbers of the columns.

        Returns:
            The Z-set.
        """
        return ZSet.consolidated([self.columns[place] for place in places], self.weights)

    def filter(self, condition: Condition) -> ZSet:
        """Return the rows that satisfy a condition.

        Args:
            condition: Takes the columns and tells which rows satisfy it.

        Returns:
            The Z-set.
        """
        return self.at(condition(self.columns).nonzero()[0])

    def at(self, places: Integers | slice) -> ZSet:
        """Return the rows at these places, which must be ascending.

        Args:
            places: The places.

        Returns:
            The Z-set.
        """
        return ZSet(tuple(column[places] for column in self.columns), self.weights[places])

    # --- other functions ----------------------------------------------------------------------------------------------

    def distinct(self) -> ZSet:
        """Return the rows of positive weight, with weight 1 each.

        Returns:
            The Z-set.
        """
        kept = self.at((self.weights > 0).nonzero()[0])
        return ZSet(kept.columns, np.ones(len(kept), np.int64))

    def to_set(self) -> set[Row]:
        """Return the rows of positive weight.

        Returns:
            The rows.
        """
        return set(self.distinct().rows())

    def join(self, other: ZSet, on: int) -> ZSet:
        """Return pairs of rows that agree in their first `on` columns.

        A pair has these columns, then the other columns of both rows. Its weight is the product of theirs.

        Args:
            other: The other Z-set.
            on: The number of columns in which rows agree.

        Returns:
            The Z-set.

        Raises:
            ValueError: One of them has fewer columns.
        """
        if not 0 <= on <= min(self.arity, other.arity):
            raise ValueError(f"Z-sets of {self.arity} and {other.arity} columns cannot be joined on {plural(on, 'column')}")
        key = self.columns[:on]
        places, which = ranges(other.columns, key, key)
        columns = [column[which] for column in self.columns] + [column[places] for column in other.columns[on:]]
        weights = products(self.weights[which], other.weights[places], self.magnitude * other.magnitude)
        return ZSet.consolidated(columns, weights)

    def aggregate(self, by: int, *reductions: Reduction) -> ZSet:
        """Return, for each group of rows with equal first `by` columns, these columns and a number from each reduction.

        Rows of weights below 1 count for nothing, and a group without others has no result. See `aggregates` for reductions.

        Args:
            by: The number of columns that identify a group.
            reductions: The functions computed for each group, see `kg_reasoner.dbsp.aggregates`.

        Returns:
            The Z-set.
        """
        positive = self.at((self.weights > 0).nonzero()[0])
        if not len(positive):
            return ZSet.empty(by + len(reductions))
        key, values = positive.columns[:by], positive.columns[by:]
        differs = np.zeros(len(positive) - 1, bool)
        for column in key:
            differs |= column[1:] != column[:-1]
        starts = np.concatenate([[0], differs.nonzero()[0] + 1])
        results = [reduction(values, positive.weights, starts) for reduction in reductions]
        return ZSet((*(column[starts] for column in key), *results), np.ones(len(starts), np.int64))


_EMPTY: dict[int, ZSet] = {}


def _integers(values: Sequence[object]) -> Integers:
    """Return integers, or rows of them, as an array.

    Raises:
        TypeError, ValueError, OverflowError: They are others.
    """
    found = np.array(values, None if len(values) else np.int64)
    return found if found.dtype == np.int64 else found.astype(np.int64, casting="safe")
