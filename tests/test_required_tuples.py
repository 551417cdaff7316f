"""Rules in which a new row determines a tuple that the first step of the join looks up: mutual edges, marks of both ends."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from kg_reasoner.terms import Term, literal

from .effort import examples
from .oracle import evaluate, without_empty

PROGRAM: Final = parse("""
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
    same(?x, ?y) :- path(?x, ?y), path(?y, ?x) .
    answered(?x, ?y) :- edge(?x, ?y), answer(?y, ?x) .
    loop(?x) :- edge(?x, ?x), mark(?x) .
    within(?x, ?y) :- edge(?x, ?y), mark(?x), mark(?y) .
    from(?y) :- edge(1, ?y), mark(?y) .
    chain(?x, ?z) :- edge(?x, ?y), edge(?y, ?x), edge(?y, ?z) .
    one_way(?x, ?y) :- edge(?x, ?y), NOT edge(?y, ?x) .
""")
SMALL: Final = st.integers(0, 4)
ARITIES: Final = {"edge": 2, "answer": 2, "mark": 1}
ROWS: Final = st.one_of(*(st.tuples(st.just(name), st.tuples(*[SMALL] * arity)) for name, arity in ARITIES.items()))
CHANGES: Final = st.lists(st.tuples(st.booleans(), st.lists(ROWS, max_size=6)), min_size=1, max_size=5)


EDGES: Final = [("edge", pair) for pair in ((1, 2), (2, 1), (2, 2), (2, 3), (3, 1))]
OTHERS: Final = [("answer", (2, 1)), ("answer", (1, 3)), ("mark", (1,)), ("mark", (2,))]


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(60), deadline=None)
@given(changes=CHANGES)
@example(changes=[(True, EDGES), (True, OTHERS), (False, EDGES[1:3]), (False, OTHERS[1:3]), (True, EDGES[1:3])])
@example(changes=[(True, OTHERS), (True, EDGES), (False, OTHERS), (True, OTHERS[:2])])
@example(changes=[(True, EDGES + OTHERS), (False, EDGES), (True, EDGES)])
def test_rules_that_look_up_a_tuple_of_the_new_row(
    strategy: str, changes: list[tuple[bool, list[tuple[str, tuple[int, ...]]]]]
) -> None:
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
