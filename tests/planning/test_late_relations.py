"""The order of relations in a first materialisation: no index is built where look-ups are enough, and nothing is missed."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.language.parser import parse
from kg_reasoner.storage import capacities
from kg_reasoner.terms import Literal, literal
from tests.helpers import oracle

RULES = """
    student(?x) :- person(?x), takes(?x, ?y), course(?y) .
    person(?x) :- student(?x) .
    person(?x) :- mail(?x, ?y) .
    takes(?x, ?y) :- repeats(?x, ?y) .
    course(?y) :- teaches(?x, ?y) .
    teaches(?x, ?z) :- student(?x), shares(?x, ?y), teaches(?y, ?z) .
    graduate(?x) :- person(?x), bachelor(?x) .
"""
Row = tuple[Literal, ...]
FACTS: dict[str, list[Row]] = {
    "mail": [(literal(number), literal(-number)) for number in range(1, 60)],
    "takes": [(literal(number), literal(100 + number * step % 20)) for number in range(1, 80) for step in (1, 3, 7)],
    "repeats": [(literal(number), literal(100 + number % 5)) for number in range(50, 70)],
    "teaches": [(literal(90), literal(100)), (literal(91), literal(107))],
    "shares": [(literal(number), literal(91 - number % 2)) for number in range(1, 4)],
    "bachelor": [(literal(number),) for number in range(1, 9)],
}


def materialised(order: tuple[str, ...], threads: int = 1) -> Reasoner:
    reasoner = Reasoner(RULES, threads=threads)
    for predicate in order:
        reasoner.add_facts(predicate, FACTS[predicate])
    reasoner.materialise()
    return reasoner


def indexed(reasoner: Reasoner) -> set[str]:
    """The predicates whose rows are in indexes."""
    engine = reasoner.engine
    return {name for name, number in engine.catalog.predicates.items() if engine.database.built_indexes(number)}


@pytest.mark.parametrize("threads", [1, 2])
def test_facts_that_need_look_ups_only_come_after_those_that_need_an_index(threads: int) -> None:
    expected = oracle.evaluate(parse(RULES), FACTS)
    for order in [*permutations(FACTS)][:: 97 if threads == 1 else 211]:
        reasoner = materialised(order, threads)
        assert {name: set(reasoner.facts(name)) for name in expected} == expected
        assert "takes" not in indexed(reasoner)


def test_a_profile_has_the_same_order() -> None:
    reasoner = Reasoner(RULES)
    with reasoner.profile():
        for predicate in reversed(FACTS):
            reasoner.add_facts(predicate, FACTS[predicate])
        reasoner.materialise()
    assert "takes" not in indexed(reasoner)
    assert not reasoner.engine.database.context.latest  # updates have no order


def test_the_smaller_of_two_classes_is_looked_up_in_the_larger_one() -> None:
    reasoner = materialised(tuple(FACTS))
    relations, predicates = reasoner.engine.database.relations, reasoner.engine.catalog.predicates
    lateness = {name: relations[number].lateness for name, number in predicates.items()}
    assert lateness["bachelor"] > lateness["person"]
    assert lateness["takes"] > lateness["course"]


TRANSITIVE = " part(?x, ?z) :- part(?x, ?y), part(?y, ?z) ."


@pytest.mark.parametrize(("rules", "more", "has_index"), [(2, "", False), (8, "", True), (2, TRANSITIVE, True)])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_many_rules_share_an_index(rules: int, more: str, has_index: bool, is_reversed: bool) -> None:
    program = " ".join(f"whole{n}(?x) :- part(?x, ?y), kind{n}(?y) ." for n in range(rules)) + more
    facts: dict[str, list[Row]] = {"part": [(literal(n), literal(n + 1)) for n in range(300) if n % 5]}
    facts |= {f"kind{n}": [(literal(10 * n + step),) for step in range(3)] for n in range(rules)}
    reasoner = Reasoner(program)
    for predicate in reversed(facts) if is_reversed else facts:
        reasoner.add_facts(predicate, facts[predicate])
    reasoner.materialise()
    relations, predicates = reasoner.engine.database.relations, reasoner.engine.catalog.predicates
    comes_last = relations[predicates["part"]].lateness > relations[predicates["kind0"]].lateness
    assert (not comes_last) == has_index == ("part" in indexed(reasoner))
    for name, expected in oracle.evaluate(parse(program), facts).items():
        assert set(reasoner.facts(name)) == expected


@pytest.mark.parametrize(
    ("rule", "last"),
    [
        ("pair(?x, ?y) :- left(?x), right(?y), ?y < 10 .", {"right"}),
        ("pair(?x, ?y) :- left(?x), ?x < 10, right(?y) .", {"left"}),
        ("pair(?x, ?y) :- left(?x), right(?y), next(?y, ?z), ?z < 10 .", {"right", "next"}),
    ],
)
@pytest.mark.parametrize("is_reversed", [False, True])
def test_rows_are_compared_before_all_rows_of_another_relation_are_scanned(rule: str, last: set[str], is_reversed: bool) -> None:
    facts = {name: [(literal(number),) for number in range(50)] for name in ("left", "right")}
    facts["next"] = [(literal(number), literal(number + 1)) for number in range(50)]
    reasoner = Reasoner(rule)
    for predicate in reversed(facts) if is_reversed else facts:
        reasoner.add_facts(predicate, facts[predicate])
    reasoner.materialise()
    relations, predicates = reasoner.engine.database.relations, reasoner.engine.catalog.predicates
    lateness = {name: relations[predicates[name]].lateness for name in facts if name in rule}
    assert {name for name, rank in lateness.items() if rank == max(lateness.values())} <= last
    for name, expected in oracle.evaluate(parse(rule), facts).items():
        assert set(reasoner.facts(name)) == expected


def test_an_update_finds_what_the_first_materialisation_had_no_index_for() -> None:
    reasoner = materialised(tuple(FACTS))
    reasoner.add_facts("mail", [(literal(60), literal(0))])
    assert (literal(60),) in set(reasoner.facts("student"))
    reasoner.remove_facts("mail", [(literal(60), literal(0))])
    assert (literal(60),) not in set(reasoner.facts("student"))


@given(st.permutations(sorted(FACTS)), st.integers(1, 3), st.sampled_from([1, 2, 3]), st.data())
def test_every_order_derives_the_same(order: list[str], block: int, threads: int, data: st.DataObject) -> None:
    facts = {name: data.draw(st.lists(st.sampled_from(FACTS[name]), max_size=30, unique=True), name) for name in order}
    usual, capacities.current = capacities.current, replace(capacities.current, block=block, shared_instances=1, shared_rows=1)
    try:
        reasoner = Reasoner(RULES, threads=threads)
        for name in order:
            reasoner.add_facts(name, facts[name])
        reasoner.materialise()
    finally:
        capacities.current = usual
    for name, rows in oracle.evaluate(parse(RULES), facts).items():
        assert set(reasoner.facts(name)) == rows
