"""``kg-reasoner check``: do the data contradict the rules?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kg_reasoner.cli.console import note, plural
from kg_reasoner.cli.options import data_options, load, reasoner_for
from kg_reasoner.terms import term_text

if TYPE_CHECKING:
    from kg_reasoner.inconsistency import Violation


@click.command(short_help="List the contradictions in data.")
@click.argument("files", nargs=-1, required=True)
@data_options
@click.pass_context
def check(
    context: click.Context,
    files: tuple[str, ...],
    ruleset: str | None,
    rules_file: str | None,
    input_format: str | None,
    quiet: bool,
) -> None:
    """List the contradictions in FILES, such as a member of two disjoint classes. Exit code 3 if there is one."""
    reasoner = reasoner_for(ruleset, rules_file)
    load(reasoner, files, input_format)
    found = reasoner.inconsistencies()
    for violation in found:
        click.echo(_in_words(violation))
    if found:
        note(f"{plural(len(found), 'contradiction')} found")
        context.exit(3)
    note("no contradiction found")


def _in_words(violation: Violation) -> str:
    """The broken axiom or the rule, then the terms that break it."""
    from kg_reasoner.printer import format_rule

    origin = violation.rule.origin
    what = origin.axiom or origin.name or format_rule(violation.rule)
    name = f" ({origin.name})" if origin.axiom and origin.name else ""
    terms = ", ".join(f"?{variable} = {term_text(term)}" for variable, term in violation.terms.items())
    return f"{what}{name}: {terms}" if terms else f"{what}{name}"
