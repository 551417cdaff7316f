"""The third-party Datalog programs by the strategy `dbsp`, all facts at once; a rotation of them also with facts and rules that go
and come back, and with full effort all of them."""

from __future__ import annotations

import zlib

import pytest

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.terms import literal
from tests.helpers.effort import by_effort, thinned
from tests.helpers.souffle import Case
from tests.helpers.suites import needs_suite
from tests.language.test_datalog_suite import SMALLER, SUITE, folders

pytestmark = needs_suite("datalog")

LONG = {"example__amicable", "example__independent_body3", "example__inline_nats"}
"""Programs that count up to a number, one iteration each: they are run with small numbers."""
SLOW = {"example__factoring"}
"""A million bindings in a row: they take half a minute, so this one is run with all streams only."""
SMALL = {3000: 300, 1_000_000: 100, 10_000: 100}
EVERY = by_effort(8, 4, 1)


IN_CI = {"example__amicable", "example__prime2"}
"""Programs that take seconds."""


@pytest.mark.parametrize("name", thinned((pytest.param(name, marks=[pytest.mark.long] * (name in IN_CI)) for name in folders()), 2))
def test_program(name: str) -> None:
    if name in SLOW and EVERY > 1:
        pytest.skip("takes half a minute: KG_REASONER_EFFORT=full runs it")
    case = Case(SUITE / name, {number: SMALL[number] for number in SMALLER.get(name, {})})
    if name == "example__amicable":
        case.expected["amicable"] = {(literal(220), literal(284))}
    reasoner = Reasoner(case.program, maintenance="dbsp")
    for predicate, rows in case.facts.items():
        reasoner.add_facts(predicate, rows)
    check(reasoner, case)
    if name in LONG or zlib.crc32(name.encode()) % EVERY:
        return
    for predicate, rows in case.facts.items():
        some = sorted(rows, key=str)[::2]
        reasoner.remove_facts(predicate, some)
        reasoner.materialise()
        reasoner.add_facts(predicate, some)
    check(reasoner, case)
    rules = tuple(rule for rule in reasoner.program.rules if rule.body)[::2]
    reasoner.remove_rules(rules)
    reasoner.materialise()
    reasoner.add_program(type(reasoner.program)(rules))
    check(reasoner, case)


def check(reasoner: Reasoner, case: Case) -> None:
    """Whether the outputs are as expected."""
    for predicate, rows in case.expected.items():
        assert set(reasoner.facts(predicate)) == rows, predicate
