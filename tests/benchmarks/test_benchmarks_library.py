"""The benchmarks of the library of graphs and of members and groups in small: results, never how fast."""

from __future__ import annotations

import pytest

from benchmarks import flat_maps
from benchmarks.library import measured, networkx_seconds, random_edges
from benchmarks.translations import flat_maps_souffle


def test_relations_of_pairs_have_a_fact_for_each() -> None:
    edges = [(0, 1), (1, 2), (2, 0), (2, 3)]
    assert [measured(relation, edges)[1] for relation in ("closure", "steps", "node")] == [12, 12, 4]


@pytest.mark.parametrize("relation", ["", "node", "source", "component", "strong", "order", "closure", "steps"])
def test_every_relation_is_measured(relation: str) -> None:
    edges = random_edges(50, 50)
    assert edges == random_edges(50, 50) != random_edges(51, 50)
    assert (measured(relation, edges)[1] > 0) == bool(relation)
    assert (networkx_seconds(relation, edges) is None) == (relation in ("", "node", "source"))


@pytest.mark.long
def test_souffle_has_the_results_of_flat_maps() -> None:
    if flat_maps_souffle.version() is None:
        pytest.skip("souffle is not on the PATH (https://souffle-lang.github.io)")
    rows = [(f"{number}-a,{number}-b,{number}-c", number) for number in range(1500)]
    found = flat_maps_souffle.in_souffle(rows, compiled=False)
    assert {job: count for job, (_, count) in found.items()} == {
        "copy rows": 1500,
        "add numbers": 1500,
        "the five members of each list": 4500,
        "sums of groups": 1000,
    }


def test_peers_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "")
    assert flat_maps.in_peers([], duckdb=False) == {}
    assert capsys.readouterr().out == "Soufflé is left out: souffle is not on the PATH (https://souffle-lang.github.io)\n"
