"""Options shared by many commands: their values are stored in the context instead of being passed to each command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from kg_reasoner.cli.options.checked_values import checked

__all__ = ["group_option", "group_values"]


def group_option(group: str, *names: str, check: Callable[[Any], object] | None = None, **settings: Any) -> Callable[[Any], Any]:
    """Return an option, as `click.option` does, whose value is stored in a group of the context.

    Args:
        group: The group.
        names: The names of the option.
        check: Called with the value, if it is given; an error that it raises is wrong usage.
        settings: As for `click.option`.
    """

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if check is not None:
            checked(check)(context, parameter, value)
        context.meta.setdefault(f"kg_reasoner.{group}", {})[parameter.name] = value

    return click.option(*names, callback=keep, expose_value=False, **settings)


def group_values(group: str) -> dict[str, Any]:
    """Return the values of a group's options in the current command."""
    return dict(click.get_current_context().meta.get(f"kg_reasoner.{group}", {}))
