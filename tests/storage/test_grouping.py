"""Grouping, pairing and comparing rows, against Python's own."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.grouping import among, group_rows, pair_rows

Rows = list[tuple[int, ...]]


def tables(count: int) -> st.SearchStrategy[list[Rows]]:
    """Return tables with the same columns; sometimes with ids so far apart that one column is grouped by a hash table."""
    near, far = st.integers(-3, 3), st.sampled_from([-5, -1, 0, 7, 2**30, 2**31 - 1, -(2**31)])
    return st.tuples(st.integers(0, 3), st.sampled_from([near, far])).flatmap(
        lambda given: st.lists(st.lists(st.tuples(*[given[1]] * given[0]), max_size=120), min_size=count, max_size=count)
    )


def array(rows: Rows, width: int) -> Ids:
    return np.array(rows, np.int32).reshape(len(rows), width)


def width_of(*parts: Rows) -> int:
    return next((len(row) for rows in parts for row in rows), 0)


@given(tables(1))
def test_groups(given: list[Rows]) -> None:
    rows = given[0]
    labels, firsts = group_rows(array(rows, width_of(rows)))
    different = list(dict.fromkeys(rows))
    assert labels.tolist() == [different.index(row) for row in rows]
    assert firsts.tolist() == [rows.index(row) for row in different]


@given(tables(2))
def test_pair_rows_finds_all_pairs_of_equal_rows(given: list[Rows]) -> None:
    rows, others = given
    width = width_of(rows, others)
    found = pair_rows(array(rows, width), array(others, width))
    expected = [(one, other) for one, row in enumerate(rows) for other, match in enumerate(others) if row == match]
    assert list(zip(*(numbers.tolist() for numbers in found), strict=True)) == expected


@given(tables(2))
def test_among_tells_which_rows_are_among_others(given: list[Rows]) -> None:
    rows, others = given
    width = width_of(rows, others)
    assert among(array(rows, width), array(others, width)).tolist() == [row in others for row in rows]
