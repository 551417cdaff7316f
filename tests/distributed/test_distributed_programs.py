"""Programs on the stand-in for Spark: random ones as the oracle has them, and every rule set as the in-process engine."""

from __future__ import annotations

import re
import sys
from typing import Any
from unittest.mock import patch

import pytest
import rdflib
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner, rulesets
from kg_reasoner.engine.clashes import clashes
from kg_reasoner.errors import LoadError, UnknownNameError, UnsupportedError
from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program
from kg_reasoner.spark_backend import SparkReasoner, update
from kg_reasoner.spark_backend.io.columns import triple_frame
from kg_reasoner.terms import RDFS, term_text
from tests.helpers import strategies
from tests.helpers.effort import examples
from tests.spark.spark_cases import (
    EQUAL,
    SMALL,
    ZOO,
    expect_of_programs,
    expect_of_triples,
    facts_of,
    flagged,
    in_process,
    of_reasoner,
    readable,
    stratifies,
    turtle,
    violations,
)
from tests.standin import standing_in

ZOO_IN_RDFLIB = """
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    <http://example.org/C> rdfs:subClassOf <http://example.org/D> .
    <http://example.org/x> a <http://example.org/C> ; rdfs:label "x"@en .
"""


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


@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
@given(strategies.programs(functions=True, aggregates=True), strategies.facts(), st.sampled_from([0, 10, 1_000]))
def test_random_programs_with_aggregates(program: Program, facts: strategies.Facts, driver_facts: int) -> None:
    """And functions, on Spark or finished by the driver."""
    with standing_in(driver_facts) as session:
        expect_of_programs(session, [(program, facts)])


COUNTING = """
    PREFIX : <http://example.org/>
    busy(?x) :- AGGREGATE([?x, :knows, ?y], :Person[?y] ON ?x BIND COUNT(?y) AS ?n), FILTER(?n > 1) .
    total(?n) :- AGGREGATE([?x, :knows, ?y] BIND COUNT(*) AS ?n) .
    calls(?x, ?y) :- [?x, :knows, ?y], NOT busy(?y) .
    false :- AGGREGATE([?x, :knows, ?y] ON ?x BIND COUNT(?y) AS ?n), :Shy[?x], FILTER(?n > 1) .
    false :- :Person[?x], NOT busy(?x), NOT [?x, :knows, ?y] .
"""
KNOWN = """
    :knows rdfs:domain :Person ; rdfs:range :Person . :a :knows :b, :c ; a :Shy . :b :knows :a . :d a :Person . :e a :Shy .
"""


@pytest.mark.parametrize("equal", ["", ":b owl:sameAs :c ."], ids=["different", "equal"])
@pytest.mark.parametrize("driver_facts", [0, 1_000])
def test_aggregates_beside_a_rule_set(driver_facts: int, equal: str) -> None:
    """Which count terms, not representatives; and constraints that aggregate."""
    program = rulesets.load("owl2rl").program | parse(COUNTING)
    triples = turtle(KNOWN + equal)
    engine = Reasoner(program, show_hidden=True)
    engine.add_triples(triples)
    with standing_in(driver_facts) as session:
        reasoner = SparkReasoner(session, program, triple_frame(session, triples))
        assert flagged(reasoner.triples()) == of_reasoner(engine)
        names = ["busy", "total", "calls"]
        assert facts_of(reasoner, names) == {name: {tuple(map(term_text, row)) for row in engine.facts(name)} for name in names}
        found, expected = violations(reasoner, engine), engine.inconsistencies()
        assert "groups of AGGREGATE" in reasoner.explain()
    assert expected
    assert set(readable(expected)) <= set(readable(found))


@pytest.mark.parametrize(
    ("added", "removed"), [(":a :knows :d . :c :knows :d .", ""), ("", ":a :knows :b ."), (":c :knows :a .", ":b :knows :a .")]
)
def test_updates_of_what_is_negated_and_aggregated(added: str, removed: str) -> None:
    """They may end what was derived, also by additions."""
    program = parse("""
        PREFIX : <http://example.org/>
        :Busy[?x] :- AGGREGATE([?x, :knows, ?y] ON ?x BIND COUNT(?y) AS ?n), FILTER(?n > 1) .
        [?x, :calls, ?y] :- [?x, :knows, ?y], NOT :Busy[?y] .
        [?x, :waits, ?x] :- :Shy[?x], NOT [?y, :calls, ?x] .
    """)
    before, more, less = turtle(KNOWN), turtle(added), turtle(removed)
    with standing_in() as session:
        materialised = SparkReasoner(session, program, triple_frame(session, before)).triples()
        after = flagged(update(materialised, program, more, less))
    assert after == in_process([*(triple for triple in before if triple not in less), *more], program)


def test_a_class_that_only_rules_name_has_an_equal_one() -> None:
    program = rulesets.load("owl2rl").program | parse("PREFIX : <http://example.org/> :C[?x] :- [?x, :p, ?y] .")
    triples = turtle(":D owl:sameAs :C . :x :p :y .")
    with standing_in() as session:
        assert flagged(SparkReasoner(session, program, triple_frame(session, triples)).triples()) == in_process(triples, program)


def test_recursion_through_an_aggregate_is_refused_by_name() -> None:
    program = parse("""
        steps(?x, ?n) :- start(?x), BIND(0 AS ?n) .
        steps(?y, ?n) :- AGGREGATE(steps(?x, ?m), edge(?x, ?y) ON ?y BIND MIN(?m + 1) AS ?n) .
    """)
    with standing_in() as session, pytest.raises(UnsupportedError, match="Spark backend cannot evaluate recursion through MIN"):
        SparkReasoner(session, program).triples()


@pytest.mark.parametrize(
    "row",
    [
        ("<a:x>", "<a:p>", None),
        (None, "<a:p>", "<a:x>"),
        ("<a:x>", None, "<a:x>"),
        ("http://example.org/x", "<a:p>", "<a:x>"),
        ("<a:x>", "a:p", "<a:x>"),
        ("<a:x>", '"p"', "<a:x>"),
        ("<a:x>", "<a:p>", "text"),
    ],
)
def test_rows_that_are_not_triples(row: tuple[str | None, ...]) -> None:
    rows = [("<a:C>", term_text(RDFS.subClassOf), "<a:D>"), ("_:x", "<a:p>", '"text"'), row]
    with standing_in() as session:
        given = session.createDataFrame(rows, "subject string, predicate string, object string")
        shown = f"not a triple: subject {row[0]!r}, predicate {row[1]!r}, object {row[2]!r}"
        for added in (None, given):
            with pytest.raises(LoadError, match=re.escape(shown)):
                if added is None:
                    SparkReasoner(session, rulesets.load("rdfs").program, given).triples()
                else:
                    update(SparkReasoner(session, Program()).triples(), rulesets.load("rdfs").program, added)


@pytest.mark.parametrize(
    "names", ["s string, p string, o string", "subject string, predicate string", "subject s, Subject s, object s"]
)
def test_columns_that_are_not_those_of_triples(names: str) -> None:
    with standing_in() as session, pytest.raises(LoadError, match="has the columns subject, predicate, object, not") as caught:
        SparkReasoner(session, Program(), session.createDataFrame([], names))
    assert caught.value.hint == ("rename them: frame.toDF('subject', 'predicate', 'object')" if names.count(",") == 2 else None)


def test_what_is_neither_a_program_nor_triples() -> None:
    program: Any
    with standing_in() as session:
        for program in ("rdfs", "p(?x) :- q(?x) .", rulesets.load("rdfs")):
            with pytest.raises(LoadError, match=r"is not a Program\n.*rulesets\.load"):
                SparkReasoner(session, program)
        with pytest.raises(LoadError, match=r"a DataFrame of Spark, not an object of type list\n.*createDataFrame"):
            SparkReasoner(session, Program(), [])  # type: ignore[arg-type]
        with pytest.raises(LoadError, match=r"'zoo\.ttl' is not a collection of triples"):
            SparkReasoner(session, Program(), ontology="zoo.ttl")  # type: ignore[arg-type]


def test_an_ontology_in_a_graph_of_rdflib() -> None:
    program = rulesets.load("rdfs").program
    graph = rdflib.Graph().parse(data=ZOO_IN_RDFLIB, format="turtle")
    with standing_in() as session:
        found = flagged(SparkReasoner(session, program, ontology=graph).triples())
    assert found == in_process(turtle(ZOO_IN_RDFLIB), program)


@settings(max_examples=examples(60))
@given(strategies.triple_programs(), strategies.triples())
def test_random_programs_over_triples(program: Program, triples: set[tuple[strategies.Term, ...]]) -> None:
    """With variables for properties and classes."""
    with standing_in() as session:
        expect_of_triples(session, program, triples)


def test_modules_that_are_imported_beside_the_stand_in_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with standing_in():
        import colorsys
    assert sys.modules["colorsys"] is colorsys


@pytest.mark.parametrize("driver_facts", [0, 100_000])
def test_facts_with_cells_that_are_no_terms(driver_facts: int) -> None:
    program = parse("out(?x, ?y) :- edge(?y, ?x) .")
    rows = [("<a:x>", '"1"'), (None, "_:b"), ("<a:y>", "text"), (None, None)]
    with standing_in() as session:
        edges = session.createDataFrame(rows, "from string, to string")
        told = r"the DataFrame for edge has cells without a term.* in: from \(2 rows\), to \(2 rows\)\n.*frame\.dropna\(\)"
        with pytest.raises(LoadError, match=told):
            SparkReasoner(session, program, facts={"edge": edges}, driver_facts=driver_facts).facts("out")
        whole = session.createDataFrame(rows[:1], "from string, to string")
        found = SparkReasoner(session, program, facts={"edge": whole}, driver_facts=driver_facts).facts("out")
        assert found is not None and [tuple(row) for row in found.collect()] == [('"1"', "<a:x>")]
        SparkReasoner(session, program, facts={"edge": session.createDataFrame([], "from string, to string")}).facts("out")


def test_facts_and_options_that_are_none_are_refused() -> None:
    program = parse("out(?x) :- given(?x, ?y) . @prefix : <http://x/> . [?x, :p, ?y] :- [?y, :p, ?x] .")
    with standing_in() as session:
        rows = triple_frame(session, [])
        with pytest.raises(LoadError, match="for given has the columns subject, predicate, object, but the predicate has arity 2"):
            SparkReasoner(session, program, facts={"given": rows})
        with pytest.raises(LoadError, match="facts of given are a DataFrame of Spark, not an object of type list"):
            SparkReasoner(session, program, facts={"given": []})
        pair: Any = rows.select("subject", "object")
        not_strings = pytest.raises(LoadError, match=r"columns of the DataFrame for given are not strings: object \(int\)")
        with patch.object(type(pair), "dtypes", [("subject", "string"), ("object", "int")]), not_strings:
            SparkReasoner(session, program, facts={"given": pair})
        SparkReasoner(session, program, facts={"given": pair})
        with pytest.raises(LoadError, match="no materialisation: it has the columns subject, predicate, object, and not inferred"):
            update(rows, program)
        unknown: Any = "none such"
        with pytest.raises(UnknownNameError, match="unknown treatment of equality 'none such'; choose one of: auto"):
            SparkReasoner(session, program, rows, equality=unknown)
