"""Small random ontologies with data: every kind of axiom that the rule sets know, equalities, and names of two kinds (punning).

Each has a namespace of its own, so that many of them are one input whose consequences are those of each.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple, literal

__all__ = ["Maker", "namespace_of", "ontologies", "ontology"]

_LITERALS: list[Term] = [
    literal(1),
    literal("a"),
    Literal("01", XSD.integer.value),
    Literal("1.0", XSD.decimal.value),
    Literal("x", XSD.integer.value),
    Literal("a", RDF.langString.value, "en"),
    Literal("-1", XSD.nonNegativeInteger.value),
]
_DATATYPES: list[Term] = [XSD.integer, XSD.string, XSD.decimal, XSD.nonNegativeInteger]


class Maker:
    """One ontology in the making."""

    def __init__(self, source: random.Random, namespace: str) -> None:
        self.source = source
        self.namespace = namespace
        self.triples: list[Triple] = []
        self.classes = [self.name(f"C{number}") for number in range(4)]
        self.properties = [self.name(f"p{number}") for number in range(3)]
        self.individuals = [self.name(f"i{number}") for number in range(4)]
        self._blanks = 0

    def name(self, local: str) -> IRI:
        return IRI(f"http://example.org/{self.namespace}/{local}")

    def blank(self) -> BlankNode:
        self._blanks += 1
        return BlankNode(f"{self.namespace}b{self._blanks}")

    def say(self, subject: Term, predicate: Term, value: Term) -> None:
        self.triples.append((subject, predicate, value))

    def cls(self) -> Term:
        return self.source.choice(self.classes)

    def property(self) -> Term:
        return self.source.choice(self.properties)

    def individual(self) -> Term:
        return self.source.choice(self.individuals)

    def value(self) -> Term:
        return self.source.choice(_LITERALS) if self.source.random() < 0.2 else self.individual()

    def some(self, make: Callable[[], Term], most: int = 3) -> list[Term]:
        return list(dict.fromkeys(make() for _ in range(self.source.randint(1, most))))

    def listed(self, items: list[Term]) -> Term:
        rest: Term = RDF.nil
        for item in reversed(items):
            cell = self.blank()
            self.say(cell, RDF.first, item)
            self.say(cell, RDF.rest, rest)
            rest = cell
        return rest

    def expression(self, depth: int = 1) -> Term:
        """A class, mostly by name."""
        if depth == 0 or self.source.random() < 0.4:
            return self.cls()
        found = self.blank()
        kind = self.source.choice(["some", "all", "value", "and", "or", "one", "max", "self", "not"])
        if kind in ("and", "or"):
            listed = self.listed(self.some(lambda: self.expression(depth - 1)))
            self.say(found, OWL.intersectionOf if kind == "and" else OWL.unionOf, listed)
        elif kind == "one":
            self.say(found, OWL.oneOf, self.listed(self.some(self.individual)))
        elif kind == "not":
            self.say(found, OWL.complementOf, self.cls())
        else:
            self.say(found, RDF.type, OWL.Restriction)
            self.say(found, OWL.onProperty, self.property())
            if kind == "max":
                self.say(found, OWL.maxCardinality, Literal(str(self.source.randint(0, 1)), XSD.nonNegativeInteger.value))
            elif kind == "self":
                self.say(found, OWL.hasSelf, Literal("true", XSD.boolean.value))
            elif kind == "value":
                self.say(found, OWL.hasValue, self.value())
            else:
                filler = self.source.choice([OWL.Thing, *_DATATYPES]) if self.source.random() < 0.2 else self.expression(depth - 1)
                self.say(found, OWL.someValuesFrom if kind == "some" else OWL.allValuesFrom, filler)
        return found

    def axiom(self) -> None:
        source = self.source
        kind = source.randrange(16)
        if kind < 4:
            self.say(self.expression(), RDFS.subClassOf, self.expression())
        elif kind == 4:
            self.say(self.cls(), OWL.equivalentClass, self.expression(2))
        elif kind == 5:
            self.say(self.property(), RDFS.subPropertyOf, self.property())
        elif kind == 6:
            self.say(self.property(), source.choice([RDFS.domain, RDFS.range]), self.expression())
        elif kind == 7:
            self.say(self.property(), RDFS.range, source.choice(_DATATYPES))
        elif kind == 8:
            self.say(self.property(), source.choice([OWL.inverseOf, OWL.equivalentProperty]), self.property())
        elif kind == 9:
            characteristics = ["Transitive", "Symmetric", "Functional", "InverseFunctional", "Asymmetric", "Irreflexive"]
            self.say(self.property(), RDF.type, IRI(f"{OWL}{source.choice(characteristics)}Property"))
        elif kind == 10:
            self.say(self.property(), OWL.propertyChainAxiom, self.listed([self.property() for _ in range(source.randint(2, 3))]))
        elif kind == 11:
            self.say(self.cls(), OWL.disjointWith, self.cls())
        elif kind == 12:
            self.say(self.cls(), OWL.hasKey, self.listed(self.some(self.property, 2)))
        elif kind == 13:
            self.say(self.property(), OWL.propertyDisjointWith, self.property())
        elif kind == 14:
            denied = self.blank()
            self.say(denied, RDF.type, OWL.NegativePropertyAssertion)
            self.say(denied, OWL.sourceIndividual, self.individual())
            self.say(denied, OWL.assertionProperty, self.property())
            self.say(denied, OWL.targetIndividual, self.individual())
        else:
            names = source.choice([self.classes, self.properties])
            self.say(source.choice(names), OWL.sameAs, source.choice(names))

    def fact(self) -> None:
        source = self.source
        kind = source.randrange(20)
        if kind < 8:
            self.say(self.individual(), self.property(), self.value())
        elif kind < 13:
            self.say(self.individual(), RDF.type, self.cls())
        elif kind < 16:
            self.say(self.individual(), OWL.sameAs, self.individual())
        elif kind == 16:
            self.say(self.individual(), OWL.differentFrom, self.individual())
        elif kind == 17:
            self.say(self.cls(), self.property(), self.cls())
        elif kind == 18:
            self.say(self.cls(), RDF.type, self.cls())
        else:
            self.say(self.property(), source.choice([OWL.sameAs, RDFS.label]), source.choice([*self.properties, literal("p")]))


def ontology(seed: int, namespace: str, *, size: int = 6) -> list[Triple]:
    """A random ontology, always the same one for a seed."""
    maker = Maker(random.Random(seed), namespace)
    for _ in range(maker.source.randint(1, size)):
        maker.axiom()
    for _ in range(maker.source.randint(1, 2 * size)):
        maker.fact()
    return list(dict.fromkeys(triple for triple in maker.triples if not isinstance(triple[0], Literal)))


def ontologies(seed: int, count: int, *, size: int = 6) -> list[Triple]:
    """Some random ontologies as one input."""
    return [triple for number in range(count) for triple in ontology(seed * 10_000 + number, f"n{number}", size=size)]


def namespace_of(texts: Iterator[str] | tuple[str, ...] | list[str]) -> str:
    """The namespace that a fact with these texts belongs to; empty for none."""
    for text in texts:
        if text.startswith("<http://example.org/"):
            return text.split("/")[3]
        if text.startswith("_:n"):
            return text[2:].split("b")[0]
    return ""
