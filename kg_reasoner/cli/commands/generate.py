"""``kg-reasoner generate``: benchmark data."""

from __future__ import annotations

import click

from kg_reasoner import lubm
from kg_reasoner.cli.console import Stopwatch, note, plural, progress_shown
from kg_reasoner.cli.options.reasoner_options import quiet_option


@click.group()
def generate() -> None:
    """Generate benchmark data."""


_output = click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    metavar="FILE",
    help="The file to write, compressed if it ends in .gz, .zst, .bz2 or .xz; - is standard output.",
)


@generate.command("lubm")
@click.option("-n", "--universities", type=click.IntRange(min=0), default=1, show_default=True, help="The number of universities.")
@click.option("--start", type=click.IntRange(min=0), default=0, show_default=True, help="The number of the first one.")
@click.option("-s", "--seed", type=int, default=0, show_default=True, help="The same seed gives the same bytes.")
@_output
@quiet_option
def lubm_data(universities: int, start: int, seed: int, output: str, quiet: bool) -> None:
    """Generate universities of the Lehigh University Benchmark as N-Triples, about 103,000 statements each.

    Some statements occur twice, as in the original generator's output. A university's data depend on the seed and its number alone.
    """
    watch = Stopwatch()
    with progress_shown() as progress:
        statements = lubm.write(output, universities, seed, start, progress)
    note(f"{plural(statements, 'statement')} about {plural(universities, 'university', 'universities')} in {watch.lap():.2f} s")


@generate.command("lubm-ontology")
@_output
def lubm_ontology(output: str) -> None:
    """Write the ontology of the Lehigh University Benchmark, in Turtle."""
    from kg_reasoner.io.atomic_files import atomic_output

    with atomic_output(output) as file:
        file.write(lubm.ontology_path().read_bytes())
