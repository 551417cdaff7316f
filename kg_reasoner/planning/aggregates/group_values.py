"""Aggregates of many groups at once, on columns of ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.expressions.functions.arithmetic import divide
from kg_reasoner.expressions.functions.numbers import literal_of
from kg_reasoner.planning.aggregates.group_collections import lists, map_of, sets, texts_in_order
from kg_reasoner.storage.arrays import Flags, Ids, Numbers, Rows
from kg_reasoner.storage.grouping import distinct_ids, distinct_numbers, group_rows, ordered_by_group
from kg_reasoner.storage.recursion.best_values import BestValues
from kg_reasoner.storage.recursion.strong_components import StrongComponents
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.term_order import TermOrder
from kg_reasoner.storage.values.value_arithmetic import integer_buffer
from kg_reasoner.storage.values.value_columns import INTEGER, ValueCache
from kg_reasoner.terms import term_text

__all__ = ["GroupValues", "sorted_groups"]

_LARGEST_SUM: Final = 2**62


@dataclass(frozen=True, slots=True)
class _Groups:
    """The values of groups, one group after the other.

    Attributes:
        columns: A column for each argument.
        labels: The number of the group of each row.
        starts: Where each group begins.
    """

    columns: Sequence[Ids]
    labels: Numbers
    starts: Numbers

    @property
    def column(self) -> Ids:
        """The first argument."""
        return self.columns[0]

    def sorted(self, *keys: Ids | Numbers) -> _Groups:
        """Return the rows of each group in the order of some keys, the last one first."""
        order = np.lexsort((*keys, self.labels))
        return _Groups([column[order] for column in self.columns], self.labels, self.starts)

    def different(self) -> _Groups:
        """Return the rows without those that occur twice in a group."""
        found = self.sorted(*self.columns[::-1])
        is_new: Flags = np.ones(len(found.labels), np.bool_)
        is_new[1:] = found.labels[1:] != found.labels[:-1]
        for column in found.columns:
            is_new[1:] |= column[1:] != column[:-1]
        labels = found.labels[is_new]
        starts = np.searchsorted(labels, np.arange(len(self.starts)))
        return _Groups([column[is_new] for column in found.columns], labels, starts)


class GroupValues:
    """Aggregate functions on columns of ids. Each gives the ids of the results by group, or None for what it leaves to others.

    Args:
        dictionary: The terms.
        values: Their values.
    """

    def __init__(self, dictionary: Dictionary, values: ValueCache) -> None:
        self._dictionary, self._values = dictionary, values
        self._order = TermOrder(dictionary, values)

    def of(self, function: str, columns: Sequence[Ids], starts: Numbers, *, distinct: bool) -> Ids | None:
        """Return the values of a function.

        Args:
            function: The name of the function.
            columns: The values of its arguments, one group after the other; none of them is an error.
            starts: Where each group begins.
            distinct: Whether each term counts once.
        """
        apply = _FUNCTIONS.get((function, len(columns)))
        if apply is None:
            return None
        labels = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(columns[0]))))
        groups = _Groups(columns, labels, starts)
        return apply(self, groups.different() if distinct else groups)

    def _count(self, groups: _Groups) -> Ids:
        return self._integers(_sizes(groups))

    def _sum(self, groups: _Groups) -> Ids | None:
        sums = self._sums(groups)
        return None if sums is None else self._integers(sums)

    def _average(self, groups: _Groups) -> Ids | None:
        sums = self._sums(groups)
        if sums is None:
            return None
        averages = [divide(total, count) for total, count in zip(sums.tolist(), _sizes(groups).tolist(), strict=True)]
        return self._dictionary.encode_texts([term_text(literal_of(average)) for average in averages if average is not None])

    def _least(self, groups: _Groups) -> Ids:
        return self._best(groups, is_greatest=False)

    def _greatest(self, groups: _Groups) -> Ids:
        return self._best(groups, is_greatest=True)

    def _best(self, groups: _Groups, *, is_greatest: bool) -> Ids:
        best = BestValues(self._dictionary, self._values, 1, is_greatest=is_greatest, needs_numbers=False)
        best.improve(groups.labels.astype(np.int32).reshape(-1, 1), groups.column)
        return best.rows[:, 1]

    def _sample(self, groups: _Groups) -> Ids:
        return groups.sorted(self._order.ranks(groups.column)).column[groups.starts]

    def _first_by_least(self, groups: _Groups) -> Ids:
        first, value = map(self._order.ranks, groups.columns)
        return groups.sorted(first, value).column[groups.starts]

    def _first_by_greatest(self, groups: _Groups) -> Ids:
        first, value = map(self._order.ranks, groups.columns)
        return groups.sorted(first, -value).column[groups.starts]

    def _list(self, groups: _Groups) -> Ids:
        ordered = groups.sorted(self._order.ranks(groups.column))
        return lists(self._dictionary, ordered.column, ordered.starts)

    def _set(self, groups: _Groups) -> Ids:
        found = groups.different()
        return sets(self._dictionary, found.column, found.labels, found.starts)

    def _components(self, groups: _Groups) -> Ids:
        def find(edges: Rows) -> tuple[Ids, Ids]:
            nodes, places = distinct_ids(edges.reshape(-1))
            order = np.argsort(self._order.ranks(nodes))
            ranks = np.empty(len(nodes), np.int64)
            ranks[order] = np.arange(len(nodes))
            least = StrongComponents(ranks[places].reshape(-1, 2), len(nodes)).least()
            return nodes[order], nodes[order[least]]

        return self._maps(groups, find)

    def _levels(self, groups: _Groups) -> Ids:
        def find(edges: Rows) -> tuple[Ids, Ids]:
            nodes, places = distinct_ids(edges.reshape(-1))
            return nodes, self._integers(StrongComponents(places.reshape(-1, 2), len(nodes)).levels())

        return self._maps(groups, find)

    def _maps(self, groups: _Groups, find: Callable[[Rows], tuple[Ids, Ids]]) -> Ids:
        """Return maps, given a function from the edges of a group to keys and values."""
        edges = np.stack(groups.columns, axis=1)
        parts = np.split(edges, groups.starts[1:])
        return np.array([map_of(self._dictionary, *find(part)) for part in parts], np.int32)

    def _joined(self, groups: _Groups) -> Ids | None:
        """Return the texts in order, with a separator that is the same everywhere, or a blank."""
        if len(groups.columns) > 1 and (groups.columns[1] != groups.columns[1][:1]).any():
            return None
        separator = self._dictionary.text(int(groups.columns[1][0])) if len(groups.columns) > 1 else '" "'
        ordered = groups.sorted(self._order.ranks(groups.column))
        return texts_in_order(self._dictionary, ordered.column, ordered.starts, separator)

    def _sums(self, groups: _Groups) -> Numbers | None:
        """Return the sums of columns of integers that are not large."""
        values = self._values.column(groups.column)
        largest = float(np.abs(values.doubles).max(initial=0))
        if not bool((values.kinds == INTEGER).all()) or len(values.kinds) * largest >= _LARGEST_SUM:
            return None
        sums: Numbers = np.add.reduceat(values.doubles.astype(np.int64), groups.starts)
        return sums

    def _integers(self, numbers: Numbers) -> Ids:
        """Return the ids of integers."""
        distinct, places = distinct_numbers(numbers)
        return self._dictionary.encode_buffers(*integer_buffer(distinct))[places]


_FUNCTIONS: Final[dict[tuple[str, int], Callable[[GroupValues, _Groups], Ids | None]]] = {
    ("COUNT", 1): GroupValues._count,
    ("SUM", 1): GroupValues._sum,
    ("AVG", 1): GroupValues._average,
    ("MIN", 1): GroupValues._least,
    ("MAX", 1): GroupValues._greatest,
    ("SAMPLE", 1): GroupValues._sample,
    ("ARGMIN", 2): GroupValues._first_by_least,
    ("ARGMAX", 2): GroupValues._first_by_greatest,
    ("LIST", 1): GroupValues._list,
    ("SET", 1): GroupValues._set,
    ("STRONG_COMPONENTS", 2): GroupValues._components,
    ("TOPOLOGICAL_LEVELS", 2): GroupValues._levels,
    ("GROUP_CONCAT", 1): GroupValues._joined,
    ("GROUP_CONCAT", 2): GroupValues._joined,
}
"""The functions by name and number of arguments."""


def _sizes(groups: _Groups) -> Numbers:
    return np.diff(np.append(groups.starts, len(groups.labels)))


def sorted_groups(rows: Rows, columns: list[int]) -> tuple[Rows, Numbers]:
    """Return rows in the order of some of their columns, and where each group of equal ones begins."""
    labels, firsts = group_rows(np.ascontiguousarray(rows[:, columns]))
    distinct = rows[firsts][:, columns]
    ranks = np.empty(len(firsts), np.int32)
    ranks[np.lexsort(distinct[:, ::-1].T)] = np.arange(len(firsts))
    order, starts = ordered_by_group(ranks[labels], len(firsts))
    return rows.take(order, axis=0), starts[:-1]
