"""Ontologies of your own, on Spark and in process: ``python -m benchmarks.spark_files Brick.ttl building.ttl --ruleset owl2rl``.

The files are read once, in process. Both then materialise the same triples, and what they give is compared triple by triple. Prints
the CPU seconds of both, on Spark those of Java and of its Python workers, without the start of the session.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from benchmarks.measuring.commands import SETTINGS
from benchmarks.spark_shapes import cpu_of_children
from kg_reasoner import rulesets

if TYPE_CHECKING:
    from kg_reasoner.terms import Triple

_Flagged = set[tuple[str, str, str, bool]]


@click.command(context_settings=SETTINGS)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--ruleset", type=click.Choice(rulesets.names()), default="owl2rl", show_default=True)
@click.option("--cores", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--memory", default="4g", show_default=True, help="Of the driver, which is the only executor.")
@click.option("--driver-facts", type=click.IntRange(0), help="With so many, the driver finishes in process. [default: 100000]")
def main(files: tuple[str, ...], ruleset: str, cores: int, memory: str, driver_facts: int | None) -> None:
    """Compare what follows from files."""
    from kg_reasoner import Reasoner

    read = Reasoner(show_hidden=True)
    read.load(*files)
    triples = list(read.triples())
    expected, in_process = _in_process(triples, ruleset)
    found, on_spark = _on_spark(triples, ruleset, cores, memory, driver_facts)
    click.echo(
        f"{ruleset}: {len(triples):,} triples in, {len(expected):,} out; in process {in_process:.1f}, Spark {on_spark:.1f} s of CPU"
    )
    if different := sorted(expected ^ found):
        click.echo("\n".join([f"{len(different):,} triples differ:", *(" ".join(map(str, row)) for row in different[:10])]))
        raise SystemExit(1)


def _in_process(triples: list[Triple], ruleset: str) -> tuple[_Flagged, float]:
    from kg_reasoner import Reasoner
    from kg_reasoner.terms import term_text

    began = time.process_time()
    reasoner = Reasoner(ruleset=ruleset, show_hidden=True)
    reasoner.add_triples(triples)
    reasoner.materialise()
    seconds = time.process_time() - began
    explicit = {tuple(map(term_text, row)) for row in reasoner.triples(which="explicit")}
    everything = {tuple(map(term_text, row)) for row in reasoner.triples()}
    return {(*row, row not in explicit) for row in everything}, seconds  # type: ignore[misc]  # three texts each


def _on_spark(triples: list[Triple], ruleset: str, cores: int, memory: str, driver_facts: int | None) -> tuple[_Flagged, float]:
    from pyspark.sql import SparkSession

    from kg_reasoner.spark_backend import SparkReasoner
    from kg_reasoner.spark_backend.io.columns import triple_frame

    settings = {
        "spark.driver.memory": memory,
        "spark.driver.maxResultSize": "0",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": str(2 * cores),
    }
    builder: Any = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.range(10).count()
    began = time.process_time() + cpu_of_children()
    program = rulesets.load(ruleset).program
    frame = SparkReasoner(spark, program, triple_frame(spark, triples), driver_facts=driver_facts).triples()
    table = frame.toArrow()
    seconds = time.process_time() + cpu_of_children() - began
    spark.stop()
    return set(zip(*(column.to_pylist() for column in table.columns), strict=True)), seconds


if __name__ == "__main__":
    main()
