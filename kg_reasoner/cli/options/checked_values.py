"""Values of options that are checked as soon as they are given, so that a wrong one is wrong usage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from kg_reasoner.errors import ReasonerError

__all__ = [
    "absolute_iri",
    "checked",
    "input_format_option",
    "known_bounds",
    "known_input_format",
    "known_output_format",
    "output_syntax",
    "ruleset_option",
]


def checked(check: Callable[[Any], object]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback for an option that reports what a check raises as wrong usage.

    Args:
        check: Called with the value, unless there is none.
    """

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if value not in (None, ()):
            try:
                check(value)
            except ReasonerError as error:
                raise click.BadParameter(str(error), context, parameter) from None
        return value

    return callback


def known_ruleset(name: str) -> None:
    """Check that a rule set exists; a file is looked for when it is read."""
    from kg_reasoner.rulesets import expect_known

    expect_known(name)


def known_input_format(name: str) -> None:
    """Check that a syntax exists."""
    from kg_reasoner.loaders.rdf.formats import find_format

    find_format(name)


def known_output_format(name: str) -> None:
    """Check that a syntax exists, and can be written."""
    from kg_reasoner.io.output import find_output_format

    find_output_format(name)


def known_bounds(settings: tuple[str, ...]) -> None:
    """Check bounds on documents."""
    from kg_reasoner.loaders.rdf.bounds import bounds_from

    bounds_from(settings)


def absolute_iri(iri: str) -> None:
    """Check that an IRI is absolute."""
    from kg_reasoner.loaders.convert import check_absolute

    check_absolute(iri, "IRI")


def input_format_option(help: str) -> Callable[[Any], Any]:
    """Return the option for the syntax of inputs."""
    return click.option("--input-format", metavar="FORMAT", callback=checked(known_input_format), help=help)


def ruleset_option(help: str, *names: str) -> Callable[[Any], Any]:
    """Return the option for a rule set, with other names that it has."""
    return click.option(*names, "--ruleset", metavar="NAME", callback=checked(known_ruleset), help=help)


def output_syntax(output: str, option: str) -> str | None:
    """Return the syntax that the name of an output file determines; None for standard output, pipes and devices.

    Args:
        output: The name.
        option: The option that names a syntax.

    Raises:
        click.UsageError: The name determines none.
    """
    from pathlib import Path

    from kg_reasoner.errors import OutputError
    from kg_reasoner.io.atomic_files import is_standard_output
    from kg_reasoner.io.output import format_of_output

    path = Path(output)
    if is_standard_output(output) or (path.exists() and not path.is_file() and not path.is_dir()):
        return None
    try:
        return format_of_output(output)
    except OutputError as error:
        raise click.UsageError(f"{error}, or {option}") from None
