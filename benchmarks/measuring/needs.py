"""Requirements of a benchmark: other systems and matplotlib. A missing one ends the command before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

__all__ = ["INSTALL", "is_installed", "need_peers", "plot_option"]

INSTALL = "pip install '.[bench]'"
"""The command that installs everything."""


def is_installed(package: str) -> bool:
    """Return whether a package can be imported."""
    return find_spec(package) is not None


def need_peers(peers: Iterable[tuple[str, str]], option: str) -> None:
    """Check that other systems are installed, each given by name and package.

    Raises:
        click.ClickException: some are not; the message names them, and the option that chooses others.
    """
    missing = [name for name, package in peers if not is_installed(package)]
    if missing:
        raise click.ClickException(f"not installed: {', '.join(missing)}. Run {INSTALL}, or choose what to compare with {option}.")


def plot_option(what: str) -> Callable[[Any], Any]:
    """Return the option ``--plot``, which fails if matplotlib is not installed."""

    def check(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
        if value is not None and not is_installed("matplotlib"):
            raise click.UsageError(f"--plot needs matplotlib: {INSTALL}", context)
        return value

    return click.option(
        "--plot",
        "plot_file",
        type=click.Path(path_type=Path),
        callback=check,
        help=f"Draw {what} (PNG, SVG, PDF; needs matplotlib).",
    )
