"""What an iteration on Spark costs, beside its delta: ``python -m benchmarks.spark_iterations --universities 5``.

Chains of edges lie on top of LUBM under OWL 2 RL: most of them are short, so that each iteration of a property chain derives less
than the one before, while all facts remain what they were. Prints, for each iteration, the new facts, the jobs of Spark, the bytes
that they shuffle and read, and the CPU seconds of their tasks, from Spark's event log.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import click

from benchmarks.inputs.data import universities_as_ntriples
from benchmarks.measuring.commands import SETTINGS
from benchmarks.spark import lubm_ontology, read_events

_LENGTHS: Final = {2: 100_000, 4: 10_000, 6: 1_000, 8: 100, 10: 10}
"""How many chains have how many edges."""


def _chains() -> Iterator[bytes]:
    """Yield the edges of all chains, and the axiom that a start reaches what a reached node leads to."""
    owl, rdf = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    yield f"<urn:reaches> <{owl}propertyChainAxiom> _:l1 .\n_:l1 <{rdf}first> <urn:reaches> .\n_:l1 <{rdf}rest> _:l2 .\n".encode()
    yield f"_:l2 <{rdf}first> <urn:next> .\n_:l2 <{rdf}rest> <{rdf}nil> .\n".encode()
    for length, count in _LENGTHS.items():
        for chain in range(count):
            names = [f"<urn:n{length}-{chain}-{place}>" for place in range(length + 1)]
            lines = [f"{names[0]} <urn:reaches> {names[1]} .\n"]
            lines += [f"{one} <urn:next> {other} .\n" for one, other in pairwise(names[1:])]
            yield "".join(lines).encode()


@click.command(context_settings=SETTINGS)
@click.option("--universities", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--cores", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--memory", default="4g", show_default=True, help="Of the driver, which is the only executor.")
@click.option(
    "--driver-facts", type=click.IntRange(0), default=0, show_default=True, help="With so many, the driver finishes in process."
)
def main(universities: int, cores: int, memory: str, driver_facts: int) -> None:
    """Measure iterations on Spark."""
    with tempfile.TemporaryDirectory() as folder:
        data, log = Path(folder, "data.nt"), Path(folder, "log")
        log.mkdir()
        with data.open("wb") as file:
            file.writelines(universities_as_ntriples(universities))
            file.writelines(_chains())
        ends = _run(str(data), cores, memory, driver_facts, folder, log)
        click.echo(f"LUBM({universities}) with {sum(_LENGTHS.values()):,} chains, owl2rl; MB and CPU seconds of tasks")
        click.echo("                       new    jobs  shuffled      read       CPU")
        for (name, new, _), costs in zip(ends, _costs(log, [end for _, _, end in ends]), strict=True):
            click.echo(
                f"{name:14}{new:>12,}{costs['jobs']:>8}{costs['shuffled'] / 1e6:>10.2f}{costs['read'] / 1e6:>10.1f}"
                f"{costs['cpu'] / 1e9:>10.2f}"
            )


def _run(data: str, cores: int, memory: str, driver_facts: int, folder: str, log: Path) -> list[tuple[str, int, float]]:
    """Materialise; return what was reported, with the number of new facts and the time."""
    from pyspark.sql import SparkSession

    from kg_reasoner import rulesets
    from kg_reasoner.spark_backend import SparkReasoner
    from kg_reasoner.spark_backend.run_progress import Report

    settings = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": str(4 * cores),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": log.as_uri(),
    }
    builder: Any = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    ends: list[tuple[str, int, float]] = []

    def note(report: Report) -> None:
        name = report.stage if report.iteration is None else f"{report.stage} {report.iteration}"
        ends.append((name, report.facts or 0, time.time()))

    program = rulesets.load("owl2rl").program
    reasoner = SparkReasoner.read(
        spark,
        program,
        data,
        ontology=lubm_ontology(),
        blank_nodes="shared",
        work_dir=f"{folder}/work",
        progress=note,
        driver_facts=driver_facts,
    )
    ends.append(("output", reasoner.write(f"{folder}/out"), time.time()))
    spark.stop()
    return ends


def _costs(log: Path, ends: list[float]) -> list[Counter[str]]:
    """Return the costs of what happened before each of some points in time, and after the one before it."""
    found = [Counter[str]() for _ in ends]

    def at(milliseconds: int) -> Counter[str]:
        return next((costs for costs, end in zip(found, ends, strict=True) if milliseconds / 1000 <= end), found[-1])

    for event in read_events(log):
        if event["Event"] == "SparkListenerJobStart":
            at(event["Submission Time"])["jobs"] += 1
        elif event["Event"] == "SparkListenerTaskEnd" and (metrics := event.get("Task Metrics")):
            costs = at(event["Task Info"]["Launch Time"])
            costs["shuffled"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            costs["read"] += metrics["Input Metrics"]["Bytes Read"]
            costs["cpu"] += metrics["Executor CPU Time"]
    return found


if __name__ == "__main__":
    main()
