"""The least or greatest value of each group, updated as values are added."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.expressions.aggregate_functions import order_key
from kg_reasoner.storage.arrays import Flags, Ids, Numbers, Rows
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.value_columns import DOUBLE, INTEGER, ValueCache, ValueColumn, is_number

__all__ = ["BestValues", "NotANumberError"]

MANY: Final = 256
"""If more groups than this have improved, those with the best values are taken first."""
SHARE: Final = 8
"""One in this many of them is taken."""
_NOBODY: Final = -1


class NotANumberError(Exception):
    """A value is not a number, or it is NaN.

    Args:
        value: The id of the value.
    """

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class BestValues:
    """The best value of each group in the order of MIN and MAX, see `kg_reasoner.expressions.aggregate_functions.order_key`.

    Values that are exact as doubles are compared in columns, ties and all others one by one.

    Args:
        dictionary: The terms.
        values: The values of its terms.
        width: The number of columns that identify a group.
        is_greatest: Whether the greatest value is the best one.
        needs_numbers: Whether all values must be numbers.
    """

    def __init__(self, dictionary: Dictionary, values: ValueCache, width: int, *, is_greatest: bool, needs_numbers: bool) -> None:
        self._dictionary, self._values, self._width = dictionary, values, width
        self.is_greatest = is_greatest
        self._sign, self._needs_numbers = (-1.0 if is_greatest else 1.0), needs_numbers
        self._numbers: dict[Any, int] = {}
        self._groups: Rows = np.empty((0, width), np.int32)
        self._best: Ids = np.empty(0, np.int32)
        self._given: Ids = np.empty(0, np.int32)
        self._waiting: Numbers = np.empty(0, np.int64)
        self._doubles: npt.NDArray[np.float64] = np.empty(0)
        self._keys: dict[int, Any] = {}
        self._is_exact = True

    def __len__(self) -> int:
        return int(np.count_nonzero(self._best != _NOBODY))

    @property
    def rows(self) -> Rows:
        """The groups with their values."""
        known = np.flatnonzero(self._best != _NOBODY)
        return np.column_stack([self._groups[known], self._best[known]]).astype(np.int32)

    def improve(self, groups: Rows, values: Ids) -> None:
        """Take further values.

        Args:
            groups: The group of each value, shape (n, width).
            values: The ids of the values.

        Raises:
            NotANumberError: A value is not a number.
        """
        column = self._values.column(values)
        self._check(values, column)
        places = self._places(groups)
        doubles = column.doubles * self._sign
        if self._is_exact:
            is_exact = ((column.kinds == INTEGER) | (column.kinds == DOUBLE)) & (doubles == doubles)
            self._is_exact = bool(is_exact.all())
        touched = self._improve_exactly(places, values, doubles) if self._is_exact else places
        if not self._is_exact:
            self._improve_each(places.tolist(), values.tolist())
        self._waiting = np.union1d(self._waiting, touched[self._best[touched] != self._given[touched]])

    def next(self, *, everything: bool = False) -> Rows:
        """Return groups whose best value has changed since they were returned last, with these values.

        Of many, only those with the best values are returned: the others may improve further before something follows from them.

        Args:
            everything: Return all of them.
        """
        chosen = self._waiting
        if self._is_exact and len(chosen) > MANY and not everything:
            doubles = self._doubles[chosen]
            is_next = doubles <= np.partition(doubles, len(chosen) // SHARE)[len(chosen) // SHARE]
            chosen, self._waiting = chosen[is_next], chosen[~is_next]
        else:
            self._waiting = np.empty(0, np.int64)
        self._given[chosen] = self._best[chosen]
        rows: Rows = np.empty((len(chosen), self._width + 1), np.int32)
        rows[:, :-1], rows[:, -1] = self._groups[chosen], self._best[chosen]
        return rows

    def _check(self, values: Ids, column: ValueColumn) -> None:
        if self._needs_numbers:
            wrong = ~is_number(column.kinds) | np.isnan(column.doubles)
            if wrong.any():
                raise NotANumberError(int(values[int(np.argmax(wrong))]))

    def _places(self, groups: Rows) -> Numbers:
        """Return the number of each group; new ones get the next numbers."""
        if self._width == 1:  # the id serves as the number
            places = groups[:, 0].astype(np.int64)
            size = max(int(places.max(initial=-1)) + 1, len(self._best))
            if size > len(self._best):
                self._grow(max(size, len(self._dictionary), 5 * len(self._best) // 4))
                self._groups = np.arange(len(self._best), dtype=np.int32).reshape(-1, 1)
            return places
        known = self._numbers
        if self._width == 2:
            items = ((groups[:, 0].astype(np.int64) << 32) | groups[:, 1]).tolist()
        else:
            items = list(map(tuple, groups.tolist()))
        first = len(known)
        places = np.fromiter((known.setdefault(item, len(known)) for item in items), np.int64, len(items))
        if len(known) > first:
            self._grow(len(known))
            added: Rows = np.empty((len(known) - first, self._width), np.int32)
            is_new = places >= first
            added[places[is_new] - first] = groups[is_new]
            self._groups = np.concatenate([self._groups, added])
        return places

    def _grow(self, count: int) -> None:
        more = count - len(self._best)
        self._best = np.concatenate([self._best, np.full(more, _NOBODY, np.int32)])
        self._given = np.concatenate([self._given, np.full(more, _NOBODY, np.int32)])
        self._doubles = np.concatenate([self._doubles, np.full(more, np.inf)])

    def _improve_exactly(self, places: Numbers, values: Ids, doubles: npt.NDArray[np.float64]) -> Numbers:
        """Take values that are exact as doubles. Return the places whose values may have changed."""
        now = self._doubles[places]
        chosen = np.flatnonzero((doubles < now) | ((doubles == now) & (values != self._best[places])))
        places, values, doubles = places[chosen], values[chosen], doubles[chosen]
        better = doubles < now[chosen]
        np.minimum.at(self._doubles, places, doubles)
        best = self._best
        best[places[better]] = _NOBODY
        attained = doubles == self._doubles[places]
        places, values = places[attained], values[attained]
        free = best[places] == _NOBODY
        best[places[free]] = values[free]
        ties: Flags = best[places] != values
        self._improve_each(places[ties].tolist(), values[ties].tolist())
        return places

    def _improve_each(self, places: list[int], values: list[int]) -> None:
        """Take values one by one, by their keys."""
        best, is_less = self._best, self._sign > 0
        for place, value in zip(places, values, strict=True):
            known = int(best[place])
            if known != value and (known == _NOBODY or (self._key(value) < self._key(known)) == is_less):
                best[place] = value

    def _key(self, value: int) -> Any:
        key = self._keys.get(value)
        if key is None:
            key = self._keys[value] = order_key(self._dictionary.decode(value))
        return key
