"""Members of many collections at once: every strategy against the oracle, and what is stored for them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.evaluation import column_insertion
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.expressions.structures import encode
from kg_reasoner.program import Atom
from kg_reasoner.terms import IRI, Literal, Term, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import evaluate

PROGRAM = """
part(?n, ?x) :- given(?n, ?s), ?x IN SPLIT(?s, ",") .
member(?n, ?x) :- given(?n, ?l), ?x IN ?l .
pair(?k, ?v) :- given(?n, ?m), (?k, ?v) IN ?m .
inside(?x) :- given(_, ?l), ?m IN ?l, ?x IN ?m .
known(?n, ?x) :- given(?n, ?l), given(?x, _), ?x IN ?l .
reached(0) .
reached(?y) :- reached(?x), given(?x, ?l), ?y IN ?l .
"""
NUMBERS = st.integers(0, 40).map(literal)
MEMBERS = st.one_of(NUMBERS, st.sampled_from([Literal("a,b"), IRI("urn:x"), encode("list", [literal(1), literal(2)])]))
KINDS = st.sampled_from(["list", "set", "tuple", "map", "record"])
STRUCTURES = st.builds(
    lambda kind, members: encode(kind, members * 2, "Made" if kind == "record" else ""), KINDS, st.lists(MEMBERS, max_size=3)
)
VALUES = st.one_of(STRUCTURES, MEMBERS, st.sampled_from(["", ",", "a,,b", "a,é"]).map(Literal))
FACTS = st.lists(st.tuples(NUMBERS, VALUES), max_size=60)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(100), deadline=None)
@given(changes=st.lists(st.tuples(FACTS, st.randoms(use_true_random=False)), min_size=1, max_size=3), by_columns=st.booleans())
def test_strategies_agree_with_the_oracle(
    strategy: Any, changes: list[tuple[list[tuple[Term, Term]], Any]], by_columns: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if by_columns:
            patch.setattr(column_insertion, "MANY", 1)
            patch.setattr(column_insertion, "BLOCK", 7)
        _compare_with_the_oracle(strategy, changes)


def _compare_with_the_oracle(strategy: Any, changes: list[tuple[list[tuple[Term, Term]], Any]]) -> None:
    reasoner = Reasoner(PROGRAM, maintenance=strategy)
    given: set[tuple[Term, Term]] = set()
    for added, random in changes:
        gone = [fact for fact in sorted(given, key=repr) if random.random() < 0.5]
        with reasoner.transaction():
            reasoner.remove_facts("given", gone)
            reasoner.add_facts("given", added)
        given = (given - set(gone)) | set(added)
        expected = evaluate(reasoner.program, {"given": given})
        for predicate in ("part", "member", "pair", "inside", "known", "reached"):
            assert set(reasoner.facts(predicate)) == expected.get(predicate, set()), predicate


def test_what_is_stored_does_not_depend_on_places() -> None:
    reasoner = Reasoner("member(?n, ?x) :- given(?n, ?l), ?x IN ?l .")
    reasoner.add_facts("given", [(literal(n), encode("list", map(literal, range(n, n + 5)))) for n in range(100)])
    reasoner.materialise()
    database = reasoner.core.engine.database
    assert max(record.count * record.arity for record in database.relations.records if record.arity > 2) <= 100 * 3
    assert len(list(reasoner.facts("member"))) == 500


def test_a_proof_shows_the_place() -> None:
    reasoner = Reasoner("member(?n, ?x) :- given(?n, ?l), ?x IN ?l .")
    reasoner.add_facts("given", [(literal(n), encode("list", map(literal, range(n, n + 3)))) for n in range(50)])
    reasoner.materialise()
    text = str(reasoner.explain(Atom("member", (literal(7), literal(8)))))
    assert "given(7," in text
    assert "member(7, 8)" in text


def test_many_collections_are_taken_apart_on_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is stored for their parts, sizes and members but the heads of rules."""
    monkeypatch.setattr(column_insertion, "MANY", 1)
    reasoner = Reasoner('part(?n, ?x) :- given(?n, ?s), ?x IN SPLIT(?s, ",") .')
    reasoner.add_facts("given", [(literal(n), Literal(f"{n},{n + 1},a")) for n in range(50)])
    reasoner.materialise()
    engine = reasoner.core.engine
    rows = {number: engine.database.relations[number].count for number in engine.catalog.functions.relations}
    assert sum(rows.values()) < 50, "only the few places of a size are computed by kernels"
    assert set(reasoner.facts("part")) == {(literal(n), Literal(x)) for n in range(50) for x in (str(n), str(n + 1), "a")}
    reasoner.remove_facts("given", [(literal(7), Literal("7,8,a"))])
    assert len(reasoner.facts("part")) == 49 * 3
