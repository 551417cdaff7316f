"""Ontologies and data of many shapes, on Spark and in process: ``python -m benchmarks.spark_shapes classes 10000``.

Prints, for each system in a process of its own, the number of triples, the seconds, and the CPU seconds of all processes: on
Spark those of Java and of its Python workers, without the start of the session. The results are compared by count. With ``--before
PYTHON``, the Python of an environment that has an earlier version of the package, Spark is measured by that version, too.

==============  =======================================================================
``classes``     a hierarchy of SIZE classes, eight subclasses each, an instance of each
``existential`` SIZE axioms ``ObjectSomeValuesFrom(p C)`` below a class
``hasvalue``    SIZE axioms ``ObjectHasValue(p i)`` below a class, and one above
``properties``  SIZE properties, each a subproperty of another one, with a domain
``path``        a path of SIZE nodes by a transitive property
``hub``         SIZE edges to one node, from there to ten others, by a property chain
``skewed``      the same, but SIZE further nodes have such a chain
``same``        a group of SIZE equal terms, linked one by one
==============  =======================================================================
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.inputs.spark_data import SHAPES, shaped
from benchmarks.measuring.commands import SETTINGS
from kg_reasoner import rulesets

if TYPE_CHECKING:
    from kg_reasoner.spark_backend.run_progress import Report

SYSTEMS = ("spark", "in process", "before")
_OWL = "http://www.w3.org/2002/07/owl#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_SUB = f"<{_RDFS}subClassOf>"


def _(name: object) -> str:
    return f"<http://example.org/{name}>"


def _classes(size: int) -> Iterator[str]:
    for number in range(size):
        yield f"{_(f'C{number}')} {_SUB} {_(f'C{(number - 1) // 8}')}" if number else f"{_('C0')} {_TYPE} <{_OWL}Class>"
        yield f"{_(f'i{number}')} {_TYPE} {_(f'C{number}')}"


def _restriction(number: int, property: str, kind: str, value: str) -> Iterator[str]:
    yield f"_:r{number} {_TYPE} <{_OWL}Restriction>"
    yield f"_:r{number} <{_OWL}onProperty> {property}"
    yield f"_:r{number} <{_OWL}{kind}> {value}"


def _existential(size: int) -> Iterator[str]:
    for number in range(size):
        yield from _restriction(number, _(f"p{number % 50}"), "someValuesFrom", _(f"C{number}"))
        yield f"_:r{number} {_SUB} {_(f'D{number}')}"
        yield f"{_(f'y{number}')} {_TYPE} {_(f'C{number}')}"
        yield f"{_(f'x{number}')} {_(f'p{number % 50}')} {_(f'y{number}')}"


def _hasvalue(size: int) -> Iterator[str]:
    for number in range(size):
        yield from _restriction(number, _(f"p{number % 50}"), "hasValue", _(f"v{number}"))
        yield f"_:r{number} {_SUB} {_(f'D{number}')}"
        yield f"{_(f'E{number}')} {_SUB} _:r{number}"
        yield f"{_(f'x{number}')} {_(f'p{number % 50}')} {_(f'v{number}')}"
        yield f"{_(f'z{number}')} {_TYPE} {_(f'E{number}')}"


def _properties(size: int) -> Iterator[str]:
    for number in range(size):
        yield f"{_(f'p{number}')} <{_RDFS}domain> {_(f'C{number % 100}')}"
        if number:
            yield f"{_(f'p{number}')} <{_RDFS}subPropertyOf> {_(f'p{(number - 1) // 8}')}"
        yield f"{_(f'x{number}')} {_(f'p{number}')} {_(f'x{number + 1}')}"


def _path(size: int) -> Iterator[str]:
    yield f"{_('p')} {_TYPE} <{_OWL}TransitiveProperty>"
    for number in range(size - 1):
        yield f"{_(f'n{number:06}')} {_('p')} {_(f'n{number + 1:06}')}"


def _hub(size: int) -> Iterator[str]:
    yield f"{_('r')} <{_OWL}propertyChainAxiom> _:l1"
    first, rest = (f"<http://www.w3.org/1999/02/22-rdf-syntax-ns#{name}>" for name in ("first", "rest"))
    yield f"_:l1 {first} {_('p')}"
    yield f"_:l1 {rest} _:l2"
    yield f"_:l2 {first} {_('q')}"
    yield f"_:l2 {rest} <http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>"
    for number in range(size):
        yield f"{_(f'x{number}')} {_('p')} {_('hub')}"
    for number in range(10):
        yield f"{_('hub')} {_('q')} {_(f'y{number}')}"


def _skewed(size: int) -> Iterator[str]:
    yield from _hub(size)
    for number in range(size):
        yield f"{_(f'x{number}')} {_('p')} {_(f'z{number}')}"
        yield f"{_(f'z{number}')} {_('q')} {_(f'y{number}')}"


def _same(size: int) -> Iterator[str]:
    for number in range(size - 1):
        yield f"{_(f'n{number:07}')} <{_OWL}sameAs> {_(f'n{number + 1:07}')}"
    yield f"{_('n0000000')} {_('p')} {_('x')}"
    yield f"{_('p')} <{_RDFS}domain> {_('C')}"


CASES: dict[str, Callable[[int], Iterator[str]]] = {
    "classes": _classes,
    "existential": _existential,
    "hasvalue": _hasvalue,
    "properties": _properties,
    "path": _path,
    "hub": _hub,
    "skewed": _skewed,
    "same": _same,
    **{name: partial(shaped, shape) for name, shape in SHAPES.items()},
}


@click.command(context_settings=SETTINGS)
@click.argument("case", type=click.Choice(list(CASES)))
@click.argument("size", type=click.IntRange(min=2))
@click.option("--ruleset", type=click.Choice(rulesets.names()), default="owl2rl", show_default=True)
@click.option("--system", "systems", type=click.Choice(SYSTEMS), multiple=True, help="By default all.")
@click.option("--before", type=click.Path(exists=True, dir_okay=False), help="The Python of an earlier version's environment.")
@click.option("--cores", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--memory", default="4g", show_default=True, help="Of the driver, which is the only executor.")
@click.option("--limit", type=click.IntRange(min=1), default=600, show_default=True, help="CPU seconds for each system.")
def main(
    case: str, size: int, ruleset: str, systems: Sequence[str], before: str | None, cores: int, memory: str, limit: int
) -> None:
    """Measure one case of a size."""
    if "before" in systems and before is None:
        raise click.UsageError("--system before needs --before PYTHON")
    click.echo(f"{case} {size:,}, {ruleset}")
    click.echo("                triples   seconds   CPU seconds")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "data.nt")
        lines = CASES[case](size)
        if case in SHAPES:  # random ones repeat triples, which Spark would count as often
            lines = iter(dict.fromkeys(lines))
        file.write_text("".join(f"{line} .\n" for line in lines), encoding="utf-8")
        Path(folder, "benchmarks").symlink_to(Path(__file__).parent)  # this module, but not the package beside it
        for system in systems or SYSTEMS[: 2 if before is None else 3]:
            options = {"system": system, "file": str(file), "ruleset": ruleset, "cores": cores, "memory": memory, "case": case}
            python = sys.executable if system != "before" or before is None else str(Path(before).absolute())
            command = [python, "-m", "benchmarks.spark_shapes", json.dumps(options)]
            click.echo(f"{system:10} {_figures(command, folder, limit)}")


def _figures(command: list[str], folder: str, limit: int) -> str:
    """Measure in a process of its own, and return a line of the table."""
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        said = None
        while said is None:
            try:
                said, problem = process.communicate(timeout=1)
            except subprocess.TimeoutExpired:
                if cpu_of_children() > limit:
                    os.killpg(process.pid, signal.SIGKILL)
                    return f"not in {limit} CPU seconds"
    if process.returncode:
        return f"failed\n{problem[-2000:]}"
    found = json.loads(said.splitlines()[-1])
    return f"{found['triples']:12,} {found['seconds']:9.1f} {found['cpu']:13.1f}   {found.get('note', '')}"


def _measure(system: str, file: str, ruleset: str, cores: int, memory: str, case: str) -> dict[str, object]:
    return _in_process(file, ruleset, case) if system == "in process" else _on_spark(file, ruleset, cores, memory, case)


def _in_process(file: str, ruleset: str, case: str) -> dict[str, object]:
    from kg_reasoner import Reasoner

    began, cpu = time.monotonic(), time.process_time()
    reasoner = Reasoner(ruleset=ruleset, show_hidden=True, equality="rewrite" if case == "same" else "axioms")
    reasoner.load(file)
    reasoner.materialise()
    count = 0 if case == "same" else sum(1 for _ in reasoner.triples())  # equal terms: no number that would be comparable
    return {"triples": count, "seconds": time.monotonic() - began, "cpu": time.process_time() - cpu}


def _on_spark(file: str, ruleset: str, cores: int, memory: str, case: str) -> dict[str, object]:
    from pyspark.sql import SparkSession

    from kg_reasoner.spark_backend import SparkReasoner

    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", memory)
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", 2 * cores)
    spark = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR").getOrCreate()
    spark.range(10).count()
    java = cpu_of_children()
    iterations = []

    def note(report: Report) -> None:
        if report.stratum is not None:  # of iterations, the last of which may be in process
            iterations.append(report.facts)

    began, cpu = time.monotonic(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        reasoner = SparkReasoner.read(
            spark, rulesets.load(ruleset).program, file, blank_nodes="shared", work_dir=folder, progress=note
        )
        count = reasoner.write(f"{folder}/out", expanded=False) if case == "same" else reasoner.write(f"{folder}/out")
        count += reasoner.equal_terms().count() if case == "same" else 0
        seconds, mine = time.monotonic() - began, time.process_time() - cpu + cpu_of_children() - java
        jobs = len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))
    return {
        "triples": count,
        "seconds": seconds,
        "cpu": mine,
        "note": f"{jobs} jobs, {len(iterations)} iterations",
    }


def cpu_of_children() -> float:
    """CPU seconds of the processes that descend from this one."""
    parents: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    ticks = 100
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
        seconds[int(stat.parent.name)] = sum(map(int, fields[11:15])) / ticks
    waiting, total = [os.getpid()], 0.0
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            total += seconds[child]
            waiting.append(child)
    return total


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        print(json.dumps(_measure(**json.loads(sys.argv[1]))))
    else:
        main()
