"""Programs on the stand-in for Spark: random ones as the oracle has them, and every rule set as the in-process engine."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner, rulesets
from kg_reasoner.engine.clashes import clashes
from kg_reasoner.program import Program
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.io.columns import triple_frame
from tests import strategies
from tests.effort import examples
from tests.spark_cases import (
    EQUAL,
    SMALL,
    ZOO,
    expect_of_programs,
    expect_of_triples,
    flagged,
    of_reasoner,
    readable,
    stratifies,
    turtle,
    violations,
)
from tests.standin import standing_in


@pytest.mark.parametrize("text", [SMALL, EQUAL, ZOO], ids=["small", "equal", "zoo"])
@pytest.mark.parametrize("name", rulesets.names())
@pytest.mark.sample(4)
def test_every_rule_set(name: str, text: str) -> None:
    triples = turtle(text)
    engine = Reasoner(ruleset=name, show_hidden=True)
    engine.add_triples(triples)
    with standing_in() as session:
        reasoner = SparkReasoner(session, rulesets.load(name).program, triple_frame(session, triples))
        assert flagged(reasoner.triples()) == of_reasoner(engine)
        found, expected = violations(reasoner, engine), engine.inconsistencies()
    assert set(readable(expected)) <= set(readable(found))
    assert len(list(clashes(found, engine.engine.base.queries.naming()))) == len(expected)


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(strategies.programs().filter(stratifies), strategies.facts()), min_size=1, max_size=2))
def test_random_programs(cases: list[tuple[Program, strategies.Facts]]) -> None:
    """With negation and comparisons."""
    with standing_in() as session:
        expect_of_programs(session, cases)


@settings(max_examples=examples(60))
@given(strategies.triple_programs(), strategies.triples())
def test_random_programs_over_triples(program: Program, triples: set[tuple[strategies.Term, ...]]) -> None:
    """With variables for properties and classes."""
    with standing_in() as session:
        expect_of_triples(session, program, triples)
