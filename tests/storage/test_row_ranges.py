"""Rows in order by several threads are those in order by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies
from hypothesis.extra.numpy import array_shapes, arrays

from kg_reasoner.storage.arrays import Ids, in_order
from kg_reasoner.storage.parallel.row_ranges import in_ranges

ROWS = arrays(np.int32, array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=60), elements=strategies.integers(0, 9))


@given(ROWS.filter(lambda rows: rows.shape[1] > 0), strategies.integers(1, 4))
def test_rows_are_in_order(rows: Ids, threads: int) -> None:
    done: list[int] = []
    found = in_ranges(rows, in_order, threads, [lambda: done.append(1)])
    assert np.array_equal(found, in_order(rows))
    assert done == [1]


def test_errors_reach_the_caller() -> None:
    def fail(rows: Ids) -> Ids:
        raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        in_ranges(np.arange(30, dtype=np.int32).reshape(-1, 3), fail, 2)
