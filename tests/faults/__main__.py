"""Fault sweeps by hand: ``python -m tests.faults --scenario "add*" --kind interrupts --every 5``."""

from __future__ import annotations

import fnmatch
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

import click

from tests.faults.catalogue import SCENARIOS
from tests.faults.changes import since
from tests.faults.injectors import KINDS
from tests.faults.report import failing_places, table
from tests.faults.runner import TIME_LIMIT, NotReproducible, Sweep, distinct, each_line, sample, sweep


@click.command()
@click.option("--scenario", "patterns", multiple=True, default=["*"], help="A scenario, or a pattern such as 'add*'; all of them.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), default=list(KINDS), help="The kind of faults.")
@click.option("--every", default=1, show_default=True, help="Try every n-th place.")
@click.option("--first", default=1, show_default=True, help="The first place to try.")
@click.option("--sample", "sampled", type=int, help="Try so many places, drawn at random.")
@click.option("--seed", default="0", show_default=True, help="For --sample: other places.")
@click.option("--at", type=int, help="Try this place only.")
@click.option(
    "--distinct", "only_distinct", is_flag=True, help="Try a line that is reached often only when that is first and last."
)
@click.option("--lines", "only_lines", is_flag=True, help="Try a line only when it is first reached, whoever calls it.")
@click.option("--since", "commit", help="Try lines only in functions that have changed since this commit.")
@click.option("--jobs", default=2, show_default=True, help="Processes at a time.")
@click.option("--limit", default=TIME_LIMIT, show_default=True, help="Seconds for a process: more on a busy machine.")
@click.option("--list", "only_list", is_flag=True, help="Show the names of the scenarios.")
def main(
    patterns: tuple[str, ...],
    kinds: tuple[str, ...],
    every: int,
    first: int,
    sampled: int | None,
    seed: str,
    at: int | None,
    only_distinct: bool,
    only_lines: bool,
    commit: str | None,
    jobs: int,
    limit: float,
    only_list: bool,
) -> None:
    """Interrupt operations at one place after the other, each time in a process of its own, and show what is left."""
    names = [name for name in SCENARIOS if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    if only_list or not names:
        click.echo("\n".join(names or SCENARIOS))
        sys.exit(0 if names else 2)

    def choose(places: Sequence[str]) -> Iterable[int]:
        if sampled:
            return sample(sampled, seed)(places)
        if at:
            return [at]
        candidates = each_line(places) if only_lines else distinct(places) if only_distinct else range(1, len(places) + 1)
        return candidates[first - 1 :: every]

    choice = since(commit, choose) if commit else choose
    sweeps: list[Sweep] = []
    with suppress(KeyboardInterrupt):  # what is known by then is shown
        for name in names:
            for kind in kinds:
                start = time.monotonic()
                try:
                    sweeps.append(sweep(SCENARIOS[name], kind, choice, jobs=jobs, seconds=limit))
                except NotReproducible as error:
                    click.echo(f"{name}, {kind}: {error}", err=True)
                    continue
                click.echo(f"{name}, {kind}: {time.monotonic() - start:.1f} s, {dict(sweeps[-1].counts())}", err=True)
    click.echo(table(sweeps))
    click.echo(failing_places(sweeps))
    sys.exit(any(done.failures for done in sweeps))


if __name__ == "__main__":
    main(prog_name="python -m tests.faults")
