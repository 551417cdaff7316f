"""The third-party Datalog programs: those within the fragment give the expected outputs, the others are refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kg_reasoner.errors import UnsupportedError
from kg_reasoner.program import Aggregate, Bind, Call, Filter, Program
from kg_reasoner.reasoner import Reasoner

from .souffle import Case

SUITE = Path(__file__).parents[2] / "shared" / "suites" / "datalog"
pytestmark = pytest.mark.skipif(not SUITE.is_dir(), reason="the shared suites are not here")


def folders() -> list[str]:
    return sorted(folder.name for folder in SUITE.iterdir()) if SUITE.is_dir() else []


def beyond(program: Program) -> Iterator[str]:
    """What a program uses that is not evaluated yet."""
    for rule in program.rules:
        for part in rule.body:
            if isinstance(part, Bind | Aggregate):
                yield type(part).__name__.upper()
            if isinstance(part, Filter) and isinstance(part.expression, Call):
                yield from (side.name for side in part.expression.arguments if isinstance(side, Call))


@pytest.mark.parametrize("name", folders())
def test_program(name: str) -> None:
    case = Case(SUITE / name)
    features = sorted(set(beyond(case.program)))
    if features:
        with pytest.raises(UnsupportedError) as refusal:
            Reasoner(case.program)
        assert any(feature in str(refusal.value) for feature in features)
        return
    reasoner = Reasoner(case.program)
    for predicate, rows in case.facts.items():
        reasoner.add_facts(predicate, rows)
    for predicate, rows in case.expected.items():
        assert set(reasoner.facts(predicate)) == rows, predicate
