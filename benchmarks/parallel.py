"""Materialisation and deletion by several threads: ``python -m benchmarks.parallel``.

For each number of threads it shows the wall time, the CPU time of all threads, and the *critical path*: the CPU time of the thread
that waits for the others, plus, each time that threads work together, how long their tasks would take if each thread had a core of
its own and took the next task when it has done one. This is the wall time on a machine with so many free cores; so it also tells
what more threads would gain than there are cores here. With ``--simulate``, no two tasks run at the same time, so that threads do
not disturb each other where there are fewer cores, or others use them. Ratios are those to one thread, in the same run. Wall time
cannot gain more than there are *free cores*: how many times the work of one thread so many do that share nothing, measured before
each run. All rows are compared, in their order.
"""

from __future__ import annotations

import gc
import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from heapq import heapreplace
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.contests import report
from benchmarks.contests.contest import ROOT
from benchmarks.inputs.closure import PROGRAMS
from benchmarks.inputs.jobs import LINEAR, NONLINEAR, OWL2RL, RDFS
from benchmarks.inputs.update_data import Ids, data_folder, lubm
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.free_cores import free_cores
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.concurrency.tasks import Round, Task
from kg_reasoner.storage.parallel import shared_copies
from kg_reasoner.storage.parallel.shared_copies import Copy
from kg_reasoner.storage.parallel.worker import Worker
from kg_reasoner.terms import literal

__all__ = [
    "Run",
    "Times",
    "Workload",
    "deletion_workloads",
    "graph_workloads",
    "lubm_workloads",
    "makespan",
    "measured",
    "table",
    "timed",
    "watched_rounds",
]

T = TypeVar("T")

HALF: Final = 0.5
NODES: Final = 2_000
DEGREE: Final = 20


@dataclass(frozen=True)
class Workload:
    """What is done in a new reasoner with a number of threads."""

    name: str
    make: Callable[[int], Reasoner]
    job: Callable[[Reasoner], object] = Reasoner.materialise


@dataclass(frozen=True)
class Run:
    """Seconds of a materialisation."""

    wall: float
    cpu: float
    critical: float
    free_cores: float = 1.0
    """See `free_cores`."""


@dataclass(frozen=True)
class Times:
    """The medians of all runs of a workload, by the number of threads."""

    workload: str
    facts: int
    runs: dict[int, Run]

    def ratio(self, threads: int) -> float:
        """Return how many times shorter the critical path is than that of one thread."""
        return self.runs[1].critical / self.runs[threads].critical

    def wall_ratio(self, threads: int) -> float:
        """Return how many times shorter the wall time is than that of one thread."""
        return self.runs[1].wall / self.runs[threads].wall


def lubm_workloads(universities: Sequence[int], folder: Path) -> Iterator[Workload]:
    """Yield LUBM in each size under both rule sets, under RDFS also with the data before the ontology."""
    for number in universities:
        for ruleset, data_first in ((OWL2RL, False), (RDFS, False), (RDFS, True)):

            def make(threads: int, number: int = number, ruleset: str = ruleset, data_first: bool = data_first) -> Reasoner:
                return lubm(number, folder, data_first, ruleset=ruleset, threads=threads).reasoner

            yield Workload(f"LUBM({number}), {ruleset}{', data first' * data_first}", make)


def deletion_workloads(universities: Sequence[int], folder: Path) -> Iterator[Workload]:
    """Yield the deletion of half of LUBM's triples, chosen at random, in each size under both rule sets."""
    for number in universities:
        for ruleset in (OWL2RL, RDFS):
            removed: list[Ids] = []

            def make(threads: int, number: int = number, ruleset: str = ruleset, removed: list[Ids] = removed) -> Reasoner:
                data = lubm(number, folder, ruleset=ruleset, threads=threads)
                data.reasoner.materialise()
                removed[:] = [data.data[np.random.default_rng(number).random(len(data.data)) < HALF]]
                return data.reasoner

            def delete(reasoner: Reasoner, removed: list[Ids] = removed) -> None:
                reasoner.remove_triples(removed[0])
                reasoner.materialise()

            yield Workload(f"LUBM({number}), {ruleset}, half of it deleted", make, delete)


def graph_workloads(graph: Path) -> Iterator[Workload]:
    """Yield the transitive closures of a graph, a file with lines ``from to label``."""
    lines = graph.read_text(encoding="ascii").splitlines()
    edges = [(int(start), int(end)) for start, end in dict.fromkeys(tuple(line.split()[:2]) for line in lines)]
    for task in (LINEAR, NONLINEAR):
        yield closure_workload(graph.stem, edges, task)


def random_workload() -> Workload:
    """Return the linear closure of a random graph, in which almost every node reaches every other one."""
    ends = np.random.default_rng(NODES).integers(NODES, size=(NODES, DEGREE)).tolist()
    edges = [(start, end) for start in range(NODES) for end in ends[start]]
    return closure_workload(f"{NODES:,} nodes, {len(edges):,} edges", edges, LINEAR)


def closure_workload(name: str, edges: Sequence[tuple[int, int]], task: str) -> Workload:
    """Return the transitive closure of a graph by one of the `PROGRAMS`."""
    rows = [(literal(start), literal(end)) for start, end in edges]

    def make(threads: int) -> Reasoner:
        reasoner = Reasoner(PROGRAMS[task], threads=threads)
        reasoner.add_facts("edge", rows)
        return reasoner

    return Workload(f"{name}, {task}", make)


@contextmanager
def watched_rounds(simulate: bool = False) -> Iterator[list[float]]:
    """Yield a list to which each round adds how long it takes if each thread has a core of its own (see `makespan`).

    Args:
        simulate: Whether tasks are run one after the other, in one thread.
    """
    longest: list[float] = []
    joins: list[float] = []
    copies: dict[Copy, list[float]] = {}
    run, join, make_copy = Round.run, Worker.join, Worker.copy

    def watched(self: Round, tasks: Iterable[Task], threads: int) -> None:
        found: list[float] = []
        joins.clear()
        copies.clear()
        try:
            run(self, [partial(_timed, task, found) for task in tasks], 1 if simulate else threads)
        finally:
            longest.append(_makespan_of_copies(copies, sum(found), threads) if copies else makespan(joins or found, threads))

    def watched_join(self: Worker, relation: int, low: int, high: int, task: int) -> int:
        return _timed(partial(join, self, relation, low, high, task), joins)

    def watched_copy(self: Worker, copy: Copy) -> bool:
        return _timed(partial(make_copy, self, copy), copies.setdefault(copy, []))

    Round.run, Worker.join, Worker.copy = watched, watched_join, watched_copy  # type: ignore[method-assign]
    try:
        yield longest
    finally:
        Round.run, Worker.join, Worker.copy = run, join, make_copy  # type: ignore[method-assign]


def _timed(function: Callable[[], T], found: list[float]) -> T:
    """Call a function, and add the CPU seconds that its thread has spent in it to a list."""
    begin = time.thread_time()
    try:
        return function()
    finally:
        found.append(time.thread_time() - begin)


def makespan(tasks: Sequence[float], threads: int) -> float:
    """Return how long tasks take if each thread has a core, and takes the next task when it has done one."""
    ends = [0.0] * threads
    for seconds in tasks:
        heapreplace(ends, ends[0] + seconds)
    return max(ends)


def _makespan_of_copies(copies: dict[Copy, list[float]], total: float, threads: int) -> float:
    """Return how long threads take to make copies in a valid order, beside other tasks, which take the rest of a time."""
    others = Copy(0, -1, -1, sum(copy.work for copy in copies) + 1)
    seconds = {copy: found[0] for copy, found in copies.items()}
    seconds[others] = total - sum(seconds.values())
    return shared_copies.makespan(sorted(seconds), seconds.__getitem__, threads)


def timed(job: Callable[[Reasoner], object], reasoner: Reasoner, simulate: bool = False) -> Run:
    """Do a job, and return how long it took."""
    gc.collect()
    with watched_rounds(simulate) as longest:
        before = time.perf_counter(), time.process_time(), time.thread_time()
        job(reasoner)
        wall, cpu, own = (
            now - then for now, then in zip((time.perf_counter(), time.process_time(), time.thread_time()), before, strict=True)
        )
    return Run(wall, cpu, own + sum(longest))


def rows_of(reasoner: Reasoner) -> tuple[int, str]:
    """Return the number of facts, and a digest of all rows in their order."""
    database, digest = reasoner.engine.database, hashlib.sha256()
    for relation in range(len(database.relations)):
        digest.update(f"{relation}:".encode() + database.rows(relation).tobytes())
    return database.count(), digest.hexdigest()


def measured(workload: Workload, threads: Sequence[int], rounds: int, simulate: bool = False) -> Times:
    """Measure each number of threads in turn, so that disturbances affect all of them.

    Raises:
        ClickException: Another number of threads has derived other rows.
    """
    runs: dict[int, list[Run]] = {number: [] for number in threads}
    first: tuple[int, str] | None = None
    for _ in range(rounds):
        for number, found in runs.items():
            reasoner, cores = workload.make(number), free_cores(number)
            found.append(replace(timed(workload.job, reasoner, simulate), free_cores=cores))
            rows = rows_of(reasoner)
            first = first or rows
            if rows != first:
                raise click.ClickException(f"{workload.name}: {number} threads have derived other rows than {threads[0]}")
    assert first is not None
    middle = {
        number: Run(*(median(getattr(run, one.name) for run in found) for one in fields(Run))) for number, found in runs.items()
    }
    return Times(workload.name, first[0], middle)


def table(times: Sequence[Times]) -> Table:
    """One line for each workload and number of threads."""
    made = report.new_table(
        ("", "facts", "threads", "wall s", "× one", "CPU s", "critical path s", "× one", "free cores"),
        title="materialisation, and deletion",
    )
    for each in times:
        for number, run in each.runs.items():
            head = (each.workload, f"{each.facts:,}") if number == min(each.runs) else ("", "")
            wall = f"{run.wall:.3f}", f"{each.wall_ratio(number):.2f}"
            critical = f"{run.critical:.3f}", f"{each.ratio(number):.2f}"
            made.add_row(*head, str(number), *wall, f"{run.cpu:.3f}", *critical, f"{run.free_cores:.2f}")
    return made


@click.command(context_settings=SETTINGS)
@click.option("-u", "--universities", type=click.IntRange(1), multiple=True, default=(5,), show_default=True, help="LUBM's sizes.")
@click.option("-t", "--threads", type=click.IntRange(2, 64), multiple=True, default=(2, 4, 8), show_default=True)
@click.option("--simulate", is_flag=True, help="Run tasks one after the other; the wall time means nothing then.")
@click.option("-r", "--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option(
    "--graph",
    type=click.Path(path_type=Path),
    default=ROOT.parent / "shared" / "suites" / "graphs" / "graph10000.txt",
    help="A file of edges for the closures. [default: ../shared/suites/graphs/graph10000.txt; left out where it is absent]",
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
def main(
    universities: tuple[int, ...],
    threads: tuple[int, ...],
    simulate: bool,
    rounds: int,
    cache: Path | None,
    graph: Path,
    json_file: Path | None,
) -> None:
    """Materialise and delete by one and by several threads, and compare wall time, CPU time and critical path."""
    console, news = Console(), Console(stderr=True)
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), highlight=False, soft_wrap=True)
    times: list[Times] = []
    workloads = [*(graph_workloads(graph) if graph.exists() else ()), random_workload()]
    workloads += lubm_workloads(universities, data_folder(cache))
    workloads += deletion_workloads(universities, data_folder(cache))
    with news.status("making data") as status, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of axioms that rules cannot express
        for workload in workloads:
            status.update(workload.name)
            times.append(measured(workload, (1, *threads), rounds, simulate))
    console.print(table(times))
    if json_file is not None:
        content = {"machine": report.machine(), "times": [asdict(each) for each in times]}
        json_file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.parallel")
