"""Random transactions, some of them rolled back, on programs with keys, streams, multisets, structures, choices and aggregates.

A model in Python has the given facts; the oracle evaluates the rules on them after each transaction, by every strategy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import KeyViolationError
from kg_reasoner.expressions.structures import encode
from kg_reasoner.terms import Term, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import evaluate

HEADER = """
type Shape = Circle(r: integer) | Box(w: integer, h: integer) .
function area(?s: Shape): integer = match ?s { Circle(?r) -> 3 * ?r * ?r ; Box(?w, ?h) -> ?w * ?h } .
input relation item(id: integer, shape: Shape, tags: list<integer>) primary key (id) .
input multiset vote(tag: integer) .
input stream ask(tag: integer) .
relation asked(tag: integer) difference ask .
relation before(tag: integer, n: integer) delay count .
count(?t, ?n) :- AGGREGATE(tag(?i, ?t) ON ?t BIND COUNT(?i) AS ?n) .
tag(?i, ?t) :- item(?i, _, ?l), ?t IN ?l .
"""
RULES = [
    "large(?i, area(?s)) :- item(?i, ?s, _), area(?s) > 3 .",
    "liked(?i) :- tag(?i, ?t), vote(?t) .",
    "alone(?t) :- tag(_, ?t), NOT (tag(?i, ?t), tag(?j, ?t), ?i != ?j) .",
    "spans(?i, ?w) :- AGGREGATE(tag(?i, ?t) ON ?i BIND spread(?t) AS ?w) .",
    "relation first(item: integer, tag: integer) choose one per (item) of tag .",
    "leader(?t, ?i) :- CHOOSE(tag(?i, ?t), NOT vote(?i) PER ?t) .",
    "all(?t, ?s) :- AGGREGATE(tag(?i, ?t), item(?i, ?x, _) ON ?t BIND SET(?x) AS ?s) .",
    "drawn(?x) :- all(_, ?s), ?x IN ?s, ?x != Circle(1) .",
    "stream answer(tag: integer, item: integer) . answer(?t, ?i) :- ask(?t), tag(?i, ?t) .",
    "stream silent(tag: integer) . silent(?t) :- ask(?t), NOT tag(_, ?t) .",
    "grown(?t) :- count(?t, ?n), before(?t, ?m), ?n > ?m .",
    "kept(?t) :- asked(?t), vote(?t) .",
    "sums(?i, ?n) :- AGGREGATE(tag(?i, ?t) ON ?i BIND total(?t) AS ?n) .",
    "weights(?t, ?n, ?l) :- AGGREGATE(tag(?i, ?t), item(?i, ?x, _) ON ?t BIND total(area(?x)) AS ?n BIND LIST(?i) AS ?l) .",
    """near(?i, ?i) :- tag(?i, _) . near(?j, ?m) :- group(?i, ?m), tag(?i, ?t), tag(?j, ?t) .
    group(?i, ?m) :- AGGREGATE(near(?i, ?n) ON ?i BIND MIN(?n) AS ?m) .""",
    "pairs(?i, ?a, ?b) :- item(?i, _, ?l), (?a, ?b) IN ZIP(?l, REVERSE(?l)) .",
]
STREAMS = ("answer", "silent")
SHAPES = [encode("record", [literal(r)], "Circle") for r in (1, 2)] + [encode("record", map(literal, (2, 3)), "Box")]
NUMBERS = st.integers(0, 3)
ITEMS = st.tuples(NUMBERS, st.sampled_from(SHAPES), st.lists(NUMBERS, max_size=3))
CHANGES = st.one_of(
    st.tuples(st.sampled_from(["add", "put"]), ITEMS),
    st.tuples(st.sampled_from(["drop", "vote", "unvote", "ask"]), NUMBERS),
)
TRANSACTIONS = st.lists(st.tuples(st.lists(CHANGES, max_size=4), st.sampled_from([True, True, False])), max_size=4)


@dataclass
class Model:
    """The given facts."""

    items: dict[int, tuple[Term, ...]] = field(default_factory=dict)
    votes: Counter[int] = field(default_factory=Counter)
    asked: set[int] = field(default_factory=set)

    def facts(self) -> dict[str, set[tuple[Term, ...]]]:
        votes = {(literal(tag),) for tag, count in self.votes.items() if count > 0}
        asked = {(literal(tag),) for tag in self.asked}
        return {"item": set(self.items.values()), "vote": votes, "ask": asked, "asked": asked}


def item(values: tuple[int, Term, list[int]]) -> tuple[Term, ...]:
    return literal(values[0]), values[1], encode("list", map(literal, values[2]))


def change(transaction: Any, model: Model, kind: str, value: Any) -> None:
    """Change the reasoner and the model."""
    if kind == "add":
        row = item(value)
        if model.items.get(value[0], row) != row:
            with pytest.raises(KeyViolationError):
                transaction.add_facts("item", [row])
            return
        transaction.add_facts("item", [row])
        model.items[value[0]] = row
    elif kind == "put":
        transaction.insert_or_update("item", [item(value)])
        model.items[value[0]] = item(value)
    elif kind == "drop":
        if value not in model.items:
            with pytest.raises(KeyViolationError):
                transaction.delete_key("item", [value])
            return
        transaction.delete_key("item", [value])
        del model.items[value]
    elif kind == "ask":
        transaction.add_facts("ask", [(literal(value),)])
        model.asked.add(value)
    elif kind == "vote":
        transaction.add_facts("vote", [(literal(value),)])
        model.votes[value] += 1
    elif model.votes[value] > 0:
        transaction.remove_facts("vote", [(literal(value),)])
        model.votes[value] -= 1


def plus(total: int, number: int) -> int:
    return total + number


def minus(total: int, number: int) -> int:
    return total - number


def spread(tags: list[int]) -> int:
    return max(tags) - min(tags)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(60), deadline=None)
@given(chosen=st.sets(st.sampled_from(RULES), min_size=1, max_size=6), transactions=TRANSACTIONS)
def test_strategies_agree_with_the_oracle(
    strategy: Any, chosen: set[str], transactions: Sequence[tuple[list[tuple[str, Any]], bool]]
) -> None:
    reasoner = Reasoner(maintenance=strategy)
    reasoner.aggregate("spread", "integer", returns="integer")(spread)
    reasoner.reduction("total", "integer", initial=int, add=plus, remove=minus, returns="integer")
    reasoner.add_program(HEADER + "\n".join(sorted(chosen)))
    program, model = reasoner.program, Model()
    derived = sorted({rule.head.predicate for rule in program.rules if not rule.head.predicate.startswith("_")})
    counts: set[tuple[Term, ...]] = set()
    for changes, is_kept in transactions:
        old = dict(model.items), Counter(model.votes), set(model.asked)
        model.asked = set()
        transaction = reasoner.transaction().begin()
        for kind, value in changes:
            change(transaction, model, kind, value)
        if not is_kept:
            transaction.rollback()
            model.items, model.votes, model.asked = old
            continue
        transaction.commit()
        expected = evaluate(program, {**model.facts(), "before": counts})
        for predicate in derived:
            rows = expected.get(predicate, set())
            if predicate in STREAMS:
                assert set(transaction.delta.added.facts(predicate)) == rows, predicate
                assert not list(reasoner.facts(predicate))
            else:
                assert set(reasoner.facts(predicate)) == rows, predicate
        counts = expected.get("count", set())
