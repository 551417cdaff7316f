"""Rules over triples whose first step depends on one column only, so that blocks of new rows are filtered by its values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import example, given, settings

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.storage import capacities
from kg_reasoner.storage.kernels.layout import MOST_VALUES
from kg_reasoner.terms import literal
from tests.helpers.effort import examples
from tests.helpers.reasoners import NumberChanges, check_after_each, number_changes

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
@given(changes=number_changes(ARITIES, 3, 8))
@example(changes=[(True, TRIPLES), (True, SCHEMA), (False, TRIPLES[:3]), (True, TRIPLES[1:2]), (False, SCHEMA[:4])])
@example(changes=[(True, SCHEMA), (True, TRIPLES), (False, SCHEMA), (True, SCHEMA[4:])])
@example(changes=[(True, TRIPLES + SCHEMA), (False, SCHEMA[4:]), (False, TRIPLES), (True, TRIPLES + SCHEMA)])
def test_rules_over_triples(strategy: str, changes: NumberChanges) -> None:
    check_after_each(changes, PROGRAM, ARITIES, strategy)


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
