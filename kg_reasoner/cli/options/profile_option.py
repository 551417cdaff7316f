"""The option ``--profile`` of commands that reason."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.exceptions import Exit

from kg_reasoner.cli.console import note, warn
from kg_reasoner.cli.options.group_options import group_option, group_values
from kg_reasoner.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from io import TextIOBase

    from kg_reasoner.api.cost_profiles import Profile
    from kg_reasoner.api.reasoner import Reasoner

__all__ = ["begin_profile", "profile_option"]

_GROUP: Final = "profile"
_INPUTS: Final = ("program_file", "rules_file", "data", "files")
"""The parameters of commands that name files to read."""

_Command = TypeVar("_Command", bound="Callable[..., Any]")


def profile_option(command: _Command) -> _Command:
    """Add the option to a command."""
    return group_option(
        _GROUP,
        "--profile",
        metavar="FILE",
        help="Write what each rule has cost: a table, or by the file's name .json, .html or .svg; - is standard error.",
    )(command)


def begin_profile(reasoner: Reasoner, others: Iterable[Path] = ()) -> None:
    """Profile what a reasoner does until the command ends, also by an error, if its options ask for that.

    Args:
        reasoner: The reasoner.
        others: Files that the command reads or writes, besides those that its parameters name.

    Raises:
        UsageError: The command materialises nothing or reasons over each graph by itself, or it reads or writes the same file.
        OutputError: The file cannot be written.
    """
    context = click.get_current_context()
    target = group_values(_GROUP).get("profile")
    if target is None:
        return
    if context.params.get("reasoning") == "graph":
        raise click.UsageError("--profile is for reasoning over all graphs together: leave out --graphs graph", context)
    if context.params.get("on_demand"):
        raise click.UsageError("--profile shows what materialisation costs: leave out --on-demand", context)
    output = context.params.get("output")
    if output is not None and str(output) != "-" and os.path.realpath(output) == os.path.realpath(target):
        raise click.UsageError(f"--profile and --output are the same file, {target}", context)
    taken = {os.path.realpath(str(path)) for path in (*_inputs(context.params), *others)}
    if target != "-" and os.path.realpath(target) in taken:
        raise click.UsageError(f"--profile would replace {target}, which the command reads or writes: name another file", context)
    profile = reasoner.profile()
    if target == "-":
        context.call_on_close(lambda: _print(profile))
        return
    from kg_reasoner.io.atomic_files import atomic_text

    opened = ExitStack()  # now, so that a file that cannot be written is noticed before the work
    file = opened.enter_context(atomic_text(Path(target)))
    context.call_on_close(lambda: _write(profile, target, file, opened))


def _inputs(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the files that a command's parameters tell it to read."""
    for name in _INPUTS:
        given = parameters.get(name) or ()
        yield from (given,) if isinstance(given, str) else given


def _print(profile: Profile) -> None:
    profile.stop()
    click.echo(profile.to_text(), err=True)


def _write(profile: Profile, target: str, file: TextIOBase, opened: AbstractContextManager[object]) -> None:
    """Write a profile to a file, and close it; if that fails after another error, it is a warning.

    Raises:
        OutputError: It fails after no other error.
    """
    from kg_reasoner.io.unpacking import format_ending

    earlier = sys.exc_info()[1]
    profile.stop()
    try:
        with opened:
            file.write(_in_form(profile, format_ending(Path(target))))
    except OutputError as error:
        if earlier is None or isinstance(earlier, Exit):
            raise
        warn(str(error))
    else:
        note(f"profile written to {target}")


def _in_form(profile: Profile, suffix: str) -> str:
    """Return a profile as JSON, as a page, as a bar chart, or else as text with all rows."""
    if suffix == ".json":
        return f"{json.dumps(profile.to_dict(), indent=2, ensure_ascii=False)}\n"
    if suffix in (".html", ".svg"):
        return profile.to_html() if suffix == ".html" else profile.to_svg()
    return f"{profile.to_text(limit=sys.maxsize)}\n"
