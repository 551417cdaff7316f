"""How commands load documents: where imported ontologies are, and what happens to rules that cannot be expressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from kg_reasoner.cli.console import Progress, plural, warn

if TYPE_CHECKING:
    from kg_reasoner.loaders.owl import AxiomWarning
    from kg_reasoner.reasoner import Reasoner

__all__ = ["axiom_warnings", "base_option", "load_documents", "loading_options", "report_missing_imports"]

_META: Final = "kg_reasoner.loading"
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Keep an option's value for `load_documents`, so that commands need not pass it on."""
    context.meta.setdefault(_META, {})[parameter.name] = value


base_option = click.option(
    "--base",
    metavar="IRI",
    callback=_keep,
    expose_value=False,
    help="What relative IRIs are relative to, in documents that declare no base.",
)


def loading_options(command: _Command) -> _Command:
    """The options of the commands that load ontologies."""
    for option in (
        base_option,
        click.option(
            "--catalog",
            metavar="PATH",
            multiple=True,
            callback=_keep,
            expose_value=False,
            help="Where imported ontologies are: an XML catalog (catalog-v001.xml), or a folder; may be given more than once.",
        ),
        click.option(
            "--imports",
            type=click.Choice(["resolve", "require", "fetch", "ignore"]),
            default="resolve",
            show_default=True,
            callback=_keep,
            expose_value=False,
            help="Load the imports that are found and warn of others; require all; fetch from the web what is missing; load none.",
        ),
        click.option(
            "--refused",
            type=click.Choice(["raise", "skip"]),
            default="raise",
            show_default=True,
            callback=_keep,
            expose_value=False,
            help="SWRL and N3 rules that cannot be expressed are errors, or are left out with a warning.",
        ),
    ):
        command = option(command)
    return command


def load_documents(reasoner: Reasoner, files: Sequence[str], input_format: str | None, progress: Progress | None) -> None:
    """Load files as the options of the command say."""
    options = click.get_current_context().meta.get(_META, {})
    reasoner.load(*files, format=input_format, progress=progress, **options)


def report_missing_imports(reasoner: Reasoner) -> None:
    """Tell on standard error which imports were not found."""
    missing = [found for found in reasoner.loaded.imports.values() if found.document is None]
    if missing:
        warn(f"{plural(len(missing), 'import')} not found; --catalog says where ontologies are, --imports fetch fetches them:")
        for found in missing:
            click.echo(f"  <{found.iri}>, imported by {found.importer}", err=True)


def axiom_warnings(reasoner: Reasoner) -> list[AxiomWarning]:
    """The reasoner's warnings without those of missing imports."""
    return [warning for warning in reasoner.warnings if not warning.axiom.startswith("Import(")]
