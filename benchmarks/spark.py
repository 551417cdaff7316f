"""Reasoning on Spark: LUBM under OWL 2 RL, from N-Triples to Parquet, by design and number of cores.

``python -m benchmarks.spark --universities 5 --cores 1 --cores 2``. Each measurement runs in a process of its own. *wide* is the
package's design; *generic* evaluates the same rules by semi-naive joins over triples, without wide passes; *in process* is the
engine of one machine, from the same file to N-Triples. Wall-clock times exclude the start of the session and are measured twice: in
a new session (*cold*: Java has not compiled its code yet, which dominates for small data), and again in the same one (*warm*; with
``--rounds 1``, both are of the only round, and triples that were given twice are counted twice). All other figures are from Spark's
event log; *task* is the maximal memory of one task. *CPU* is that of the tasks in Java; *all*, that of all processes in the last
round, with Python workers and Java's own threads.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from benchmarks.inputs.data import universities_as_ntriples
from benchmarks.measuring.commands import SETTINGS
from benchmarks.spark_shapes import cpu_of_children

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WIDE: Final = "wide"
GENERIC: Final = "generic"
IN_PROCESS: Final = "in process"
DESIGNS: Final = (WIDE, GENERIC, IN_PROCESS)
_HEADER: Final = (
    "                       triples     cold     warm      CPU      all   jobs stages shuffled   task   kept  passes when warm"
)
_SHUFFLED: Final = "internal.metrics.shuffle.write.bytesWritten"


@click.command(context_settings=SETTINGS)
@click.option("--universities", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--data", type=click.Path(exists=True), help="N-Triples of that many universities, if there are any.")
@click.option("--cores", type=click.IntRange(min=1), multiple=True, default=(1, 2), show_default=True)
@click.option("--design", "designs", type=click.Choice(DESIGNS), multiple=True, default=DESIGNS)
@click.option("--memory", default="2g", show_default=True, help="Of the driver, which is the only executor.")
@click.option("--partitions", type=click.IntRange(min=1), default=8, show_default=True, help="Of shuffles, at the most.")
@click.option("--rounds", type=click.IntRange(1, 2), default=2, show_default=True, help="1: in a new session only.")
def main(
    universities: int,
    data: str | None,
    cores: Sequence[int],
    designs: Sequence[str],
    memory: str,
    partitions: int,
    rounds: int,
) -> None:
    """Measure reasoning on Spark."""
    with tempfile.TemporaryDirectory() as folder:
        if data is None:
            data = f"{folder}/data.nt"
            with Path(data).open("wb") as file:
                file.writelines(universities_as_ntriples(universities))
        click.echo(f"LUBM({universities}); seconds, and CPU seconds of all tasks; MB that are shuffled, of one task, and kept")
        click.echo(_HEADER)
        for design in designs:
            for count in cores if design != IN_PROCESS else (1,):
                try:
                    found = measured(data, design, count, memory, partitions, rounds)
                except RuntimeError as error:
                    click.echo(f"{design}, {count} cores: failed\n{error}")
                    continue
                where = "" if design == IN_PROCESS else f"local[{count}]"
                click.echo(f"{design:<11}{where:<9} {_figures(found)}")


def _figures(found: dict[str, Any]) -> str:
    """Return one line of the table, without its name."""
    times = f"{found['triples']:>11,} {found['cold']:>8.1f} {found['warm']:>8.1f}"
    if "jobs" not in found:
        memory = f"{found['memory'] / 1e6:,.0f} MB of memory, {found['memory'] / found['triples']:.0f} bytes a triple"
        return f"{times} {found['cpu']:>8.1f}   {found['derived']:.1f} without writing; {memory}"
    counts = (
        f"{found['cpu'] / 1e9:>8.1f} {found['all']:>8.1f} {found['jobs']:>6} {found['stages']:>6} {found['shuffled'] / 1e6:>8.1f}"
    )
    return f"{times} {counts} {found['peak'] / 1e6:>6.0f} {found['kept'] / 1e6:>6.0f}  {found['passes']}"


def measured(data: str, design: str, cores: int, memory: str, partitions: int, rounds: int = 2) -> dict[str, Any]:
    """Return one measurement, in a process of its own.

    Raises:
        RuntimeError: It fails.
    """
    options = {"design": design, "data": data, "cores": cores, "memory": memory, "partitions": partitions, "rounds": rounds}
    command = [sys.executable, "-m", "benchmarks.spark", json.dumps(options)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode:
        raise RuntimeError(said.stderr[-2000:])
    found: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
    return found


def measure(design: str, data: str, cores: int, memory: str, partitions: int, rounds: int) -> dict[str, Any]:
    """Return one measurement, in this process."""
    with tempfile.TemporaryDirectory() as folder:
        if design == IN_PROCESS:
            return _in_process(data, folder, rounds)
        return _on_spark(design, data, cores, memory, partitions, folder, rounds)


def _in_process(data: str, folder: str, rounds: int) -> dict[str, Any]:
    seconds, cpu, derived = [], 0.0, 0.0
    for number in range(rounds):
        began, cpu = time.monotonic(), time.process_time()
        triples, derived = _in_process_round(data, f"{folder}/{number}.nt")
        seconds.append(time.monotonic() - began)
        cpu, derived = time.process_time() - cpu, derived - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"triples": triples, "cold": seconds[0], "warm": seconds[-1], "cpu": cpu, "derived": derived, "memory": memory}


def _in_process_round(data: str, target: str) -> tuple[int, float]:
    """Return the number of triples, and the CPU time at which all of them were derived, but not written."""
    from kg_reasoner import Reasoner, lubm
    from kg_reasoner.io.output import write_triples

    reasoner = Reasoner(ruleset="owl2rl", show_hidden=True)
    reasoner.load(data, lubm.ontology_path())
    reasoner.materialise()
    derived = time.process_time()
    return write_triples(reasoner.triples(), target), derived


def _on_spark(design: str, data: str, cores: int, memory: str, partitions: int, folder: str, rounds: int) -> dict[str, Any]:
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": Path(folder).as_uri(),
    }
    builder: Any = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    ends = []
    for number in range(rounds):
        began = time.process_time() + cpu_of_children()
        ends.append(_round(spark, design, data, Path(folder) / str(number)))
        cpu = time.process_time() + cpu_of_children() - began
    spark.stop()
    costs = _events(Path(folder), rounds)
    cold, (warm, passes, triples) = ends[0][0], ends[-1]
    if rounds > 1:  # what was given twice is there twice
        spark = builder.config("spark.eventLog.enabled", "false").getOrCreate()
        triples = spark.read.parquet(f"{folder}/{rounds - 1}/out").drop("inferred").distinct().count()
        spark.stop()
    last = Path(folder, str(rounds - 1))
    kept = sum(file.stat().st_size for part in ("input", "work") for file in (last / part).rglob("*.parquet") if file.is_file())
    return {"triples": triples, "cold": cold, "warm": warm, "kept": kept, "passes": ", ".join(passes), "all": cpu, **costs}


def _round(spark: SparkSession, design: str, data: str, folder: Path) -> tuple[float, list[str], int]:
    """Read, materialise and write; return the seconds taken, the passes, and the number of triples that were written."""
    from kg_reasoner import rulesets
    from kg_reasoner.spark_backend import SparkReasoner

    passes: list[str] = []
    began = time.monotonic()
    reasoner = SparkReasoner.read(
        spark,
        rulesets.load("owl2rl").program,
        data,
        ontology=lubm_ontology(),
        work_dir=folder / "work",
        progress=lambda report: passes.append(f"{report.stage} {report.seconds:.1f}"),
        wide=design == WIDE,
    )
    written = reasoner.write(folder / "out")
    return time.monotonic() - began, passes, written


def lubm_ontology() -> list[Any]:
    """Return the triples of LUBM's ontology."""
    from kg_reasoner import Reasoner, lubm

    reasoner = Reasoner()
    reasoner.load(lubm.ontology_path())
    return list(reasoner.triples())


def _events(folder: Path, rounds: int) -> dict[str, Any]:
    """Return the costs of a round, on average, according to the event log."""
    found = Counter[str]()
    for event in read_events(folder):
        if event["Event"] == "SparkListenerJobStart":
            found["jobs"] += 1
        elif event["Event"] == "SparkListenerStageCompleted":
            found["stages"] += 1
            metrics = event["Stage Info"]["Accumulables"]
            found["shuffled"] += sum(int(metric["Value"]) for metric in metrics if metric["Name"] == _SHUFFLED)
        elif event["Event"] == "SparkListenerTaskEnd" and (metrics := event.get("Task Metrics")):
            found["cpu"] += metrics["Executor CPU Time"]
            found["peak"] = max(found["peak"], metrics["Peak Execution Memory"])
    return {name: value if name == "peak" else value // rounds for name, value in found.items()}


def read_events(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of the logs in a folder."""
    for log in folder.iterdir():
        if log.is_file():
            with log.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].startswith("{"):
        print(json.dumps(measure(**json.loads(sys.argv[1]))))
    else:
        main()
