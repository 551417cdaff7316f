"""The benchmark of the library of graphs in small: every relation can be measured. Never how fast."""

from __future__ import annotations

import pytest

from benchmarks.library import networkx_seconds, random_edges, seconds


@pytest.mark.parametrize("relation", ["", "node", "source", "component", "strong", "order"])
def test_every_relation_is_measured(relation: str) -> None:
    edges = random_edges(50, 50)
    assert edges == random_edges(50, 50) != random_edges(51, 50)
    assert seconds(relation, edges) >= 0
    assert (networkx_seconds(relation, edges) is None) == (relation in ("", "node", "source"))
