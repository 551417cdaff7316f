"""The benchmark of the ways into rdflib graphs in small: each way is measured. Never how fast."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from benchmarks.parsing import SYNTAXES, beside_rdflib, making, readings, write_documents
from kg_reasoner.lubm import generate


@pytest.mark.filterwarnings("ignore:NTSerializer")
def test_each_way_is_measured(tmp_path: Path) -> None:
    graph, dataset = write_documents(tmp_path, b"".join(islice(generate(1), 1))[:20_000].rpartition(b"\n")[0])
    assert len(graph) == len(dataset) > 50
    found = list(readings(tmp_path, graph, dataset, runs=1))
    assert [reading.name for reading in found[: len(SYNTAXES)]] == [f"parse, {format}" for format in SYNTAXES]
    assert len(found) == len(SYNTAXES) + 5
    assert all(reading.seconds > 0 and reading.ratio == reading.seconds / reading.beside for reading in found)
    found = list(beside_rdflib(graph, dataset, runs=1))
    assert len(found) == 6 and all(reading.ratio > 0 for reading in found)
    assert making(runs=2) > 0
