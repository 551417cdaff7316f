"""Axioms that rules conclude: they count as if they were stated, as long as they follow."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.loaders.ontology import owl
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Term, Triple

EX = "http://example.org/"
CONCLUDED: dict[Term, Term] = {IRI(EX + "below"): RDFS.subClassOf, IRI(EX + "within"): RDFS.domain}
KINDS: dict[Term, Term] = {IRI(EX + "Kind"): OWL.Class, IRI(EX + "Passed"): OWL.TransitiveProperty}
PROGRAM = "@prefix ex: <http://example.org/> .\n" + "\n".join(
    [f"[?x, {concluded}, ?y] :- [?x, {stated}, ?y] ." for stated, concluded in CONCLUDED.items()]
    + [f"[?x, a, {concluded}] :- [?x, a, {stated}] ." for stated, concluded in KINDS.items()]
)
CLASSES = [IRI(f"{EX}C{number}") for number in range(5)]
PROPERTIES = [IRI(f"{EX}p{number}") for number in range(3)]
PEOPLE = [IRI(f"{EX}i{number}") for number in range(4)]


def some_triples(random: Random, number: int) -> Iterator[Triple]:
    """Yield a fact or an axiom, stated or to be concluded, or a restriction."""
    kind, upper = random.randrange(6), random.choice(CLASSES)
    if kind < 2:
        yield random.choice(PEOPLE), RDF.type, upper
        yield random.choice(PEOPLE), random.choice(PROPERTIES), random.choice(PEOPLE)
    elif kind == 2:
        property = random.choice([*CONCLUDED, *CONCLUDED.values()])
        yield random.choice(CLASSES if property in (RDFS.subClassOf, IRI(EX + "below")) else PROPERTIES), property, upper
    elif kind == 3:
        yield random.choice(PROPERTIES), RDF.type, IRI(EX + "Passed")
    elif kind == 4:
        yield random.choice(CLASSES), RDF.type, IRI(EX + "Kind")
    else:
        node = BlankNode(f"b{number}")
        yield node, OWL.onProperty, random.choice(PROPERTIES)
        yield node, OWL.someValuesFrom, random.choice(CLASSES)
        yield (node, RDFS.subClassOf, upper) if random.random() < 0.5 else (upper, RDFS.subClassOf, node)


def about_people(reasoner: Reasoner) -> set[Triple]:
    return {triple for triple in reasoner.triples() if triple[0] in PEOPLE}


def stated(triples: set[Triple]) -> set[Triple]:
    """Return triples with the axioms that the rules conclude from them."""
    axioms = {(x, CONCLUDED[p], y) for x, p, y in triples if p in CONCLUDED}
    return triples | axioms | {(x, p, KINDS[y]) for x, p, y in triples if p == RDF.type and y in KINDS}


@pytest.mark.sample(20)
@pytest.mark.parametrize("seed", range(200))
def test_concluded_axioms_are_like_stated_ones(seed: int) -> None:
    """While facts and axioms come and go."""
    random = Random(seed)
    reasoner = Reasoner(PROGRAM, ruleset="owl2rl")
    there: set[Triple] = set()
    for step in range(8):
        new = {triple for number in range(random.randint(1, 6)) for triple in some_triples(random, 10 * step + number)}
        gone = set(random.sample(sorted(there, key=str), len(there) // 4))
        reasoner.remove_triples(gone)
        reasoner.add_triples(new)
        there = there - gone | new
        other = Reasoner(ruleset="owl2rl")
        other.add_triples(stated(there))
        assert about_people(reasoner) == about_people(other), (seed, step, there)


def test_the_ontology_is_translated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Axioms that are concluded, or might be, are followed; the others are not translated again."""
    calls: list[str] = []
    for name in ("follow", "translate"):
        before = getattr(owl, name)
        monkeypatch.setattr(
            owl, name, lambda *args, name=name, before=before, **named: calls.append(name) or before(*args, **named)
        )
    lower, middle, upper, fourth, fifth = CLASSES
    reasoner = Reasoner(PROGRAM, ruleset="owl2rl")
    reasoner.add_triples([(lower, RDFS.subClassOf, middle), (PEOPLE[0], RDF.type, lower), (PEOPLE[1], RDF.type, fourth)])
    assert (PEOPLE[0], RDF.type, middle) in reasoner.triples()
    reasoner.remove_triples([(PEOPLE[1], RDF.type, fourth)])
    reasoner.add_triples([(middle, IRI(EX + "below"), upper), (fifth, RDF.type, IRI(EX + "Kind"))])
    assert (PEOPLE[0], RDF.type, upper) in reasoner.triples()
    assert calls == ["follow"]
