"""The driver's facts as ids: rows of terms, joins over them, and which pairs of a hierarchy are left."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program, Variable
from kg_reasoner.spark_backend.plan.driver import DriverFacts
from kg_reasoner.spark_backend.plan.id_rows import NumberedTerms, Rows
from kg_reasoner.spark_backend.plan.links import without_implied
from kg_reasoner.terms import IRI
from tests.helpers import oracle

NAMES = NumberedTerms([IRI(f"http://example.org/{number}") for number in range(6)])
OTHER = IRI("http://example.org/other")

numbers = st.integers(0, 5)
tables = st.sets(st.tuples(numbers, numbers, numbers), max_size=20)


def as_rows(table: set[tuple[int, ...]]) -> Rows:
    return Rows(np.array(sorted(table), np.int64).reshape(-1, 3), NAMES)


@given(tables, tables)
def test_rows_are_a_set(one: set[tuple[int, ...]], two: set[tuple[int, ...]]) -> None:
    rows, others = as_rows(one), as_rows(two)
    assert set(rows) == {tuple(NAMES.terms[number] for number in row) for row in one}
    assert set(rows.without([*others, (OTHER, OTHER, OTHER)])) == set(rows) - set(others)
    assert all((row in rows) == (row in set(rows)) for row in others)
    assert (OTHER, OTHER, OTHER) not in rows
    expected = Counter(row[1:] for row in rows)
    assert {row[1:]: count for row, count in rows.counts(1, 2)} == expected
    texts, places = rows.columns(str)
    assert [tuple(texts[place] for place in row) for row in places.tolist()] == [tuple(map(str, row)) for row in rows]


RULES = parse("""
    @prefix : <http://example.org/> .
    head(?x, ?z) :- p(?x, ?y, ?z), p(?z, ?y, ?x) .
    head(?x, ?z) :- p(?x, ?x, ?y), p(?y, :1, ?z), FILTER(?x != ?z) .
    head(?x, ?y) :- p(?x, :other, ?y) .
    head(?x, ?z) :- p(?x, ?y, :2), p(:3, ?y, ?z), p(?z, ?a, ?b) .
""").rules


@given(tables)
def test_solutions_are_those_of_the_oracle(table: set[tuple[int, ...]]) -> None:
    facts = DriverFacts({("p", 3): as_rows(table).ids}, NAMES)
    for rule in RULES:
        found = {tuple(some[variable] for variable in rule.head.terms) for some in facts.solutions(rule.body)}  # type: ignore[index]
        expected = oracle.evaluate(Program((rule,)), {"p": set(as_rows(table))}).get("head", set())
        assert found == expected


def test_pairs_of_an_atom() -> None:
    facts = DriverFacts({("p", 3): np.array([[0, 1, 2], [3, 1, 4], [0, 2, 5]])}, NAMES)
    (rule,) = parse("@prefix : <http://example.org/> . head(?x, ?y) :- p(?x, :1, ?y) .").rules
    found = facts.pairs(rule.body[0], Variable("y"), Variable("x"))  # type: ignore[arg-type]  # it is an atom
    assert found.ids.tolist() == [[2, 0], [4, 3]]


def closed(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    while True:
        more = pairs | {(one, last) for one, other in pairs for first, last in pairs if other == first}
        if more == pairs:
            return pairs
        pairs = more


@given(st.sets(st.tuples(numbers, numbers), max_size=10))
def test_what_is_left_of_a_hierarchy_implies_it(pairs: set[tuple[int, int]]) -> None:
    """Also where names lead to each other."""
    hierarchy = {(one, other) for one, other in closed(pairs) if one != other}
    left = set(map(tuple, without_implied(np.array(sorted(hierarchy), np.int64).reshape(-1, 2)).tolist()))
    assert left <= hierarchy
    assert {(one, other) for one, other in closed(left) if one != other} == hierarchy  # type: ignore[arg-type]  # pairs
    has_cycle = any((other, one) in hierarchy for one, other in hierarchy)
    if not has_cycle:
        assert not any(closed(left - {pair}) == closed(left) for pair in left)  # type: ignore[arg-type]
