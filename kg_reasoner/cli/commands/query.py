"""``kg-reasoner query``: SPARQL over the materialisation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click

from kg_reasoner.cli.console import note, plural, print_table, warn
from kg_reasoner.cli.options.label_options import displayed_names, label_options
from kg_reasoner.cli.options.reasoner_options import (
    data_options,
    graphs_option,
    inconsistency_option,
    load_into_store,
    reasoner_for,
    reasoner_settings,
    report_graphs,
    report_inconsistencies,
)
from kg_reasoner.cli.query_text import RdflibQuery, looks_like_query, parse_query, term_shortener
from kg_reasoner.cli.text_inputs import text_of
from kg_reasoner.terms import term_text

if TYPE_CHECKING:
    from kg_reasoner.rdflib_store import KGReasonerStore
    from kg_reasoner.rdflib_store.store import Reasoning
    from kg_reasoner.sparql.results.result import AskResult, GraphResult, SelectResult

_SOLUTIONS: Final = ("csv", "tsv", "json", "xml")
"""The formats of solutions for programs."""

_NOT_A_QUERY: Final = "to give the query itself, begin with SELECT, ASK, CONSTRUCT, DESCRIBE or PREFIX"
_NOT_ON_DEMAND: Final = "magic sets do not apply to this query and these rules, or would have derived too much"


@click.command(short_help="Answer a SPARQL query over data and inferences.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-Q",
    "--query",
    "query_source",
    required=True,
    metavar="FILE|TEXT",
    help="A file with the query, its text, or - for standard input. The prefixes that FILES declare are known.",
)
@click.option(
    "-f",
    "--format",
    "output_format",
    type=click.Choice(["table", "csv", "tsv", "json", "xml", "nt"]),
    default="table",
    show_default=True,
    help="table is for people (Turtle for CONSTRUCT); csv, tsv, json and xml are the SPARQL 1.1 results formats; nt is for "
    "CONSTRUCT only.",
)
@click.option(
    "--allow-service", is_flag=True, help="Allow the query to contact other endpoints (SERVICE), which is otherwise an error."
)
@click.option(
    "--explain",
    "explains",
    is_flag=True,
    help="Show how the query is evaluated, with the numbers of solutions and times; json gives data for programs.",
)
@click.option(
    "--on-demand",
    is_flag=True,
    help="Derive only what the query needs, by magic sets, instead of materialising first. Contradictions are not reported.",
)
@graphs_option
@inconsistency_option
@label_options
@data_options
@click.pass_context
def query(
    context: click.Context,
    files: tuple[str, ...],
    query_source: str,
    output_format: str,
    allow_service: bool,
    explains: bool,
    on_demand: bool,
    reasoning: Reasoning,
    ruleset: str | None,
    rules_file: str | None,
    input_format: str | None,
    quiet: bool,
) -> None:
    """Answer a SPARQL query over FILES and what follows from them. ASK exits with code 0 for true and 3 for false.

    GRAPH, FROM and FROM NAMED refer to the named graphs of FILES. Inferred triples are in the union of all graphs, which is queried
    where the query names no graph; with --graphs graph, the triples inferred from a graph are in that graph.
    """
    text, source = _query_text(query_source, files)
    parsed = _parsed_if_known(text, source)
    if parsed is not None:
        _check_format(output_format, parsed.is_graph, explains)
    if on_demand:
        _check_on_demand(with_others=explains or allow_service or reasoning != "union")

    from rdflib import Dataset

    from kg_reasoner.language.prefixes import PREFIXES
    from kg_reasoner.sparql.results.result import AskResult

    made = reasoner_for(ruleset, rules_file)
    store = load_into_store(
        made, files, input_format, reasoning, allow=["service"] if allow_service else [], materialises=not on_demand
    )
    known = {**PREFIXES, **store.reasoner.prefixes} if parsed is None else {}
    if parsed is None:
        parsed = parse_query(text, source, known)
        _check_format(output_format, parsed.is_graph, explains)
    if reasoning == "union" and not on_demand:
        report_inconsistencies(store.reasoner)
    _warn_of_missing_graphs(parsed, store)
    if explains:
        found = store.plan(parsed.prepared, run=True)
        click.echo(json.dumps(found.to_dict(), indent=2) if output_format == "json" else str(found))
        if reasoning == "graph":
            report_graphs(store)
        return
    further = store.reasoner.prefixes if output_format == "table" else {}
    prefixes = {**parsed.prefixes, **{name: space for name, space in further.items() if name not in parsed.prefixes}}
    if on_demand:
        result = store.reasoner.query(text, on_demand=True, prefixes=known)
        note(f"{plural(result.derived, 'fact')} derived for the query" if result.by_magic else _NOT_ON_DEMAND)
    else:
        result = Dataset(store=store, default_union=True).query(parsed.prepared).native
    _print_result(result, output_format, prefixes, store)
    if reasoning == "graph":
        report_graphs(store)
    if isinstance(result, AskResult) and not result:
        context.exit(3)


def _parsed_if_known(text: str, source: str) -> RdflibQuery | None:
    """Return a query, or None if it has a prefix that it does not declare: the files may."""
    from kg_reasoner.sparql.queries.sparql_text import UnknownPrefixError

    try:
        return parse_query(text, source)
    except UnknownPrefixError:
        return None


def _shown(prefixes: dict[str, str], store: KGReasonerStore, output_format: str) -> Mapping[str, str]:
    """Return the names of terms in a table."""
    if output_format != "table":
        return prefixes
    reasoners = [store.reasoner_of(None)] if store.reasons_over_union else map(store.reasoner_of, store.graphs.all_graphs())
    return displayed_names(prefixes, *reasoners)


def _check_format(output_format: str, is_graph: bool, explains: bool) -> None:
    if explains and output_format not in ("table", "json"):
        raise click.UsageError("--explain shows the plan as text or, with --format json, as data")
    if not explains and is_graph and output_format in _SOLUTIONS:
        message = f"the query returns a graph, which cannot be written as {output_format}: use --format nt or table (Turtle)"
        raise click.UsageError(message)
    if not is_graph and output_format == "nt":
        raise click.UsageError("the query does not return a graph: use --format table, csv, tsv, json or xml")


def _check_on_demand(*, with_others: bool) -> None:
    if reasoner_settings()["on_inconsistency"] == "raise":
        raise click.UsageError("--on-demand looks for no contradictions, so it is not combined with --on-inconsistency raise")
    if with_others:
        raise click.UsageError("--on-demand is not combined with --explain, --allow-service or --graphs graph")


def _warn_of_missing_graphs(parsed: RdflibQuery, store: KGReasonerStore) -> None:
    for name in parsed.graphs:
        if not store.graphs.has_graph(name):
            warn(f"the files have no graph <{name}>: FROM and FROM NAMED select from the named graphs in the files")


def _query_text(source: str, files: tuple[str, ...]) -> tuple[str, str]:
    """Return the text of the query and its name for messages."""
    if source == "-":
        if "-" in files:
            raise click.UsageError("standard input cannot be both the data and the query")
        return text_of(source), "standard input"
    if looks_like_query(source):
        return source, "the query"
    return text_of(source, _NOT_A_QUERY), source


def _print_result(
    result: AskResult | SelectResult | GraphResult, output_format: str, prefixes: dict[str, str], store: KGReasonerStore
) -> None:
    from kg_reasoner.sparql.results.result import AskResult, SelectResult

    if isinstance(result, AskResult):
        _print_truth(result, output_format)
    elif isinstance(result, SelectResult):
        _print_bindings(result, output_format, _shown(prefixes, store, output_format))
    else:
        _print_graph(result, output_format, prefixes)


def _print_truth(result: AskResult, output_format: str) -> None:
    if output_format in ("json", "xml"):
        result.write("-", output_format)
    else:
        click.echo(str(result))


def _print_bindings(result: SelectResult, output_format: str, prefixes: Mapping[str, str]) -> None:
    if output_format == "table":
        shorten = term_shortener(prefixes)
        rows = [[shorten(term) for term in row] for row in result.rows()]
        print_table(list(result.variables), rows)
        note(plural(len(rows), "answer"))
    else:
        result.write("-", output_format)


def _print_graph(result: GraphResult, output_format: str, prefixes: dict[str, str]) -> None:
    from kg_reasoner.io.output import triple_writer
    from kg_reasoner.language.prefixes import PREFIXES
    from kg_reasoner.storage.terms.dictionary import Dictionary

    texts = sorted(tuple(map(term_text, triple)) for triple in result)
    dictionary = Dictionary()
    dictionary.encode_texts(sorted({text for triple in texts for text in triple}))  # Turtle is sorted by the ids
    triples = dictionary.encode_texts([text for triple in texts for text in triple]).reshape(-1, 3)
    with triple_writer("-", "ntriples" if output_format == "nt" else "turtle") as write:
        write.add_prefixes(_used(prefixes | PREFIXES | prefixes, dictionary.texts()))
        write.ids(triples, dictionary)
    if output_format != "nt":
        note(plural(len(triples), "triple"))


def _used(prefixes: dict[str, str], texts: Sequence[str]) -> dict[str, str]:
    """Return the prefixes by which texts are shortened, sorted; the first of two for a namespace."""
    first = {namespace: prefix for prefix, namespace in reversed(prefixes.items())}
    used = {prefix: namespace for namespace, prefix in first.items() if any(f"<{namespace}" in text for text in texts)}
    return dict(sorted(used.items()))
