"""Different ids and rows of columns, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from kg_reasoner.storage.arrays import unique_ids, unique_rows


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize(("size", "span"), [(0, 1), (5, 9), (3000, 50), (3000, 20_000), (3000, 1_000_000)])
def test_different_ids_are_those_of_numpy(size: int, span: int, kind: type[np.integer]) -> None:
    """Few ids, and many of a narrow or a wide range, also beyond 32 bits."""
    shift = 2**33 if kind is np.int64 else -7
    ids = (np.random.default_rng(size + span).integers(0, span, size) + shift).astype(kind)
    found = unique_ids(ids)
    assert found.dtype == kind
    assert found.tolist() == np.unique(ids).tolist()
    assert unique_rows(ids.reshape(-1, 1)).tolist() == np.unique(ids).reshape(-1, 1).tolist()


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("columns", [2, 3, 5])
@pytest.mark.parametrize(("size", "span"), [(0, 1), (5, 9), (3000, 1), (3000, 8), (3000, 2**20), (3000, 2**31 - 1)])
def test_different_rows_are_those_of_numpy(size: int, span: int, columns: int, kind: type[np.integer]) -> None:
    """Columns that fit in an integer together, and others, with values from -1 on, also beyond 32 bits."""
    rows = (np.random.default_rng(size + span).integers(0, span, (size, columns)) - 1).astype(kind)
    rows[:, 0] %= 7
    rows[:, 0] -= 2
    if kind is np.int64:
        rows += 2**40
    found = unique_rows(rows)
    assert found.dtype == kind
    assert found.tolist() == np.unique(rows, axis=0).tolist()


def test_the_widest_rows_that_fit_in_an_integer() -> None:
    """63 bits in all: the greatest key is the greatest integer."""
    rows = np.array([[2**31 - 1, 2**31 - 1, 1], [0, 0, 0], [2**31 - 1, 0, 1], [0, 2**31 - 1, 0]] * 500, np.int32)
    assert unique_rows(rows).tolist() == np.unique(rows, axis=0).tolist()
