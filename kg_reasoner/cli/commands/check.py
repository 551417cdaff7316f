"""``kg-reasoner check``: do the data contradict the rules?"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from kg_reasoner.cli.console import note, plural
from kg_reasoner.cli.options.label_options import displayed_names, label_options
from kg_reasoner.cli.options.reasoner_options import (
    data_options,
    graphs_option,
    load_into_store,
    reasoner_for,
    report_axioms_of_graphs,
)
from kg_reasoner.cli.query_text import term_shortener
from kg_reasoner.language.display_names import merged
from kg_reasoner.terms import IRI

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.classification.hierarchy import Unsatisfiable
    from kg_reasoner.engine.inconsistency import Violation
    from kg_reasoner.explain.proofs import Proof
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
    help="Show the axioms and triples from which the first N contradictions follow.",
)
@click.option("--steps", is_flag=True, help="Show the whole proofs, step by step, in place of the axioms.")
@click.option("--strict", is_flag=True, help="Exit with code 3 if a class or property is unsatisfiable, too.")
@graphs_option
@label_options
@data_options
@click.pass_context
def check(
    context: click.Context,
    files: tuple[str, ...],
    output_format: str,
    proofs: int,
    steps: bool,
    strict: bool,
    reasoning: Reasoning,
    ruleset: str | None,
    rules_file: str | None,
    input_format: str | None,
    quiet: bool,
) -> None:
    """List the contradictions in FILES, such as a member of two disjoint classes, and the unsatisfiable classes and properties.

    For each contradiction, show the violated axiom, the W3C's name of the rule, and the terms that violate it. An unsatisfiable
    class is one that can have no members; its proof shows what a member would contradict.

    \b
    Exit codes:
      0  the data are consistent
      1  an input is missing or wrong
      3  there is a contradiction or, with --strict, something unsatisfiable
    """
    from kg_reasoner.language.parser import PREFIXES
    from kg_reasoner.language.printer import format_term

    store = load_into_store(reasoner_for(ruleset, rules_file), files, input_format, reasoning)
    found = list(_contradictions(store))
    empty = list(_unsatisfiable(store))
    reasoners = [store.reasoner_of(None)] if store.reasons_over_union else map(store.reasoner_of, store.graphs.all_graphs())
    prefixes = displayed_names(store.reasoner.prefixes, *reasoners)
    if reasoning == "graph":
        report_axioms_of_graphs(store)
    if output_format == "json":
        entries = [_as_dict(*each, prefixes, proves=number < proofs) for number, each in enumerate(found)]
        names = [_empty_as_dict(*each, prefixes, proves=number < proofs) for number, each in enumerate(empty)]
        listed = {"consistent": not found, "contradictions": entries, "unsatisfiable": names}
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
    else:
        for number, (graph, reasoner, violation) in enumerate(found):
            click.echo(f"{violation.text(prefixes)}{_place(graph, prefixes)}")
            if number < proofs:
                click.echo(_reason(reasoner, reasoner.explain(violation), prefixes, steps))
        for number, (graph, reasoner, each) in enumerate(empty):
            click.echo(f"unsatisfiable {each.kind} {format_term(each.name, merged(PREFIXES, prefixes))}{_place(graph, prefixes)}")
            if number < proofs:
                click.echo(_reason(reasoner, each.proof, prefixes, steps))
    if empty:
        note(f"{plural(len(empty), 'unsatisfiable class or property', 'unsatisfiable classes and properties')} found")
    note(f"{plural(len(found), 'contradiction')} found" if found else "no contradiction found")
    if found or (strict and empty):
        context.exit(3)


def _contradictions(store: KGReasonerStore) -> Iterator[tuple[str, Reasoner, Violation]]:
    """Yield the violations, each with its reasoner and, with reasoning over each graph, the name of the graph."""
    for graph in [None] if store.reasons_over_union else store.graphs.all_graphs():
        reasoner = store.reasoner_of(graph)
        for violation in reasoner.inconsistencies():
            yield "" if graph is None else str(graph), reasoner, violation


def _unsatisfiable(store: KGReasonerStore) -> Iterator[tuple[str, Reasoner, Unsatisfiable]]:
    """Yield the unsatisfiable classes and properties, likewise."""
    for graph in [None] if store.reasons_over_union else store.graphs.all_graphs():
        reasoner = store.reasoner_of(graph)
        for each in reasoner.hierarchy().unsatisfiable:
            yield "" if graph is None else str(graph), reasoner, each


def _reason(reasoner: Reasoner, proof: Proof, prefixes: Mapping[str, str], steps: bool) -> str:
    """Return why something holds, indented: the axioms that its proof uses, or the whole proof."""
    axioms = () if steps else reasoner.axioms_of(proof, prefixes)
    return textwrap.indent("\n".join(axioms) or proof.with_prefixes(prefixes).text(), "    ")


def _place(graph: str, prefixes: Mapping[str, str]) -> str:
    """Return the graph of a contradiction as text, if each graph is reasoned over by itself."""
    from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

    if not graph:
        return ""
    if graph == str(DATASET_DEFAULT_GRAPH_ID):
        return ", in the default graph"
    return f", in the graph {term_shortener(prefixes)(IRI(graph))}"


def _as_dict(graph: str, reasoner: Reasoner, violation: Violation, prefixes: Mapping[str, str], proves: bool) -> dict[str, Any]:
    """Return a contradiction as plain data; texts use the prefixes."""
    entry = {"text": violation.text(prefixes), **violation.as_dict()} | ({"graph": graph} if graph else {})
    return entry | (_proof_as_dict(reasoner, reasoner.explain(violation), prefixes) if proves else {})


def _empty_as_dict(
    graph: str, reasoner: Reasoner, each: Unsatisfiable, prefixes: Mapping[str, str], proves: bool
) -> dict[str, Any]:
    """Return an unsatisfiable class or property as plain data."""
    entry: dict[str, Any] = {"name": each.name.value, "kind": each.kind} | ({"graph": graph} if graph else {})
    return entry | (_proof_as_dict(reasoner, each.proof, prefixes) if proves else {})


def _proof_as_dict(reasoner: Reasoner, proof: Proof, prefixes: Mapping[str, str]) -> dict[str, Any]:
    """Return the axioms of a proof, and the proof, as plain data."""
    return {"axioms": reasoner.axioms_of(proof, prefixes), "proof": proof.with_prefixes(prefixes).as_dict()}
