"""OWL 2 EL beside ELK: ``python -m benchmarks.el``. Each system classifies the same ontology from a file in a process of its own.

ELK is the standalone program of Maven Central, ``org.semanticweb.elk:elk-standalone``: say where it is with ``--elk`` or the
variable ``KG_REASONER_ELK``. Seconds and memory are those of the whole process, from its start to the complete or written
hierarchy; both run with one thread, ELK with the memory that Java chooses unless ``--heap`` says more. Ten changed axioms are ten
inclusions between classes, added and removed again. The first removal builds the indexes that deletions need, and is shown by
itself; of the later changes, the slower kind counts, each the best of three.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.inputs.el_data import DEEP, EX, SHAPES, write_functional, write_triples
from benchmarks.measuring.commands import SETTINGS

__all__ = ["Run", "main"]


@dataclass(frozen=True)
class Run:
    """What a process took. `wall` is the time until its first line of output, or else its end."""

    wall: float
    cpu: float
    megabytes: float
    output: str


def run(command: list[str]) -> Run:
    """Run a command, and measure it and its threads."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    first = process.stdout.readline()
    wall = time.perf_counter() - start
    rest = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise click.ClickException(f"{command[0]} ended with exit code {process.returncode}")
    return Run(wall if rest else time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, first + rest)


@click.command(context_settings=SETTINGS, help=__doc__)
@click.option("--shape", "shapes", multiple=True, type=click.Choice([*SHAPES, *DEEP]), default=tuple(SHAPES), show_default=True)
@click.option("--classes", "sizes", multiple=True, type=click.IntRange(1), default=(1_000, 10_000), show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--elk", "jar", envvar="KG_REASONER_ELK", metavar="JAR", help="The path of elk-standalone-*.jar.")
@click.option("--heap", default="", metavar="SIZE", help="The most memory of ELK's Java, as in 2g.")
@click.option("--ours", "measured", metavar="FILE", hidden=True, help="Classify one file in this process.")
def main(shapes: tuple[str, ...], sizes: tuple[int, ...], seed: int, jar: str | None, heap: str, measured: str | None) -> None:
    if measured is not None:
        classify(measured)
        return
    java = shutil.which("java")
    if not jar or not java:
        click.echo(f"ELK is left out: {'--elk does not say where it is' if java else 'java is not on the PATH'}", err=True)
    with tempfile.TemporaryDirectory() as folder:
        for shape in shapes:
            for size in sizes:
                compare(
                    shape,
                    size,
                    seed,
                    Path(folder),
                    [java, *([f"-Xmx{heap}"] if heap else []), "-jar", jar] if jar and java else None,
                )


def compare(shape: str, size: int, seed: int, folder: Path, elk: list[str] | None) -> None:
    triples, functional = folder / "ontology.nt", folder / "ontology.ofn"
    with triples.open("w") as file:
        write_triples((SHAPES | DEEP)[shape](size, random.Random(seed)), file)
    ours = run([sys.executable, "-m", "benchmarks.el", "--ours", str(triples)])
    classified, updated = map(json.loads, ours.output.splitlines())
    found = classified | updated
    full = found["full"]
    click.echo(
        f"{shape} {size:,} classes: ours {ours.wall:.1f} s ({found['cpu']:.1f} CPU), {found['peak']:.0f} MB; ten axioms changed: "
        f"{1000 * found['update']:.1f} ms, {full / found['update']:,.0f} times as fast as anew; with the hierarchy "
        f"{full / found['both']:.0f} times, at the first removal {full / found['first']:.0f} times, "
        f"{ours.megabytes:.0f} MB after the changes"
    )
    if elk is None:
        return
    with functional.open("w") as file:
        write_functional((SHAPES | DEEP)[shape](size, random.Random(seed)), file)
    theirs = run([*elk, "-c", "-w", "1", "-q", "-i", str(functional), "-o", str(folder / "taxonomy.ofn")])
    click.echo(
        f"    ELK {theirs.wall:.1f} s ({theirs.cpu:.1f} CPU), {theirs.megabytes:.0f} MB; ours to theirs: "
        f"wall {ours.wall / theirs.wall:.2f}, CPU {found['cpu'] / theirs.cpu:.2f}, memory {found['peak'] / theirs.megabytes:.2f}"
    )


def classify(path: str) -> None:
    """Classify a file with one thread, and change ten axioms; print what either takes as JSON."""
    from kg_reasoner import Reasoner
    from kg_reasoner.terms import IRI, RDFS

    reasoner = Reasoner(ruleset="owl2el", threads=1)
    reasoner.load(path)
    start = time.process_time()
    reasoner.materialise()
    hierarchy = reasoner.hierarchy()
    full = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu": time.process_time(), "peak": peak}), flush=True)
    count = len(hierarchy.classes)
    changed = [
        (IRI(f"{EX}C{count - 1 - number}"), RDFS.subClassOf, IRI(f"{EX}C{count // 3 + 2 * number + (count - 1 - number) % 2}"))
        for number in range(10)
    ]
    updates: dict[bool, list[float]] = {True: [], False: []}
    both: dict[bool, list[float]] = {True: [], False: []}
    for adds in (True, False) * 4:
        start = time.process_time()
        (reasoner.add_triples if adds else reasoner.remove_triples)(changed)
        reasoner.materialise()
        updates[adds].append(time.process_time() - start)
        reasoner.hierarchy()
        both[adds].append(time.process_time() - start)
    times = {"full": full, "first": both[False][0]}
    times |= {"update": max(min(each[1:]) for each in updates.values()), "both": max(min(each[1:]) for each in both.values())}
    print(json.dumps(times))


if __name__ == "__main__":
    main()
