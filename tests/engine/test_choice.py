"""Choice: of all facts with the same key the least one, whatever the order of changes, by every strategy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import ReasonerError, RuleSyntaxError, StratificationError
from kg_reasoner.language.parser import parse
from kg_reasoner.language.printer import format_program
from kg_reasoner.terms import Literal, literal
from tests.helpers.effort import examples

PROGRAM = """
    relation advisor(student: integer, teacher: integer, room: integer) choose one per (student) of candidate .
    candidate(?s, ?t, ?r) :- teaches(?t, ?s), in(?t, ?r) .
    seat(?r, ?s) :- CHOOSE(advisor(?s, _, ?r) ; in(?s, ?r), NOT teaches(?s, _) PER ?r) .
"""
Pairs = set[tuple[int, int]]
PAIRS = st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=5)
CHANGES = st.lists(st.tuples(PAIRS, PAIRS, st.sampled_from(["teaches", "in"]), st.booleans()), max_size=4)


def numbers(rows: Any) -> set[tuple[int, ...]]:
    return {tuple(int(term.lexical) for term in row) for row in rows}


def least(rows: set[tuple[int, ...]], columns: int) -> set[tuple[int, ...]]:
    """The least row for each value of the first columns."""
    return {min(other for other in rows if other[:columns] == row[:columns]) for row in rows}


@given(CHANGES, st.sampled_from(sorted(STRATEGIES)))
@settings(max_examples=examples(200), deadline=None)
def test_the_least_is_chosen(changes: list[tuple[Pairs, Pairs, str, bool]], strategy: Any) -> None:
    reasoner = Reasoner(PROGRAM, maintenance=strategy)
    facts: dict[str, Pairs] = {"teaches": set(), "in": set()}
    for added, removed, predicate, is_kept in changes:
        transaction = reasoner.transaction().begin()
        transaction.add_facts(predicate, [tuple(map(literal, pair)) for pair in sorted(added)])
        transaction.remove_facts(predicate, [tuple(map(literal, pair)) for pair in sorted(removed)])
        if is_kept:
            transaction.commit()
            facts[predicate] = (facts[predicate] | added) - removed
        else:
            transaction.rollback()
        candidates = {(s, t, r) for t, s in facts["teaches"] for other, r in facts["in"] if other == t}
        advisors = least(candidates, 1)
        assert numbers(reasoner.facts("advisor")) == advisors
        teachers = {t for t, _ in facts["teaches"]}
        seats = {(r, s) for s, _, r in advisors} | {(r, s) for s, r in facts["in"] if s not in teachers}
        assert numbers(reasoner.facts("seat")) == least(seats, 1)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("relation a(x: any, y: any) choose one per (x) of b . a(1, 2) .", "a rule derives a, which is a choice of b"),
        ("relation a(x: any, y: any) choose one per (x, y) of b .", "there is nothing to choose"),
        ("relation a(x: any, y: any) choose one per (x, x) of b .", "repeats a column"),
        ("relation a(x: any, y: any) choose one per (z) of b .", "unknown column of a z"),
        ("input relation a(x: any, y: any) choose one per (x) of b .", "a is a choice, and cannot be an input"),
        ("p(?x) :- CHOOSE(q(?x) PER ?x) .", "there is nothing to choose"),
        ("p(?x) :- CHOOSE(q(?x, _) PER ?y) .", "?y has no value in the body of CHOOSE"),
        ("relation a(x: any) choose one per (x) of b . relation a(x: any) .", "already been declared differently"),
    ],
)
def test_what_is_refused(program: str, message: str) -> None:
    with pytest.raises(RuleSyntaxError) as caught:
        Reasoner(program)
    assert message in caught.value.message


def test_a_choice_cannot_depend_on_itself() -> None:
    with pytest.raises(StratificationError, match="a depends on its own aggregate"):
        Reasoner("relation a(x: any, y: any) choose one per (x) of b . b(?x, ?y) :- a(?y, ?x) .")


def test_facts_are_not_given() -> None:
    reasoner = Reasoner(PROGRAM)
    with pytest.raises(ReasonerError, match="advisor is the choice of candidate, and not changed by hand"):
        reasoner.add_facts("advisor", [tuple(map(literal, (1, 2, 3)))])


def test_a_program_is_written_and_read() -> None:
    program = PROGRAM[: PROGRAM.index("seat(")]
    parsed = parse(program)
    text = format_program(parsed)
    assert "choose one per (student) of candidate ." in text and text.count("advisor(") == 1
    assert parse(text) == parsed


def test_a_predicate_may_be_called_choose() -> None:
    reasoner = Reasoner("choose(?x) :- per(?x), of(?x) . of(1) . per(1) . p(?x) :- choose(?x), choose(STRLEN(?x)) .")
    assert list(reasoner.facts("choose")) == [(literal(1),)]


@pytest.mark.parametrize(
    "body",
    [
        "[?x, <http://example.org/p>?, ?y]",
        'e(?x, ?y), ?y != "is this the one? No. "',
        f'e(?x, ?y), ?y != "{"a" * 300}"',
        "e(?x, ?y)  # is it? It's the one. \n",
        "<http://example.org/e#2.0>(?x, ?y), ?y<3, ?x > 1.5",
    ],
)
def test_bodies_of_choices(body: str) -> None:
    (rule,) = (rule for rule in parse(f"r(?x, ?y) :- CHOOSE({body} PER ?x) .").rules if rule.head.predicate == "r")
    assert any("chosen" in getattr(part, "predicate", "") for part in rule.body)


def test_a_predicate_called_choose_before_a_choice() -> None:
    reasoner = Reasoner("choose(1, 2) . p(?x, ?y) :- choose(?x, ?y) . q(?x, ?y) :- CHOOSE(p(?x, ?y) PER ?x) .")
    assert list(reasoner.facts("q")) == [(literal(1), literal(2))]


def test_values_are_compared_by_value() -> None:
    reasoner = Reasoner("relation first(k: string, n: integer) choose one per (k) of all . all(?k, ?n) :- given(?k, ?n) .")
    reasoner.add_facts("given", [(literal("a"), literal(10)), (literal("a"), literal(9)), (literal("b"), literal(-1))])
    assert set(reasoner.facts("first")) == {(Literal("a"), literal(9)), (Literal("b"), literal(-1))}
    assert "(by choice of all)" in str(reasoner.explain(parse('first("a", 9) .').rules[0].head))
