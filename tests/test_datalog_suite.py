"""The third-party Datalog programs: each gives the expected outputs. `souffle` says how they are written in our language."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kg_reasoner.reasoner import Reasoner
from kg_reasoner.terms import literal

from .souffle import Case

SUITE = Path(__file__).parents[2] / "shared" / "suites" / "datalog"
pytestmark = pytest.mark.skipif(not SUITE.is_dir(), reason="the shared suites are not here")

SMALLER = {
    "example__amicable": {3000: 300},
    "example__independent_body3": {1_000_000: 1000},
    "example__inline_nats": {10_000: 300},
}
"""Numbers up to which programs count, and here: in the suite they count for minutes. They do so here too with
KG_REASONER_ALL_NUMBERS=1 in the environment."""


def folders() -> list[str]:
    return sorted(folder.name for folder in SUITE.iterdir() if folder.is_dir()) if SUITE.is_dir() else []


@pytest.mark.parametrize("name", folders())
def test_program(name: str) -> None:
    case = Case(SUITE / name, {} if os.environ.get("KG_REASONER_ALL_NUMBERS") else SMALLER.get(name, {}))
    if name == "example__amicable" and (literal(300),) in case.facts["lim"]:
        case.expected["amicable"] = {(literal(220), literal(284))}
    reasoner = Reasoner(case.program)
    for predicate, rows in case.facts.items():
        reasoner.add_facts(predicate, rows)
    for predicate, rows in case.expected.items():
        assert set(reasoner.facts(predicate)) == rows, predicate
