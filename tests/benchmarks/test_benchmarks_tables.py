"""The benchmarks of tables and of the shell run, and their data are what they say."""

from __future__ import annotations

from pathlib import Path

from benchmarks.shell import scripts, seconds
from benchmarks.tables import compared, tables
from kg_reasoner import Reasoner
from tests.helpers.extras import needed


def test_every_way_is_measured(tmp_path: Path) -> None:
    needed("duckdb")
    for name, table in tables(50).items():
        found = compared(table, tmp_path, 1)
        assert len(found) == 7 and all(seconds >= 0 for seconds in found.values()), name
        written = Reasoner()
        written.add_table("r", tmp_path / "out.parquet")
        assert len(written.facts("r")) == len({tuple(row.values()) for row in table.to_pylist()})


def test_scripts_of_the_shell_are_measured() -> None:
    for name, script in scripts(30).items():
        assert len(script) == 30 and seconds(script, 1) > 0, name
