"""The command that asks all systems all queries in one run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import click
from rich.console import Console

from benchmarks.__main__ import machine_memory
from benchmarks.contests.contest import RunLimits
from benchmarks.contests.report import machine
from benchmarks.inputs.update_data import data_folder
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.needs import need_peers
from benchmarks.sparql import report
from benchmarks.sparql.contest import CONTESTANTS, ELSEWHERE, Score, contest
from benchmarks.sparql.data import data_set
from benchmarks.sparql.queries import LUBM, SHOP, Query, all_queries

SIZES = ("1", "5", "50")
PEERS = [one.name for one in CONTESTANTS if one.adapter not in ("ours", ELSEWHERE)]


@click.command(context_settings=SETTINGS, epilog=report.legend())
@click.option(
    "--size", "sizes", type=click.Choice(SIZES), multiple=True, default=("1",), show_default=True, help="LUBM's universities."
)
@click.option("--only", multiple=True, help="Queries by name or pattern: 'LUBM/*', 'university/path-*', 'q0[1-4]'.")
@click.option("--peers", "names", type=click.Choice(PEERS), multiple=True, help="Only these systems besides kg_reasoner.")
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Another checkout of kg_reasoner.",
)
@click.option("-n", "--rounds", type=click.IntRange(1), default=3, show_default=True, help="Repetitions of each query.")
@click.option("--limit", type=click.FloatRange(0.1), default=8, show_default=True, help="Seconds (wall) of a repetition.")
@click.option(
    "--memory", type=click.FloatRange(0.1), default=0.7 * machine_memory(), help="GB that a system may have.", show_default="70%"
)
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def main(
    sizes: tuple[str, ...],
    only: tuple[str, ...],
    names: tuple[str, ...],
    against: Path | None,
    rounds: int,
    limit: float,
    memory: float,
    cache: Path | None,
    form: str,
) -> None:
    """Measure SPARQL queries of kg_reasoner, pyoxigraph, maplib, oxrdflib and rdflib side by side.

    LUBM's 14 queries and others on the same data, and queries on skewed data, all materialised. The exit code is 1 if results
    differ. The peers have to be installed: pip install '.[bench]'. Without some of them, choose others with --peers.
    """
    contestants = [one for one in CONTESTANTS if one.name not in PEERS or not names or one.name in names]
    contestants = [one for one in contestants if one.adapter != ELSEWHERE or against]
    need_peers([(package, package) for one in contestants for package in one.packages], "--peers")
    queries = [query for query in all_queries() if not only or any(_matches(query, pattern) for pattern in only)]
    if not queries:
        raise click.UsageError("no query has such a name (--only)")
    console, notes = Console(), Console(stderr=True)
    console.width = max(console.width, report.WIDTH)
    limits = RunLimits(limit, int(memory * 1e9))
    rows: list[list[Score]] = []
    differ = False
    if form == "table":
        console.print(machine(), report.legend(), sep="\n", highlight=False, soft_wrap=True)
    with notes.status("preparing the data") as status:
        for kind, size, some in workloads(queries, sorted(map(int, sizes))):
            data = data_set(kind, size, data_folder(cache))
            earlier = [score for scores in rows for score in scores]
            found: list[list[Score]] = []
            for scores in contest(data, some, contestants, rounds, limits, earlier, status.update, against):
                found.append(scores)
                for line in report.disagreements(scores):
                    differ = True
                    notes.print(line, style="bold red", highlight=False, markup=False, soft_wrap=True)
            rows += found
            if form == "table":
                console.print(report.query_table(found, contestants))
            status.update("preparing the data")
    if form == "table":
        console.print(report.summary_table(rows, contestants))
    else:
        click.echo(report.as_json(rows))
    ours_failed = any(score.failed for scores in rows for score in scores if score.contestant not in PEERS)
    if differ or ours_failed:
        sys.exit(1)


def _matches(query: Query, pattern: str) -> bool:
    return fnmatchcase(query.label, pattern) or fnmatchcase(query.name, pattern)


def workloads(queries: list[Query], sizes: list[int]) -> Iterator[tuple[str, int, list[Query]]]:
    """Yield the kinds and sizes of data with the queries on them, small ones first."""
    for size in sizes:
        for kind in (LUBM, SHOP):
            if some := [query for query in queries if query.data == kind]:
                yield kind, size, some


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.sparql")
