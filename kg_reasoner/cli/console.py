"""Output of the command line: tables and progress bars on a terminal, plain text in pipes.

Results go to standard output; notes, warnings and progress go to standard error. rich is imported only on a terminal.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click

from kg_reasoner.errors import plural
from kg_reasoner.progress import Progress

__all__ = [
    "Stopwatch",
    "detail",
    "is_quiet",
    "note",
    "plural",
    "print_table",
    "progress_shown",
    "shortened",
    "starting",
    "warn",
]


def note(text: str) -> None:
    """Print a note on standard error, unless ``--quiet`` is given."""
    if not is_quiet():
        click.echo(text, err=True)


def warn(text: str) -> None:
    """Print a warning on standard error, even with ``--quiet``."""
    click.secho(f"warning: {text}", fg="yellow", err=True)


def detail(text: str) -> None:
    """Print a line of a warning; on a terminal, break long lines between words."""
    lines = [text]
    if sys.stderr.isatty():
        import shutil
        import textwrap

        width = max(20, shutil.get_terminal_size().columns - 1)
        lines = textwrap.wrap(text, width - 4, break_long_words=False, break_on_hyphens=False) or [""]
    click.echo("  " + "\n    ".join(lines), err=True)


def shortened(text: str, width: int) -> str:
    """Return a text cut between words to at most `width` characters.

    >>> shortened("SubClassOf(zoo:Cat zoo:Animal)", 25)
    'SubClassOf(zoo:Cat ...'
    """
    if len(text) <= width:
        return text
    cut = text[: width - 3]
    return f"{cut[: cut.rfind(' ') + 1] or cut}..."


def is_quiet() -> bool:
    """Return whether ``--quiet`` was given."""
    context = click.get_current_context(silent=True)
    return bool(context and context.params.get("quiet"))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Collection[int] = ()) -> None:
    """Print a table to standard output, with rich on a terminal and in aligned columns otherwise.

    `numeric` are the numbers of the columns that are aligned to the right.
    """
    if sys.stdout.isatty():
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for number, column in enumerate(columns):
            table.add_column(Text(column), justify="right" if number in numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        Console().print(table)
        return
    shown = [[_one_line(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    shown.insert(1, ["-" * width for width in widths])
    for row in shown:
        cells = [
            cell.rjust(width) if number in numeric else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())


def _one_line(cell: str) -> str:
    return (
        cell.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        if not cell.isprintable()
        else cell
    )


class Stopwatch:
    """A stopwatch that returns the seconds since its creation or the last lap.

    >>> watch = Stopwatch()
    >>> watch.lap() >= 0
    True
    """

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        elapsed, self._started = now - self._started, now
        return elapsed


_ERASE: Final = "\r\x1b[K"


def _is_redrawn() -> bool:
    """Return whether standard error shows what is going on: on a terminal that can erase it again, and without ``--quiet``."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not is_quiet()


@contextmanager
def starting() -> Iterator[list[str]]:
    """Show on a terminal that the reasoner is starting; yield the function that shows notes about compilation.

    Kernels are compiled once, which takes seconds, and the first start after an installation reads many files.
    """
    shown = _is_redrawn()
    if shown:
        click.echo("starting the reasoner ...", nl=False, err=True)
    from kg_reasoner.storage.compiling import reporting_compilation

    notes: list[str] = []

    def compiling(line: str) -> None:
        notes.append(line)
        if shown:
            click.echo(f"{_ERASE}{line}", err=True)

    try:
        with reporting_compilation(compiling):
            yield notes
    finally:
        if shown:
            click.echo(_ERASE, nl=False, err=True)


@contextmanager
def progress_shown() -> Iterator[Progress | None]:
    """Yield a function that draws progress bars on standard error, or None without a terminal or with ``--quiet``.

    The bars go away at the end. Nothing else should be printed meanwhile.
    """
    if not _is_redrawn():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description:<12}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show
