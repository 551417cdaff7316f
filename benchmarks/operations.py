"""Single operations beside another checkout of this package: ``python -m benchmarks.operations --against FOLDER``.

Each run is a process of its own that imports the package of one checkout, and the checkouts take turns. Times are CPU times, the
least of all runs; an operation costs microseconds, so a run repeats it some hundred times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks import report

__all__ = ["MOST", "least", "table"]

ROOT: Final = Path(__file__).resolve().parents[1]

MOST: Final = 1.05
"""The ratio to the other checkout that an operation may reach."""

OPERATIONS: Final = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from rdflib import Graph, Namespace
from kg_reasoner import Reasoner, graph_of
from kg_reasoner.terms import IRI

EX = Namespace("http://example.org/")
reasoner = Reasoner(ruleset="owl2rl")
graph = graph_of(reasoner)
for number in range(3000):
    graph.add((EX[f"s{number}"], EX[f"p{number % 5}"], EX[f"o{number % 50}"]))
graph.commit()
new = [(EX[f"t{number}"], EX.p1, EX.o1) for number in range(200)]
known = [(EX[f"s{number}"], EX[f"p{number % 5}"], EX[f"o{number % 50}"]) for number in range(300)]
encode = lambda text: reasoner.dictionary.encode(IRI(str(EX) + text))
rows = [np.array([[encode(f"n{number}"), encode("p0"), encode(f"n{number + 1}")]], np.int32) for number in range(200)]
query = f"SELECT ?o {{ <{EX.s7}> <{EX.p2}> ?o }}"


def add_and_commit():
    for triple in new:
        graph.add(triple)
        graph.commit()


def remove_and_commit():
    for triple in new:
        graph.remove(triple)
        graph.commit()


def add_lazily():
    for row in rows:
        reasoner.add_triples(row)
        reasoner.materialise()


def remove_lazily():
    for row in rows:
        reasoner.remove_triples(row)
        reasoner.materialise()


def add_ids():
    for row in rows:
        reasoner.add_triples(row)


def remove_ids():
    for row in rows:
        reasoner.remove_triples(row)
    reasoner.materialise()


def add_in_transactions():
    for row in rows:
        with reasoner.transaction() as transaction:
            transaction.add_triples(row)


def remove_in_transactions():
    for row in rows:
        with reasoner.transaction() as transaction:
            transaction.remove_triples(row)


def add_in_one_transaction():
    with reasoner.transaction() as transaction:
        for row in rows:
            transaction.add_triples(row)


def remove_in_one_transaction():
    with reasoner.transaction() as transaction:
        for row in rows:
            transaction.remove_triples(row)


def begin_and_commit():
    for _ in range(200):
        with reasoner.transaction():
            pass


def contains():
    for triple in known:
        triple in graph


def match():
    for subject, _, _ in known:
        list(graph.triples((subject, None, None)))


def size():
    for _ in range(1000):
        len(graph)


def select():
    for _ in range(20):
        list(graph.query(query))


def new_reasoners():
    for _ in range(50):
        Reasoner()


def new_graphs():
    for _ in range(20):
        Graph(store="KGReasoner")


steps = [
    ("graph.add, commit", add_and_commit, 200),
    ("graph.remove, commit", remove_and_commit, 200),
    ("ids added, materialise", add_lazily, 200),
    ("ids removed, materialise", remove_lazily, 200),
    ("ids added", add_ids, 200),
    ("ids removed", remove_ids, 200),
    ("ids added in a transaction", add_in_transactions, 200),
    ("ids removed in a transaction", remove_in_transactions, 200),
    ("ids added, 200 in a transaction", add_in_one_transaction, 200),
    ("ids removed, 200 in a transaction", remove_in_one_transaction, 200),
    ("begin, commit", begin_and_commit, 200),
    ("triple in graph", contains, 300),
    ("graph.triples", match, 300),
    ("len(graph)", size, 1000),
    ("graph.query", select, 20),
    ("Reasoner()", new_reasoners, 50),
    ("Graph(store=...)", new_graphs, 20),
]
best = {}
for _ in range(int(sys.argv[1])):
    for name, step, count in steps:
        before = time.process_time()
        step()
        taken = (time.process_time() - before) / count
        best[name] = min(taken, best.get(name, taken))
print(json.dumps(best))
"""


def run(checkout: Path, repeats: int) -> dict[str, float]:
    """Return the CPU seconds of each operation in a new process that imports the package of a checkout."""
    environment = os.environ | {"PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", OPERATIONS, str(repeats)]
    done = subprocess.run(command, env=environment, cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"{checkout}: {(done.stderr.strip().splitlines() or ['no output'])[-1]}")
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds


def least(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the least seconds of each operation."""
    return {name: min(seconds[name] for seconds in runs) for name in runs[0]}


def table(ours: dict[str, float], theirs: dict[str, float]) -> Table:
    """Return microseconds of each operation in both checkouts, and the ratio."""
    made = report.new_table(("", "here", "there", "here / there"), ("",), title="CPU microseconds of single operations")
    for name, seconds in ours.items():
        ratio = seconds / theirs[name]
        cells = (f"{seconds * 1e6:,.2f}", f"{theirs[name] * 1e6:,.2f}", f"{ratio:.2f}")
        made.add_row(name, *cells, style="" if ratio <= MOST else "bold red")
    return made


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--against", type=click.Path(path_type=Path, file_okay=False, exists=True), required=True, help="Another checkout.")
@click.option("-p", "--processes", type=click.IntRange(min=1), default=5, show_default=True, help="Of each checkout.")
@click.option("-r", "--repeats", type=click.IntRange(min=1), default=10, show_default=True, help="In each process.")
def main(against: Path, processes: int, repeats: int) -> None:
    """Compare single operations of this checkout with those of another one. The exit code is 1 if one is more than 5% slower."""
    console = Console(width=report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    here, there = [], []
    for _ in range(processes):
        here.append(run(ROOT, repeats))
        there.append(run(against.resolve(), repeats))
    ours, theirs = least(here), least(there)
    console.print(table(ours, theirs))
    sys.exit(0 if all(seconds <= MOST * theirs[name] for name, seconds in ours.items()) else 1)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.operations")
