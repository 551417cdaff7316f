"""``kg-reasoner profiles``: which of OWL 2 EL, QL, RL and DL an ontology is in."""

from __future__ import annotations

import json

import click

from kg_reasoner.cli.options.checked_values import input_format_option
from kg_reasoner.cli.options.loading_options import load_documents, loading_options, report_missing_imports
from kg_reasoner.cli.options.reasoner_options import quiet_option

__all__ = ["profiles"]


@click.command(short_help="Tell which OWL 2 profiles an ontology is in.")
@click.argument("files", nargs=-1, required=True)
@input_format_option("The syntax of FILES. [default: from the file names]")
@click.option("-f", "--format", "output_format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@loading_options
@quiet_option
def profiles(files: tuple[str, ...], input_format: str | None, output_format: str, quiet: bool) -> None:
    """Tell which of OWL 2 EL, QL, RL and DL the ontologies in FILES are in, by the W3C's grammars, and which axioms leave each.

    All axioms of an ontology in EL can be used by --ruleset owl2el, all of one in RL by --ruleset owl2rl.
    """
    from kg_reasoner.api.reasoner import Reasoner

    reasoner = Reasoner()
    load_documents(reasoner, files, input_format, None)
    found = reasoner.owl_profiles()
    if output_format == "json":
        entries = {
            name: {"holds": not axioms, "beyond": [{"axiom": each.axiom, "reason": each.reason} for each in axioms]}
            for name, axioms in found.beyond.items()
        }
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
    else:
        click.echo(found.text())
    report_missing_imports(reasoner)
