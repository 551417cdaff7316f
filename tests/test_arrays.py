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
