"""Rules over triples whose first step depends on one column only, so that blocks of new rows are filtered by its values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.storage import capacities
from kg_reasoner.storage.kernels.layout import MOST_VALUES
from kg_reasoner.terms import Term, literal

from .effort import examples
from .oracle import evaluate, without_empty

PROGRAM: Final = parse("""
    typed(?x, ?c) :- t(?x, ?p, ?y), domain(?p, ?c) .
    t(?x, ?q, ?y) :- t(?x, ?p, ?y), below(?p, ?q) .
    t(?y, ?p, ?x) :- t(?x, ?p, ?y), symmetric(?p) .
    t(?x, ?p, ?z) :- kind(?p, 1), t(?x, ?p, ?y), t(?y, ?p, ?z) .
    t(?x, ?q, ?y) :- t(?x, ?p, ?y), info(?p, 2, ?q) .
    loop(?x, ?p) :- t(?x, ?p, ?x), domain(?p, ?p) .
    wide(?x, ?y) :- t(?x, ?p, ?y), info(?p, ?p, ?p) .
    plain(?x, ?y) :- t(?x, ?p, ?y), NOT symmetric(?p), domain(?p, _) .
    domain(?p, ?c) :- t(?p, 0, ?c) .
""")
ARITIES: Final = {"t": 3, "domain": 2, "below": 2, "symmetric": 1, "kind": 2, "info": 3}
SMALL: Final = st.integers(0, 3)
ROWS: Final = st.one_of(*(st.tuples(st.just(name), st.tuples(*[SMALL] * arity)) for name, arity in ARITIES.items()))
CHANGES: Final = st.lists(st.tuples(st.booleans(), st.lists(ROWS, max_size=8)), min_size=1, max_size=5)

TRIPLES: Final = [("t", row) for row in ((1, 1, 2), (2, 1, 3), (3, 2, 3), (2, 3, 2), (1, 0, 2), (3, 0, 3))]
SCHEMA: Final = [
    *(("domain", row) for row in ((1, 2), (3, 3))),
    *(("below", row) for row in ((1, 2), (2, 3))),
    ("symmetric", (2,)),
    ("kind", (1, 1)),
    *(("info", row) for row in ((3, 2, 1), (2, 2, 2))),
]


@pytest.fixture(autouse=True)
def filtered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Filter all blocks."""
    monkeypatch.setattr(capacities, "current", replace(capacities.current, filtered_rows=1, filtered_plans=1))
    yield


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(60), deadline=None)
@given(changes=CHANGES)
@example(changes=[(True, TRIPLES), (True, SCHEMA), (False, TRIPLES[:3]), (True, TRIPLES[1:2]), (False, SCHEMA[:4])])
@example(changes=[(True, SCHEMA), (True, TRIPLES), (False, SCHEMA), (True, SCHEMA[4:])])
@example(changes=[(True, TRIPLES + SCHEMA), (False, SCHEMA[4:]), (False, TRIPLES), (True, TRIPLES + SCHEMA)])
def test_rules_over_triples(strategy: str, changes: list[tuple[bool, list[tuple[str, tuple[int, ...]]]]]) -> None:
    reasoner = Reasoner(PROGRAM, maintenance=strategy)  # type: ignore[arg-type]
    facts: dict[str, set[tuple[Term, ...]]] = {name: set() for name in ARITIES}
    for adds, rows in changes:
        with reasoner.transaction() as transaction:
            for name, row in rows:
                fact = tuple(map(literal, row))
                (facts[name].add if adds else facts[name].discard)(fact)
                (transaction.add_facts if adds else transaction.remove_facts)(name, [fact])
        expected = without_empty(evaluate(PROGRAM, facts))
        assert without_empty({name: set(reasoner.facts(name)) for name in reasoner.predicates()}) == expected


@pytest.mark.parametrize("properties", [1, MOST_VALUES - 1, MOST_VALUES, MOST_VALUES + 1, 3 * MOST_VALUES])
def test_blocks_with_many_values(properties: int) -> None:
    """A block with more values than can be numbered is not filtered. The last property is one that rules ask for."""
    reasoner = Reasoner("typed(?x, ?c) :- t(?x, ?p, ?y), domain(?p, ?c) . t(?y, ?p, ?x) :- t(?x, ?p, ?y), symmetric(?p) .")
    last = properties - 1
    triples = [(10_000 + number, number % properties, 20_000 + number) for number in range(3 * MOST_VALUES)]
    reasoner.add_facts("domain", [(literal(last), literal(-1))])
    reasoner.add_facts("symmetric", [(literal(last),)])
    reasoner.materialise()
    reasoner.add_facts("t", [tuple(map(literal, triple)) for triple in triples])
    of_last = [triple for triple in triples if triple[1] == last]
    members = {(literal(end), literal(-1)) for triple in of_last for end in (triple[0], triple[2])}
    assert set(reasoner.facts("typed")) == members
    assert set(reasoner.facts("t")) == {tuple(map(literal, triple)) for triple in (*triples, *((y, p, x) for x, p, y in of_last))}
