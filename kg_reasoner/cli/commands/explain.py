"""``kg-reasoner explain``: why a triple holds, or why it does not."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from kg_reasoner.cli.commands.rules import namespace_prefixes
from kg_reasoner.cli.console import note
from kg_reasoner.cli.options.label_options import displayed_names, label_options
from kg_reasoner.cli.options.reasoner_options import data_options, load, reasoner_for
from kg_reasoner.errors import NoProofError, suggest

if TYPE_CHECKING:
    from kg_reasoner.explain import Proof, WhyNot
    from kg_reasoner.terms import Triple


class _UnknownPrefix(click.UsageError):
    """An undeclared prefix."""


_UNDECLARED: Final = "has not been declared"
_FINAL_DOT: Final = re.compile(r"\s+\.\s*$")


@click.command(short_help="Prove a triple, or show what is missing for it.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-t",
    "--triple",
    "triple_text",
    required=True,
    multiple=True,
    callback=lambda context, parameter, texts: _only(texts),
    metavar="'S P O'",
    help="The triple in Turtle, as in 'ex:tom a ex:Cat'. The prefixes that FILES declare are known.",
)
@click.option(
    "-f",
    "--format",
    "output_format",
    type=click.Choice(["text", "axioms", "json", "dot", "html"]),
    default="text",
    show_default=True,
    help="axioms are those that the proof uses, without its steps; dot is Graphviz; html is a self-contained page.",
)
@click.option(
    "--all",
    "most",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show up to N proofs, the lowest first. [default: only the shortest]",
)
@label_options
@data_options
@click.pass_context
def explain(
    context: click.Context,
    files: tuple[str, ...],
    triple_text: str,
    output_format: str,
    most: int | None,
    ruleset: str | None,
    rules_file: str | None,
    input_format: str | None,
    quiet: bool,
) -> None:
    """Prove that a triple follows from FILES: by which rules and axioms, down to the triples in FILES.

    If it does not follow, show for each rule that could derive it what is missing, and exit with code 3.
    """
    from kg_reasoner.language.parser import PREFIXES

    reasoner = reasoner_for(ruleset, rules_file)
    with suppress(_UnknownPrefix):  # files and rules may declare it; all other mistakes are reported before loading
        _triple(triple_text, {**PREFIXES, **reasoner.prefixes})
    load(reasoner, files, input_format)
    declared = reasoner.prefixes
    known = {**PREFIXES, **declared}
    triple = _triple(triple_text, {**namespace_prefixes(reasoner.rules, taken=known), **known})
    shown = displayed_names(declared, reasoner)
    try:
        found = (
            reasoner.all_proofs(triple, prefixes=shown) if most is not None else iter([reasoner.explain(triple, prefixes=shown)])
        )
    except NoProofError:
        _print_absence(reasoner.why_not(triple, prefixes=shown), output_format)
        note("the triple does not hold")
        context.exit(3)
    proofs = list(itertools.islice(found, most or 1))
    if output_format == "axioms":
        for number, proof in enumerate(proofs):
            click.echo("\n" * (number > 0) + "\n".join(reasoner.axioms_of(proof, shown)))
    else:
        _print_proofs(proofs, output_format, most is not None)


def _only(texts: Sequence[str]) -> str:
    """Return the single text."""
    first, *others = texts
    if others:
        raise click.UsageError(f"--triple is given {len(texts)} times; explain one triple at a time")
    return first


def _triple(text: str, prefixes: Mapping[str, str]) -> Triple:
    """Return the single triple in a Turtle text; blank nodes have the labels that the output shows."""
    import pyoxigraph

    from kg_reasoner.loaders.convert import from_oxigraph

    header = "".join(f"@prefix {prefix}: <{namespace}> . " for prefix, namespace in prefixes.items())
    try:
        found = list(pyoxigraph.parse(f"{header}\n{_FINAL_DOT.sub('', text)} .", pyoxigraph.RdfFormat.TURTLE))
    except (SyntaxError, ValueError) as error:
        raise _mistake(text, error, prefixes) from None
    if len(found) != 1:
        raise click.UsageError(f"--triple: {text!r} is {len(found)} triples; give one")
    (quad,) = found
    return from_oxigraph(quad.subject), from_oxigraph(quad.predicate), from_oxigraph(quad.object)


def _mistake(text: str, error: Exception, prefixes: Mapping[str, str]) -> click.UsageError:
    """Return the parser's message without positions that refer to generated text."""
    message = str(getattr(error, "msg", None) or error).partition(" at line ")[2].partition(": ")[2] or str(error)
    if _UNDECLARED in message:
        known = ", ".join(f"{name}:" for name in sorted(prefixes))
        prefix = message.removeprefix("The prefix ").partition(":")[0]
        return _UnknownPrefix(f"--triple: the prefix {prefix}: is not declared{suggest(prefix, prefixes)}; declared: {known}")
    return click.UsageError(f"--triple: {text!r} is not a triple in Turtle: {message}")


def _print_proofs(proofs: Sequence[Proof], output_format: str, several: bool) -> None:
    if output_format == "json":
        dicts = [proof.as_dict() for proof in proofs]
        click.echo(json.dumps(dicts if several else dicts[0], indent=2, ensure_ascii=False))
    elif output_format == "dot":
        from kg_reasoner.explain.dot import proofs_dot

        click.echo(proofs_dot(proofs) if several else proofs[0].dot(), nl=False)
    elif output_format == "html":
        from kg_reasoner.explain.html import proofs_page

        click.echo(proofs_page(proofs), nl=False)
    else:
        for number, proof in enumerate(proofs, start=1):
            if several:
                click.echo(f"{'' if number == 1 else chr(10)}# proof {number}, height {proof.height}")
            click.echo(proof.text())


def _print_absence(answer: WhyNot, output_format: str) -> None:
    if output_format == "json":
        click.echo(json.dumps(answer.as_dict(), indent=2, ensure_ascii=False))
    else:
        forms = {"text": answer.text, "axioms": answer.text, "dot": answer.dot, "html": answer.html}
        click.echo(forms[output_format]().rstrip("\n"))
