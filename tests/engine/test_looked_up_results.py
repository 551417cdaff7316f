"""Deletions by rules with computed heads: what derives a fact is found by stored results, beside the oracle."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.language.parser import parse
from kg_reasoner.planning.planner import calls_by_result
from kg_reasoner.terms import IRI, XSD, Literal, Term, literal
from tests.helpers.checked import run_in_checked_mode
from tests.helpers.effort import CHECKED, examples
from tests.helpers.oracle import Facts, evaluate, without_empty

COUNTER = "n(?m) :- n(?k), FILTER(?k < 9), BIND(?k + 1 AS ?m) ."
PROGRAMS = {
    "counter": COUNTER,
    "two steps": f"{COUNTER} n(?m) :- n(?k), FILTER(?k > 3), BIND(?k - 3 AS ?m) .",
    "squares": "n(?m) :- n(?k), FILTER(?k < 5), BIND(?k * ?k AS ?m) .",
    "differences": """
        n(?m) :- p(?a, ?b), BIND(?a - ?b AS ?m), FILTER(?m >= 0 && ?m < 9) .
        p(?m, ?k) :- n(?m), n(?k), FILTER(?m > ?k) .
    """,
    "of two atoms": "p(?a, ?m) :- p(?a, ?b), n(?c), BIND(?b + ?c AS ?m), FILTER(?m < 9) .",
    "strata": f"""
        {COUNTER}
        q(?m) :- n(?k), NOT p(?k, ?k), BIND(?k + 2 AS ?m) .
        r(?m) :- q(?k), NOT n(?k), BIND(?k * 2 AS ?m) .
    """,
    "constants": """
        p(?m, 1) :- p(?k, 2), FILTER(?k < 9), BIND(?k + 1 AS ?m) .
        p(?m, 2) :- p(?k, 1), FILTER(?k < 9), BIND(?k + 1 AS ?m) .
    """,
    "two results": "p(?m, ?o) :- p(?k, ?l), FILTER(?k < 9), BIND(?k + 1 AS ?m), BIND(?l - 1 AS ?o) .",
}
TERMS: list[Term] = [
    *(literal(number) for number in range(5)),
    *(Literal(text, XSD.integer.value) for text in ("02", "+2", "-0")),
    *(Literal("2.0", XSD.decimal.value), Literal("1", XSD.byte.value), Literal("two"), IRI("http://example.org/two")),
]
FACTS = st.sets(
    st.one_of(
        st.tuples(st.just("n"), st.tuples(st.sampled_from(TERMS))),
        st.tuples(st.just("p"), st.tuples(st.sampled_from(TERMS), st.sampled_from(TERMS))),
    ),
    max_size=5,
)


@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive"])
@pytest.mark.parametrize("name", PROGRAMS)
@settings(max_examples=examples(60))
@given(changes=st.lists(st.tuples(FACTS, FACTS), min_size=2, max_size=6))
def test_deletions_agree_with_the_oracle(strategy: str, name: str, changes: list[tuple[set[object], set[object]]]) -> None:
    program = parse(PROGRAMS[name])
    reasoner = Reasoner(program, maintenance=strategy)
    explicit: Facts = {}
    for removed, added in changes:
        with reasoner.transaction() as transaction:
            for change, facts in ((transaction.remove_facts, removed), (transaction.add_facts, added)):
                for predicate, row in facts:
                    change(predicate, [row])
        for predicate, row in removed:
            explicit.setdefault(predicate, set()).discard(row)
        for predicate, row in added:
            explicit.setdefault(predicate, set()).add(row)
        found = without_empty({predicate: set(reasoner.facts(predicate)) for predicate in reasoner.predicates()})
        assert found == without_empty(evaluate(program, explicit))


@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive"])
def test_what_filters_leave_out_may_have_results_that_are_too_large(strategy: str) -> None:
    rule = "n(?m) :- n(?k), FILTER(?k > 1 && ?k < 5), BIND(?k * ?k AS ?m) ."
    huge = literal(10**600)
    reasoner = Reasoner(rule, maintenance=strategy)
    reasoner.add_facts("n", [(huge,), (literal(2),), (literal(3),)])
    reasoner.remove_facts("n", [(literal(2),)])
    assert set(reasoner.facts("n")) == {(huge,), (literal(3),), (literal(9),)}
    reasoner.remove_facts("n", [(literal(3),)])
    assert set(reasoner.facts("n")) == {(huge,)}


@pytest.mark.long
@pytest.mark.skipif(CHECKED, reason="this is the checked run")
def test_the_same_in_checked_mode() -> None:
    """This file again, with kernels as bounds-checked Python."""
    run_in_checked_mode(__file__)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (f"{COUNTER} n(0) .", ["n"]),
        (
            "d(?y, ?m) :- d(?x, ?k), e(?x, ?y, ?w), BIND(?k + ?w AS ?m), FILTER(?m < 9) . d(1, 0) . e(1, 2, 1) .",
            [],
        ),  # the edges to ?y are found
        ("n(?m) :- n(?a), n(?b), BIND(?a + ?b AS ?m), FILTER(?m < 9) . n(1) .", []),  # no atom has both arguments
        ('n(?m) :- n(?k), BIND(CONCAT(?k, "1") AS ?m), FILTER(STRLEN(?m) < 9) . n("1") .', ["n"]),
        ("n(?k, ?m) :- n(?k, ?l), BIND(?k + 1 AS ?m), FILTER(?m < 9) . n(0, 1) .", []),  # the head has the argument
    ],
)
def test_rules_that_would_scan_look_results_up(rules: str, expected: list[str]) -> None:
    reasoner = Reasoner(rules)
    reasoner.materialise()
    base = reasoner.core.engine.base
    names = {number: name for name, number in base.catalog.predicates.items()}
    (planned,) = base.materialiser.active_rules()
    found = calls_by_result(base.database, planned.rule, base.materialiser.functions.decides_columns)
    assert [names[atom.relation] for _, atom in found] == expected
