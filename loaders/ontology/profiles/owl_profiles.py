"""Which of the profiles OWL 2 EL, QL and RL an ontology is in, and whether it is in OWL 2 DL, by the W3C's grammars.

Source: OWL 2 Web Ontology Language Profiles (second edition), sections 2.2, 3.2 and 4.2; for OWL 2 DL, the global restrictions of
section 11 of the Structural Specification, as far as the axioms in a graph show them, see `dl`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Axiom,
    Cardinality,
    Characteristic,
    ClassAssertion,
    ClassExpression,
    ComplementOf,
    DatatypeRestriction,
    Definition,
    DifferentIndividuals,
    DisjointClasses,
    DisjointProperties,
    EquivalentClasses,
    EquivalentProperties,
    HasKey,
    HasSelf,
    HasValue,
    IntersectionOf,
    InverseProperties,
    NegativeAssertion,
    OneOf,
    PropertyChain,
    PropertyDomain,
    PropertyRange,
    SomeValuesFrom,
    SubClassOf,
    SubPropertyOf,
    UnionOf,
)
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.loaders.ontology.profiles.dl import TOP_AND_BOTTOM, beyond_dl, with_anonymous
from kg_reasoner.loaders.ontology.profiles.profile_grammars import GRAMMARS, Grammar, of_one
from kg_reasoner.loaders.ontology.profiles.ranges import lost_ranges
from kg_reasoner.loaders.ontology.swrl_texts import rule_text
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple

__all__ = ["PROFILES", "Profiles", "beyond", "profiles_of"]

PROFILES: Final = ("EL", "QL", "RL", "DL")


@dataclass(frozen=True)
class Profiles:
    """The profiles of an ontology.

    Attributes:
        beyond: For EL, QL, RL and DL, the axioms that are not in the profile, each with the reason.
    """

    beyond: Mapping[str, tuple[AxiomWarning, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """The profiles that the ontology is in.

        >>> Profiles({"EL": (), "QL": (AxiomWarning("SubClassOf(:A :B)", "an example"),), "RL": (), "DL": ()}).names
        ('EL', 'RL', 'DL')
        """
        return tuple(name for name in PROFILES if not self.beyond[name])

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def text(self) -> str:
        """Return one line for each profile, and one for each axiom that is not in it."""
        lines = []
        for name in PROFILES:
            lines.append(f"OWL 2 {name}: {'no' if self.beyond[name] else 'yes'}")
            lines.extend(f"  {warning}" for warning in self.beyond[name])
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


def profiles_of(ontology: Ontology, others: Iterable[Triple] = (), prefixes: Mapping[str, str] | None = None) -> Profiles:
    """Return the profiles of an ontology, with the axioms that leave each. They are parts of OWL 2 DL.

    Args:
        ontology: The axioms.
        others: The other triples: assertions about individuals, and annotations.
        prefixes: Prefixes that shorten names.
    """
    texts = Texts(ontology, prefixes)
    others = list(others)
    annotations = {subject for subject, predicate, kind in others if predicate == RDF.type and kind == OWL.AnnotationProperty}
    outside = (*beyond_dl(ontology, texts, annotations), *with_anonymous(ontology, others, texts))
    found = {
        name: tuple(dict.fromkeys((*beyond(name, ontology, texts), *_assertions(name, others, ontology, texts), *outside)))
        for name in ("EL", "QL", "RL")
    }
    return Profiles({**found, "DL": outside})


def _assertions(name: str, others: Iterable[Triple], ontology: Ontology, texts: Texts) -> Iterator[AxiomWarning]:
    """Yield the assertions that are not in a profile."""
    grammar = GRAMMARS[name]
    properties = {OWL.sameAs, OWL.differentFrom, *ontology.object_properties, *ontology.data_properties}
    for triple in others:
        subject, predicate, value = triple
        if predicate == OWL.sameAs and name == "QL":
            yield AxiomWarning(texts.triple(triple), "OWL 2 QL has no axioms of this kind")
        elif grammar.has_blank_individuals or not (
            predicate in properties or (predicate == RDF.type and value in ontology.classes)
        ):
            continue
        elif isinstance(subject, BlankNode) or isinstance(value, BlankNode):
            yield AxiomWarning(texts.triple(triple), "an anonymous individual")


def beyond(name: str, ontology: Ontology, texts: Texts, *, has_blank_individuals: bool = False) -> Iterator[AxiomWarning]:
    """Yield the axioms that are not in EL, QL or RL, each with the reason.

    Args:
        name: The profile.
        ontology: The ontology.
        texts: Its texts.
        has_blank_individuals: Whether anonymous individuals are permitted even if the profile has none.
    """
    for problem in ontology.problems:
        yield AxiomWarning(texts.triple(problem.triple), problem.reason)
    grammar = GRAMMARS[name]
    reader = _Reader(
        replace(grammar, has_blank_individuals=grammar.has_blank_individuals or has_blank_individuals), ontology, texts
    )
    for rule in ontology.rules:
        yield AxiomWarning(rule_text(rule, texts), f"OWL 2 {name} has no rules")
    for axiom in ontology.axioms:
        reasons = list(dict.fromkeys(reader.axiom(axiom)))
        if reasons:
            yield AxiomWarning(texts.axiom(axiom), "; ".join(reasons))
    if name == "EL":
        yield from lost_ranges(ontology, texts)


class _Reader:
    """Reads axioms by a grammar."""

    def __init__(self, grammar: Grammar, ontology: Ontology, texts: Texts) -> None:
        self.grammar, self.ontology, self.texts = grammar, ontology, texts
        self._open: set[tuple[Term, str]] = set()

    def axiom(self, axiom: Axiom) -> Iterator[str]:
        """Yield the reasons why an axiom is not in the profile."""
        grammar = self.grammar
        kind = type(axiom)
        if kind not in grammar.axioms:
            yield f"OWL 2 {grammar.name} has no axioms of this kind"
            return
        match axiom:
            case SubClassOf(sub, sup):
                yield from self.inclusion(sub, sup)
            case EquivalentClasses(first, second):
                yield from (*self.node(first, "equivalent"), *self.node(second, "equivalent"))
            case Definition(name, expression):
                yield from (*self.node(name, "equivalent"), *self.expression(expression, "equivalent", name))
            case DisjointClasses(classes):
                yield from (reason for node in classes for reason in self.node(node, "sub"))
            case ClassAssertion(cls, individual):
                if grammar.name == "QL":
                    yield "only named classes have members in OWL 2 QL"
                yield from self.node(cls, "super")
                yield from self.individuals([individual])
            case HasKey(cls, properties):
                yield from self.node(cls, "sub")
                yield from self.properties(properties)
            case PropertyDomain(property, cls) | PropertyRange(property, cls):
                yield from self.properties([property])
                yield from self.node(cls, "super")
            case Characteristic(characteristic, property):
                yield from self.properties([property])
                of_data = self.texts.kind(property) == "Data"
                if characteristic not in grammar.characteristics and not (of_data and grammar.name == "EL"):
                    yield f"OWL 2 {grammar.name} has no {characteristic.value.rpartition('#')[2]} of objects"
            case SubPropertyOf(sub, sup):
                yield from self.properties([sub, sup])
            case PropertyChain(chain, sup):
                yield from self.properties([*chain, sup])
            case EquivalentProperties(first, second) | InverseProperties(first, second):
                yield from self.properties([first, second])
            case DisjointProperties(properties):
                yield from self.properties(properties)
            case DifferentIndividuals(individuals):
                yield from self.individuals(individuals)
            case NegativeAssertion(property, source, target):
                yield from self.properties([property])
                yield from self.individuals([source, target])

    def inclusion(self, sub: Term, sup: Term) -> Iterator[str]:
        yield from self.node(sub, "sub")
        yield from self.node(sup, "super")

    def node(self, node: Term, side: str) -> Iterator[str]:
        """Yield the reasons why a class or data range is not permitted."""
        grammar = self.grammar
        if self.ontology.is_datatype(node) and isinstance(node, IRI):
            if node not in grammar.datatypes and (node in XSD or node in OWL or node in RDF or node in RDFS):
                yield f"the datatype {self.texts.name(node)} is not in OWL 2 {grammar.name}"
            return
        if node == OWL.Thing and not grammar.sides[side].has_thing:
            yield f"owl:Thing {grammar.sides[side].name}"
        if not isinstance(node, BlankNode) or (node, side) in self._open:
            return
        self._open.add((node, side))
        for expression in self.ontology.expressions.get(node, ()):
            yield from self.expression(expression, side, node)
        self._open.discard((node, side))

    def expression(self, expression: ClassExpression, side: str, node: Term) -> Iterator[str]:
        if isinstance(expression, IntersectionOf | UnionOf) and len(expression.operands) == 1:
            yield from self.node(expression.operands[0], side)
            return
        grammar = self.grammar
        allowed = grammar.sides[side]
        is_range = self.ontology.is_datatype(node) or isinstance(expression, DatatypeRestriction)
        literals = isinstance(expression, OneOf) and all(isinstance(member, Literal) for member in expression.members)
        text = self.texts.expression(expression)
        if is_range or literals:
            if type(expression) not in grammar.ranges or not of_one(self.ontology, expression):
                yield f"the data range {text}"
                return
        elif type(expression) not in allowed.kinds or not allowed.permits(self.ontology, expression):
            yield f"{text} {allowed.name}"
            return
        inner = allowed.operands.get(type(expression), side)
        match expression:
            case IntersectionOf(operands) | UnionOf(operands):
                for operand in operands:
                    yield from self.node(operand, inner)
            case ComplementOf(operand):
                yield from self.node(operand, inner)
            case SomeValuesFrom(property, filler) | AllValuesFrom(property, filler):
                yield from self.properties([property])
                yield from self.node(filler, inner)
            case HasValue(property, value):
                yield from self.properties([property])
                yield from self.individuals([value])
            case HasSelf(property):
                yield from self.properties([property])
            case Cardinality(_, _, property, filler):
                yield from self.properties([property])
                if filler is not None:
                    yield from self.node(filler, inner)
            case OneOf(members):
                yield from self.individuals(members)

    def properties(self, properties: Iterable[Term]) -> Iterator[str]:
        for property in properties:
            if isinstance(property, BlankNode) and not self.grammar.has_inverses:
                yield f"the inverse property {self.texts.property(property)}"
            elif property in TOP_AND_BOTTOM and not self.grammar.has_built_in_properties:
                yield f"OWL 2 {self.grammar.name} has no {self.texts.name(property)}"

    def individuals(self, individuals: Iterable[Term]) -> Iterator[str]:
        for individual in individuals:
            if isinstance(individual, BlankNode) and not self.grammar.has_blank_individuals:
                yield f"the anonymous individual {self.texts.name(individual)}"
            elif isinstance(individual, Literal):
                yield from self.node(IRI(individual.datatype), "super")
