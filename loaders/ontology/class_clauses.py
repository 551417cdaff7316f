"""The clauses of class expressions, and of axioms about classes and individuals."""

from __future__ import annotations

from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Axiom,
    Cardinality,
    ClassAssertion,
    ClassExpression,
    ComplementOf,
    Definition,
    DifferentIndividuals,
    DisjointClasses,
    DisjointUnion,
    EquivalentClasses,
    HasSelf,
    HasValue,
    IntersectionOf,
    NegativeAssertion,
    OneOf,
    SameNames,
    SomeValuesFrom,
    SubClassOf,
    UnionOf,
    at_most,
)
from kg_reasoner.loaders.ontology.clauses import INCONSISTENT, Clauses, X, Y, Z
from kg_reasoner.loaders.ontology.property_clauses import add_property_axiom
from kg_reasoner.terms import OWL, Term

__all__ = ["add_axiom", "define"]


def define(clauses: Clauses, node: Term, expression: ClassExpression) -> None:
    """Add the clauses of an expression attached to a node."""
    match expression:
        case IntersectionOf(operands):
            clauses.conclude(node, X, [clauses.member(operand, X) for operand in operands], "cls-int1")
            for operand in operands:
                clauses.conclude(operand, X, [clauses.member(node, X)], "cls-int2")
        case UnionOf(operands):
            for operand in operands:
                clauses.conclude(node, X, [clauses.member(operand, X)], "cls-uni")
            if len(operands) == 1:
                clauses.conclude(operands[0], X, [clauses.member(node, X)], "ext-uni1")
        case OneOf(members):
            for individual in members:
                clauses.conclude(node, individual, [], "cls-oo")
        case ComplementOf(operand):
            clauses.add(INCONSISTENT, [clauses.member(node, X), clauses.member(operand, X)], "cls-com")
        case SomeValuesFrom(property, filler):
            name = "cls-svf2" if filler == OWL.Thing else "cls-svf1"
            clauses.recognise(node, clauses.with_value(property, filler), name)
        case AllValuesFrom(property, filler):
            clauses.conclude(filler, Y, [clauses.stated(node, X), clauses.related(property, X, Y)], "cls-avf")
        case HasValue(property, value):
            clauses.relate(property, X, value, [clauses.member(node, X)], "cls-hv1")
            clauses.conclude(node, X, [clauses.related(property, X, value)], "cls-hv2")
        case HasSelf(property):
            clauses.relate(property, X, X, [clauses.member(node, X)], "ext-self1")
            clauses.conclude(node, X, [clauses.related(property, X, X)], "ext-self2")
        case Cardinality():
            _define_cardinality(clauses, node, expression)


def _define_cardinality(clauses: Clauses, node: Term, expression: Cardinality) -> None:
    property, filler = expression.property, expression.filler
    if expression.bound == "Min" and expression.number == 1:
        clauses.conclude(node, X, clauses.with_value(property, filler), "ext-min1")
    is_thing, upper = filler == OWL.Thing, at_most(expression)
    if upper == 0:
        name = "cls-maxc1" if filler is None else "cls-maxqc2" if is_thing else "cls-maxqc1"
        clauses.add(INCONSISTENT, [clauses.member(node, X), *clauses.with_value(property, filler)], name)
    elif upper == 1:
        name = "cls-maxc2" if filler is None else "cls-maxqc4" if is_thing else "cls-maxqc3"
        values = [*clauses.with_value(property, filler, Y), *clauses.with_value(property, filler, Z)]
        clauses.equate_values(property, filler, [clauses.member(node, X), *values], name)


def add_axiom(clauses: Clauses, axiom: Axiom) -> None:
    match axiom:
        case SubClassOf(sub, sup):
            clauses.include(sub, sup, "cax-sco")
        case EquivalentClasses(first, second):
            clauses.include(first, second, "cax-eqc1")
            clauses.include(second, first, "cax-eqc2")
        case SameNames(first, second, of_classes=True):
            clauses.include(first, second, "eq-rep-o")
            clauses.include(second, first, "eq-rep-o")
        case Definition(name, expression):
            if not clauses.ontology.is_datatype(name):
                define(clauses, name, expression)
        case DisjointClasses(classes):
            clauses.exclude(classes, [clauses.member(cls, X) for cls in classes], axiom.rule)
        case DisjointUnion(whole, parts):
            for part in parts:
                clauses.include(part, whole, "cls-uni")
            clauses.exclude(parts, [clauses.member(part, X) for part in parts], "cax-adc")
        case ClassAssertion(cls, individual):
            if not clauses.ontology.is_datatype(cls):
                clauses.conclude(cls, individual, [], "")
        case DifferentIndividuals(individuals):
            clauses.distinguish(individuals, axiom.rule)
        case NegativeAssertion(property, source, target):
            clauses.add(INCONSISTENT, [clauses.related(property, source, target)], axiom.rule)
        case _:
            add_property_axiom(clauses, axiom)
