"""Recursions that follow edges have the results of the general evaluation, whatever their names and values."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.evaluation import recursive_results
from kg_reasoner.engine.evaluation.edge_recursions import EdgeStep
from kg_reasoner.errors import RecursionValueError
from kg_reasoner.terms import IRI, XSD, BlankNode, Literal, Term, literal
from tests.helpers.effort import examples

FOLLOWED: Final = {
    "least labels, in both directions": """
        name(?x, ?x) :- edge(?x, _, _) ; edge(_, ?x, _) .
        name(?b, ?n) :- part(?a, ?n), (edge(?a, ?b, _) ; edge(?b, ?a, _)) .
        part(?x, ?n) :- AGGREGATE(name(?x, ?y) ON ?x BIND MIN(?y) AS ?n) .""",
    "greatest labels": """
        name(?x, ?n) :- start(?x, ?n) .
        name(?b, ?n) :- part(?a, ?n), edge(?a, ?b, ?w), ?w > 1, NOT closed(?b, ?w) .
        part(?x, ?n) :- AGGREGATE(name(?x, ?y) ON ?x BIND MAX(?y) AS ?n) .""",
    "distances": """
        way(?x, ?n) :- start(?x, ?n) .
        way(?b, ?n + ?w) :- least(?a, ?n), edge(?a, ?b, ?w) .
        least(?x, ?n) :- AGGREGATE(way(?x, ?y) ON ?x BIND MIN(?y) AS ?n) .""",
    "distances, in one rule": """
        least(?x, 0) :- start(?x, _) .
        least(?b, ?n) :- AGGREGATE(least(?a, ?d), edge(?a, ?b, ?w) ON ?b BIND MIN(?w + ?d) AS ?n) .""",
    "numbers of steps, from each start": """
        way(?s, ?s, 0) :- start(?s, _) .
        way(?s, ?b, ?n + 1) :- least(?a, ?s, ?n), edge(?a, ?b, _) .
        least(?x, ?s, ?n) :- AGGREGATE(way(?s, ?x, ?y) ON ?x ?s BIND MIN(?y) AS ?n) .""",
    "two kinds of edges": """
        way(?x, 5) :- start(?x, _) .
        way(?b, ?n + ?w) :- least(?a, ?n), edge(?a, ?b, ?v), ?w = ?v * 2 .
        way(?b, ?n) :- least(?a, ?n), closed(?a, ?b) .
        least(?x, ?n) :- AGGREGATE(way(?x, ?y) ON ?x BIND MIN(?y) AS ?n) .""",
}
OTHERS: Final = {
    "several values in a body": """
        way(?x, ?y, ?w) :- edge(?x, ?y, ?w) .
        way(?x, ?z, ?v + ?w) :- least(?x, ?y, ?v), least(?y, ?z, ?w) .
        least(?x, ?y, ?n) :- AGGREGATE(way(?x, ?y, ?c) ON ?x ?y BIND MIN(?c) AS ?n) .""",
    "a condition on the value": """
        way(?x, 0) :- start(?x, _) .
        way(?b, ?n + ?w) :- least(?a, ?n), edge(?a, ?b, ?w), ?n < 4 .
        least(?x, ?n) :- AGGREGATE(way(?x, ?y) ON ?x BIND MIN(?y) AS ?n) .""",
    "edges that depend on the start": """
        way(?s, ?s, 0) :- start(?s, _) .
        way(?s, ?b, ?n + 1) :- least(?s, ?a, ?n), edge(?a, ?b, _), NOT closed(?s, ?b) .
        least(?s, ?x, ?n) :- AGGREGATE(way(?s, ?x, ?y) ON ?s ?x BIND MIN(?y) AS ?n) .""",
    "a computed end": """
        way(?x, 0) :- start(?x, _) .
        way(?b, ?n) :- least(?a, ?n), ?b = ?a + 1, ?b < 4 .
        least(?x, ?n) :- AGGREGATE(way(?x, ?y) ON ?x BIND MIN(?y) AS ?n) .""",
}
NODES: Final = st.one_of(st.integers(0, 4).map(literal), st.sampled_from([IRI("urn:a"), IRI("urn:b"), BlankNode("c")]))
WEIGHTS: Final = st.sampled_from([*map(literal, (0, 1, 2, 2, 3, 7)), Literal("02", XSD.integer.value), literal(2**52)])
ODD: Final = st.one_of(WEIGHTS, st.sampled_from([literal(1.5), literal(-1), literal("text"), Literal("2.5", XSD.decimal.value)]))


def facts(weights: st.SearchStrategy[Term]) -> st.SearchStrategy[dict[str, set[tuple[Term, ...]]]]:
    rows = st.fixed_dictionaries(
        {
            "edge": st.sets(st.tuples(NODES, NODES, weights), max_size=10),
            "start": st.sets(st.tuples(NODES, weights), min_size=1, max_size=3),
            "closed": st.sets(st.tuples(NODES, NODES), max_size=3),
        }
    )
    given_too = st.sets(st.tuples(NODES, weights), max_size=2)
    return st.builds(lambda rows, more: {**rows, "least": more, "part": more}, rows, st.just(set()) | given_too)


def outcome(program: str, given_facts: list[dict[str, set[tuple[Term, ...]]]]) -> Any:
    """The derived facts after each change of the facts, or the error."""
    reasoner, found, before = Reasoner(program), [], dict[str, set[tuple[Term, ...]]]()
    arities = {rule.head.predicate: rule.head.arity for rule in reasoner.program.rules}
    names = [name for name in arities if not name.startswith("_")]
    try:
        for now in given_facts:
            with reasoner.transaction():
                for name, rows in now.items():
                    if arities.get(name, len(next(iter(rows), ()))) == len(next(iter(rows), ())):
                        reasoner.remove_facts(name, before.get(name, set()) - rows)
                        reasoner.add_facts(name, rows - before.get(name, set()))
            before = {name: set(rows) for name, rows in now.items() if arities.get(name, 0) in (0, len(next(iter(rows), ())))}
            found.append({name: set(reasoner.facts(name)) for name in names})
    except RecursionValueError:
        return "error"
    return found


@pytest.mark.parametrize("name", [*FOLLOWED, *OTHERS])
@settings(max_examples=examples(150), deadline=None)
@given(changes=st.lists(facts(WEIGHTS) | facts(ODD), min_size=1, max_size=3))
def test_results_are_those_of_rounds(name: str, changes: list[dict[str, set[tuple[Term, ...]]]]) -> None:
    program = {**FOLLOWED, **OTHERS}[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recursive_results, "MOST_ROUNDS", 20)
        by_edges = outcome(program, changes)
        patch.setattr(recursive_results, "steps_of", lambda *_: None)
        assert by_edges == outcome(program, changes)


@pytest.mark.parametrize("name", [*FOLLOWED, *OTHERS])
def test_what_follows_edges_is_recognised(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[list[EdgeStep] | None] = []
    recognise = recursive_results.steps_of

    def steps_of(*arguments: Any) -> list[EdgeStep] | None:
        found.append(recognise(*arguments))
        return found[-1]

    monkeypatch.setattr(recursive_results, "steps_of", steps_of)
    reasoner = Reasoner({**FOLLOWED, **OTHERS}[name])
    reasoner.add_facts("edge", [(literal(1), literal(2), literal(3))])
    reasoner.add_facts("start", [(literal(1), literal(0))])
    reasoner.materialise()
    assert [steps is not None for steps in found] == [name in FOLLOWED]


def test_a_long_path_takes_no_round_for_each_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recursive_results, "MOST_ROUNDS", -(10**9))
    reasoner = Reasoner('import "std/components.dl" as c . c.edge(?x, ?y) :- link(?x, ?y) . part(?x, ?l) :- c.component(?x, ?l) .')
    reasoner.add_facts("link", [(literal(number), literal(number + 1)) for number in range(5000)])
    assert {least for _, least in reasoner.facts("part")} == {literal(0)}
    reasoner.remove_facts("link", [(literal(2000), literal(2001))])
    assert {least for _, least in reasoner.facts("part")} == {literal(0), literal(2001)}
