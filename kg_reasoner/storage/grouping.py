"""Grouping and pairing of rows of ids, with the kernels: what DISTINCT, GROUP BY and joins of tables need.

Work on many rows is divided into blocks, before each of which the limits of the operation are checked. The memory for a result is
checked before it is allocated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.limits import current_watch
from kg_reasoner.errors import LimitError
from kg_reasoner.storage.arrays import Flags, Ids, Numbers
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate

__all__ = [
    "BLOCK",
    "among",
    "distinct_ids",
    "distinct_numbers",
    "few_pairs",
    "gathered",
    "group_rows",
    "ordered_by_group",
    "pair_rows",
]

BLOCK: Final = 1 << 20
"""The number of rows between two checks of the limits."""

PAIR: Final = 16
"""The size of a pair of row numbers in bytes."""

SPARSE: Final = 8
"""The ratio of the range of a column's ids to its length above which they are grouped by a hash table."""

Item = TypeVar("Item", bound=np.generic)


class _Labelled:
    """The rows of a table with their labels, and a table from rows to labels: a hash table, or one of all ids in a range.

    Args:
        rows: The rows.
    """

    def __init__(self, rows: Ids) -> None:
        count, self.width = rows.shape
        self.low, span = _range(rows[:, 0]) if self.width == 1 else (0, None)
        """The least id, which has the first slot if there is a slot for each id of the range."""
        self.is_dense = span is not None and span <= SPARSE * count
        self.size = span if span is not None and self.is_dense else 1 << max(4, (2 * count).bit_length())
        current_watch().check(0, 4 * (rows.size + self.size) + 12 * count)
        self.rows = _visible(rows)
        self.slots = allocate(self.size, np.int32, -1)
        self.labels = allocate(count, np.int32)
        self.firsts = allocate(count, np.int64)
        self.groups = 0
        given, labels, firsts = address(self.rows), address(self.labels), address(self.firsts)
        for begin, end in _blocks(count):
            if self.is_dense:
                self.groups = native.label_ids(given, begin, end, self.low, address(self.slots), labels, firsts, self.groups)
            else:
                self.groups = native.label_rows(
                    given, begin, end, self.width, address(self.slots), self.size - 1, labels, firsts, self.groups
                )

    def labels_of(self, rows: Ids) -> Ids:
        """Return the labels of other rows, or -1, in memory that kernels can read."""
        mine, labels = _visible(rows), allocate(len(rows), np.int32)
        for begin, end in _blocks(len(rows)):
            if self.is_dense:
                native.look_up_ids(address(mine), begin, end, self.low, self.size, address(self.slots), address(labels))
            else:
                native.look_up_rows(
                    address(mine),
                    begin,
                    end,
                    address(self.rows),
                    self.width,
                    address(self.slots),
                    self.size - 1,
                    address(self.firsts),
                    address(labels),
                )
        return labels


def _range(ids: npt.NDArray[np.integer[Any]]) -> tuple[int, int]:
    """Return the least of some numbers, and the size of their range."""
    low, high = (int(ids.min()), int(ids.max())) if len(ids) else (0, 0)
    return low, high - low + 1


def group_rows(rows: Ids) -> tuple[Ids, Numbers]:
    """Label equal rows alike.

    Args:
        rows: The rows, shape (n, columns).

    Returns:
        A label for each row (0, 1, 2 ... in order of first occurrence), and the first row of each label.

    >>> labels, firsts = group_rows(np.array([[7, 1], [5, 1], [7, 1]], np.int32))
    >>> labels.tolist(), firsts.tolist()
    ([0, 1, 0], [0, 1])
    """
    if len(rows) == 0:
        return np.empty(0, np.int32), np.empty(0, np.int64)
    found = _Labelled(rows)
    return np.asarray(found.labels[: len(rows)]), np.array(found.firsts[: found.groups])


def among(rows: Ids, others: Ids) -> Flags:
    """Return whether each row of a table is one of the rows of another one.

    >>> among(np.array([[7, 1], [5, 1]], np.int32), np.array([[5, 1], [5, 2]], np.int32)).tolist()
    [False, True]
    """
    labels, firsts = group_rows(np.concatenate([rows, others]))
    occurs = np.zeros(len(firsts), np.bool_)
    occurs[labels[len(rows) :]] = True
    return occurs[labels[: len(rows)]]


def distinct_ids(ids: Ids) -> tuple[Ids, Numbers]:
    """Return the different ids of a column, in order, and for each row the place of its id among them; see `distinct_numbers`.

    >>> [each.tolist() for each in distinct_ids(np.array([7, 5, 7, -1], np.int32))]
    [[-1, 5, 7], [2, 1, 2, 0]]
    """
    distinct, places = distinct_numbers(ids)
    return distinct.astype(np.int32), places


def distinct_numbers(numbers: npt.NDArray[np.integer[Any]]) -> tuple[Numbers, Numbers]:
    """Return the different numbers of a column, in order, and for each row the place of its number among them.

    ``numpy.unique`` gives the same, and sorts the column, which takes longer where most numbers of a range occur.

    >>> [each.tolist() for each in distinct_numbers(np.array([7, 5, 7, 2**52]))]
    [[5, 7, 4503599627370496], [1, 0, 1, 2]]
    """
    low, span = _range(numbers)
    if span > SPARSE * len(numbers):
        distinct, places = np.unique(numbers, return_inverse=True)
        return distinct.astype(np.int64), places.reshape(-1)
    shifted = numbers.astype(np.int64) - low
    occurs = np.zeros(span, np.bool_)
    occurs[shifted] = True
    found = np.flatnonzero(occurs)
    ranks = np.empty(span, np.int64)
    ranks[found] = np.arange(len(found))
    return found + low, ranks[shifted]


def ordered_by_group(labels: Ids, groups: int) -> tuple[Numbers, Numbers]:
    """Order rows by their labels.

    Args:
        labels: The labels of the rows.
        groups: How many labels there are.

    Returns:
        The numbers of the rows, those of a label together and in order, and where each label starts (one item more than labels).
    """
    given, order, starts = _visible(labels), allocate(len(labels), np.int64), allocate(groups + 1, np.int64, 0)
    total = native.sort_by_label(address(given), len(labels), address(starts), groups, address(order))
    return np.asarray(order[:total]), np.asarray(starts[: groups + 1])


def pair_rows(rows: Ids, others: Ids) -> tuple[Numbers, Numbers]:
    """Return all pairs of equal rows of two tables, by their numbers in each, in the order of the first.

    Args:
        rows: A table, shape (n, columns).
        others: Another one, shape (m, columns).

    >>> [each.tolist() for each in pair_rows(np.array([[1], [2]], np.int32), np.array([[2], [1], [2]], np.int32))]
    [[0, 1, 1], [1, 0, 2]]
    """
    found = few_pairs(rows, others, len(rows) * len(others))
    assert found is not None
    return found


def few_pairs(rows: Ids, others: Ids, most: int) -> tuple[Numbers, Numbers] | None:
    """Return the pairs of `pair_rows`, or None if there are more than a number."""
    if len(rows) == 0 or len(others) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if rows.shape[1] == 0:
        return _product(len(rows), len(others)) if len(rows) * len(others) <= most else None
    known = _Labelled(others)
    order, starts = allocate(len(others), np.int64), allocate(known.groups + 1, np.int64, 0)
    native.sort_by_label(address(known.labels), len(others), address(starts), known.groups, address(order))
    labels = known.labels_of(rows)
    total = native.count_pairs(address(labels), len(rows), address(starts))
    if total > most:
        return None
    _check_pairs(total)
    state = allocate(2, np.int64, 0)
    blocks: list[tuple[Numbers, Numbers]] = []
    for begin, end in _blocks(total):
        left, right = allocate(end - begin, np.int64), allocate(end - begin, np.int64)
        native.write_pairs(
            address(labels),
            len(rows),
            address(starts),
            address(order),
            address(left),
            address(right),
            end - begin,
            address(state),
        )
        blocks.append((np.asarray(left), np.asarray(right)))
    if len(blocks) == 1:
        return blocks[0]
    none = np.empty(0, np.int64)
    return np.concatenate([none, *(block[0] for block in blocks)]), np.concatenate([none, *(block[1] for block in blocks)])


def _product(count: int, others: int) -> tuple[Numbers, Numbers]:
    """Return all pairs of the numbers below two numbers.

    Raises:
        LimitError: They are more than the limits allow, or than there is memory for.
    """
    _check_pairs(count * others)
    try:
        left, right = np.empty(count * others, np.int64), np.empty(count * others, np.int64)
    except MemoryError:
        raise LimitError(f"{count * others:,} solutions need more memory than there is") from None
    for begin, end in _blocks(count, max(1, BLOCK // others)):
        pairs = slice(begin * others, end * others)
        left[pairs], right[pairs] = np.repeat(np.arange(begin, end), others), np.tile(np.arange(others), end - begin)
    return left, right


def _check_pairs(count: int) -> None:
    """Check the memory of pairs before it is allocated.

    Raises:
        LimitError: They are more than the limits allow.
    """
    current_watch().check(count, PAIR * count)


def gathered(items: npt.NDArray[Item], numbers: Numbers) -> npt.NDArray[Item]:
    """Return the items (or rows) with some numbers, as ``items[numbers]``."""
    if len(numbers) <= BLOCK:
        return items[numbers]
    shape = (len(numbers), *items.shape[1:])
    current_watch().check(0, items.itemsize * int(np.prod(shape)))
    found = np.empty(shape, items.dtype)
    for begin, end in _blocks(len(numbers)):
        found[begin:end] = items[numbers[begin:end]]
    return found


def _blocks(count: int, size: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the beginnings and ends of blocks, and check the limits before each."""
    watch, size = current_watch(), size or BLOCK
    for begin in range(0, count, size):
        watch.check()
        yield begin, min(begin + size, count)


def _visible(rows: Ids) -> Ids:
    """Return ids in consecutive memory that kernels can read."""
    block: Ids = allocate(max(rows.size, 1), np.int32)
    block[: rows.size] = rows.reshape(-1)
    return block
