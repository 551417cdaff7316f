"""DuckDB: our rules as SQL, semi-naive (`benchmarks.translations.sql_rules`).

It reads N-Triples as lines of text, and numbers the terms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.inputs.jobs import Job
from benchmarks.measuring.measure import Count, Measurement, Stages, contestant, measure
from benchmarks.translations.sql_rules import Script, Stage, Step


class DuckDB:
    """The database of one run."""

    def __init__(self, script: Script) -> None:
        self.script = script

    def start(self) -> None:
        import duckdb

        self.execute = duckdb.connect().execute
        self.execute("SET threads = 1")

    def load(self, job: Job) -> None:
        for statement in self.script.read:
            self.execute(statement)

    def materialise(self, job: Job) -> None:
        for statement in self.script.constants:
            self.execute(statement)
        for stage in self.script.stages:
            for statement in stage.once:
                self.execute(statement)
            self.loop(stage)

    def loop(self, stage: Stage) -> None:
        """Run the loop of a stage."""
        used = {name for step in stage.loop for name in step.reads}
        for name in used:
            self.be_new(name, name)
        fresh, number = used, 0
        while fresh:
            number += 1
            found = {
                step.table: table for step in stage.loop if fresh.intersection(step.reads) and (table := self.rows_of(step, number))
            }
            for name, table in found.items():
                self.execute(f"INSERT INTO {name} FROM {table}")
            for name in used:
                self.be_new(name, found.get(name, f"(SELECT * FROM {name} LIMIT 0)"))
            fresh = used & found.keys()

    def rows_of(self, step: Step, number: int) -> str | None:
        """Make the table of the rows that are new in a round, and return its name; None if there are no such rows."""
        table = f"{step.table}_new{number}"
        self.execute(f"CREATE TEMP TABLE {table} AS {step.query}")
        return table if self.size(table) else None

    def be_new(self, name: str, rows: str) -> None:
        """Say which rows of a table are new for the next round."""
        self.execute(f"CREATE OR REPLACE TEMP VIEW {name}_delta AS SELECT * FROM {rows}")

    def size(self, table: str) -> int:
        row: Any = self.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(row[0])

    def count(self, job: Job) -> Count:
        facts = sum(map(self.size, self.script.tables))
        return Count(facts, facts)

    def write(self, job: Job, path: Path) -> None:
        self.execute(f"COPY ({self.script.triples}) TO '{path}' (FORMAT csv, HEADER false, QUOTE '', DELIMITER '\t')")


def main(job: Job) -> Measurement:
    peer = DuckDB(Script.read_from(Path(job.files["duckdb"])))
    return measure(Stages("duckdb", peer.start, peer.load, peer.materialise, peer.count, write=peer.write), job)


if __name__ == "__main__":
    contestant(main)
