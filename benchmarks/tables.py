"""Tables to facts and back, beside DuckDB: ``python -m benchmarks.tables``.

Each table has a million rows. CPU seconds, the best of several runs, all in one process.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.measuring.commands import SETTINGS
from kg_reasoner.api.reasoner import Reasoner

__all__ = ["compared", "tables"]

_TYPES: Final = {"int64": "integer", "string": "string", "double": "double"}


def tables(rows: int) -> dict[str, Any]:
    """Return tables of Arrow: integers that repeat, integers of which each occurs once, and strings with numbers."""
    import pyarrow

    random = np.random.default_rng(0)
    people = np.array([f"person {number}" for number in range(max(1, rows // 10))])
    items = np.array([f"item {number}" for number in range(1000)])
    return {
        "integers": pyarrow.table({name: random.integers(0, max(2, rows // 10), rows) for name in ("source", "target")}),
        "distinct integers": pyarrow.table({"id": np.arange(rows), "of": random.integers(0, 1000, rows)}),
        "strings": pyarrow.table(
            {
                "who": pyarrow.array(people[random.integers(0, len(people), rows)]),
                "what": pyarrow.array(items[random.integers(0, len(items), rows)]),
                "price": random.integers(0, 1000, rows) / 4,
            }
        ),
    }


def compared(table: Any, folder: Path, times: int) -> dict[str, float]:
    """Return the CPU seconds of each way of a table, by name."""
    import duckdb
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, folder / "r.parquet")
    pyarrow.csv.write_csv(table, folder / "r.csv")
    declared = ", ".join(f"{field.name}: {_TYPES[str(field.type)]}" for field in table.schema)

    def reasoner() -> Reasoner:
        return Reasoner(f"input relation r({declared}) .")

    def reading(source: Any) -> Callable[[], object]:
        made = reasoner()
        return lambda: made.add_table("r", source, header=True)

    filled = reasoner()
    filled.add_table("r", table)
    facts = filled.facts("r", "explicit")
    return {
        "Parquet to facts": _best(lambda: reading(folder / "r.parquet"), times),
        "CSV to facts": _best(lambda: reading(folder / "r.csv"), times),
        "Arrow to facts": _best(lambda: reading(table), times),
        "facts to Arrow": _best(lambda: facts.to_arrow, times),
        "facts to Parquet": _best(lambda: lambda: facts.write(folder / "out.parquet"), times),
        "DuckDB from Parquet": _best(lambda: lambda: duckdb.sql(_created(folder / "r.parquet")), times),
        "DuckDB from CSV": _best(lambda: lambda: duckdb.sql(_created(folder / "r.csv")), times),
    }


def _created(path: Path) -> str:
    return f"CREATE OR REPLACE TABLE r AS SELECT * FROM '{path}'"


def _best(prepare: Callable[[], Callable[[], object]], times: int) -> float:
    best = float("inf")
    for _ in range(times):
        run = prepare()
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


@click.command(context_settings=SETTINGS)
@click.option("--rows", type=click.IntRange(1), default=1_000_000, show_default=True, help="The rows of each table.")
@click.option("--times", type=click.IntRange(1), default=3, show_default=True, help="The runs, of which the best counts.")
def main(rows: int, times: int) -> None:
    """Compare ways from tables to facts and back."""
    shown = Table("CPU seconds", *(found := tables(rows)))
    with tempfile.TemporaryDirectory() as folder:
        columns = [compared(table, Path(folder), times) for table in found.values()]
    for way in columns[0]:
        shown.add_row(way, *(f"{column[way]:.2f}" for column in columns))
    Console().print(shown)


if __name__ == "__main__":
    main()
