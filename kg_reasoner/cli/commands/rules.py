"""``kg-reasoner rules``: show rule sets, their rules, and the rules that an ontology is translated into."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from kg_reasoner.cli.console import note, plural, print_table, progress_shown, starting
from kg_reasoner.cli.options.checked_values import input_format_option, ruleset_option
from kg_reasoner.cli.options.limit_options import given_limits, limit_options
from kg_reasoner.cli.options.loading_options import axiom_warnings, load_documents, loading_options, report_missing_imports
from kg_reasoner.cli.options.reasoner_options import DEFAULT_RULESET, quiet_option, report_warnings
from kg_reasoner.program import Atom, Negation
from kg_reasoner.terms import IRI, namespace_of, word_of

if TYPE_CHECKING:
    from kg_reasoner.program import Rule


@click.command(short_help="Show rule sets, or the rules that an ontology is translated into.")
@click.argument("files", nargs=-1)
@ruleset_option(f"Print this rule set; with FILES, how it takes the ontology. [default with FILES: {DEFAULT_RULESET}]", "-r")
@click.option("-f", "--format", "output_format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@input_format_option("The syntax of FILES. [default: from the file names]")
@limit_options
@loading_options
@quiet_option
def rules(files: tuple[str, ...], ruleset: str | None, output_format: str, input_format: str | None, quiet: bool) -> None:
    """List the rule sets, print one of them, or print the rules that the ontology in FILES is translated into, axiom by axiom.

    Warn about axioms that rules cannot fully express. The output is a program that the option --rules accepts.
    """
    if files:
        _print_ontology(files, ruleset or DEFAULT_RULESET, output_format, input_format)
    elif ruleset is not None:
        _print_ruleset(ruleset, output_format)
    else:
        _print_rulesets(output_format)


def _print_rulesets(output_format: str) -> None:
    from kg_reasoner import rulesets

    found = [rulesets.load(name) for name in rulesets.names()]
    if output_format == "json":
        _print_json([{"name": s.name, "rules": len(s.program.rules), "description": s.description} for s in found])
    else:
        rows = [(s.name, str(len(s.program.rules)), s.description) for s in found]
        print_table(("rule set", "rules", "description"), rows, numeric={1})


def _print_ruleset(name: str, output_format: str) -> None:
    from kg_reasoner import rulesets
    from kg_reasoner.language.printer import format_program

    found = rulesets.load(name)
    if output_format == "json":
        _print_json({"ruleset": found.name, "translate": found.program.translate, "rules": _as_json(found.program.rules)})
    else:
        click.echo(format_program(found.program), nl=False)


def _print_ontology(files: Sequence[str], ruleset: str, output_format: str, input_format: str | None) -> None:
    with starting():
        from kg_reasoner.api.reasoner import Reasoner
        from kg_reasoner.explain.readable_names import Names, axiom_text
        from kg_reasoner.language.parser import PREFIXES
        from kg_reasoner.language.printer import format_rule

        reasoner = Reasoner(ruleset=ruleset, limits=given_limits())
    fixed = reasoner.program
    with progress_shown() as progress:
        load_documents(reasoner, files, input_format, progress)
    given = frozenset(fixed.rules)
    translated = [rule for rule in reasoner.rules if rule not in given]
    if output_format == "json":
        warnings = [{"axiom": w.axiom, "reason": w.reason, "translated": w.translated or None} for w in reasoner.warnings]
        _print_json({"ruleset": ruleset, "rules": _as_json(translated), "warnings": warnings})
        return
    declared = reasoner.loaded.prefixes
    chosen = namespace_prefixes(translated, PREFIXES, declared)
    prefixes = {**PREFIXES, **chosen}
    names = Names({**declared, **chosen})
    for prefix, namespace in chosen.items():
        click.echo(f"@prefix {prefix}: <{namespace}> .")
    by_axiom: dict[str, list[Rule]] = {}
    for rule in translated:
        by_axiom.setdefault(_source(rule), []).append(rule)
    for axiom, group in by_axiom.items():
        click.echo(f"\n# {axiom_text(axiom, names)}")
        for rule in group:
            click.echo(format_rule(rule, prefixes))
    report_missing_imports(reasoner)
    report_warnings(axiom_warnings(reasoner), names.prefixes, in_full=True)
    if fixed.translate is None:
        note(f"the rule set {ruleset} translates no axioms: its {plural(len(fixed.rules), 'rule')} read them as data")
    else:
        note(
            f"{plural(len(translated), 'rule')} from {plural(len(by_axiom), 'axiom')}, besides the "
            f"{plural(len(fixed.rules), 'rule')} of {ruleset}"
        )


def _source(rule: Rule) -> str:
    """Return the axiom or the source position that a rule comes from."""
    span = rule.origin.span
    return rule.origin.axiom or (f"{span.source}, line {span.line}" if span is not None else "")


def _as_json(rules: Iterable[Rule]) -> list[dict[str, str | None]]:
    from kg_reasoner.language.printer import format_rule

    return [{"rule": format_rule(rule, {}), "name": rule.origin.name, "axiom": rule.origin.axiom} for rule in rules]


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def namespace_prefixes(rules: Iterable[Rule], taken: Iterable[str], declared: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return prefixes for the namespaces of the classes and properties in rules: declared ones, or the last part of the namespace.

    >>> from kg_reasoner.language.parser import parse
    >>> rules = parse("@prefix ex: <http://example.org/zoo.owl#> . ex:A[?x] :- ex:B[?x], ex:C[?x] .").rules
    >>> namespace_prefixes(rules, taken=["rdf"])
    {'zoo': 'http://example.org/zoo.owl#'}
    >>> namespace_prefixes(rules, taken=["rdf"], declared={"z": "http://example.org/zoo.owl#", "rdf": "urn:r#"})
    {'z': 'http://example.org/zoo.owl#'}
    """
    from kg_reasoner.language.parser import PREFIXES

    atoms = [part for rule in rules for part in (rule.head, *rule.body)]
    atoms = [part.atom if isinstance(part, Negation) else part for part in atoms]
    iris = {term.value for atom in atoms if isinstance(atom, Atom) for term in atom.terms if isinstance(term, IRI)}
    namespaces = set(map(namespace_of, iris))
    used = set(taken)
    prefixes = {name: space for name, space in (declared or {}).items() if name not in used and space in namespaces}
    used.update(declared or ())
    for namespace in sorted(namespaces - {*PREFIXES.values(), *prefixes.values()}):
        word = word_of(namespace)
        prefix = next(name for name in itertools.chain([word], (f"{word}{n}" for n in itertools.count(2))) if name not in used)
        prefixes[prefix] = namespace
        used.add(prefix)
    return prefixes
