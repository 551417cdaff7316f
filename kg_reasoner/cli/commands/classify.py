"""``kg-reasoner classify`` and ``kg-reasoner diff``: the inferred hierarchies of ontologies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from kg_reasoner.cli.console import detail, is_quiet, note, plural, print_table, progress_shown, warn
from kg_reasoner.cli.options.checked_values import checked, known_output_format, output_syntax
from kg_reasoner.cli.options.label_options import displayed_names, label_options
from kg_reasoner.cli.options.loading_options import load_documents, report_missing_imports
from kg_reasoner.cli.options.reasoner_options import data_options, reasoner_for, report_warnings
from kg_reasoner.errors import OutputError

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.classification.hierarchy import Hierarchy
    from kg_reasoner.terms import Triple

__all__ = ["classify", "diff"]


@click.command(short_help="Show the inferred hierarchy of an ontology.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-f",
    "--format",
    "output_format",
    type=click.Choice(["table", "tree", "owl", "html", "svg", "json"]),
    help="A table or an indented tree; the ontology with its inferred axioms; a page; a picture; or data with proofs. "
    "[default: from the name of OUT, or table]",
)
@click.option("-o", "--output", default="-", metavar="OUT", help="The file to write. [default: standard output]")
@click.option(
    "--syntax",
    metavar="SYNTAX",
    callback=checked(known_output_format),
    help="The syntax of the ontology, with --format owl. [default: from the name of OUT]",
)
@label_options
@data_options
def classify(
    files: tuple[str, ...],
    output_format: str | None,
    output: str,
    syntax: str | None,
    ruleset: str | None,
    rules_file: str | None,
    input_format: str | None,
    quiet: bool,
) -> None:
    """Show which classes and properties of the ontologies in FILES are unsatisfiable, and which are directly below which.

    With --format owl, the output is the ontology with the axioms of its hierarchy, without inclusions that follow from others. Its
    syntax is SYNTAX (turtle, functional ...), that of the name of OUT, or N-Triples on standard output.

    All that is shown follows from the ontology. A warning names the axioms beyond OWL 2 RL, from which more may follow, and says if
    the ontology is in OWL 2 EL, for which there is the rule set owl2el.
    """
    from kg_reasoner.io.atomic_files import atomic_output

    output_format = output_format or _format_of(output)
    if output_format == "owl":
        syntax = syntax or output_syntax(output, "--syntax")
    elif syntax is not None:
        raise click.UsageError("--syntax is that of the ontology, which --format owl writes")
    reasoner, hierarchy = _classified(files, ruleset, rules_file, input_format)
    prefixes = displayed_names(reasoner.prefixes, reasoner)
    if output_format == "owl":
        _write_ontology(output, syntax, reasoner, hierarchy)
    elif output_format == "table" and output == "-":
        from kg_reasoner.classification.forms import table_rows

        print_table(("kind", "name", "below", "equivalent to"), list(table_rows(hierarchy, prefixes)))
    else:
        with atomic_output(output) as file:
            file.write(f"{_text(hierarchy, output_format, prefixes)}\n".encode())
    _report(hierarchy)
    report_warnings(hierarchy.warnings, prefixes)
    _suggest_el(reasoner, hierarchy)


@click.command(short_help="Compare the inferred hierarchies of two ontologies.")
@click.argument("before")
@click.argument("after")
@click.option("-f", "--format", "output_format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@label_options
@data_options
@click.pass_context
def diff(
    context: click.Context,
    before: str,
    after: str,
    output_format: str,
    ruleset: str | None,
    rules_file: str | None,
    input_format: str | None,
    quiet: bool,
) -> None:
    """Show what only one of two ontologies, BEFORE and AFTER, says of classes and properties, stated or inferred.

    A line with - is an inclusion that is lost, one with + is gained. Those that follow from others are left out.

    Exit with code 3 if there is a difference.
    """
    from kg_reasoner.classification.difference import difference
    from kg_reasoner.language.display_names import merged
    from kg_reasoner.language.prefixes import PREFIXES
    from kg_reasoner.language.printer import format_term

    if before == after == "-":
        raise click.UsageError("standard input cannot be both ontologies")
    one, first = _classified((before,), ruleset, rules_file, input_format)
    other, second = _classified((after,), ruleset, rules_file, input_format)
    found = difference(first, second)
    prefixes = merged(PREFIXES, displayed_names({**other.prefixes, **one.prefixes}, one, other))

    def line(triple: Triple) -> str:
        return " ".join(format_term(term, prefixes) for term in triple)

    if output_format == "json":
        parts = {"lost": found.lost, "gained": found.gained}
        listed = {name: [[str(term) for term in triple] for triple in triples] for name, triples in parts.items()}
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
    else:
        for sign, triples in (("-", found.lost), ("+", found.gained)):
            for triple in triples:
                click.echo(f"{sign} {line(triple)}")
    note(f"{plural(len(found.lost), 'inclusion')} lost, {len(found.gained):,} gained" if found else "no difference")
    if not (first.complete and second.complete):
        warn("some axioms are beyond the rules, so there may be further differences: see kg-reasoner classify")
    if found:
        context.exit(3)


def _format_of(output: str) -> str:
    """Return the format that the name of an output file determines."""
    from kg_reasoner.io.output import format_of_output
    from kg_reasoner.io.unpacking import format_ending

    extension = format_ending(PurePath(output)).removeprefix(".")
    if extension in ("html", "svg", "json"):
        return extension
    try:
        format_of_output(output)
    except OutputError:
        return "table"
    return "owl"


def _classified(
    files: Sequence[str], ruleset: str | None, rules_file: str | None, input_format: str | None
) -> tuple[Reasoner, Hierarchy]:
    """Return a reasoner with some documents, and its hierarchy."""
    reasoner = reasoner_for(ruleset, rules_file)
    with progress_shown() as progress:
        load_documents(reasoner, files, input_format, progress)
    report_missing_imports(reasoner)
    return reasoner, reasoner.hierarchy()


def _suggest_el(reasoner: Reasoner, hierarchy: Hierarchy) -> None:
    """Say that there is a rule set which has all axioms."""
    from kg_reasoner.classification.derived import derives_hierarchy

    if hierarchy.warnings and not is_quiet() and not derives_hierarchy(reasoner.program) and "EL" in reasoner.owl_profiles():
        detail("(the ontology is in OWL 2 EL: with `-r owl2el` all axioms are used)")


def _text(hierarchy: Hierarchy, output_format: str, prefixes: Mapping[str, str]) -> str:
    from kg_reasoner.classification.forms import table_rows

    if output_format == "json":
        return json.dumps(hierarchy.as_dict(prefixes), indent=2, ensure_ascii=False)
    if output_format == "svg":
        return hierarchy.svg(prefixes).rstrip("\n")
    if output_format == "html":
        return hierarchy.html(prefixes).rstrip("\n")
    if output_format == "table":
        return "\n".join("\t".join(row) for row in table_rows(hierarchy, prefixes))
    return hierarchy.text(prefixes)


def _write_ontology(output: str, syntax: str | None, reasoner: Reasoner, hierarchy: Hierarchy) -> None:
    from kg_reasoner.classification.export import with_hierarchy
    from kg_reasoner.io.output import triple_writer
    from kg_reasoner.language.prefixes import PREFIXES

    with triple_writer(output, syntax, PREFIXES) as write:
        if write.has_prefixes:
            write.add_prefixes(reasoner.prefixes)
        written = write(with_hierarchy(reasoner.triples(which="explicit"), hierarchy))
    note(f"{plural(written, 'triple')} written to {'standard output' if output == '-' else output}")


def _report(hierarchy: Hierarchy) -> None:
    if not hierarchy.is_consistent:
        warn("the ontology is inconsistent: run `kg-reasoner check`")
    counts = [plural(len(hierarchy.classes), "class", "classes"), plural(_properties(hierarchy), "property", "properties")]
    note(f"{' and '.join(counts)} classified; {len(hierarchy.unsatisfiable) or 'none'} unsatisfiable")


def _properties(hierarchy: Hierarchy) -> int:
    return len(hierarchy.object_properties) + len(hierarchy.data_properties)
