"""How cost grows with the data: ``python -m benchmarks.scale -u 50 -u 200``. LUBM of several sizes, loaded and materialised.

Every run is a process of its own, with one thread, or as many as ``--threads`` says: then the wall time counts. The data are
generated once: LUBM(200) has 26.8 million triples, in a file of 4.7 GB; LUBM(1000) five times as many.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from benchmarks.contests.contest import CONTESTANTS, OURS, RunLimits, contest
from benchmarks.contests.report import machine, new_table
from benchmarks.inputs.data import lubm_files
from benchmarks.inputs.jobs import DLP, OWL2RL, RDFS, Job
from benchmarks.measuring.commands import SETTINGS
from benchmarks.measuring.measure import Measurement

__all__ = ["Scale", "main", "rows"]

COLUMNS = (
    "",
    "explicit",
    "all facts",
    "load",
    "materialise",
    "load µs",
    "materialise µs",
    "load ×",
    "materialise ×",
    "peak GB",
    "bytes/fact",
    "load wall",
    "mat. wall",
)


@dataclass(frozen=True)
class Scale:
    """The best run of one size."""

    size: int
    best: Measurement

    @property
    def load(self) -> float:
        """CPU microseconds for loading an explicit triple."""
        return 1e6 * self.best.load_cpu / max(1, self.best.inputs or 0)

    @property
    def materialise(self) -> float:
        """CPU microseconds for materialising, by all facts there are then."""
        return 1e6 * self.best.materialise_cpu / max(1, self.best.facts)


def rows(measured: Iterable[Scale]) -> Iterator[list[str]]:
    """Yield the rows of the table: seconds, then microseconds a triple, and how these compare with the smallest size."""
    first: Scale | None = None
    for scale in measured:
        first = first or scale
        best = scale.best
        yield [
            f"LUBM({scale.size})",
            f"{best.inputs or 0:,}",
            f"{best.facts:,}",
            f"{best.load_cpu:.2f}",
            f"{best.materialise_cpu:.2f}",
            f"{scale.load:.2f}",
            f"{scale.materialise:.3f}",
            f"{scale.load / first.load:.2f}",
            f"{scale.materialise / first.materialise:.2f}",
            f"{best.peak_bytes / 1e9:.2f}",
            f"{best.bytes_per_fact or 0:.0f}",
            f"{best.load_wall:.2f}",
            f"{best.materialise_wall:.2f}",
        ]


def measured(sizes: Iterable[int], task: str, rounds: int, limits: RunLimits, folder: Path, threads: int = 1) -> Iterator[Scale]:
    """Yield the best of some runs of each size, in seconds of loading and materialising.

    Raises:
        click.ClickException: A run failed, or went over a limit.
    """
    ours = [one for one in CONTESTANTS if one.name == OURS]
    for size in sizes:
        files = {kind: str(path) for kind, path in lubm_files(size, folder).items()}
        job = Job(f"LUBM({size})", task, files, threads)
        (entry,) = contest(job, ours, rounds, limits)
        if not entry.rounds:
            raise click.ClickException(f"{job.workload}: {entry.remark}")
        yield Scale(size, min(entry.rounds, key=lambda run: run.total_cpu))


@click.command(context_settings=SETTINGS)
@click.option(
    "-u", "--universities", type=click.IntRange(1), multiple=True, default=(5, 50), show_default=True, help="LUBM's sizes."
)
@click.option("-t", "--task", type=click.Choice([RDFS, DLP, OWL2RL]), default=OWL2RL, show_default=True, help="The rules.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Threads that work together.")
@click.option("-n", "--rounds", type=click.IntRange(1), default=1, show_default=True, help="Runs of each size.")
@click.option(
    "--limit", type=click.FloatRange(1), default=3600, show_default=True, help="Seconds (wall) after which a run is stopped."
)
@click.option("--memory", type=click.FloatRange(0.1), default=64, show_default=True, help="GB that a run may have.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder for the generated data. [default: in the temporary folder]")
def main(
    universities: tuple[int, ...], task: str, threads: int, rounds: int, limit: float, memory: float, cache: Path | None
) -> None:
    """Measure how the CPU time of loading and materialising grows with the data."""
    folder = cache or Path(tempfile.gettempdir()) / "kg-reasoner-benchmarks"
    caption = "CPU seconds; µs: for each explicit triple, for each fact in the end; ×: times those of the smallest size"
    table = new_table(COLUMNS, title=f"{task}, {threads} thread{'s' * (threads > 1)}: growth with the data", caption=caption)
    sizes, limits = sorted(set(universities)), RunLimits(limit, int(memory * 1e9))
    for row in rows(measured(sizes, task, rounds, limits, folder, threads)):
        table.add_row(*row)
    console = Console()
    console.width = max(console.width, 160)
    console.print(machine(), table, sep="\n", highlight=False)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.scale")
