"""Loading and writing by several threads: ``python -m benchmarks.parallel_files``.

For each number of threads it shows the wall time, the CPU time of all threads, and the *critical path*: the CPU time of the calling
thread, in which each time that threads work together counts as much as the thread with the most work. On a machine with a free core
for each thread, the wall time is the critical path. Ratios are those to the critical path of one thread, in the same run. Ids, rows
and files are compared.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import click
import numpy as np

from benchmarks.inputs.update_data import data_folder
from benchmarks.measuring.commands import SETTINGS
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.concurrency import ordered_work, tasks
from kg_reasoner.io.output import triple_writer
from kg_reasoner.loaders.rdf.readers.reader import read
from kg_reasoner.lubm import generate
from kg_reasoner.storage.parallel import row_ranges, shared_loading
from kg_reasoner.storage.terms.dictionary import Dictionary

UB: Final = {"ub": "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"}


@dataclass(frozen=True)
class Seconds:
    """What a job takes, and a digest of its result."""

    wall: float
    cpu: float
    critical: float
    digest: str


@contextmanager
def watched(corrections: list[float]) -> Iterator[None]:
    """Note, each time that threads work together, by how much the longest of them exceeds the calling one."""

    def run(given: Sequence[tasks.Task], threads: int, pool: tasks.ThreadPool | None = None) -> None:
        times: dict[int, float] = {}

        def timed(task: tasks.Task) -> None:
            before = time.thread_time()
            task()
            thread = threading.get_ident()
            times[thread] = times.get(thread, 0.0) + time.thread_time() - before

        tasks.run_together([partial(timed, task) for task in given], threads, pool)
        corrections.append(max(times.values()) - times.get(threading.get_ident(), 0.0))

    places = ordered_work, row_ranges, shared_loading
    try:
        for place in places:
            place.run_together = run  # type: ignore[attr-defined]
        yield
    finally:
        for place in places:
            place.run_together = tasks.run_together  # type: ignore[attr-defined]


def measured(job: Callable[[], Callable[[], bytes]]) -> Seconds:
    """Run a job, which returns a function for what is compared."""
    corrections: list[float] = []
    with watched(corrections):
        wall, cpu, own = time.perf_counter(), time.process_time(), time.thread_time()
        result = job()
        spent = time.perf_counter() - wall, time.process_time() - cpu, time.thread_time() - own + sum(corrections)
    return Seconds(*spent, hashlib.sha256(result()).hexdigest())


def loading(path: Path, threads: int) -> Callable[[], bytes]:
    """Load a document into a new reasoner."""
    reasoner = Reasoner(ruleset="owl2rl", threads=threads)
    reasoner.load(path)
    return lambda: reasoner.triple_ids().tobytes() + "\n".join(reasoner.dictionary.texts()).encode()


def writing(path: Path, ids: np.ndarray, dictionary: Dictionary, threads: int) -> Callable[[], bytes]:
    """Write triples to a file."""
    with triple_writer(path, prefixes=UB, threads=threads) as write:
        write.ids(ids, dictionary)
    return path.read_bytes


@click.command(context_settings=SETTINGS)
@click.option("-u", "--universities", type=click.IntRange(1), default=5, show_default=True, help="The size of the data.")
@click.option(
    "-n", "--rounds", type=click.IntRange(1), default=3, show_default=True, help="Runs of each, taken in turns; the best counts."
)
@click.option("-t", "--threads", "counts", multiple=True, default=(1, 2, 4), show_default=True, help="Numbers of threads.")
def main(universities: int, rounds: int, counts: tuple[int, ...]) -> None:
    """Measure loading and writing of LUBM by several threads."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = data_folder(None) / f"lubm{universities}" / "data.nt"
        if not source.exists():
            source = folder / "data.nt"
            source.write_bytes(b"".join(generate(universities)))
        dictionary = Dictionary()
        ids = np.concatenate([block.triples for block in read(source, dictionary=dictionary)])
        writing(folder / "data.ttl", ids, dictionary, 1)
        click.echo(f"LUBM({universities}), {len(ids)} triples; seconds\n")
        click.echo(f"{'':12} {'threads':>8} {'wall':>8} {'CPU':>8} {'critical':>9} {'ratio':>7}")
        jobs: dict[str, Callable[[int], Callable[[], bytes]]] = {
            "load nt": partial(loading, source),
            "load ttl": partial(loading, folder / "data.ttl"),
            "write nt": partial(writing, folder / "written.nt", ids, dictionary),
            "write ttl": partial(writing, folder / "written.ttl", ids, dictionary),
        }
        for label, job in jobs.items():
            found: dict[int, list[Seconds]] = {count: [] for count in counts}
            for _ in range(rounds):
                for count in counts:
                    found[count].append(measured(partial(job, count)))
            assert len({one.digest for some in found.values() for one in some}) == 1, "the results differ"
            first = min(one.critical for one in found[counts[0]])
            for count, some in found.items():
                wall, cpu, critical = (min(getattr(one, part) for one in some) for part in ("wall", "cpu", "critical"))
                click.echo(f"{label:12} {count:8} {wall:8.2f} {cpu:8.2f} {critical:9.2f} {first / critical:6.2f}x")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.parallel_files")
