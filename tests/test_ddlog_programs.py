"""The tasks of DDlog's own test programs, in our language: the changes of each transaction are the expected ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_rule
from kg_reasoner.program import Atom, Rule
from tests.fixtures import blocks

from .effort import thinned

PROGRAMS = list(blocks(Path(__file__).parent / "language" / "ddlog.txt"))
CASES = [pytest.param(text, strategy, id=f"{title}, {strategy}") for title, text in PROGRAMS for strategy in STRATEGIES]


@pytest.mark.parametrize(("text", "strategy"), thinned(CASES, 2))
def test_changes(text: str, strategy: str) -> None:
    rules, *steps = text.split("\n--\n")
    reasoner = Reasoner(rules, maintenance=strategy)  # type: ignore[arg-type]
    outputs = [declaration.predicate for declaration in reasoner.program.declarations if declaration.role == "output"]
    for step in steps:
        changes, _, expected = step.partition("\n=>\n")
        with reasoner.transaction() as transaction:
            for line in changes.splitlines():
                (rule,) = parse(line[2:]).rules
                change = transaction.add_facts if line.startswith("+") else transaction.remove_facts
                change(rule.head.predicate, [rule.head.terms])  # type: ignore[list-item]  # facts have no variables
        delta = transaction.delta
        found = [
            f"{sign} {format_rule(Rule(Atom(predicate, row)))}"
            for sign, side in (("+", delta.added), ("-", delta.removed))
            for predicate in outputs
            for row in side.facts(predicate)
        ]
        assert sorted(found) == sorted(expected.strip().splitlines())
