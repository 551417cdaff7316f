"""Random ontologies with what `random_ontologies` leaves out, and rules of a user's own beside them.

Axioms about lists of classes, properties and individuals; cardinalities of all kinds; datatypes with facets, and lists of literals;
inverse properties; anonymous individuals; equalities between names of all kinds and literals; properties that stand below
the vocabulary of RDFS and OWL, so that data are axioms; top and bottom; containers.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from kg_reasoner.language.parser import parse
from kg_reasoner.program import Program
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple, literal
from tests.helpers.random_ontologies import Maker

__all__ = ["broad_ontologies", "rules"]

_LITERALS: list[Term] = [
    literal(1),
    literal(2),
    literal("a"),
    literal("b"),
    literal(True),
    Literal("1", XSD.boolean.value),
    Literal("01", XSD.integer.value),
    Literal("1.0", XSD.decimal.value),
    Literal("1.0E0", XSD.double.value),
    Literal("NaN", XSD.double.value),
    Literal("300", XSD.byte.value),
    Literal("x", XSD.integer.value),
    Literal("2020-02-30", XSD.date.value),
    Literal("2020-01-01T00:00:00Z", XSD.dateTime.value),
    Literal("2020-01-01T01:00:00+01:00", XSD.dateTime.value),
    Literal("a", RDF.langString.value, "en"),
    Literal("-1", XSD.nonNegativeInteger.value),
    Literal("maybe", XSD.boolean.value),
    Literal("x", "http://example.org/type"),
]
_DATATYPES: list[Term] = [
    *(XSD.integer, XSD.string, XSD.decimal, XSD.double, XSD.boolean, XSD.nonNegativeInteger, XSD.dateTime, RDFS.Literal),
    IRI("http://example.org/type"),
]
_CHARACTERISTICS = (
    *("Transitive", "Symmetric", "Functional", "InverseFunctional", "Asymmetric", "Irreflexive", "Reflexive", "Object", "Datatype"),
    "Annotation",
)
_META = (RDFS.subClassOf, RDFS.subPropertyOf, RDF.type, OWL.sameAs, OWL.equivalentClass, RDFS.domain, RDFS.range, OWL.differentFrom)
"""Properties that a property of the ontology may imply, or be implied by."""


class _BroadMaker(Maker):
    """One ontology in the making."""

    def __init__(self, source: random.Random, namespace: str) -> None:
        super().__init__(source, namespace)
        self.individuals += [BlankNode(f"{namespace}bi{number}") for number in range(2)]

    def literal(self) -> Term:
        return self.source.choice(_LITERALS)

    def value(self) -> Term:
        return self.literal() if self.source.random() < 0.3 else self.individual()

    def role(self) -> Term:
        """A property or the inverse of one."""
        if self.source.random() < 0.85:
            return self.property()
        inverse = self.blank()
        self.say(inverse, OWL.inverseOf, self.property())
        return inverse

    def range(self) -> Term:
        """A datatype, by name or as an expression."""
        source = self.source
        if source.random() < 0.6:
            return source.choice(_DATATYPES)
        found = self.blank()
        self.say(found, RDF.type, RDFS.Datatype)
        kind = source.randrange(4)
        if kind == 0:
            self.say(found, OWL.oneOf, self.listed(self.some(self.literal)))
        elif kind == 1:
            facet = self.blank()
            self.say(facet, source.choice([XSD.minInclusive, XSD.maxExclusive]), literal(source.randint(0, 2)))
            self.say(found, OWL.onDatatype, XSD.integer)
            self.say(found, OWL.withRestrictions, self.listed([facet]))
        elif kind == 2:
            self.say(found, OWL.datatypeComplementOf, source.choice(_DATATYPES))
        else:
            name = source.choice([OWL.unionOf, OWL.intersectionOf])
            self.say(found, name, self.listed(self.some(lambda: source.choice(_DATATYPES))))
        return found

    def expression(self, depth: int = 1) -> Term:
        source = self.source
        if depth == 0 or source.random() < 0.7:
            return source.choice([OWL.Thing, OWL.Nothing]) if source.random() < 0.05 else super().expression(depth)
        found = self.blank()
        self.say(found, RDF.type, OWL.Restriction)
        self.say(found, OWL.onProperty, self.role())
        number = Literal(str(source.randint(0, 2)), XSD.nonNegativeInteger.value)
        kind = source.randrange(6)
        if kind == 0:
            self.say(found, source.choice([OWL.minCardinality, OWL.cardinality, OWL.maxCardinality]), number)
        elif kind == 1:
            self.say(found, source.choice([OWL.minQualifiedCardinality, OWL.qualifiedCardinality]), number)
            self.say(found, OWL.onClass, self.expression(depth - 1))
        elif kind == 2:
            self.say(found, OWL.maxQualifiedCardinality, number)
            self.say(found, OWL.onClass, source.choice([OWL.Thing, self.cls()]))
        elif kind == 3:
            self.say(found, OWL.maxQualifiedCardinality, number)
            self.say(found, OWL.onDataRange, self.range())
        elif kind == 4:
            self.say(found, source.choice([OWL.someValuesFrom, OWL.allValuesFrom]), self.range())
        else:
            self.say(found, OWL.hasValue, self.literal())
        return found

    def members(self, kind: Term, property: Term, make: Callable[[], Term]) -> None:
        """An axiom about a list."""
        axiom = self.blank()
        self.say(axiom, RDF.type, kind)
        self.say(axiom, property, self.listed(self.some(make, 4)))

    def axiom(self) -> None:
        source = self.source
        kind = source.randrange(26)
        if kind < 12:
            super().axiom()
        elif kind == 12:
            self.say(self.cls(), OWL.disjointUnionOf, self.listed(self.some(self.expression, 3)))
        elif kind == 13:
            self.members(OWL.AllDisjointClasses, OWL.members, lambda: self.expression(1))
        elif kind == 14:
            self.members(OWL.AllDisjointProperties, OWL.members, self.property)
        elif kind == 15:
            self.members(OWL.AllDifferent, source.choice([OWL.members, OWL.distinctMembers]), self.individual)
        elif kind == 16:
            denied = self.blank()
            self.say(denied, RDF.type, OWL.NegativePropertyAssertion)
            self.say(denied, OWL.sourceIndividual, self.individual())
            self.say(denied, OWL.assertionProperty, self.property())
            self.say(denied, OWL.targetValue, self.literal())
        elif kind == 17:
            self.say(self.cls(), OWL.hasKey, self.listed(self.some(self.role, 3)))
        elif kind == 18:
            self.say(self.property(), RDF.type, IRI(f"{OWL}{source.choice(_CHARACTERISTICS)}Property"))
        elif kind == 19:
            self.say(self.property(), OWL.propertyChainAxiom, self.listed([self.role() for _ in range(source.randint(1, 4))]))
        elif kind == 20:
            self.say(self.property(), RDFS.range, self.range())
        elif kind == 21:
            one, other = self.property(), source.choice(_META)
            self.say(*source.choice([(one, RDFS.subPropertyOf, other), (other, RDFS.subPropertyOf, one)]))
        elif kind == 22:
            names = [*self.classes, *self.properties, *self.individuals]
            self.say(source.choice(names), source.choice([OWL.sameAs, OWL.differentFrom]), source.choice(names))
        elif kind == 23:
            self.say(
                source.choice([self.cls(), OWL.Thing, RDFS.Resource]), RDFS.subClassOf, source.choice([self.cls(), OWL.Nothing])
            )
        elif kind == 24:
            ends = [OWL.topObjectProperty, OWL.bottomObjectProperty, OWL.topDataProperty, OWL.bottomDataProperty]
            one, other = self.property(), source.choice(ends)
            self.say(*source.choice([(one, RDFS.subPropertyOf, other), (other, RDFS.subPropertyOf, one)]))
        else:
            names = [OWL.equivalentClass, OWL.complementOf, OWL.disjointWith, OWL.sameAs]
            self.say(self.expression(1), source.choice(names), self.expression(1))

    def fact(self) -> None:
        source = self.source
        kind = source.randrange(24)
        if kind < 14:
            super().fact()
        elif kind < 17:
            self.say(self.individual(), self.property(), self.literal())
        elif kind == 17:
            self.say(self.individual(), source.choice([OWL.sameAs, OWL.differentFrom]), self.value())
        elif kind == 18:
            self.say(self.individual(), RDF.type, source.choice([OWL.Thing, OWL.Nothing, OWL.Class, RDFS.Class, RDF.Property]))
        elif kind == 19:
            self.say(source.choice(self.properties), self.property(), source.choice([*self.classes, *self.properties]))
        elif kind == 20:
            self.say(source.choice(self.classes), RDF.type, source.choice([OWL.Class, RDFS.Class, RDFS.Datatype]))
        elif kind == 21:
            self.say(self.individual(), RDF["_1"], self.value())
        elif kind == 22:
            self.say(self.individual(), source.choice([*_META]), source.choice([self.cls(), self.individual()]))
        else:
            self.say(self.property(), RDF.type, RDFS.ContainerMembershipProperty)


def broad_ontologies(seed: int, count: int, *, size: int = 6) -> list[Triple]:
    """Some random ontologies, of more kinds of axioms, as one input."""
    found: dict[Triple, None] = {}
    for number in range(count):
        maker = _BroadMaker(random.Random(f"{seed} {number}"), f"n{number}")
        for _ in range(maker.source.randint(1, size)):
            maker.axiom()
        for _ in range(maker.source.randint(1, 2 * size)):
            maker.fact()
        found.update((triple, None) for triple in maker.triples if not isinstance(triple[0], Literal))
    return list(found)


_TEMPLATES = (
    ":{p}[?x, ?z] :- :{q}[?x, ?y], :{r}[?y, ?z] .",
    ":{c}[?x] :- :{p}[?x, ?y], :{d}[?y] .",
    ":{c}[?x] :- :{p}[?x, ?y], FILTER(ISLITERAL(?y)) .",
    "seen{k}(?x, ?y) :- :{p}[?x, ?y] .",
    "seen{k}(?y, ?x) :- :{q}[?x, ?y], :{c}[?x] .",
    "reach{k}(?x, ?y) :- seen{k}(?x, ?y) .",
    "reach{k}(?x, ?z) :- reach{k}(?x, ?y), seen{k}(?y, ?z) .",
    "only{k}(?x) :- seen{k}(?x, ?y), NOT reach{k}(?y, ?x) .",
    "only{k}(?x) :- [?x, ?p, ?y], seen{k}(?y, ?x), NOT [?y, ?p, ?x] .",
    "named{k}(?x, ?t) :- seen{k}(?x, ?y), BIND(STR(?y) AS ?t) .",
    "same{k}(?x, ?y) :- [?x, owl:sameAs, ?y], seen{k}(?x, ?z) .",
    "counted{k}(?x, ?p) :- only{k}(?x), [?x, ?p, ?y], NOT same{k}(?x, ?y) .",
    ":out{k}[?x, ?y] :- reach{k}(?x, ?y), FILTER(!ISLITERAL(?x)) .",
    "lone{k}(?y) :- :{p}[?x, ?y], NOT :{d}[?x], FILTER(?x != ?y) .",
    "lone{k}(?y) :- :{c}[?y], NOT :{p}[?y, _], NOT seen{k}(?y, ?y) .",
    "false :- :{p}[?x, ?y], :{c}[?y], :{d}[?x] .",
    "false :- only{k}(?x), :{c}[?x] .",
    "false :- seen{k}(?x, ?y), seen{k}(?y, ?x), FILTER(?x < ?y) .",
)


def rules(seed: int, count: int) -> Program:
    """Rules over the names of some of the ontologies, with negation and constraints; what is negated has no
    consequences among the triples."""
    source = random.Random(f"rules {seed}")
    texts = ["@prefix owl: <http://www.w3.org/2002/07/owl#> ."]
    for number in range(count):
        texts.append(f"@prefix : <http://example.org/n{number}/> .")
        for template in source.sample(_TEMPLATES, source.randint(1, 6)):
            names = {name: f"p{source.randrange(3)}" for name in "pqr"} | {name: f"C{source.randrange(4)}" for name in "cde"}
            texts.append(template.format(k=number, **names))
    return parse("\n".join(texts))
