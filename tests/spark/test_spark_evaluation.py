"""Rule sets over ontologies give on Spark what they give in process: triple for triple, explicit and inferred."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.spark_session import need_spark, session

need_spark()

from kg_reasoner import Reasoner, lubm, rulesets
from kg_reasoner.engine.clashes import clashes
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.io.reading import read_triples
from kg_reasoner.terms import Triple
from tests.helpers.effort import by_effort
from tests.helpers.random_ontologies import ontologies
from tests.helpers.suites import SUITES, why_missing
from tests.spark.spark_cases import (
    EQUAL,
    SMALL,
    ZOO,
    flagged,
    frame,
    of_reasoner,
    readable,
    turtle,
    violations,
)

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("by_iterations")]


MANY = by_effort(8, 8, 1000)


def expect_what_the_engine_says(triples: list[Triple], ruleset: str, driver_facts: int = 0) -> None:
    """Compare triples and violations with those of the in-process engine."""
    engine = Reasoner(ruleset=ruleset, show_hidden=True)
    engine.add_triples(triples)
    reasoner = SparkReasoner(session(), rulesets.load(ruleset).program, frame(triples), driver_facts=driver_facts)
    different = flagged(reasoner.triples()) ^ of_reasoner(engine)
    assert not different, sorted(different)[:10]
    found, expected = violations(reasoner, engine), engine.inconsistencies()
    assert set(readable(expected)) <= set(readable(found))
    assert len(list(clashes(found, engine.engine.base.queries.naming()))) == len(expected)


@pytest.mark.parametrize("name", ["owl2rl"] if MANY < 1000 else rulesets.names())
def test_many_ontologies_in_one_run(name: str) -> None:
    """What `test_distributed_plans` tries in the thousands, on Spark itself; with every kind of axiom and of equality.
    `python -m tests.distributed.many_ontologies --spark` tries as many as you want.
    """
    expect_what_the_engine_says([*ontologies(77, MANY), *turtle(ZOO), *turtle(EQUAL, "http://example.org/equal/")], name)


def test_rules_about_any_property() -> None:
    """All triples are written out for them. `owl2rl-full` has three times as many rules, and more jobs: see below, and
    `test_distributed_programs` on the stand-in.
    """
    expect_what_the_engine_says(turtle(SMALL), "rdfs-full")


def test_the_driver_finishes_what_is_small() -> None:
    """It reads triples of any property, masks and relations, and puts among them what it finds."""
    expect_what_the_engine_says(turtle(SMALL), "owl2rl-full", driver_facts=100_000)


UNIVERSITIES = by_effort(0, 0, 5)
"""How much of LUBM all rule sets are tried on; by default owl2rl, on the LUBM(1) of the suites."""


@pytest.mark.parametrize("name", rulesets.names() if UNIVERSITIES else ["owl2rl"])
def test_lubm(tmp_path: Path, name: str) -> None:
    """LUBM with its ontology; LUBM(1) is a hundred thousand triples."""
    file = tmp_path / "data.nt" if UNIVERSITIES else SUITES / "lubm" / "lubm1.nt.gz"
    if UNIVERSITIES:
        lubm.write(file, UNIVERSITIES)
    elif not file.exists():
        pytest.skip(why_missing("lubm"))
    ontology = turtle(lubm.ontology_path().read_text(encoding="utf-8"))
    engine = Reasoner(ruleset=name, show_hidden=True)
    engine.load(file)
    engine.add_triples(ontology)
    triples = read_triples(session(), file, keep=tmp_path / "input")
    reasoner = SparkReasoner(session(), rulesets.load(name).program, triples, ontology=ontology)
    assert flagged(reasoner.triples()) == of_reasoner(engine)


def test_the_plan_says_what_each_pass_derives() -> None:
    text = SparkReasoner(session(), rulesets.load("owl2rl").program, frame(turtle(ZOO))).explain()
    assert "<http://example.org/chases> implies <http://example.org/followedBy> inverted, <http://example.org/follows>" in text
    assert "<http://example.org/Animal>[?x] :- <http://example.org/Cat>[?x] ." in text.partition("3. masks")[2]
    assert "<http://example.org/partOf>[?x, ?z] :-" in text.partition("stratum 0")[2]
