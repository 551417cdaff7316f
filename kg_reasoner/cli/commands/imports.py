"""``kg-reasoner imports``: which ontology imports what, and where that was found."""

from __future__ import annotations

import json

import click

from kg_reasoner.cli.console import note, plural, print_table
from kg_reasoner.cli.options.checked_values import input_format_option
from kg_reasoner.cli.options.loading_options import base_option, bounds_option, given_base, given_bounds
from kg_reasoner.cli.options.reasoner_options import quiet_option


@click.command(short_help="List what ontologies import.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--catalog",
    metavar="PATH",
    multiple=True,
    help="Where to find imported ontologies: an XML catalog (catalog-v001.xml) or a folder; repeatable.",
)
@click.option("--fetch", is_flag=True, help="Fetch ontologies from the web that are neither among FILES nor in the catalog.")
@input_format_option("The syntax of FILES. [default: from the file names]")
@bounds_option
@base_option
@click.option("-f", "--format", "output_format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@quiet_option
@click.pass_context
def imports(
    context: click.Context,
    files: tuple[str, ...],
    catalog: tuple[str, ...],
    fetch: bool,
    input_format: str | None,
    output_format: str,
    quiet: bool,
) -> None:
    """List what the ontologies in FILES import, directly or indirectly, and where it was found.

    Exit with code 3 if an import was not found.
    """
    from kg_reasoner.loaders.imports.closure import ImportsMode, imports_of

    mode: ImportsMode = "fetch" if fetch else "resolve"
    found = imports_of(*files, catalog=catalog, imports=mode, format=input_format, base=given_base(), bounds=given_bounds())
    if output_format == "json":
        entries = [{"ontology": each.importer, "imports": each.iri, "document": each.document} for each in found]
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
    elif found:
        rows = [(each.importer, each.iri, each.document or "(not found)") for each in found]
        print_table(("ontology", "imports", "document"), rows)
    missing = sum(each.document is None for each in found)
    note(f"{plural(len(found), 'import')}, {missing or 'none'} of them not found" if found else "no imports")
    if missing:
        context.exit(3)
