"""``kg-reasoner materialise``: write the materialisation of RDF data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kg_reasoner.cli.console import is_quiet, note, plural
from kg_reasoner.cli.options.checked_values import absolute_iri, checked, known_output_format, output_syntax
from kg_reasoner.cli.options.reasoner_options import (
    data_options,
    graphs_option,
    inconsistency_option,
    load,
    load_into_store,
    reasoner_for,
    reasoner_settings,
    report_graphs,
    report_inconsistencies,
)

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner
    from kg_reasoner.io.output import TripleWriter
    from kg_reasoner.query.matching import Which
    from kg_reasoner.rdflib_store.store import Reasoning


@click.command(short_help="Write what follows from RDF data.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    help="The file to write, compressed if it ends in .gz, .zst, .bz2 or .xz; - is standard output.",
)
@click.option(
    "--format",
    "output_format",
    metavar="FORMAT",
    callback=checked(known_output_format),
    help="The syntax of the output, or parquet. [default: from its name; N-Triples on standard output]",
)
@click.option("--inferred-only", is_flag=True, help="Write the inferred triples only.")
@click.option(
    "--inferred-graph",
    metavar="IRI",
    callback=checked(absolute_iri),
    help="The graph for the inferred triples, in syntaxes with named graphs.",
)
@graphs_option
@inconsistency_option
@data_options
def materialise(
    files: tuple[str, ...],
    output: str,
    output_format: str | None,
    inferred_only: bool,
    inferred_graph: str | None,
    reasoning: Reasoning,
    ruleset: str | None,
    rules_file: str | None,
    input_format: str | None,
    quiet: bool,
) -> None:
    """Write the explicit and inferred triples of FILES (or folders; - is standard input).

    Syntaxes with named graphs (N-Quads, TriG, JSON-LD) keep the graphs of explicit triples. What follows from all graphs together
    is written to the default graph, or to that of --inferred-graph; with --graphs graph, what follows from a graph is in it.

    The output file is replaced only when the new one is complete; after an error, it is unchanged.
    """
    from kg_reasoner.api.exports import exported
    from kg_reasoner.api.sizes import count_generalised
    from kg_reasoner.cli.quad_output import graph_text, quads_of_graphs, quads_of_union
    from kg_reasoner.io.output import triple_writer
    from kg_reasoner.language.prefixes import PREFIXES

    if inferred_graph is not None and reasoning == "graph":
        raise click.UsageError(
            "--inferred-graph requires reasoning over the union: with --graphs graph, a graph has what follows from it"
        )
    syntax = output_format or output_syntax(output, "--format")
    with triple_writer(output, syntax, PREFIXES, threads=reasoner_settings()["threads"]) as write:
        if inferred_graph is not None and not write.has_graphs:
            raise click.UsageError(
                "the output has no named graphs, so there is none for --inferred-graph: write N-Quads, TriG or JSON-LD"
            )
        reasoner = reasoner_for(ruleset, rules_file)
        which: Which = "inferred" if inferred_only else "all"
        if reasoning == "graph":
            store = load_into_store(reasoner, files, input_format, reasoning, inferred_graph)
            _declare(write, store.reasoner)
            written = write.quads(quads_of_graphs(store, which))
        else:  # without a store: to import rdflib takes as long as everything else that is imported
            load(reasoner, files, input_format)
            _declare(write, reasoner)
            name = graph_text(inferred_graph)
            if write.has_graphs and (name or len(reasoner.core.queries.quads.names())):
                written = write.quads(quads_of_union(reasoner, which, name))
            else:
                written = write.ids(exported(reasoner, which), reasoner.dictionary)
    if reasoning == "graph":
        report_graphs(store)
        reasoners = store.graphs.reasoners()
    else:
        report_inconsistencies(reasoner)
        reasoners = [reasoner]
    note(f"{plural(written, 'triple')} written to {'standard output' if output == '-' else output}")
    omitted = 0 if is_quiet() else sum(count_generalised(reasoner.engine) for reasoner in reasoners)
    if omitted:
        note(f"{plural(omitted, 'inferred fact')} omitted: with a literal as the subject, or without an IRI as the property")


def _declare(write: TripleWriter, reasoner: Reasoner) -> None:
    """Declare the prefixes of the loaded documents, where the syntax has prefixes."""
    if write.has_prefixes:
        write.add_prefixes(reasoner.prefixes)
