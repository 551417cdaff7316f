"""Commands of the shell a second: ``python -m benchmarks.shell``.

A script changes edges and boxes with keys, over a program that derives from both. CPU seconds, the best of several runs; one run is
the whole script, the others have its parts.
"""

from __future__ import annotations

import io
import time
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.measuring.commands import SETTINGS
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.shell.scripts import run_script
from kg_reasoner.shell.session import Session

__all__ = ["scripts", "seconds"]

PROGRAM: Final = """
    input relation edge(from: string, to: string) .
    input relation box(id: integer, place: string) primary key (id) .
    output relation two(from: string, to: string) .
    output relation shared(place: string) .
    two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .
    shared(?p) :- box(?x, ?p), box(?y, ?p), FILTER(?x != ?y) .
"""


def scripts(commands: int) -> dict[str, list[str]]:
    """Return scripts of so many commands, as lines."""
    together = [f'insert edge("{number % 997}", "n{number}"),\n' for number in range(commands - 2)]
    alone = [f'insert edge("{number % 997}", "n{number}");\n' for number in range(commands - 2)]
    keys = [f'insert_or_update box({number % 500}, "place {number % 731}");\n' for number in range(commands - 2)]
    small = [
        line
        for number in range(commands // 3)
        for line in ("start;\n", f'insert edge("{number}", "{number + 1}");\n', "commit dump_changes;\n")
    ]
    return {
        "updates together": ["start;\n", *together, "commit dump_changes;\n"],
        "updates one by one": ["start;\n", *alone, "commit dump_changes;\n"],
        "updates by key": ["start;\n", *keys, "commit dump_changes;\n"],
        "a transaction each": small,
    }


def seconds(script: list[str], times: int) -> float:
    """Return the CPU seconds of a script."""
    best = float("inf")
    for _ in range(times):
        reasoner = Reasoner(PROGRAM)
        reasoner.materialise()
        session = Session(reasoner, io.StringIO())
        start = time.process_time()
        for _ in run_script(session, script, "script"):
            pass
        best = min(best, time.process_time() - start)
    return best


@click.command(context_settings=SETTINGS)
@click.option("--commands", type=click.IntRange(1), default=10_000, show_default=True, help="The commands of each script.")
@click.option("--times", type=click.IntRange(1), default=3, show_default=True, help="The runs, of which the best counts.")
def main(commands: int, times: int) -> None:
    """Measure scripts of the shell."""
    shown = Table("script", "CPU seconds", "commands a second")
    for name, script in scripts(commands).items():
        taken = seconds(script, times)
        shown.add_row(name, f"{taken:.2f}", f"{len(script) / taken:,.0f}")
    Console().print(shown)


if __name__ == "__main__":
    main()
