"""The rules of magic sets as text: what a program and a query become. Answers are in `tests/engine/test_on_demand.py`.

``KG_REASONER_SNAPSHOTS=write python -m pytest tests/language/test_magic.py`` writes the rules anew; read the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from kg_reasoner.language.checks import analysis
from kg_reasoner.language.checks.analysis import Key, head_key
from kg_reasoner.language.parser import parse, parse_body
from kg_reasoner.language.printer import format_rule
from kg_reasoner.language.selection.magic import MOST_ADORNMENTS, SEED, answer_atom, copied_predicate, magic_rules
from kg_reasoner.program import Atom, Rule
from tests.helpers.fixtures import blocks

PAIRS = Path(__file__).with_name("magic.txt")
PREFIXES = {"": "http://example.org/"}


def transformed(given: str) -> list[Rule] | None:
    """The rules for the program and the query of a block."""
    lines = given.strip().splitlines()
    joins = "joined" in lines
    explicit = {name for line in lines if line.startswith("explicit:") for name in line.split()[1:]}
    body = parse_body(next(line[3:] for line in lines if line.startswith("?- ")), PREFIXES)
    program = "\n".join(line for line in lines if line != "joined" and not line.startswith(("explicit:", "?- ")))
    rules = parse(f"PREFIX : <http://example.org/> {program}").rules
    derived = {head_key(rule) for rule in rules}

    def has_facts(key: Key) -> bool:
        return key[0] in explicit or key not in derived

    return magic_rules(rules, [Rule(answer_atom(body), body)], has_facts, joins_triples=joins)


def shown(rules: list[Rule]) -> str:
    return re.sub(r"<http://example.org/(\w+)>", r":\1", "".join(f"{format_rule(rule)}\n" for rule in rules))


PARTS = [(title, *text.partition("=>\n")[::2]) for title, text in blocks(PAIRS)]


@pytest.mark.parametrize(("title", "given", "expected"), PARTS, ids=[title for title, *_ in PARTS])
def test_rules_are_transformed_as_written_there(title: str, given: str, expected: str) -> None:
    rules = transformed(given)
    assert rules is not None
    assert shown(rules).strip() == expected.strip()


@pytest.mark.parametrize(("title", "given", "expected"), PARTS, ids=[title for title, *_ in PARTS])
def test_the_rules_are_a_program(title: str, given: str, expected: str) -> None:
    """They can be stratified, and the first part of each body is a magic set, the groups of an aggregate, or the seed."""
    rules = transformed(given)
    assert rules is not None
    analysis.stratify(rules)
    for rule in rules:
        if rule.body:
            guard = rule.body[0]
            assert isinstance(guard, Atom)
            assert guard.predicate.endswith("?")
    assert rules[0] == Rule(Atom(SEED, ()))


def test_negation_of_triples_in_a_recursion_of_triples() -> None:
    """If all triples are one predicate, none of them can be negated in a rule for others."""
    rule = "joined\n[?y, ?q, ?x] :- [?x, ?p, ?y], :inverse[?p, ?q], NOT :Hidden[?x] .\n"
    assert transformed(f"{rule}?- [:a, ?p, ?y]") is None


def test_copies_are_few() -> None:
    """A recursion that permutes eight arguments would meet 70 patterns of four known ones."""
    variables = [f"?x{number}" for number in range(8)]
    turned, swapped = variables[1:] + variables[:1], [variables[1], variables[0], *variables[2:]]
    rules = [f"p({', '.join(variables)}) :- {body} ." for body in (f"p({', '.join(turned)})", f"p({', '.join(swapped)})")]
    found = transformed("\n".join(["explicit: p", *rules, f"?- p(1, 2, 3, 4, {', '.join(variables[4:])})"]))
    assert found is not None
    copies = {rule.head.predicate for rule in found if copied_predicate(rule.head.predicate)}
    assert len(copies) == MOST_ADORNMENTS + 1


def test_names_of_copies() -> None:
    rules = transformed("<http://x.org/p>(?x) :- q(?x) . q(?x) :- r(?x) .\n?- <http://x.org/p>(1)")
    assert rules is not None
    copies = {copied_predicate(rule.head.predicate) for rule in rules}
    assert copies == {None, "<http://x.org/p>", "q"}


def _write() -> None:
    comment = PAIRS.read_text(encoding="utf-8").partition("\n## ")[0]
    parts = [f"## {title}\n{given.strip()}\n=>\n{shown(transformed(given) or [])}" for title, given, _ in PARTS]
    PAIRS.write_text("\n".join([comment, *parts]), encoding="utf-8")


if os.environ.get("KG_REASONER_SNAPSHOTS") == "write":
    _write()
