"""Rules in which a new row determines a tuple that the first step of the join looks up: mutual edges, marks of both ends."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import example, given, settings

from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.language.parser import parse
from tests.helpers.effort import examples
from tests.helpers.reasoners import NumberChanges, check_after_each, number_changes

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
ARITIES: Final = {"edge": 2, "answer": 2, "mark": 1}


EDGES: Final = [("edge", pair) for pair in ((1, 2), (2, 1), (2, 2), (2, 3), (3, 1))]
OTHERS: Final = [("answer", (2, 1)), ("answer", (1, 3)), ("mark", (1,)), ("mark", (2,))]


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(60), deadline=None)
@given(changes=number_changes(ARITIES, 4, 6))
@example(changes=[(True, EDGES), (True, OTHERS), (False, EDGES[1:3]), (False, OTHERS[1:3]), (True, EDGES[1:3])])
@example(changes=[(True, OTHERS), (True, EDGES), (False, OTHERS), (True, OTHERS[:2])])
@example(changes=[(True, EDGES + OTHERS), (False, EDGES), (True, EDGES)])
def test_rules_that_look_up_a_tuple_of_the_new_row(strategy: str, changes: NumberChanges) -> None:
    check_after_each(changes, PROGRAM, ARITIES, strategy)
