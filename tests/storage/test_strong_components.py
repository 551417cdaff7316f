"""Strongly connected components by the kernels, beside those in Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.expressions.edge_aggregates import least_members, levels
from kg_reasoner.storage.recursion.strong_components import StrongComponents
from tests.helpers.effort import examples

NODES = st.integers(0, 9)


@settings(max_examples=examples(500))
@given(st.lists(st.tuples(NODES, NODES), min_size=1, max_size=30))
def test_random_graphs(edges: list[tuple[int, int]]) -> None:
    found = StrongComponents(np.array(edges), 10)
    alone = {node: node for node in range(10)}
    assert dict(enumerate(found.least().tolist())) == alone | least_members(edges, int)
    assert dict(enumerate(found.levels().tolist())) == dict.fromkeys(alone, 0) | levels(edges)


@pytest.mark.parametrize("is_cycle", [False, True])
def test_a_long_path(is_cycle: bool) -> None:
    count = 5000
    edges = [(node, node + 1) for node in range(count - 1)] + ([(count - 1, 0)] if is_cycle else [])
    found = StrongComponents(np.array(edges), count)
    assert found.least().tolist() == ([0] * count if is_cycle else [*range(count)])
    assert found.levels().tolist() == ([0] * count if is_cycle else [*range(count)])
