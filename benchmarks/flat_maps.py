"""What the members of collections, functions in Python and aggregates cost, beside a rule without: seconds of CPU, and ratios.

Finally, the time of an update of a single group that has all rows, by a function that is computed again, and by one with a state.

What bounds the sums of groups, beside DuckDB's: the solutions of each group are stored, for later updates (half of the time), and
the values are read from the texts of terms (a quarter). What bounds the members: each is a term of the dictionary, and each fact is
stored once for its list and once for the head.

DuckDB (``--duckdb``) and Soufflé, if ``souffle`` is on the PATH, do the same in the same run, where they have the operation.

python -m benchmarks.flat_maps [ROWS] [--duckdb]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.needs import need_peers
from benchmarks.translations.flat_maps_souffle import in_souffle, version
from kg_reasoner import Reasoner
from kg_reasoner.terms import literal


def as_table(rows: list[tuple[str, int]]) -> Any:
    """Return rows as a table of Arrow, which takes less time to add than terms; as these without Arrow."""
    try:
        import pyarrow
    except ImportError:
        return [(literal(text), literal(number)) for text, number in rows]
    return pyarrow.table({"t": [text for text, _ in rows], "n": [number for _, number in rows]})


def seconds(program: str, lines: Any, prepare: Callable[[Reasoner], None] = lambda reasoner: None) -> float:
    """Return the seconds in which a program derives `out` from a table for `line`."""
    reasoner = Reasoner()
    prepare(reasoner)
    reasoner.add_program(program)
    reasoner.add_facts("line", lines)
    began = time.process_time()
    reasoner.materialise()
    return time.process_time() - began


def registered(*, batch: bool) -> Callable[[Reasoner], None]:
    """Return what registers a function."""

    def prepare(reasoner: Reasoner) -> None:
        one: Callable[[int], int] = lambda number: number + 7  # noqa: E731  # of one row, and of a column
        reasoner.function("f", "integer", returns="integer", batch=batch)((lambda column: [*map(one, column)]) if batch else one)

    return prepare


def update_of_a_group(count: int, *, keeps: bool) -> float:
    """Return the seconds of one change in a group of many rows, aggregated by a function in Python."""
    reasoner = Reasoner()
    remove = (lambda total, number: total - number * number) if keeps else None
    add = lambda total, number: total + number * number  # noqa: E731
    reasoner.reduction("squares", "integer", initial=int, add=add, remove=remove, returns="integer")
    reasoner.add_program("out(?s) :- AGGREGATE(line(?n) BIND squares(?n) AS ?s) .")
    reasoner.add_facts("line", [(literal(number),) for number in range(count)])
    reasoner.materialise()
    began = time.process_time()
    rounds = ROUNDS if keeps else 1
    for number in range(rounds):
        with reasoner.transaction():
            reasoner.remove_facts("line", [(literal(number),)])
            reasoner.add_facts("line", [(literal(-1 - number),)])
    return (time.process_time() - began) / rounds


ROUNDS = 3
SHORTEST = 0.001
"""The least seconds that are compared: those of reading the rows, which vary, have been taken off those of Soufflé."""
GROUPS = "out(?k, ?v) :- AGGREGATE(line(?t, ?n), ?k = ?n % 1000 ON ?k BIND {}(?n) AS ?v) ."

SQL = {
    "copy rows": "SELECT DISTINCT t, n FROM line",
    "add numbers": "SELECT DISTINCT n, n + 7 FROM line",
    "the five members of each list": "SELECT DISTINCT n, unnest(string_split(t, ',')) FROM line",
    "sums of groups": "SELECT n % 1000, sum(n) FROM line GROUP BY 1",
    "lists of groups": "SELECT n % 1000, list(n ORDER BY n) FROM line GROUP BY 1",
}


def in_duckdb(rows: list[tuple[str, int]]) -> dict[str, float]:
    """Return the seconds of CPU that DuckDB takes to make tables of the results."""
    import duckdb

    connection = duckdb.connect()
    connection.register("given", as_table(rows))
    connection.execute("CREATE TABLE line AS SELECT * FROM given")
    found = {}
    for name, query in SQL.items():
        began = time.process_time()
        connection.execute(f"CREATE OR REPLACE TABLE out AS {query}")
        found[name] = time.process_time() - began
    return found


def in_peers(rows: list[tuple[str, int]], *, duckdb: bool) -> dict[str, dict[str, float]]:
    """Return the seconds of others by job; those that are not there are named, and left out."""
    found = {"DuckDB": in_duckdb(rows)} if duckdb else {}
    souffle = version()
    if souffle is None:
        click.echo("Soufflé is left out: souffle is not on the PATH (https://souffle-lang.github.io)")
        return found
    for way in ("compiled", "interpreted"):
        times = in_souffle(rows, compiled=way == "compiled")
        found[f"Soufflé {souffle}, {way}"] = {name: taken for name, (taken, _) in times.items()}
    return found


@click.command(context_settings=SETTINGS)
@click.argument("count", metavar="[ROWS]", type=click.IntRange(min=1), default=100_000)
@click.option("--duckdb", is_flag=True, help="Compare with DuckDB.")
def main(count: int, duckdb: bool) -> None:
    """Print a line for each way, and how many times as long it takes as copying."""
    if duckdb:
        need_peers([("DuckDB", "duckdb")], "no --duckdb")
    rows = [(",".join(f"{number}-{place}" for place in range(5)), number) for number in range(count)]
    lines = as_table(rows)
    called = "out(?n, f(?n)) :- line(_, ?n) ."
    jobs: dict[str, Callable[[], float]] = {
        "copy rows": lambda: seconds("out(?t, ?n) :- line(?t, ?n) .", lines),
        "add numbers": lambda: seconds("out(?n, ?n + 7) :- line(_, ?n) .", lines),
        "a function in Python, row by row": lambda: seconds(called, lines, registered(batch=False)),
        "a function in Python, of columns": lambda: seconds(called, lines, registered(batch=True)),
        "the five members of each list": lambda: seconds('out(?n, ?x) :- line(?t, ?n), ?x IN SPLIT(?t, ",") .', lines),
        "sums of groups": lambda: seconds(GROUPS.format("SUM"), lines),
        "lists of groups": lambda: seconds(GROUPS.format("LIST"), lines),
    }
    peers = in_peers(rows, duckdb=duckdb)
    copying = 0.0
    for name, job in jobs.items():
        taken = job()
        copying = copying or taken
        click.echo(f"{name:34} {taken:7.2f} s  {taken / count * 1e6:7.1f} µs a row  {taken / max(copying, 1e-9):8.1f}")
        for peer, found in peers.items():
            if name in found:
                ratio = f"ratio {taken / found[name]:7.1f}" if found[name] >= SHORTEST else "too short for a ratio"
                click.echo(f"    {peer:30} {found[name]:7.2f} s, {ratio}")
    computed, kept = (update_of_a_group(count, keeps=keeps) for keeps in (False, True))
    click.echo(f"a change in a group of all rows: {computed * 1e3:.2f} ms computed again, {kept * 1e3:.2f} ms with a state")


if __name__ == "__main__":
    main()
