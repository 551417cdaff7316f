"""The third-party Datalog programs by the strategy `dbsp`, all facts at once; a rotation of them also with facts and rules that go
and come back. KG_REASONER_STREAMS=all does that with all of them (and runs all update streams: tests/test_update_streams.py)."""

from __future__ import annotations

import os
import zlib

import pytest

from kg_reasoner.reasoner import Reasoner
from kg_reasoner.terms import literal

from .souffle import Case
from .test_datalog_suite import SMALLER, SUITE, folders

pytestmark = pytest.mark.skipif(not SUITE.is_dir(), reason="the shared suites are not here")

LONG = {"example__amicable", "example__independent_body3", "example__inline_nats"}
"""Programs that count up to a number, one iteration each: they are run with small numbers."""
SLOW = {"example__factoring"}
"""A million bindings in a row: they take half a minute, so this one is run with all streams only."""
SMALL = {3000: 300, 1_000_000: 100, 10_000: 100}
EVERY = 1 if os.environ.get("KG_REASONER_STREAMS") == "all" else 4


@pytest.mark.parametrize("name", folders())
def test_program(name: str) -> None:
    if name in SLOW and EVERY > 1:
        pytest.skip("takes half a minute: KG_REASONER_STREAMS=all runs it")
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
