"""Searches for proofs: what follows without the deleted facts is found, and by few rule instances."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Final

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.terms import IRI, OWL, RDFS
from tests.helpers.oracle import evaluate

COUNT: Final = 40
CLASSES: Final = [IRI(f"http://example.org/c{number}") for number in range(COUNT)]
HIGHER: Final = IRI("http://example.org/higher")
MIDDLE: Final = CLASSES[COUNT // 2]

REMOVED: Final = {
    "a superclass": (MIDDLE, RDFS.subClassOf, HIGHER),
    "a subclass": (HIGHER, RDFS.subClassOf, MIDDLE),
    "a redundant equivalence": (CLASSES[-1], OWL.equivalentClass, CLASSES[0]),
}
RECURSIONS: Final = (
    "path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) .",
    "path(?x, ?z) :- path(?x, ?y), same(?y, ?z) . same(?x, ?y) :- path(?x, ?y), path(?y, ?x) . path(?x, ?y) :- edge(?x, ?y) .",
    "path(?x, ?w) :- path(?x, ?y), path(?y, ?z), path(?z, ?w) . path(?x, ?y) :- edge(?x, ?y) .",
)


@pytest.mark.parametrize("removed", REMOVED)
def test_equivalent_classes(removed: str) -> None:
    """The goals of a search have as many rule instances as there are classes, and hardly any of these leads to a further goal."""
    equivalences = [(one, OWL.equivalentClass, other) for one, other in pairwise(CLASSES)]
    reasoner = Reasoner(ruleset="owl2rl", maintenance="backward-forward")
    reasoner.add_triples([*equivalences, REMOVED[removed]])
    reasoner.materialise()
    reasoner.remove_triples([REMOVED[removed]])
    left = Reasoner(ruleset="owl2rl")
    left.add_triples(equivalences)
    assert set(reasoner.triples()) == set(left.triples())
    assert 0 < reasoner.counters.backward < 5 * COUNT * COUNT


@pytest.mark.parametrize("rules", RECURSIONS)
@pytest.mark.parametrize("density", [1.2, 2, 4])
def test_recursions_with_many_proofs(rules: str, density: float, capacities: None) -> None:
    """Facts are on the way to each other's proofs, and have proofs that are found after others have failed."""
    random = Random(density)
    reasoner = Reasoner(rules, maintenance="backward-forward")
    nodes = CLASSES[:8]
    edges = {(random.choice(nodes), random.choice(nodes)) for _ in range(int(density * len(nodes)))}
    reasoner.add_facts("edge", edges)
    reasoner.materialise()
    for _ in range(25):
        gone = set(random.sample(sorted(edges), min(len(edges), random.randrange(1, 4))))
        new = {(random.choice(nodes), random.choice(nodes)) for _ in gone}
        edges -= gone
        reasoner.remove_facts("edge", gone)
        assert set(reasoner.facts("path")) == evaluate(reasoner.program, {"edge": edges}).get("path", set())
        edges |= new
        reasoner.add_facts("edge", new)


@pytest.mark.parametrize("seed", range(6))
def test_conjunctions(seed: int, capacities: None) -> None:
    """What follows from two facts each is supported by cycles, and by proofs that need a second look at an instance."""
    random = Random(seed)
    reasoner = Reasoner("holds(?x) :- both(?x, ?y, ?z), holds(?y), holds(?z) .", maintenance="backward-forward")
    both = {(random.choice(CLASSES), random.choice(CLASSES), random.choice(CLASSES)) for _ in range(3 * COUNT)}
    explicit = {(node,) for node in CLASSES[:10]}
    for _ in range(40):
        with reasoner.transaction():
            reasoner.add_facts("both", both)
            reasoner.add_facts("holds", explicit)
        gone = {row for row in both if random.random() < 0.1}
        dropped = {row for row in explicit if random.random() < 0.4}
        with reasoner.transaction():
            reasoner.remove_facts("both", gone)
            reasoner.remove_facts("holds", dropped)
        expected = evaluate(reasoner.program, {"both": both - gone, "holds": explicit - dropped})
        assert set(reasoner.facts("holds")) == expected.get("holds", set())
