"""``kg-reasoner materialise``: RDF in, its materialisation out."""

from __future__ import annotations

import click

from kg_reasoner.cli.console import note, plural
from kg_reasoner.cli.options import data_options, load, reasoner_for, report_inconsistencies


@click.command(short_help="Write what follows from RDF data.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-o", "--output", required=True, metavar="OUT", help="The file to write, compressed if it ends in .gz; - is standard output."
)
@click.option(
    "--format", "output_format", metavar="FORMAT", help="The syntax of the output; by default told by its name, N-Triples for -."
)
@click.option("--inferred-only", is_flag=True, help="Write the inferred triples only.")
@data_options
def materialise(
    files: tuple[str, ...],
    output: str,
    output_format: str | None,
    inferred_only: bool,
    ruleset: str | None,
    rules_file: str | None,
    input_format: str | None,
    quiet: bool,
) -> None:
    """Write the explicit and inferred triples of FILES (or folders; - is standard input).

    The output appears when it is complete; until then, and after an error, whatever stood there stays.
    """
    from kg_reasoner.output import triple_writer
    from kg_reasoner.parser import PREFIXES

    with triple_writer(output, output_format, PREFIXES) as write:
        reasoner = reasoner_for(ruleset, rules_file)
        load(reasoner, files, input_format)
        written = write.ids(reasoner.triple_ids("inferred" if inferred_only else "all"), reasoner.dictionary)
    report_inconsistencies(reasoner)
    note(f"{plural(written, 'triple')} written to {output}")
