"""A value that is too large is an error that names the rule, and leaves everything as it was; a recursion never just stops."""

from __future__ import annotations

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.engine.maintenance import STRATEGIES
from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.language.parser import parse
from kg_reasoner.terms import literal

TOO_LARGE = {
    "product": "n(?y) :- n(?x), BIND(?x * ?x AS ?y) . n(2) .",
    "decimal": "n(?y) :- n(?x), BIND(?x * ?x AS ?y) . n(1.5) .",
    "sum": "n(?y) :- n(?x), BIND(?x * 1000 + 1 AS ?y) . n(1) .",
    "text": 'n(?y) :- n(?x), BIND(CONCAT(?x, ?x) AS ?y) . n("a") .',
    "filter": f"n(?x) :- n(?x), FILTER(?x * ?x > 0) . n({'9' * 600}) .",
}


@pytest.mark.long
@pytest.mark.parametrize("program", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_recursion_that_does_not_end(program: str) -> None:
    rule = program.partition(" . ")[0]
    with pytest.raises(ValueTooLargeError, match=r"the result has more than [0-9]+ (digits|characters) in the rule ") as caught:
        Reasoner(program).materialise()
    assert rule in str(caught.value)
    assert "characters)" in str(caught.value)


@pytest.mark.parametrize("function", ["SUM", "AVG"])
def test_aggregates(function: str) -> None:
    rule = f"t(?t) :- AGGREGATE(n(?x) BIND {function}(?x) AS ?t) ."
    with pytest.raises(ValueTooLargeError, match=rf"AGGREGATE\(n\(\?x\) .*{function}"):
        Reasoner(f"{rule} n({'9' * 1000}) . n({'9' * 999}8) .").materialise()


@pytest.mark.parametrize("maintenance", STRATEGIES)
@pytest.mark.sample(2)
def test_everything_is_as_before(maintenance: str) -> None:
    reasoner = Reasoner("n(?y) :- n(?x), BIND(?x * ?x AS ?y) . m(?x) :- n(?x) .", maintenance=maintenance)
    reasoner.add_facts("n", [(literal(1),)])
    assert set(reasoner.facts("m")) == {(literal(1),)}
    with pytest.raises(ValueTooLargeError), reasoner.transaction() as tx:
        tx.add_facts("n", [(literal(3),)])
    assert list(reasoner.facts("m")) == list(reasoner.facts("n", "explicit")) == [(literal(1),)]
    reasoner.add_facts("n", [(literal(3),)])
    for _ in range(2):
        with pytest.raises(ValueTooLargeError):
            reasoner.materialise()
    reasoner.remove_rules(parse("n(?y) :- n(?x), BIND(?x * ?x AS ?y) .").rules)
    assert set(reasoner.facts("m")) == {(literal(1),), (literal(3),)}
