"""Labels in place of IRIs in the output of commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from kg_reasoner.cli.options.group_options import group_option, group_values

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner

__all__ = ["displayed_names", "label_options"]

_GROUP: Final = "labels"
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _tag(text: str) -> str:
    from kg_reasoner.api.inputs.labels import language_tag

    try:
        return language_tag(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def label_options(command: _Command) -> _Command:
    """Add the options of labels to a command that shows terms."""
    for option in (
        group_option(_GROUP, "--labels", is_flag=True, help="Show rdfs:label, or else skos:prefLabel, in place of IRIs."),
        group_option(
            _GROUP,
            "--language",
            "languages",
            type=_tag,
            metavar="LANG",
            multiple=True,
            help="The language of labels, as in en; repeatable, the best one first. Implies --labels.",
        ),
    ):
        command = option(command)
    return command


def displayed_names(prefixes: Mapping[str, str], *reasoners: Reasoner) -> Mapping[str, str]:
    """Return the prefixes and, if they are asked for, the labels that reasoners know."""
    values = group_values(_GROUP)
    if not (values.get("labels") or values.get("languages")):
        return prefixes
    from kg_reasoner.language.display_names import merged

    return merged(*(reasoner.labels(*values["languages"], prefixes=prefixes) for reasoner in reasoners))
