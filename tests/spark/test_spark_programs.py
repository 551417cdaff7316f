"""Programs of users on Spark give what they give in process, or what the oracle says: recursion, negation, functions."""

from __future__ import annotations

import pytest

from tests.spark.spark_session import need_spark, session

need_spark()

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program
from kg_reasoner.spark_backend import SparkReasoner
from kg_reasoner.spark_backend.exec.facts import growing_table
from kg_reasoner.spark_backend.run_progress import Report
from kg_reasoner.terms import IRI, literal, term_text
from tests.helpers import strategies
from tests.helpers.suites import SUITES, why_missing
from tests.spark.spark_cases import expect_of_programs, expect_of_triples, facts_frame, facts_of, stratifies

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("by_iterations")]

CLOSURES = parse("""
    linear(?x, ?y) :- small(?x, ?y) . linear(?x, ?z) :- linear(?x, ?y), small(?y, ?z) .
    doubled(?x, ?y) :- small(?x, ?y) . doubled(?x, ?z) :- doubled(?x, ?y), doubled(?y, ?z) .
    sparse(?x, ?y) :- large(?x, ?y) . sparse(?x, ?z) :- sparse(?x, ?y), large(?y, ?z) .
""")


DENSE = 512
"""The nodes of the large graph with numbers below this have half of its edges, and a quarter of the closure."""


def test_transitive_closures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two graphs, by linear and by other recursion, all in one run, with work tables that are soon compacted. The dense part of
    the large one takes seven iterations on Spark; the thirty of the small one are finished in process when that is done.
    """
    monkeypatch.setattr(growing_table, "MOST_STEPS", 2)
    engine, facts = Reasoner(CLOSURES), {}
    reports: list[Report] = []
    for predicate, graph in (("small", "graph1000"), ("large", "graph10000")):
        file = SUITES / "graphs" / f"{graph}.txt"
        if not file.exists():
            continue
        ends = (tuple(map(int, line.split()[:2])) for line in file.read_text().splitlines())
        edges = [
            (IRI(f"http://example.org/{one}"), IRI(f"http://example.org/{other}"))
            for one, other in ends
            if predicate == "small" or max(one, other) < DENSE
        ]
        engine.add_facts(predicate, edges)
        facts[predicate] = facts_frame(edges, 2)
    if not facts:
        pytest.skip(why_missing("graphs"))
    closures = ("linear", "doubled", "sparse")
    expected = {name: {tuple(map(term_text, row)) for row in engine.facts(name)} for name in closures}
    assert expected["linear"] == expected["doubled"]
    reasoner = SparkReasoner(session(), CLOSURES, facts=facts, driver_facts=60_000, progress=reports.append)
    assert facts_of(reasoner, closures) == expected
    if len(facts) == 2:
        assert [report.stage for report in reports] == ["look", *["iteration"] * 7, "in process"]


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


def test_functions_and_aggregates_are_those_of_the_engine() -> None:
    """Groups with results and without, all solutions and none; functions that count, that gather, and one of the program's own."""
    program = parse("""
        reduction product(?s: integer, ?x: integer): integer = initial 1, add ?s * ?x .
        area(?box, ?a) :- width(?box, ?w), height(?box, ?h), BIND(?w * ?h AS ?a) .
        large(?box) :- area(?box, ?a), FILTER(?a > 10 && STRSTARTS(?box, "big")) .
        of(?w, ?n, ?d, ?sum, ?names) :- AGGREGATE(area(?box, ?a), width(?box, ?w), NOT large(?box) ON ?w BIND COUNT(*) AS ?n
            BIND COUNT(DISTINCT ?a) AS ?d BIND SUM(?a / 2) AS ?sum BIND GROUP_CONCAT(STR(?box)) AS ?names) .
        widest(?box) :- AGGREGATE(width(?any, ?w) BIND MAX(?w) AS ?most), width(?box, ?most) .
        flat(?n) :- AGGREGATE(height(?box, 0) BIND COUNT(?box) AS ?n) .
        volume(?v) :- AGGREGATE(height(_, ?h) BIND product(?h) AS ?v) .
    """)
    boxes = [("big one", 4, 3), ("small", 5, 5), ("big but flat", 1, 1), ("another", 5, 5), ("odd", 5, "?")]
    rows = {
        "width": [(literal(name), literal(width)) for name, width, _ in boxes],
        "height": [(literal(name), literal(height)) for name, _, height in boxes if height != "?"],
    }
    engine = Reasoner(program)
    for predicate, some in rows.items():
        engine.add_facts(predicate, some)
    names = ["large", "of", "widest", "flat", "volume"]
    expected = {name: {tuple(map(term_text, row)) for row in engine.facts(name)} for name in names}
    assert all(expected.values())
    facts = {predicate: facts_frame(some, 2) for predicate, some in rows.items()}
    assert facts_of(SparkReasoner(session(), program, facts=facts), names) == expected
