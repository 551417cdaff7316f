"""The last phase of an evaluation on Spark, in process on the driver: it derives the rest, and only where that is little."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg_reasoner import rulesets
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.exec.evaluation import last_phase
from kg_reasoner.spark_backend.io.columns import triple_frame
from kg_reasoner.spark_backend.run_progress import Report
from kg_reasoner.terms import Triple
from tests.distributed.many_ontologies import DRIVER_FACTS, differences_of_a_run, differences_of_an_update
from tests.helpers import strategies
from tests.helpers.effort import by_effort
from tests.helpers.random_ontologies import ontologies
from tests.spark.spark_cases import EQUAL, ZOO, expect_of_programs, expect_of_triples, flagged, in_process, stratifies, turtle
from tests.standin import standing_in

BATCHES = by_effort(1, 6, 100)
RULESETS = sorted(rulesets.names(), key=lambda name: name != "owl2rl")

MANY = settings(max_examples=by_effort(8, 60, 2000), suppress_health_check=list(HealthCheck), deadline=None)


@pytest.mark.parametrize("seed", range(BATCHES))
@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.sample(3)
def test_random_ontologies(ruleset: str, seed: int) -> None:
    """From the start, and in the course of a run."""
    number = seed + RULESETS.index(ruleset)
    most = DRIVER_FACTS[1 + number % (len(DRIVER_FACTS) - 1)]
    with standing_in() as session:
        assert not differences_of_a_run(session, ontologies(500 + seed, 8), ruleset, most)


@pytest.mark.parametrize("seed", range(BATCHES))
def test_updates_of_random_ontologies(seed: int) -> None:
    with standing_in() as session:
        assert not differences_of_an_update(session, ontologies(600 + seed, 8), "owl2rl", DRIVER_FACTS[1 + seed % 5])


@pytest.mark.parametrize("text", [ZOO, EQUAL], ids=["zoo", "equal"])
@pytest.mark.parametrize("name", RULESETS)
@pytest.mark.sample(3)
def test_every_rule_set(name: str, text: str) -> None:
    with standing_in() as session:
        assert not differences_of_a_run(session, turtle(text), name, 100_000)


@MANY
@given(
    st.lists(st.tuples(strategies.programs().filter(stratifies), strategies.facts()), min_size=2, max_size=2), st.integers(1, 20)
)
def test_random_programs(cases: list[tuple[Program, strategies.Facts]], most: int) -> None:
    """With negation and comparisons, stratum by stratum."""
    with standing_in(driver_facts=most * most) as session:
        expect_of_programs(session, cases)


@MANY
@given(strategies.triple_programs(), strategies.triples(), st.integers(1, 20))
def test_random_programs_over_triples(program: Program, triples: set[tuple[strategies.Term, ...]], most: int) -> None:
    """With variables for properties and classes, and triples that are none in RDF."""
    with standing_in(driver_facts=most * most) as session:
        expect_of_triples(session, program, triples)


def stages(triples: list[Triple], driver_facts: int, program: Program | None = None) -> list[tuple[str, int]]:
    """The iterations of a run, and how many facts each derives."""
    reports: list[Report] = []
    with standing_in() as session:
        frame = triple_frame(session, triples)
        rules = rulesets.load("owl2rl").program if program is None else program
        reasoner = SparkReasoner(session, rules, frame, driver_facts=driver_facts, progress=reports.append)
        assert flagged(reasoner.triples()) == in_process(triples, rules)
    return [(report.stage, report.facts) for report in reports if report.stratum is not None]


CHAIN = ":within rdfs:subPropertyOf :in ; owl:propertyChainAxiom ( :in :next ) . :start :in :n0 .\n" + "".join(
    f":n{number} :next :n{number + 1} .\n" for number in range(10)
)
"""Each iteration derives one fact, from eleven given ones."""


def test_what_is_not_read_does_not_count() -> None:
    """A thousand triples of other properties and classes, which the rules read as well, are not on the way from what is new."""
    others = ":other a owl:TransitiveProperty . :C owl:intersectionOf ( :A :B ) .\n" + "".join(
        f":m{number} :other :m{number + 1} ; a :A, :B .\n" for number in range(0, 1000, 2)
    )
    assert stages(turtle(CHAIN + others), 100) == [("iteration", 1), ("in process", 9)]


def test_the_last_phase_waits_until_little_is_left() -> None:
    """Ten times as much is read, but only at first: `a` feeds `b` once."""
    program = parse("""
        @prefix : <http://example.org/> .
        :b[?x, ?z] :- :a[?x, ?y], :a[?y, ?z] .
        :c[?x, ?y] :- :b[?x, ?y], :end[?y, ?z] .
        :c[?x, ?z] :- :c[?x, ?y], :next[?y, ?z] .
    """)
    given = "".join(f":x{number} :a :y{number} . \n" for number in range(200)) + ":y0 :a :z0 . :z0 :end :e .\n"
    given += "".join(f":z{number} :next :z{number + 1} .\n" for number in range(10))
    assert stages(turtle(given), 50, program) == [("iteration", 1), ("in process", 11)]


def test_a_closure_that_is_too_large_is_left_to_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred and twenty facts have seven thousand consequences. What was too much once is not tried again."""
    tried: list[object] = []
    derived = last_phase._derived

    def counted(*arguments: Any) -> object:
        tried.append(derived(*arguments))
        return tried[-1]

    monkeypatch.setattr(last_phase, "_derived", counted)
    path = ":within rdfs:subPropertyOf :in ; owl:propertyChainAxiom ( :in :in ) .\n"
    path += "".join(f":n{number} :in :n{number + 1} .\n" for number in range(60))
    found = stages(turtle(path), 500)
    assert {stage for stage, _ in found} == {"iteration"}
    assert len(found) > 3
    assert tried == [None]


@pytest.mark.parametrize("driver_facts", [0, 1_000])
def test_the_plan_says_it(driver_facts: int) -> None:
    with standing_in() as session:
        triples = triple_frame(session, turtle(ZOO))
        text = SparkReasoner(session, rulesets.load("owl2rl").program, triples, driver_facts=driver_facts).explain()
    assert ("finishes in process when the rules have at most 1,000 facts" in text) == (driver_facts > 0)


def test_literals_that_are_merged_are_compared_on_spark() -> None:
    """Two literals of one group differ, though their representative is the same: the engine would not see that."""
    text = """
        :f a owl:FunctionalProperty . :w :f "b" , 1 .
        :x :f "b" . :x :f "01"^^xsd:integer . :y :f 1 . :y :f "001"^^xsd:integer . :z :f 2 , "02"^^xsd:integer .
    """
    with standing_in() as session:
        assert not differences_of_a_run(session, turtle(text), "owl2rl", 100_000)
