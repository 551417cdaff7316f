"""In process or Spark: ``python -m benchmarks.spark_crossover --universities 5 --universities 50``.

Measures LUBM under OWL 2 RL, from N-Triples to files, in process and on Spark with one core, in two sizes. From these come what a
run costs whatever its size, and what each triple costs; from these, where Spark takes less time, by the number of cores. The
computation assumes that cores share evenly what each triple costs, but not what a run costs whatever its size, and that the
in-process engine uses one core. A cluster's network makes Spark slower than that. In process, writing N-Triples costs most, so what
comes out without it is printed, too; Spark writes Parquet, which is a small part of what it does.
"""

from __future__ import annotations

import tempfile
from typing import Any

import click

from benchmarks.inputs.data import universities_as_ntriples
from benchmarks.measuring.commands import SETTINGS
from benchmarks.spark import IN_PROCESS, WIDE, measured

CORES = (2, 4, 8, 16, 32, 64, 256)


@click.command(context_settings=SETTINGS)
@click.option("--universities", "sizes", type=click.IntRange(min=1), multiple=True, default=(5, 50), show_default=True)
@click.option("--memory", default="4g", show_default=True, help="Of Spark's driver, which is the only executor.")
def main(sizes: tuple[int, ...], memory: str) -> None:
    """Measure both, and say where they cross."""
    if len(set(sizes)) != 2:
        raise click.UsageError("name two different sizes")
    inputs: list[int] = []
    process: list[dict[str, Any]] = []
    spark: list[dict[str, Any]] = []
    for size in sorted(sizes):
        with tempfile.NamedTemporaryFile(suffix=".nt") as file:
            triples = 0
            for block in universities_as_ntriples(size):
                file.write(block)
                triples += block.count(b"\n")
            file.flush()
            inputs.append(triples)
            process.append(measured(file.name, IN_PROCESS, 1, memory, 8))
            spark.append(measured(file.name, WIDE, 1, memory, 8))
        one, other = process[-1], spark[-1]
        click.echo(
            f"LUBM({size}): {inputs[-1]:,} triples in, {one['triples']:,} out; in process {one['cpu']:.1f} s of CPU, "
            f"{one['derived']:.1f} without writing, and {one['memory'] / 1e6:,.0f} MB; "
            f"Spark {other['all']:.1f} s of CPU and {other['kept'] / 1e6:,.0f} MB on disk"
        )
    fixed, each = _line(inputs, [one["cpu"] for one in process])
    unwritten, each_unwritten = _line(inputs, [one["derived"] for one in process])
    base, bytes_each = _line(inputs, [one["memory"] for one in process])
    start, spark_each = _line(inputs, [one["all"] for one in spark])
    if min(each, each_unwritten, bytes_each, spark_each) <= 0:
        raise click.ClickException("the sizes are too close to each other: the larger one has cost less. Name a larger one")
    click.echo(
        f"in process: {fixed:.1f} s, and {each * 1e6:.2f} µs a triple, {each_unwritten * 1e6:.2f} without writing; "
        f"{base / 1e6:.0f} MB, and {bytes_each:.0f} bytes a triple"
    )
    click.echo(f"Spark:      {start:.1f} s, and {spark_each * 1e6:.2f} µs a triple")
    for cores in CORES:
        written = _from(start - fixed, each - spark_each / cores)
        derived = _from(start - unwritten, each_unwritten - spark_each / cores)
        click.echo(f"{cores:4} cores: Spark takes less time {written}; {derived} without writing")
    for memory_size in (16, 64, 256, 1024):
        click.echo(f"{memory_size:5} GB hold {(memory_size * 1e9 - base) / bytes_each / 1e6:,.0f} million triples in process")


def _from(ahead: float, gain: float) -> str:
    """Return from which size on a system that starts behind is ahead, given what it gains with each triple."""
    return f"from {max(0.0, ahead / gain) / 1e6:,.0f} million triples on" if gain > 0 else "at no size"


def _line(sizes: list[int], costs: list[float]) -> tuple[float, float]:
    """Return what there is at size 0, and what each triple adds, given two measurements."""
    each = (costs[1] - costs[0]) / (sizes[1] - sizes[0])
    return max(0.0, costs[0] - each * sizes[0]), each


if __name__ == "__main__":
    main()
