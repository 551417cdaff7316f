"""The benchmark of tables runs, and its tables are what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.tables import compared, tables
from kg_reasoner import Reasoner


def test_every_way_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    for name, table in tables(50).items():
        found = compared(table, tmp_path, 1)
        assert len(found) == 7 and all(seconds >= 0 for seconds in found.values()), name
        written = Reasoner()
        written.add_table("r", tmp_path / "out.parquet")
        assert len(written.facts("r")) == len({tuple(row.values()) for row in table.to_pylist()})
