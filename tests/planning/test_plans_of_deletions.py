"""Deletions plan only the rules whose heads they meet, also while a search is under way."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.engine.evaluation.planned_strata import _PLANNED_TOGETHER
from kg_reasoner.planning import rule_shapes
from kg_reasoner.planning.rule_shapes import Pattern
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.terms import IRI
from tests.helpers.oracle import evaluate

NAMES = [IRI(f"http://example.org/{number}") for number in range(40)]


def planned(reasoner: Reasoner) -> set[str]:
    """The heads of the rules that have been planned from their heads."""
    rules = reasoner.engine.base.materialiser.active_rules()
    return {rule.source_rule.head.predicate for rule in rules if rule.backward >= 0}


@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive"])
def test_only_rules_whose_heads_are_met_are_planned(strategy: str) -> None:
    rules = "".join(f"b{number}(?x) :- a{number}(?x) . c{number}(?x) :- b{number}(?x) ." for number in range(50))
    reasoner = Reasoner(rules, maintenance=strategy)
    for number in range(50):
        reasoner.add_facts(f"a{number}", [NAMES[:1], NAMES[1:2]])
    reasoner.materialise()
    assert not planned(reasoner)
    reasoner.remove_facts("a7", [NAMES[:1]])
    assert set(reasoner.facts("c7")) == {(NAMES[1],)}
    assert planned(reasoner) == {"b7", "c7"}
    reasoner.add_program("c7(?x) :- a8(?x) . c9(?x) :- a8(?x) .")
    reasoner.remove_facts("a7", [NAMES[1:2]])
    assert set(reasoner.facts("c7")) == {(NAMES[0],), (NAMES[1],)}
    assert planned(reasoner) == {"b7", "c7"}
    reasoner.remove_facts("a8", [NAMES[:1]])
    assert set(reasoner.facts("c7")) == set(reasoner.facts("c9")) - {(NAMES[0],)} == {(NAMES[1],)}


def test_many_rules_of_one_head_are_planned_part_by_part() -> None:
    count = 5 * _PLANNED_TOGETHER
    reasoner = Reasoner("".join(f"p(?x) :- a{number}(?x) ." for number in range(count)))
    reasoner.add_facts("a0", [NAMES[:1]])
    reasoner.add_facts("a1", [NAMES[:1]])
    for number in range(2, count):
        reasoner.add_facts(f"a{number}", [NAMES[1:2]])
    reasoner.materialise()
    reasoner.remove_facts("a1", [NAMES[:1]])
    assert set(reasoner.facts("p")) == {(NAMES[0],), (NAMES[1],)}
    rules = reasoner.engine.base.materialiser.active_rules()
    assert sum(rule.backward >= 0 for rule in rules) == _PLANNED_TOGETHER  # the first of them derives it
    reasoner.remove_facts("a0", [NAMES[:1]])
    assert set(reasoner.facts("p")) == {(NAMES[1],)}
    assert all(rule.backward >= 0 for rule in rules)


@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive"])
def test_a_search_begins_where_there_are_fewer_rows(strategy: str) -> None:
    """Which of two atoms has fewer rows depends on the fact: a hub is above few nodes, and below many."""
    reasoner = Reasoner("below(?x, ?z) :- below(?x, ?y), below(?y, ?z) .", maintenance=strategy)
    hub, top, first, second, *others = NAMES
    edges = {(hub, other) for other in (first, second, *others)} | {(first, top), (second, top)}
    reasoner.add_facts("below", edges)
    reasoner.materialise()
    for gone in ((first, top), (second, top)):
        reasoner.remove_facts("below", [gone])
        edges.remove(gone)
        assert set(reasoner.facts("below")) == evaluate(reasoner.program, {"below": edges})["below"]
    (rule,) = reasoner.engine.base.materialiser.active_rules()
    plans = reasoner.engine.database.plans
    assert plans[rule.backward].other
    assert plans[rule.backward + 1].found > 0


@pytest.mark.parametrize("strategy", ["backward-forward", "delete-rederive"])
def test_a_search_goes_on_after_larger_plans_have_come(strategy: str) -> None:
    """Goals are in the middle of their rules when a rule is planned that needs more variables and steps than any before."""
    variables = [f"?v{number}" for number in range(30)]
    long = ", ".join(f"edge({one}, {two})" for one, two in pairwise(variables))
    reasoner = Reasoner(
        f"far(?v0, ?v29) :- {long} . near(?x, ?y) :- far(?x, ?y) . near(?x, ?y) :- edge(?x, ?z), edge(?z, ?y) ."
        "top(?x, ?y) :- near(?x, ?z), near(?z, ?y) . top(?x, ?y) :- given(?x, ?y) .",
        maintenance=strategy,
    )
    reasoner.add_facts("edge", list(pairwise(NAMES)))
    reasoner.add_facts("given", [(NAMES[0], NAMES[31])])
    expected = set(reasoner.facts("top"))
    reasoner.remove_facts("given", [(NAMES[0], NAMES[31])])
    assert set(reasoner.facts("top")) == expected
    assert ("far" in planned(reasoner)) == (strategy == "backward-forward")


def test_larger_frames_keep_the_state_of_joins() -> None:
    frames = Database().frames
    frames.add(3)
    words, levels = frames._words, frames._levels.reshape(frames.count, frames.depth, -1)
    for number in range(frames.count):
        words[number, :2] = 7 + number, number
        frames.values(number)[:] = number
        levels[number] = [[step, number, 5] for step in range(frames.depth)]
    before = [frames.values(number).copy() for number in range(frames.count)], levels.copy(), words[:, :2].copy()
    frames.fit(bindings=frames.bindings + 5, depth=frames.depth + 3)
    after = frames._levels.reshape(frames.count, frames.depth, -1)
    assert [frames.values(number)[:-5].tolist() for number in range(frames.count)] == [each.tolist() for each in before[0]]
    assert (after[:, :-3] == before[1]).all()
    assert (frames._words[:, :2] == before[2]).all()


def test_single_rules_that_come_one_after_the_other_share_a_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(rule_shapes, "Pattern", lambda *given: made.append(given) or Pattern(*given))
    reasoner = Reasoner()
    for number in range(12):
        p, a = f"p{number}", f"a{number}"
        reasoner.add_program(f"{p}(?x, ?z) :- {p}(?x, ?y), {a}(?y, ?z) . {p}(?x, ?y) :- {a}(?x, ?y) .")
        reasoner.add_facts(f"a{number}", list(pairwise(NAMES[:4])))
        assert len(set(reasoner.facts(f"p{number}"))) == 6
    assert len(made) == 4  # of two shapes, with a trigger and without
