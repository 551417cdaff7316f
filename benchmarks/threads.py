"""Queries per second from one reasoner by several threads: ``python -m benchmarks.threads``.

The query looks for triangles in a graph with few of them, so the engine's joins take nearly all of the time: many pairs of sides
exist, and a third side closes few of them. The `Reasoner` is queried for ids, and an rdflib graph by SPARQL, which adds the parts
in Python. LUBM's query 9 shows the effect of creating terms for many solutions in Python. The upper bound is one times the number
of cores.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.contests import report
from benchmarks.inputs.update_data import data_folder, little_garbage, lubm
from benchmarks.measuring.commands import SETTINGS
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.lubm import queries
from kg_reasoner.query.patterns import answers
from kg_reasoner.terms import IRI, Triple

if TYPE_CHECKING:
    from rdflib import Graph

__all__ = ["Rate", "ThreadWorkload", "measured", "rate", "table", "triangles", "workloads"]

THREADS: Final = (1, 2, 4)
PLANTED: Final = 10
"""Triangles that there are."""

SIDES: Final = tuple(IRI(f"http://example.org/side{number}") for number in range(3))


@dataclass(frozen=True)
class ThreadWorkload:
    """A question that threads ask repeatedly."""

    name: str
    ask: Callable[[], int]
    """Asks once. Returns how many solutions there are."""
    solutions: int


@dataclass(frozen=True)
class Rate:
    """Queries per second of one workload by the number of threads; medians of all rounds."""

    workload: str
    solutions: int
    rates: dict[int, float]

    def ratio(self, threads: int) -> float:
        """Return the rate as a multiple of that of one thread."""
        return self.rates[threads] / self.rates[min(self.rates)]


def triangles(nodes: int, degree: int, seed: int = 0) -> Iterator[Triple]:
    """Yield a graph of three layers. Two sides lead to nodes of the same colour and the third to the other colour, so that only the
    `PLANTED` triangles are closed, which the sizes of the relations do not reveal.
    """
    random = Random(seed)
    for number, side in enumerate(SIDES):
        for node in range(nodes):
            for other in random.sample(range(nodes // 2), degree):
                end = 2 * other + (node + (number == 2)) % 2
                yield _node(number, node), side, _node((number + 1) % 3, end)
        for node in range(PLANTED):
            yield _node(number, node), side, _node((number + 1) % 3, node)


def _node(layer: int, number: int) -> IRI:
    return IRI(f"http://example.org/{layer}/{number}")


def workloads(nodes: int, degree: int, folder: Path) -> Iterator[ThreadWorkload]:
    """Yield all workloads, each run once to make plans and indexes."""
    reasoner = Reasoner(ruleset="owl2rl")
    reasoner.add_triples(triangles(nodes, degree))
    reasoner.materialise()
    sides = [reasoner.dictionary.find(side) for side in SIDES]
    patterns = [("a", sides[0], "b"), ("b", sides[1], "c"), ("c", sides[2], "a")]
    body = " . ".join(
        f"?{name} <{side.value}> ?{'bca'[number]}" for number, (name, side) in enumerate(zip("abc", SIDES, strict=True))
    )
    university = lubm(1, folder, ruleset="owl2rl").reasoner
    asked: list[tuple[str, Callable[[], int]]] = [
        ("triangles, ids from the Reasoner", lambda: len(answers(reasoner, patterns, ["a", "b", "c"]))),
        ("triangles, SPARQL of an rdflib graph", _sparql(reasoner, f"SELECT * {{ {body} }}")),
        ("LUBM's query 9, SPARQL of an rdflib graph", _sparql(university, queries()["q09"])),
    ]
    for name, ask in asked:
        yield ThreadWorkload(name, ask, ask())


def _sparql(reasoner: Reasoner, text: str) -> Callable[[], int]:
    from rdflib import Graph
    from rdflib.plugins.sparql import prepareQuery

    from kg_reasoner.rdflib_store import KGReasonerStore

    graph: Graph = Graph(store=KGReasonerStore(reasoner))
    query = prepareQuery(text)
    return lambda: len(graph.query(query))


def rate(workload: ThreadWorkload, threads: int, seconds: float) -> float:
    """Return the queries per second by a number of threads.

    Raises:
        ClickException: An answer was wrong, or none.
    """
    counts, failures = [0] * threads, list[str]()
    ready, stop = threading.Barrier(threads + 1), threading.Event()

    def work(number: int) -> None:
        ready.wait()
        try:
            while not stop.is_set():
                found = workload.ask()
                if found != workload.solutions:
                    failures.append(f"{found} solutions, not {workload.solutions}")
                counts[number] += 1
        except Exception as error:
            failures.append(repr(error))

    workers = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(threads)]
    for worker in workers:
        worker.start()
    ready.wait()
    begin = time.perf_counter()
    stop.wait(seconds)
    stop.set()
    for worker in workers:
        worker.join()
    passed = time.perf_counter() - begin
    if failures:
        raise click.ClickException(f"{workload.name}, {threads} threads: {failures[0]}")
    return sum(counts) / passed


def measured(workload: ThreadWorkload, rounds: int, seconds: float) -> Rate:
    """Measure each number of threads in turn, so that disturbances affect all of them."""
    rates: dict[int, list[float]] = {threads: [] for threads in THREADS}
    for _ in range(rounds):
        for threads, found in rates.items():
            found.append(rate(workload, threads, seconds))
    return Rate(workload.name, workload.solutions, {threads: median(found) for threads, found in rates.items()})


def table(rates: list[Rate]) -> Table:
    """One line for each workload."""
    counts = (name for threads in THREADS for name in ([str(threads), "× one"] if threads > 1 else [str(threads)]))
    made = report.new_table(("", "solutions", *counts), title="queries a second, by the number of threads")
    for each in rates:
        cells = [each.workload, f"{each.solutions:,}"]
        for threads in THREADS:
            cells += [f"{each.rates[threads]:,.1f}", *([f"{each.ratio(threads):.2f}"] if threads > 1 else [])]
        made.add_row(*cells)
    return made


@click.command(context_settings=SETTINGS)
@click.option("-n", "--nodes", type=click.IntRange(40), default=4000, show_default=True, help="Nodes of each layer.")
@click.option("-d", "--degree", type=click.IntRange(1), default=20, show_default=True, help="Sides that begin at a node.")
@click.option(
    "-s", "--seconds", type=click.FloatRange(0, min_open=True), default=2.0, show_default=True, help="How long the threads ask."
)
@click.option("-r", "--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
def main(nodes: int, degree: int, seconds: float, rounds: int, cache: Path | None, json_file: Path | None) -> None:
    """Ask one reasoner by 1, 2 and 4 threads, and compare the queries that are answered in a second."""
    console, news = Console(), Console(stderr=True)
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    rates: list[Rate] = []
    with news.status("making data") as status, little_garbage():
        for workload in workloads(nodes, degree, data_folder(cache)):
            status.update(workload.name)
            rates.append(measured(workload, rounds, seconds))
    console.print(table(rates))
    if json_file is not None:
        content = {"machine": report.machine(), "rates": [asdict(each) for each in rates]}
        json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.threads")
