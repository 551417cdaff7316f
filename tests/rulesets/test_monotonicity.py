"""To know more is never to know less: adding triples takes no inferred triple away, whatever plays several parts at once."""

from __future__ import annotations

from random import Random

import pytest

from kg_reasoner import Reasoner
from kg_reasoner.api.reasoner import Equality
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Term, Triple
from tests.helpers.effort import by_effort

ONTOLOGIES = by_effort(8, 60, 5_000)
NAMES = [IRI(f"http://example.org/{name}") for name in ("a", "b", "c", "d", "e")]
"""Each of them may be an individual, a class and a property."""
NODES = [BlankNode(f"n{number}") for number in range(3)]
CLASSES = [
    *(OWL.TransitiveProperty, OWL.SymmetricProperty, OWL.FunctionalProperty, OWL.InverseFunctionalProperty),
    *(OWL.Class, OWL.ObjectProperty, OWL.Restriction, OWL.Thing, OWL.AllDifferent),
]
BETWEEN_NAMES = [
    *(RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain, RDFS.range, OWL.equivalentClass, OWL.equivalentProperty),
    *(OWL.inverseOf, OWL.sameAs, OWL.sameAs, OWL.disjointWith, OWL.differentFrom),
]
OF_NODES = [OWL.someValuesFrom, OWL.allValuesFrom, OWL.hasValue, OWL.onProperty, OWL.onProperty, OWL.complementOf]
TO_LISTS = [OWL.oneOf, OWL.intersectionOf, OWL.unionOf, OWL.propertyChainAxiom, OWL.hasKey, OWL.members]


class Triples:
    """Random triples, several at once where they make a list."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lists = 0

    def name(self) -> Term:
        return self.random.choice(NAMES)

    def any(self) -> Term:
        return self.random.choice([*NAMES, *NAMES, *NODES])

    def some(self) -> list[Triple]:
        choose = self.random.choice
        match self.random.randrange(7):
            case 0:
                return [(self.name(), RDF.type, choose([*CLASSES, *NAMES, *NODES]))]
            case 1:
                return [(self.name(), choose(NAMES), self.name())]
            case 2:
                return [(self.any(), RDFS.subClassOf, choose([self.any(), *CLASSES]))]
            case 3:
                return [(choose(NODES), choose(OF_NODES), self.any())]
            case 4:
                return self.list_of(choose([*NAMES, *NODES]), choose(TO_LISTS))
            case 5 if self.lists:
                return [(BlankNode(f"l{self.random.randrange(self.lists)}"), RDF.first, self.name())]
            case _:
                return [(self.any(), choose(BETWEEN_NAMES), self.any())]

    def list_of(self, subject: Term, property: Term) -> list[Triple]:
        count = self.random.randint(1, 3)
        nodes: list[Term] = [BlankNode(f"l{self.lists + number}") for number in range(count)]
        self.lists += count
        cells: list[Triple] = [(subject, property, nodes[0])]
        for node, rest in zip(nodes, [*nodes[1:], RDF.nil], strict=True):
            cells += [(node, RDF.first, self.any()), (node, RDF.rest, rest)]
        return cells


def inferred(triples: list[Triple], ruleset: str, equality: Equality) -> set[Triple]:
    reasoner = Reasoner(ruleset=ruleset, show_hidden=True, equality=equality)
    reasoner.add_triples(triples)
    return set(reasoner.triples())


def test_what_was_stated_counts_although_more_is_derived() -> None:
    """By the class of transitive properties there are derived axioms, and by equality the list has two items in one place."""
    a, b, c, d, e = NAMES
    cell = BlankNode("cell")
    triples: list[Triple] = [(cell, RDF.first, a), (cell, RDF.rest, RDF.nil), (c, OWL.oneOf, cell)]
    triples += [(c, RDFS.subClassOf, d), (a, OWL.sameAs, b)]
    for more in ([], [(e, RDFS.subClassOf, OWL.TransitiveProperty)]):
        reasoner = Reasoner(ruleset="owl2rl")
        reasoner.add_triples([*triples, *more])
        assert {(a, RDF.type, d), (b, RDF.type, d)} <= set(reasoner.triples())
        assert not any("rdf:first" in warning.reason for warning in reasoner.warnings)


@pytest.mark.parametrize(
    ("ruleset", "equality"), [("owl2rl", "axioms"), ("owl2rl", "rewrite"), ("owl2rl-full", "axioms")], ids=lambda value: value
)
@pytest.mark.sample(3)
def test_more_triples_never_take_one_away(ruleset: str, equality: Equality) -> None:
    for number in range(ONTOLOGIES):
        random = Random(f"{ruleset} {equality} {number}")
        triples, source = list[Triple](), Triples(random)
        for _ in range(random.randint(5, 16)):
            triples += source.some()
        before = inferred(triples, ruleset, equality)
        added = source.some()
        lost = before - inferred([*triples, *added], ruleset, equality)
        assert not lost, (number, triples, added, lost)
