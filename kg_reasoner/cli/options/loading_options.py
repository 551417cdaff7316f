"""Loading of documents by commands: where to find imports, and how to treat rules that cannot be expressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from kg_reasoner.cli.console import plural, warn
from kg_reasoner.cli.options.checked_values import absolute_iri, known_bounds
from kg_reasoner.cli.options.group_options import group_option, group_values
from kg_reasoner.progress import Progress

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.loaders.ontology.owl import AxiomWarning
    from kg_reasoner.loaders.rdf.bounds import DocumentBounds

__all__ = [
    "axiom_warnings",
    "base_option",
    "bounds_option",
    "given_base",
    "given_bounds",
    "load_documents",
    "loading_options",
    "report_missing_imports",
]

_GROUP: Final = "loading"
_Command = TypeVar("_Command", bound=Callable[..., Any])


base_option = group_option(
    _GROUP,
    "--base",
    metavar="IRI",
    check=absolute_iri,
    help="The base IRI of documents that do not declare one.",
)

bounds_option = group_option(
    _GROUP,
    "--bound",
    "bounds",
    metavar="NAME=NUMBER",
    multiple=True,
    check=known_bounds,
    help="Change a bound on documents: unpacked, expansion, line, literal or depth; repeatable.",
)


def loading_options(command: _Command) -> _Command:
    """Add the loading options to a command that loads ontologies."""
    for option in (
        base_option,
        bounds_option,
        group_option(
            _GROUP,
            "--catalog",
            metavar="PATH",
            multiple=True,
            help="Where to find imported ontologies: an XML catalog (catalog-v001.xml) or a folder; repeatable.",
        ),
        group_option(
            _GROUP,
            "--imports",
            type=click.Choice(["resolve", "require", "fetch", "ignore"]),
            default="resolve",
            show_default=True,
            help="Load imports that are found and warn about the others; require all; fetch missing ones; or load none.",
        ),
        group_option(
            _GROUP,
            "--refused",
            type=click.Choice(["raise", "skip"]),
            default="raise",
            show_default=True,
            help="Treat SWRL and N3 rules that cannot be expressed as errors, or skip them with a warning.",
        ),
    ):
        command = option(command)
    return command


def load_documents(reasoner: Reasoner, files: Sequence[str], input_format: str | None, progress: Progress | None) -> None:
    """Load files according to the command's options."""
    settings = {**group_values(_GROUP), "bounds": given_bounds()}
    settings["catalog"] = settings.get("catalog") or None
    reasoner.load(*files, format=input_format, progress=progress, **settings)


def given_base() -> str | None:
    """Return the base of documents given by the command's options."""
    base: str | None = group_values(_GROUP).get("base")
    return base


def given_bounds() -> DocumentBounds:
    """Return the bounds on documents given by the command's options."""
    from kg_reasoner.loaders.rdf.bounds import bounds_from

    return bounds_from(group_values(_GROUP).get("bounds", ()))


def report_missing_imports(reasoner: Reasoner) -> None:
    """List the imports that were not found on standard error."""
    missing = [found for found in reasoner.loaded.imports.values() if found.document is None]
    if missing:
        warn(f"{plural(len(missing), 'import')} not found; say where they are with --catalog, or fetch them with --imports fetch:")
        for found in missing:
            click.echo(f"  <{found.iri}>, imported by {found.importer}", err=True)


def axiom_warnings(reasoner: Reasoner) -> list[AxiomWarning]:
    """Return the reasoner's warnings without those of missing imports."""
    return [warning for warning in reasoner.warnings if not warning.axiom.startswith("Import(")]
