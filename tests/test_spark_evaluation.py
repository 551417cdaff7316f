"""Evaluation on Spark gives what the in-process engine gives: triple for triple, explicit and inferred."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark_session import need_spark, session

need_spark()

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner, lubm, rulesets
from kg_reasoner.engine.clashes import clashes
from kg_reasoner.errors import UnsupportedError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.exec import growing_table
from kg_reasoner.spark_backend.io.reading import read_triples
from kg_reasoner.spark_backend.run_progress import Report
from kg_reasoner.terms import IRI, Triple, literal, term_text
from tests import strategies
from tests.random_ontologies import ontologies
from tests.spark_cases import (
    EQUAL,
    SMALL,
    ZOO,
    expect_of_programs,
    expect_of_triples,
    facts_frame,
    facts_of,
    flagged,
    frame,
    of_reasoner,
    readable,
    stratifies,
    turtle,
    violations,
)
from tests.suites import SUITES, why_missing

from .effort import by_effort

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
    `python -m tests.many_ontologies --spark` tries as many as you want.
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


CLOSURES = parse("""
    linear(?x, ?y) :- small(?x, ?y) . linear(?x, ?z) :- linear(?x, ?y), small(?y, ?z) .
    doubled(?x, ?y) :- small(?x, ?y) . doubled(?x, ?z) :- doubled(?x, ?y), doubled(?y, ?z) .
    sparse(?x, ?y) :- large(?x, ?y) . sparse(?x, ?z) :- sparse(?x, ?y), large(?y, ?z) .
""")


def test_transitive_closures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two graphs, by linear and by other recursion, all in one run, with work tables that are soon compacted. The large one
    takes six iterations on Spark; the thirty of the small one are finished in process when the large one is done.
    """
    monkeypatch.setattr(growing_table, "MOST_STEPS", 2)
    engine, facts = Reasoner(CLOSURES), {}
    reports: list[Report] = []
    for predicate, graph in (("small", "graph1000"), ("large", "graph10000")):
        file = SUITES / "graphs" / f"{graph}.txt"
        if not file.exists():
            continue
        ends = (line.split()[:2] for line in file.read_text().splitlines())
        edges = [(IRI(f"http://example.org/{one}"), IRI(f"http://example.org/{other}")) for one, other in ends]
        engine.add_facts(predicate, edges)
        facts[predicate] = facts_frame(edges, 2)
    if not facts:
        pytest.skip(why_missing("graphs"))
    closures = ("linear", "doubled", "sparse")
    expected = {name: {tuple(map(term_text, row)) for row in engine.facts(name)} for name in closures}
    assert expected["linear"] == expected["doubled"]
    reasoner = SparkReasoner(session(), CLOSURES, facts=facts, driver_facts=100_000, progress=reports.append)
    assert facts_of(reasoner, closures) == expected
    if len(facts) == 2:
        assert [report.stage for report in reports] == ["look", *["iteration"] * 6, "in process"]


# ------------------------------------------------------------------------------------------------------------ random programs

FEW = settings(max_examples=2, suppress_health_check=list(HealthCheck))
"""The first example is the smallest. `test_distributed_programs` tries more of them, on the stand-in."""


@FEW
@given(st.lists(st.tuples(strategies.programs().filter(stratifies), strategies.facts()), min_size=4, max_size=4))
def test_random_programs(cases: list[tuple[Program, strategies.Facts]]) -> None:
    """Four programs at once, with negation and comparisons."""
    expect_of_programs(session(), cases)


@FEW
@given(strategies.triple_programs(), strategies.triples())
def test_random_programs_over_triples(program: Program, triples: set[tuple[strategies.Term, ...]]) -> None:
    """With variables for properties and classes."""
    expect_of_triples(session(), program, triples)


# ------------------------------------------------------------------------------------------------------------------ the rest


def test_functions_are_those_of_the_engine() -> None:
    program = parse("""
        area(?box, ?a) :- width(?box, ?w), height(?box, ?h), BIND(?w * ?h AS ?a) .
        large(?box) :- area(?box, ?a), FILTER(?a > 10 && STRSTARTS(?box, "big")) .
    """)
    boxes = [("big one", 4, 3), ("small", 5, 5), ("big but flat", 1, 1)]
    facts = {
        "width": facts_frame([(literal(name), literal(width)) for name, width, _ in boxes], 2),
        "height": facts_frame([(literal(name), literal(height)) for name, _, height in boxes], 2),
    }
    assert facts_of(SparkReasoner(session(), program, facts=facts), ["large"]) == {"large": {('"big one"',)}}


def test_aggregates_are_refused_by_name() -> None:
    program = parse("degree(?x, ?n) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .")
    with pytest.raises(UnsupportedError, match="AGGREGATE is not evaluated on Spark"):
        SparkReasoner(session(), program, facts={"edge": facts_frame([], 2)}).triples()


def test_the_plan_says_what_each_pass_derives() -> None:
    text = SparkReasoner(session(), rulesets.load("owl2rl").program, frame(turtle(ZOO))).explain()
    assert "<http://example.org/chases> implies <http://example.org/followedBy> inverted, <http://example.org/follows>" in text
    assert "<http://example.org/Animal>[?x] :- <http://example.org/Cat>[?x] ." in text.partition("3. masks")[2]
    assert "<http://example.org/partOf>[?x, ?z] :-" in text.partition("stratum 0")[2]
