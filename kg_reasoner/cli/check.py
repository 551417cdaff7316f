"""``kg-reasoner check``: do the data contradict the rules?"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from kg_reasoner.cli.console import note, plural
from kg_reasoner.cli.options import data_options, graphs_option, load_into_store, reasoner_for
from kg_reasoner.cli.prefixes import document_prefixes
from kg_reasoner.cli.query_text import term_shortener

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.engine.inconsistency import Violation
    from kg_reasoner.rdflib_store import KGReasonerStore
    from kg_reasoner.rdflib_store.store import Reasoning


@click.command(short_help="List the contradictions in data.")
@click.argument("files", nargs=-1, required=True)
@click.option("-f", "--format", "output_format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--proofs",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Prove the first N contradictions from axioms and triples.",
)
@graphs_option
@data_options
@click.pass_context
def check(
    context: click.Context,
    files: tuple[str, ...],
    output_format: str,
    proofs: int,
    reasoning: Reasoning,
    ruleset: str | None,
    rules_file: str | None,
    input_format: str | None,
    quiet: bool,
) -> None:
    """List the contradictions in FILES, such as a member of two disjoint classes.

    For each, show the violated axiom, the W3C's name of the rule, and the terms that violate it.

    \b
    Exit codes:
      0  the data are consistent
      1  an input is missing or wrong
      3  there is a contradiction
    """
    store = load_into_store(reasoner_for(ruleset, rules_file), files, input_format, reasoning)
    found = list(_contradictions(store))
    prefixes = document_prefixes(files, input_format) if found else {}
    if output_format == "json":
        entries = [_as_dict(*each, prefixes, proves=number < proofs) for number, each in enumerate(found)]
        click.echo(json.dumps({"consistent": not found, "contradictions": entries}, indent=2, ensure_ascii=False))
    elif found:
        for number, (graph, reasoner, violation) in enumerate(found):
            click.echo(f"{violation.text(prefixes)}{_place(graph, prefixes)}")
            if number < proofs:
                click.echo(textwrap.indent(reasoner.explain(violation).with_prefixes(prefixes).text(), "    "))
    if found:
        note(f"{plural(len(found), 'contradiction')} found")
        context.exit(3)
    note("no contradiction found")


def _contradictions(store: KGReasonerStore) -> Iterator[tuple[str, Reasoner, Violation]]:
    """Yield the violations, each with its reasoner and, with reasoning over each graph, the name of the graph."""
    for graph in [None] if store.reasons_over_union else store.graphs.all_graphs():
        reasoner = store.reasoner_of(graph)
        for violation in reasoner.inconsistencies():
            yield "" if graph is None else str(graph), reasoner, violation


def _place(graph: str, prefixes: Mapping[str, str]) -> str:
    """Return the graph of a contradiction as text, if each graph is reasoned over by itself."""
    from rdflib import URIRef
    from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

    if not graph:
        return ""
    if graph == str(DATASET_DEFAULT_GRAPH_ID):
        return ", in the default graph"
    return f", in the graph {term_shortener(prefixes)(URIRef(graph))}"


def _as_dict(graph: str, reasoner: Reasoner, violation: Violation, prefixes: Mapping[str, str], proves: bool) -> dict[str, Any]:
    """Return a contradiction as plain data; texts use the prefixes."""
    entry = {"text": violation.text(prefixes), **violation.as_dict()} | ({"graph": graph} if graph else {})
    return entry | ({"proof": reasoner.explain(violation).with_prefixes(prefixes).as_dict()} if proves else {})
