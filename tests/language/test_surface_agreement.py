"""Random programs with what texts have beyond plain rules: every strategy against the oracle, after every transaction.

The oracle evaluates the plain rules that a text becomes. What those should be is in `language/evaluated.txt`, and for disjunction,
NOT and conditions here: `meant` evaluates the text's own structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.program import AUXILIARY
from kg_reasoner.terms import Literal, Term, literal
from tests.helpers.effort import examples
from tests.helpers.oracle import evaluate

HEADER = """
type Shape = Circle(r: integer) | Box(w: integer, h: integer) .
function area(?s: Shape): integer = match ?s { Circle(?r) -> 3 * ?r * ?r ; Box(?w, ?h) -> ?w * ?h } .
function down(?n: integer): list<integer> = IF(?n <= 0, LIST(), APPEND(down(?n - 1), ?n)) .
"""
RULES = [
    "a(?x, ?y + 1) :- e(?x, ?y), ?y < 4 .",
    "b(?x) :- e(?x, _), NOT (e(?x, ?y), e(?y, ?x)) .",
    "b(?x) :- (a(?x, _) ; e(_, ?x), ?x > 1), NOT (e(?x, ?y), ?y > ?x ; s(?x, Circle(_))) .",
    "c(?x, ?y) :- e(?x, ?n), ?y IN down(?n) .",
    "c(?x, ?y) :- e(?x, ?z), ?y IN RANGE(?x, ?z) .",
    "s(?x, Circle(?x + ?y)) :- e(?x, ?y), ?x < ?y .",
    "s(?x, Box(?x, ?y)) :- e(?x, ?y), ?x >= ?y .",
    "big(?x, area(?s)) :- s(?x, ?s), area(?s) > 3 .",
    "w(?x) :- s(_, Box(?x, ?x)) ; s(?x, Circle(2)) .",
    "l(?x, ?l) :- AGGREGATE(s(?x, ?s) ON ?x BIND LIST(?s) AS ?l) .",
    "m(?s) :- l(_, ?l), ?s IN ?l, NOT w(_) .",
    "best(?x, ?y) :- AGGREGATE(e(?x, ?y) ; c(?x, ?y) ON ?x BIND ARGMAX(?y, ?y % 3) AS ?y) .",
    "up(?x, ?n) :- AGGREGATE(l(_, ?l), ?n = SIZE(?l), ?n > 0 BIND MAX(?n) AS ?n), e(?x, _) .",
    "r(?x, ?y) :- e(?x, ?y) ; r(?x, ?z), e(?z, ?y), ?x != ?y .",
    "r2(?x) :- r(?x, ?y), ?z = ?y * 2, r(?x, ?z) .",
]
Changes = list[tuple[bool, list[tuple[int, int]]]]
NUMBERS = st.integers(0, 4)
FACTS = st.tuples(NUMBERS, NUMBERS)
CHANGES = st.lists(st.tuples(st.booleans(), st.lists(FACTS, max_size=4)), min_size=1, max_size=4)


def row(pair: tuple[int, int]) -> tuple[Term, ...]:
    return tuple(map(literal, pair))


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(60), deadline=None)
@given(chosen=st.sets(st.sampled_from(RULES), min_size=1, max_size=6), changes=CHANGES)
def test_strategies_agree_with_the_oracle(
    strategy: str, chosen: set[str], changes: list[tuple[bool, list[tuple[int, int]]]]
) -> None:
    program = parse(HEADER + "\n".join(sorted(chosen)))
    reasoner = Reasoner(program, maintenance=strategy)  # type: ignore[arg-type]
    facts: set[tuple[Term, ...]] = set()
    for adds, pairs in changes:
        rows = set(map(row, pairs))
        facts = facts | rows if adds else facts - rows
        with reasoner.transaction() as transaction:
            (transaction.add_facts if adds else transaction.remove_facts)("e", rows)
        expected = evaluate(program, {"e": facts})
        for predicate in {rule.head.predicate for rule in program.rules}:
            assert set(reasoner.facts(predicate)) == expected.get(predicate, set()), predicate
        assert not any(name.startswith(AUXILIARY) for name in reasoner.predicates())


# ---- the meaning of ; NOT and conditions, evaluated as they are written

ATOMS = [("p", "?x"), ("q", "?x"), ("e", "?x, ?y"), ("e", "?y, ?x"), ("e", "?x, ?z"), ("e", "?z, ?y")]
WANTED = "ground(?x), ground(?y)"


@st.composite
def bodies(draw: st.DrawFn, depth: int = 2) -> tuple[str, object]:
    """A body as text, and as a tree of tuples."""
    alternatives = []
    for _ in range(draw(st.integers(1, 2))):
        parts: list[tuple[str, object]] = []
        for _ in range(draw(st.integers(1, 2))):
            kind = draw(st.sampled_from(["atom", "atom", "condition", *(["not", "group"] if depth else [])]))
            if kind == "atom":
                name, arguments = draw(st.sampled_from(ATOMS))
                parts.append((f"{name}({arguments})", ("atom", name, tuple(arguments.split(", ")))))
            elif kind == "condition":
                operator = draw(st.sampled_from(["<", "!=", "="]))
                parts.append((f"?x {operator} ?y", ("condition", operator)))
            else:
                text, tree = draw(bodies(depth - 1))
                several = ";" in text or "," in text
                inner = f"({text})" if several or kind == "not" else text
                parts.append((f"NOT {inner}" if kind == "not" else inner, (kind, tree)))
        alternatives.append((", ".join(text for text, _ in parts), [tree for _, tree in parts]))
    return " ; ".join(text for text, _ in alternatives), [tree for _, tree in alternatives]


Values = dict[str, int]


def meant(tree: object, values: Values, facts: dict[str, set[tuple[int, ...]]]) -> Iterator[Values]:
    """The values of variables for which a body holds."""
    for parts in tree:  # type: ignore[attr-defined]
        found = [values]
        for part in sorted(parts, key=lambda part: ("atom", "group", "condition", "not").index(part[0])):
            found = [after for before in found for after in _part(part, before, facts)]
        yield from found


def _part(part: tuple[object, ...], values: Values, facts: dict[str, set[tuple[int, ...]]]) -> Iterator[Values]:
    if part[0] == "group":
        yield from meant(part[1], values, facts)
    elif part[0] == "not":
        if not any(True for _ in meant(part[1], values, facts)):
            yield values
    elif part[0] == "condition":
        x, y = values["?x"], values["?y"]
        if {"<": x < y, "!=": x != y, "=": x == y}[str(part[1])]:
            yield values
    else:
        for fact in facts.get(str(part[1]), set()):
            extended = dict(values)
            if all(extended.setdefault(name, value) == value for name, value in zip(part[2], fact, strict=True)):  # type: ignore[call-overload]
                yield extended


@settings(max_examples=examples(300), deadline=None)
@given(body=bodies(), pairs=st.sets(FACTS, max_size=6), ones=st.sets(NUMBERS, max_size=3), others=st.sets(NUMBERS, max_size=3))
def test_bodies_mean_what_they_say(body: tuple[str, object], pairs: set[tuple[int, int]], ones: set[int], others: set[int]) -> None:
    text, tree = body
    domain = range(5)
    facts: dict[str, set[tuple[int, ...]]] = {"e": set(pairs), "p": {(n,) for n in ones}, "q": {(n,) for n in others}}
    expected = {(x, y) for x, y in product(domain, domain) if any(True for _ in meant(tree, {"?x": x, "?y": y}, facts))}
    program = parse(f"h(?x, ?y) :- {WANTED}, ({text} ; never(?x)) .")
    stated = {name: {tuple(map(literal, values)) for values in rows} for name, rows in facts.items()}
    found = evaluate(program, {**stated, "ground": {(literal(n),) for n in domain}})
    assert {tuple(_number(term) for term in values) for values in found.get("h", set())} == expected


def _number(term: Term) -> int:
    assert isinstance(term, Literal)
    return int(term.lexical)
