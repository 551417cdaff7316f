"""The command that measures all contestants on all workloads in one run."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console

from benchmarks.contests import report
from benchmarks.contests.contest import CONTESTANTS, OURS, ROOT, Contestant, Entry, RunLimits, contest
from benchmarks.inputs.data import graph_job, lubm_job
from benchmarks.inputs.jobs import DLP, LINEAR, NONLINEAR, OWL2RL, RDFS, Job
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.needs import need_peers, plot_option

TASKS = {"rdfs": RDFS, "dlp": DLP, "owl2rl": OWL2RL, "linear": LINEAR, "nonlinear": NONLINEAR}


def machine_memory() -> float:
    """Return the machine's memory in GB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


@click.command(context_settings=SETTINGS, epilog=report.legend())
@click.option(
    "-u", "--universities", type=click.IntRange(1), multiple=True, default=(1, 5), show_default=True, help="LUBM's sizes."
)
@click.option("--large", is_flag=True, help="LUBM(50) too: 6.7 million triples.")
@click.option("-t", "--task", "tasks", type=click.Choice(list(TASKS)), multiple=True, default=list(TASKS), help="Only these tasks.")
@click.option(
    "-c", "--contestant", "names", type=click.Choice([one.name for one in CONTESTANTS]), multiple=True, help="Only these."
)
@click.option("-n", "--rounds", type=click.IntRange(1), default=3, show_default=True, help="Runs of each, taken in turns.")
@click.option(
    "--limit", type=click.FloatRange(1), default=180, show_default=True, help="Seconds (wall) after which a run is stopped."
)
@click.option(
    "--memory", type=click.FloatRange(0.1), default=0.7 * machine_memory(), help="GB that a run may have.", show_default="70%"
)
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
@click.option(
    "--graphs",
    type=click.Path(path_type=Path),
    default=ROOT.parent / "shared" / "suites" / "graphs",
    help="Folder of the graphs for the closures: *.txt with lines 'from to label'. [default: ../shared/suites/graphs]",
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write everything that was measured.")
@plot_option("the CPU seconds")
def main(
    universities: tuple[int, ...],
    large: bool,
    tasks: tuple[str, ...],
    names: tuple[str, ...],
    rounds: int,
    limit: float,
    memory: float,
    cache: Path | None,
    graphs: Path,
    json_file: Path | None,
    plot_file: Path | None,
) -> None:
    """Measure kg_reasoner and other systems side by side: CPU seconds, memory, bytes a fact.

    LUBM under rdfs (six rules), dlp (the rules of the ontology's axioms) and owl2rl (these and more), and the transitive closure
    of graphs, by linear and by non-linear rules. Every run is a process of its own. Nemo, reasonable, owlrl, DuckDB and maplib are
    installed by pip install '.[bench]'; vlog and souffle take part if they are on the PATH. Missing systems are named and left out.

    Other benchmarks are commands of their own, python -m benchmarks.NAME: benchmarks/README.md lists them by subject.
    """
    folder = cache or Path(tempfile.gettempdir()) / "kg-reasoner-benchmarks"
    sizes = sorted({*universities, *((50,) if large else ())})
    console, notes = Console(), Console(stderr=True)
    contestants = present(names, notes)
    console.width = max(console.width, report.WIDTH)
    console.print(report.machine(), report.legend(), sep="\n", highlight=False, soft_wrap=True)
    entries: list[Entry] = []
    with notes.status("preparing the data") as status:
        for job in jobs(sizes, [TASKS[task] for task in tasks], graphs, folder, notes):
            found = contest(job, contestants, rounds, RunLimits(limit, int(memory * 1e9)), entries, status.update)
            entries += found
            console.print(report.table(job, found))
            for line in report.disagreements(found):
                console.print(line, style="bold red", highlight=False, markup=False)
            for line in report.agreement(found):
                console.print(line, highlight=False, markup=False, soft_wrap=True)
            status.update("preparing the data")
    if not entries:
        raise click.ClickException("nothing was measured")
    if json_file is not None:
        report.write_json(json_file, entries)
    if plot_file is not None:
        report.write_plot(plot_file, entries)
    if any(entry.failed and entry.contestant == OURS for entry in entries):
        sys.exit(1)


def present(names: tuple[str, ...], notes: Console) -> list[Contestant]:
    """Return the contestants that can run, and name those that are missing.

    Raises:
        click.ClickException: One of those with these `names` is missing.
    """
    chosen = [one for one in CONTESTANTS if not names or one.name in names]
    if names:
        need_peers([(one.name, one.package) for one in chosen if one.package], "--contestant")
    missing = [line for one in chosen if (line := one.missing())]
    if names and missing:
        raise click.ClickException("\n".join(missing))
    for line in missing:
        notes.print(f"left out: {line}", markup=False, highlight=False, soft_wrap=True)
    return [one for one in chosen if not one.missing()]


def jobs(sizes: list[int], tasks: list[str], graphs: Path, folder: Path, notes: Console) -> Iterator[Job]:
    """Yield the jobs, small ones first; the data of each are generated on demand."""
    for task in tasks:
        if task in (RDFS, DLP, OWL2RL):
            yield from (lubm_job(size, task, folder) for size in sizes)
    closures = [task for task in tasks if task in (LINEAR, NONLINEAR)]
    files = sorted(graphs.glob("*.txt"), key=lambda path: path.stat().st_size)
    if closures and not files:
        notes.print(f"no closures: {graphs} has no graphs (*.txt); name their folder with --graphs", markup=False)
    yield from (graph_job(file, task, folder) for file in files for task in closures)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
