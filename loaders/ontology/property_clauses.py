"""The clauses of axioms about properties."""

from __future__ import annotations

from itertools import pairwise

from kg_reasoner.loaders.ontology.axioms import (
    Axiom,
    Characteristic,
    DisjointProperties,
    EquivalentProperties,
    HasKey,
    InverseProperties,
    PropertyChain,
    PropertyDomain,
    PropertyRange,
    SameNames,
    SubPropertyOf,
)
from kg_reasoner.loaders.ontology.clauses import INCONSISTENT, Clauses, X, Y, Z
from kg_reasoner.program import Variable
from kg_reasoner.terms import OWL, Term

__all__ = ["add_property_axiom"]


def add_property_axiom(clauses: Clauses, axiom: Axiom) -> None:
    related = clauses.related
    match axiom:
        case SubPropertyOf(sub, sup):
            clauses.relate(sup, X, Y, [related(sub, X, Y)], "prp-spo1")
        case EquivalentProperties(first, second):
            clauses.relate(second, X, Y, [related(first, X, Y)], "prp-eqp1")
            clauses.relate(first, X, Y, [related(second, X, Y)], "prp-eqp2")
        case SameNames(first, second):
            clauses.relate(second, X, Y, [related(first, X, Y)], "eq-rep-p")
            clauses.relate(first, X, Y, [related(second, X, Y)], "eq-rep-p")
        case InverseProperties(first, second):
            clauses.relate(second, Y, X, [related(first, X, Y)], "prp-inv1")
            clauses.relate(first, Y, X, [related(second, X, Y)], "prp-inv2")
        case PropertyChain(chain, sup):
            nodes = [Variable(f"n{number}") for number in range(len(chain) + 1)]
            links = [related(property, *ends) for property, ends in zip(chain, pairwise(nodes), strict=True)]
            clauses.relate(sup, nodes[0], nodes[-1], links, "prp-spo2")
        case DisjointProperties(properties):
            clauses.exclude(properties, [related(property, X, Y) for property in properties], axiom.rule)
        case PropertyDomain(property, domain):
            clauses.conclude(domain, X, [related(property, X, Y)], "prp-dom")
        case PropertyRange(property, cls):
            clauses.conclude(cls, Y, [related(property, X, Y)], "prp-rng")
        case HasKey(cls, keys):
            values = [Variable(f"k{number}") for number in range(len(keys))]
            for_each = [clauses.valued(key, owner, value) for key, value in zip(keys, values, strict=True) for owner in (X, Y)]
            clauses.equate(X, Y, [clauses.member(cls, X), *for_each, clauses.member(cls, Y)], "prp-key")
        case Characteristic(kind, property):
            _characterise(clauses, kind, property)


def _characterise(clauses: Clauses, kind: Term, property: Term) -> None:
    there, back = clauses.related(property, X, Y), clauses.related(property, Y, X)
    if kind == OWL.FunctionalProperty:
        clauses.equate_values(property, None, [there, clauses.related(property, X, Z)], "prp-fp")
    elif kind == OWL.InverseFunctionalProperty:
        clauses.equate(X, Y, [clauses.valued(property, X, Z), clauses.valued(property, Y, Z)], "prp-ifp")
    elif kind == OWL.TransitiveProperty:
        clauses.relate(property, X, Z, [there, clauses.related(property, Y, Z)], "prp-trp")
    elif kind == OWL.SymmetricProperty:
        clauses.relate(property, Y, X, [there], "prp-symp")
    elif kind == OWL.AsymmetricProperty:
        clauses.add(INCONSISTENT, [there, back], "prp-asyp")
    elif kind == OWL.IrreflexiveProperty:
        clauses.add(INCONSISTENT, [clauses.related(property, X, X)], "prp-irp")
