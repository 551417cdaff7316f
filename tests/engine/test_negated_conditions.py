"""Random programs with negated conditions and computed arguments in a recursion, and aggregates with groups from outside.

Texts are drawn together with what they mean in Python, so that neither what they are rewritten to nor the oracle is believed: every
strategy is compared with both after every transaction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.terms import Term, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import evaluate

Number = int | str
Facts = dict[str, set[tuple[Number, ...]]]
Test = Callable[[Any, Any, Facts], bool]


def _not(condition: Callable[[Any, Any, Facts], bool]) -> Test:
    """A negation, which holds where its condition is an error."""

    def holds(x: Any, y: Any, facts: Facts) -> bool:
        try:
            return not condition(x, y, facts)
        except (TypeError, ValueError, ZeroDivisionError):
            return True

    return holds


GUARDS: Final[dict[str, Test]] = {
    "NOT (?x > ?y)": _not(lambda x, y, _: x > y),
    "NOT (?x = ?y)": _not(lambda x, y, _: x == y),
    "NOT (?x - ?y > 1)": _not(lambda x, y, _: x - y > 1),
    "NOT (6 / ?y > 2)": _not(lambda x, y, _: 6 / y > 2),
    "NOT (?x > 1, ?y > 1)": _not(lambda x, y, _: x > 1 and y > 1),
    "NOT (?x > 3 ; ?x - 1 = ?y)": lambda x, y, f: (
        _not(lambda x, y, _: x > 3)(x, y, f) and _not(lambda x, y, _: x - 1 == y)(x, y, f)
    ),
    "NOT (?y IN LIST(1, 3))": _not(lambda x, y, _: y in (1, 3)),
    "NOT (?k = ?x % ?y, ?k > 0)": _not(lambda x, y, _: math.fmod(x, y) > 0),
    "NOT (?j = ?x - 1, ?k = ?j * 2, ?k != ?y)": _not(lambda x, y, _: (x - 1) * 2 != y),
    "NOT (?k = 6 / ?y)": _not(lambda x, y, _: 6 / y is not None),
    "NOT s(?x - 1)": _not(lambda x, y, f: (x - 1,) in f["s"]),
    "NOT s(?y - ?x)": _not(lambda x, y, f: (y - x,) in f["s"]),
    "NOT e(?y, ?x - 1)": _not(lambda x, y, f: (y, x - 1) in f["e"]),
    "NOT e(?y - 1, _)": _not(lambda x, y, f: any(row[0] == y - 1 for row in f["e"])),
    "NOT (s(?y - 1) ; ?x > 2)": lambda x, y, f: (
        _not(lambda x, y, f: (y - 1,) in f["s"])(x, y, f) and _not(lambda x, y, _: x > 2)(x, y, f)
    ),
}
"""Negations of ?x and ?y, and what they mean."""


def _is_less(one: Number, other: Number) -> bool:
    return type(one) is type(other) and one < other  # type: ignore[operator]


SOURCES: Final[dict[str, Callable[[Facts], set[Number]]]] = {
    "s(?g)": lambda f: {x for (x,) in f["s"]},
    "r(?g, _)": lambda f: {x for x, _ in f["r"]},
    "(s(?g) ; e(_, ?g))": lambda f: {x for (x,) in f["s"]} | {y for _, y in f["e"]},
    "s(?u), ?g = ?u + 1": lambda f: {x + 1 for (x,) in f["s"] if isinstance(x, int)},
    "?g IN LIST(1, 2)": lambda f: {1, 2},
    "c(?g), NOT (?g > 2)": lambda f: {x for (x,) in f["c"] if isinstance(x, str) or x <= 2},
}
"""What gives a group its values outside of an aggregate."""
INSIDE: Final[dict[str, Callable[[Number, Facts], set[Number]]]] = {
    "r(?v, _), ?v < ?g": lambda g, f: {x for x, _ in f["r"] if _is_less(x, g)},
    "e(?v, ?w), NOT (?v < ?g)": lambda g, f: {x for x, _ in f["e"] if not _is_less(x, g)},
    "c(?v), NOT e(?v, ?g)": lambda g, f: {x for (x,) in f["c"] if (x, g) not in f["e"]},
    "c(?v), NOT (r(?v, ?w), ?w > ?g)": lambda g, f: {x for (x,) in f["c"] if not any(v == x and _is_less(g, w) for v, w in f["r"])},
    "(s(?v), ?v < ?g ; c(?v), ?v > ?g)": lambda g, f: (
        {x for (x,) in f["s"] if _is_less(x, g)} | {x for (x,) in f["c"] if _is_less(g, x)}
    ),
    "e(_, ?v), NOT s(?v - ?g)": lambda g, f: {
        x for _, x in f["e"] if isinstance(x, str) or isinstance(g, str) or (x - g,) not in f["s"]
    },
}
"""Bodies of aggregates that use the group, and the values of ?v in them."""
AGGREGATES: Final[dict[str, Callable[[set[Number]], Number]]] = {
    "COUNT(DISTINCT ?v)": len,
    "MIN(?v)": lambda values: min(values, key=lambda value: (isinstance(value, str), value)),
}

VALUES: Final = st.sampled_from([0, 1, 2, 3, 4, "a"])
FACTS: Final = st.one_of(st.tuples(VALUES, VALUES), st.tuples(VALUES))
CHANGES: Final = st.lists(st.tuples(st.booleans(), st.lists(FACTS, max_size=4)), min_size=1, max_size=4)
NEGATIONS: Final = st.lists(st.sampled_from(sorted(GUARDS)), min_size=1, max_size=3, unique=True)
AGGREGATE: Final = st.tuples(st.sampled_from(sorted(SOURCES)), st.sampled_from(sorted(INSIDE)), st.sampled_from(sorted(AGGREGATES)))


def _text(first: list[str], second: list[str], aggregate: tuple[str, str, str]) -> str:
    source, inside, function = aggregate
    return f"""
        r(?x, ?y) :- e(?x, ?y) .
        r(?x, ?y) :- r(?x, ?z), e(?z, ?y), {", ".join(first)} .
        c(?x) :- s(?x) .
        c(?y) :- c(?x), ?y = ?x + 1, ?x < 5, {", ".join(second)} .
        c(?y) :- c(?x), r(?x, ?y), {", ".join(second)} .
        a(?g, ?n) :- {source}, AGGREGATE({inside} ON ?g BIND {function} AS ?n) .
        d(?x) :- s(?x) .
        d(?y) :- d(?x), e(?x, ?y), NOT a(?y, ?x - 1), {", ".join(second)} ."""


def _meant(facts: Facts, first: list[str], second: list[str], aggregate: tuple[str, str, str]) -> Facts:
    known = facts | {name: set() for name in "rcad"}

    def holds(guards: list[str], x: Number, y: Number) -> bool:
        return all(GUARDS[guard](x, y, facts) for guard in guards)

    def close(name: str, step: Callable[[], set[tuple[Number, ...]]]) -> None:
        while not (new := step()) <= known[name]:
            known[name] |= new

    edges = facts["e"]
    known["r"] |= edges
    close("r", lambda: {(x, y) for x, z in known["r"] for z2, y in edges if z == z2 and holds(first, x, y)})
    known["c"] |= facts["s"]
    close("c", lambda: {(x + 1,) for (x,) in known["c"] if isinstance(x, int) and x < 5 and holds(second, x, x + 1)})
    close(
        "c",
        lambda: (
            {(x + 1,) for (x,) in known["c"] if isinstance(x, int) and x < 5 and holds(second, x, x + 1)}
            | {(y,) for (x,) in known["c"] for x2, y in known["r"] if x == x2 and holds(second, x, y)}
        ),
    )
    source, inside, function = aggregate
    for group in SOURCES[source](known):
        values = INSIDE[inside](group, known)
        if values:
            known["a"].add((group, AGGREGATES[function](values)))
    known["d"] |= facts["s"]

    def is_free(x: Number, y: Number) -> bool:
        return isinstance(x, str) or (y, x - 1) not in known["a"]

    close("d", lambda: {(y,) for (x,) in known["d"] for x2, y in edges if x == x2 and is_free(x, y) and holds(second, x, y)})
    return known


def _rows(rows: set[tuple[Number, ...]]) -> set[tuple[Term, ...]]:
    return {tuple(map(literal, row)) for row in rows}


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(60), deadline=None)
@given(first=NEGATIONS, second=NEGATIONS, aggregate=AGGREGATE, changes=CHANGES)
def test_strategies_agree_with_what_is_written(
    strategy: str,
    first: list[str],
    second: list[str],
    aggregate: tuple[str, str, str],
    changes: list[tuple[bool, list[tuple[Number, ...]]]],
) -> None:
    program = parse(_text(first, second, aggregate))
    reasoner = Reasoner(program, maintenance=strategy)  # type: ignore[arg-type]
    facts: Facts = {"e": set(), "s": set()}
    for adds, rows in changes:
        with reasoner.transaction() as transaction:
            for name, size in (("e", 2), ("s", 1)):
                changed = {row for row in rows if len(row) == size}
                facts[name] = facts[name] | changed if adds else facts[name] - changed
                (transaction.add_facts if adds else transaction.remove_facts)(name, _rows(changed))
        expected = _meant(facts, first, second, aggregate)
        by_oracle = evaluate(program, {name: _rows(known) for name, known in facts.items()})
        for predicate in "rcad":
            assert by_oracle.get(predicate, set()) == _rows(expected[predicate]), predicate
            assert set(reasoner.facts(predicate)) == _rows(expected[predicate]), predicate


SENTENCES: Final = {
    "negation with a value that another atom gives": (
        """reach(?x) :- start(?x) .
        reach(?y) :- reach(?x), edge(?x, ?y), NOT (blocked(?z), ?z < ?y) .
        start(1) . edge(1, 2) . edge(2, 3) . edge(2, 5) . edge(5, 2) . edge(3, 4) . blocked(4) .""",
        {"reach": {(1,), (2,), (3,), (4,)}},
    ),
    "groups that another atom gives": (
        """reach(1, 0) .
        reach(?y, ?c) :- reach(?x, _), edge(?x, ?y), AGGREGATE(w(?v), ?v > ?y ON ?y BIND COUNT(?v) AS ?c) .
        edge(1, 2) . edge(2, 3) . edge(7, 1) . edge(3, 9) . w(1) . w(5) . w(3) .""",
        {"reach": {(1, 0), (2, 2), (3, 1)}},
    ),
    "groups that are values of another aggregate": (
        """most(?g, ?m, ?n) :- AGGREGATE(s(?g, ?x) ON ?g BIND MAX(?x) AS ?m), AGGREGATE(k(?v), ?v > ?m ON ?m BIND COUNT(?v) AS ?n) .
        s("a", 1) . s("a", 2) . s("b", 7) . s("c", 9) . k(1) . k(3) . k(9) .""",
        {"most": {("a", 2, 2), ("b", 7, 1)}},
    ),
    "a chain of aggregates, in another order": (
        """chain(?c) :- AGGREGATE(k(?v), ?v < ?b ON ?b BIND MAX(?v) AS ?c), AGGREGATE(k(?v), ?v < ?a ON ?a BIND MAX(?v) AS ?b),
            AGGREGATE(k(?v) BIND MAX(?v) AS ?a) .
        k(1) . k(3) . k(9) . k(4) .""",
        {"chain": {(3,)}},
    ),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", SENTENCES)
def test_values_from_around(name: str, strategy: Any) -> None:
    text, expected = SENTENCES[name]
    reasoner = Reasoner(text, maintenance=strategy)
    for predicate, rows in expected.items():
        assert set(reasoner.facts(predicate)) == _rows(rows)  # type: ignore[arg-type]
    facts = parse(text).rules
    added = next(rule.head for rule in facts if not rule.body and rule.head.predicate in ("edge", "k"))
    before = {predicate: set(reasoner.facts(predicate)) for predicate in expected}
    with reasoner.transaction() as transaction:
        transaction.remove_rules([rule for rule in facts if rule.head == added])
    with reasoner.transaction() as transaction:
        transaction.add_facts(added.predicate, [added.terms])  # type: ignore[list-item]
    assert {predicate: set(reasoner.facts(predicate)) for predicate in expected} == before
