"""Rules whose heads lengthen the vector of an index that is being read: it moves, and others take the room that it leaves."""

from __future__ import annotations

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.program import TRIPLE
from kg_reasoner.storage import capacities
from kg_reasoner.terms import IRI, Term
from tests.helpers.oracle import evaluate

PROPERTY = IRI("urn:p")
PAIRS = "p(?w, ?v) :- t(?k, ?v), p(?k, ?w) ."
TRIPLES = "[?w, <urn:p>, ?v] :- t(?k, ?v), [?k, <urn:p>, ?w] ."
ONE_TABLE = TRIPLES + "[?x, ?q, ?y] :- [?x, ?p, ?y], implied(?p, ?q) ."


@pytest.fixture(autouse=True)
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables have room for some time, so that a join goes on while heads are inserted."""
    monkeypatch.setattr(capacities, "current", capacities.Capacities())


def name(number: int) -> IRI:
    return IRI(f"urn:{number}")


@pytest.mark.parametrize("rule", [PAIRS, TRIPLES, ONE_TABLE], ids=["pairs", "triples", "one table"])
@pytest.mark.parametrize("length", [64, 128, 256])
@pytest.mark.parametrize("keys", [1, 3])
def test_vectors_that_move_are_read_to_their_end(rule: str, length: int, keys: int) -> None:
    """The first head lengthens the full vector of 0; the next ones those of others, which take its former room."""
    pairs = [(0, value) for value in range(length)]
    pairs += [(key, 10_000 * key + value) for key in range(1, keys + 1) for value in range(length // 2)]
    reasoner = Reasoner(rule)
    given: list[tuple[Term, ...]]
    if rule == PAIRS:
        predicate, given = "p", [(name(one), name(other)) for one, other in pairs]
    else:
        predicate, given = TRIPLE, [(name(one), PROPERTY, name(other)) for one, other in pairs]
    reasoner.add_facts(predicate, given)
    steps: set[tuple[Term, ...]] = {(name(-1), name(1)), (name(0), name(1_000_000))}
    for step in sorted(steps, key=str):  # the index is there when the second one comes
        reasoner.add_facts("t", [step])
        reasoner.materialise()
    found = set(reasoner.facts("p")) if rule == PAIRS else set(reasoner.triples())
    assert found == evaluate(reasoner.program, {"t": steps, predicate: set(given)})[predicate]
