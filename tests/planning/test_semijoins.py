"""Rules that copy those rows for which look-ups succeed: the same facts as by the naive oracle, in any order, by any thread."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.storage import capacities
from kg_reasoner.terms import Literal, literal
from tests.helpers import oracle
from tests.helpers.effort import examples

RULES = [
    "h(?x) :- a(?x), b(?x) .",
    "h(?x) :- r(?x, ?y), a(?y) .",
    "h(?y) :- r(?x, ?y), a(?x), b(?y) .",
    "a(?x) :- h(?x), b(?x) .",
    "s(?y, ?x) :- r(?x, ?y), a(?x) .",
    "s(?x, ?y) :- r(?x, ?y), t(?y, ?x), h(?x) .",
    "s(?x, ?y) :- s(?y, ?x), r(?x, ?y) .",
    "t(?x, ?y) :- t(?y, ?x), t(?x, ?y), h(?x) .",
    "t(?x, ?x) :- r(?x, ?y), r(?y, ?x) .",
    "r(?x, ?y) :- s(?x, ?y), b(?y), b(?x) .",
    "b(?x) :- t(?x, ?y), a(?y), h(?y) .",
]
Facts = dict[str, set[tuple[Literal, ...]]]


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    """Facts of few terms, in runs of the same subject."""
    terms = st.integers(0, 5).map(literal)
    unary = st.sets(st.tuples(terms), max_size=5)
    binary = st.sets(st.tuples(terms, terms), max_size=14)
    return {name: draw(unary if name in "ab" else binary, name) for name in "abrt"}


@settings(max_examples=examples(150))
@given(
    st.lists(st.sampled_from(RULES), min_size=1, max_size=5, unique=True),
    facts(),
    facts(),
    st.sampled_from(sorted(STRATEGIES)),
    st.sampled_from([1, 1, 2, 3]),
    st.sampled_from([1, 2, 4096]),
)
def test_they_derive_and_maintain_what_the_oracle_does(
    rules: list[str], first: Facts, second: Facts, strategy: str, threads: int, block: int
) -> None:
    program = parse("\n".join(rules))
    usual, capacities.current = capacities.current, replace(capacities.current, block=block, shared_instances=1, shared_rows=1)
    try:
        reasoner = Reasoner("\n".join(rules), maintenance=strategy, threads=threads)
        for name in "abrt":
            reasoner.add_facts(name, sorted(first[name], key=str))
        reasoner.materialise()
        expected = oracle.evaluate(program, first)
        for name in "abrths":
            assert set(reasoner.facts(name)) == expected.get(name, set())
        with reasoner.transaction() as transaction:
            for name in "abrt":
                transaction.remove_facts(name, sorted(first[name] - second[name], key=str))
                transaction.add_facts(name, sorted(second[name] - first[name], key=str))
        expected = oracle.evaluate(program, second)
        for name in "abrths":
            assert set(reasoner.facts(name)) == expected.get(name, set())
    finally:
        capacities.current = usual


@pytest.mark.parametrize("threads", [1, 2])
def test_a_row_whose_look_up_fails_does_not_hide_the_next_one_of_the_same_subject(threads: int) -> None:
    reasoner = Reasoner("h(?x) :- r(?x, ?y), a(?y) .", threads=threads)
    reasoner.add_facts("r", [(literal(number // 4), literal(number)) for number in range(40_000)])
    reasoner.add_facts("a", [(literal(number),) for number in range(2, 40_000, 4)])
    assert len(set(reasoner.facts("h"))) == 10_000


def test_members_of_a_class_are_found_in_the_other_ones() -> None:
    """The smallest class comes last."""
    reasoner = Reasoner("h(?x) :- a(?x), b(?x), c(?x) .")
    for name, count in zip("bca", (5_000, 500, 50), strict=True):
        reasoner.add_facts(name, [(literal(number),) for number in range(count)])
    assert len(set(reasoner.facts("h"))) == 50
    lateness = [reasoner.engine.database.relations[reasoner.engine.catalog.predicates[name]].lateness for name in "bca"]
    assert lateness == sorted(lateness)
    assert lateness[-1] > lateness[0]
