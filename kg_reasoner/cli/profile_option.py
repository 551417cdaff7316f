"""The option ``--profile`` of commands that reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from kg_reasoner.cli.console import note
from kg_reasoner.cli.group_options import group_option, group_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg_reasoner.api.profiles import Profile
    from kg_reasoner.api.reasoner import Reasoner

__all__ = ["begin_profile", "profile_option"]

_GROUP: Final = "profile"

_Command = TypeVar("_Command", bound="Callable[..., Any]")


def profile_option(command: _Command) -> _Command:
    """Add the option to a command."""
    return group_option(
        _GROUP,
        "--profile",
        metavar="FILE",
        help="Write what each rule has cost: a table, or by the file's name .json, .html or .svg; - is standard error.",
    )(command)


def begin_profile(reasoner: Reasoner, prefixes: Callable[[], Mapping[str, str]] = dict) -> None:
    """Profile what a reasoner does until the command ends, if its options ask for that.

    Args:
        reasoner: The reasoner.
        prefixes: Returns the prefixes for names in the profile.

    Raises:
        UsageError: The command reasons over each graph by itself.
    """
    context = click.get_current_context()
    target = group_values(_GROUP).get("profile")
    if target is None:
        return
    if context.params.get("reasoning") == "graph":
        raise click.UsageError("--profile is for reasoning over all graphs together: leave out --graphs graph", context)
    profile = reasoner.profile()
    context.call_on_close(lambda: _write(profile, target, prefixes()))


def _write(profile: Profile, target: str, prefixes: Mapping[str, str]) -> None:
    profile.stop()
    if target == "-":
        click.echo(profile.to_text(prefixes=prefixes), err=True)
    else:
        profile.save(target, prefixes=prefixes)
        note(f"profile written to {target}")
