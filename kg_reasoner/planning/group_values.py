"""Aggregates of many groups at once: COUNT, and SUM, MIN and MAX of columns of numbers."""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.storage.arrays import Ids, Numbers, Rows
from kg_reasoner.storage.best_values import BestValues
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.storage.value_columns import INTEGER, ValueCache
from kg_reasoner.terms import XSD

__all__ = ["GroupValues"]

_INTEGER_END: Final = f'"^^<{XSD.integer.value}>'
_LARGEST_SUM: Final = 2**62


class GroupValues:
    """Aggregate functions on columns of ids. Each gives the ids of the results by group, or None for what it leaves to others.

    Args:
        dictionary: The terms.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._values = ValueCache(dictionary)

    def of(self, function: str, column: Ids, starts: Numbers, *, distinct: bool) -> Ids | None:
        """Return the values of a function.

        Args:
            function: The name of the function.
            column: The values of all groups, one group after the other.
            starts: Where each group begins.
            distinct: Whether each term counts once.
        """
        labels = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(column))))
        if distinct and function in ("COUNT", "SUM"):
            order = np.lexsort((column, labels))
            column, labels = column[order], labels[order]
            is_new = np.ones(len(column), np.bool_)
            is_new[1:] = (column[1:] != column[:-1]) | (labels[1:] != labels[:-1])
            column, labels = column[is_new], labels[is_new]
            starts = np.searchsorted(labels, np.arange(len(starts)))
        if function == "COUNT":
            return self._integers(np.diff(np.append(starts, len(column))))
        if function == "SUM":
            return self._sums(column, starts)
        if function in ("MIN", "MAX"):
            best = BestValues(self._dictionary, self._values, 1, is_greatest=function == "MAX", needs_numbers=False)
            best.improve(labels.astype(np.int32).reshape(-1, 1), column)
            return best.rows[:, 1]
        return None

    def _sums(self, column: Ids, starts: Numbers) -> Ids | None:
        values = self._values.column(column)
        doubles = values.doubles
        if not bool((values.kinds == INTEGER).all()) or len(column) * float(np.abs(doubles).max(initial=0)) >= _LARGEST_SUM:
            return None
        return self._integers(np.add.reduceat(doubles.astype(np.int64), starts))

    def _integers(self, numbers: Numbers) -> Ids:
        """Return the ids of integers."""
        distinct, places = np.unique(numbers, return_inverse=True)
        texts = [f'"{number}{_INTEGER_END}' for number in distinct.tolist()]
        return self._dictionary.encode_texts(texts)[places.reshape(-1)]


def sorted_groups(rows: Rows, columns: list[int]) -> tuple[Rows, Numbers]:
    """Return rows in the order of some of their columns, and where each group of equal ones begins."""
    ordered = rows[np.lexsort(rows[:, columns[::-1]].T)]
    parts = ordered[:, columns]
    differs = (parts[1:] != parts[:-1]).any(axis=1)
    return ordered, np.flatnonzero(np.append(len(rows) > 0, differs))[: len(rows)]
