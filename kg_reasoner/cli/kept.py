"""Options that many commands have and none looks at: their values are kept with the context, for whoever needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["kept", "kept_option"]


def kept_option(group: str, *names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return an option, as `click.option` makes them, whose value is kept in a group instead of being passed to the command."""

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        context.meta.setdefault(f"kg_reasoner.{group}", {})[parameter.name] = value

    return click.option(*names, callback=keep, expose_value=False, **settings)


def kept(group: str) -> dict[str, Any]:
    """Return the values of a group's options in the command that runs."""
    return dict(click.get_current_context().meta.get(f"kg_reasoner.{group}", {}))
