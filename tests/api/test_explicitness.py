"""One fact that a program states, a user asserts and a rule derives, in any order: what deltas say of it, by every strategy."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.api.transaction import Transaction
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.terms import literal

WAYS = ("stated", "explicit", "derived")
ONE = [(literal(1),)]
STATEMENT = parse("p(1) .")
RULE = "p(?x) :- q(?x) ."
Step = tuple[str, bool]
"""A way in which the fact holds, and whether it comes or goes; or "look", which brings the facts up to date."""
STEPS: list[Step] = [*product(WAYS, (True, False)), ("look", True)]


def change(to: Reasoner | Transaction, step: Step) -> None:
    match step:
        case "stated", True:
            to.add_program(STATEMENT)
        case "stated", False:
            to.remove_rules(STATEMENT.rules)
        case "explicit", True:
            to.add_facts("p", ONE)
        case "explicit", False:
            to.remove_facts("p", ONE)
        case "derived", True:
            to.add_facts("q", ONE)
        case "derived", False:
            to.remove_facts("q", ONE)
        case _:
            (to if isinstance(to, Reasoner) else to.reasoner).materialise()


def kind(ways: set[str]) -> str:
    return "" if not ways else "explicit" if "explicit" in ways else "derived"


def expected(before: str, after: str) -> str:
    """What a delta says of the fact."""
    if before == after:
        return ""
    if not before or not after:
        return f"- p(1)  {before}" if before else f"+ p(1)  {after}"
    return f"= p(1)  {after} now"


def check(maintenance: str, given: list[str], updates: list[list[Step]]) -> None:
    reasoner = Reasoner(RULE, maintenance=maintenance)
    ways = set(given)
    for way in given:
        change(reasoner, (way, True))
    reasoner.materialise()
    for steps in updates:
        before = kind(ways)
        with reasoner.transaction() as tx:
            for step in steps:
                change(tx, step)
                if step[0] != "look":
                    (ways.add if step[1] else ways.discard)(step[0])
        said = [line for line in str(tx.delta).splitlines() if " p(" in line]
        context = maintenance, given, updates, steps
        assert said == [line for line in [expected(before, kind(ways))] if line], context
        assert list(reasoner.facts("p")) == (ONE if ways else []), context
        assert list(reasoner.facts("p", "explicit")) == (ONE if "explicit" in ways else []), context


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_asserted_while_its_statement_goes(maintenance: str) -> None:
    check(maintenance, ["stated"], [[("explicit", True), ("stated", False)]])
    check(maintenance, [], [[("stated", True), ("look", True), ("explicit", True), ("stated", False)]])


@pytest.mark.parametrize("maintenance", STRATEGIES)
@pytest.mark.sample(4)
def test_random_orders(maintenance: str) -> None:
    random = Random(f"explicitness {maintenance}")
    for _ in range(60):
        given = [way for way in WAYS if random.random() < 0.5]
        updates = [random.choices(STEPS, k=random.randint(1, 5)) for _ in range(random.randint(1, 3))]
        check(maintenance, given, updates)
