"""OWL 2 class expressions and axioms as values, as far as an RDF graph states them.

Operands are *nodes*: the IRI of a named class, or the blank node of an expression. Expressions are attached to nodes instead of
being nested, because in an RDF graph axioms can share a node, and a node can have several expressions or be on a cycle of them.
Data ranges are expressions, too; the ontology determines whether a node is a class or a data range (see `ontology.Ontology`).
"""

from __future__ import annotations

from typing import TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.terms import IRI, Term

__all__ = [
    "AllValuesFrom",
    "Axiom",
    "Cardinality",
    "Characteristic",
    "ClassAssertion",
    "ClassExpression",
    "ComplementOf",
    "DatatypeRestriction",
    "Definition",
    "DifferentIndividuals",
    "DisjointClasses",
    "DisjointProperties",
    "DisjointUnion",
    "EquivalentClasses",
    "EquivalentProperties",
    "HasKey",
    "HasSelf",
    "HasValue",
    "IntersectionOf",
    "InverseProperties",
    "NegativeAssertion",
    "OneOf",
    "PropertyChain",
    "PropertyDomain",
    "PropertyRange",
    "SameNames",
    "SomeValuesFrom",
    "SubClassOf",
    "SubPropertyOf",
    "UnionOf",
    "at_least",
    "at_most",
]


@dataclass(slots=True, unsafe_hash=True)
class IntersectionOf:
    operands: tuple[Term, ...]


@dataclass(slots=True, unsafe_hash=True)
class UnionOf:
    operands: tuple[Term, ...]


@dataclass(slots=True, unsafe_hash=True)
class OneOf:
    members: tuple[Term, ...]


@dataclass(slots=True, unsafe_hash=True)
class ComplementOf:
    operand: Term


@dataclass(slots=True, unsafe_hash=True)
class SomeValuesFrom:
    property: Term
    filler: Term


@dataclass(slots=True, unsafe_hash=True)
class AllValuesFrom:
    property: Term
    filler: Term


@dataclass(slots=True, unsafe_hash=True)
class HasValue:
    property: Term
    value: Term


@dataclass(slots=True, unsafe_hash=True)
class HasSelf:
    property: Term


@dataclass(slots=True, unsafe_hash=True)
class Cardinality:
    """A cardinality restriction: `bound` is ``Min``, ``Max`` or ``Exact``; `filler` is None for an unqualified one."""

    bound: str
    number: int
    property: Term
    filler: Term | None = None


def at_most(restriction: Cardinality) -> int | None:
    """Return the upper bound, or None."""
    return None if restriction.bound == "Min" else restriction.number


def at_least(restriction: Cardinality) -> int:
    """Return the lower bound."""
    return 0 if restriction.bound == "Max" else restriction.number


@dataclass(slots=True, unsafe_hash=True)
class DatatypeRestriction:
    datatype: Term
    facets: tuple[tuple[Term, Term], ...]


ClassExpression: TypeAlias = (
    IntersectionOf
    | UnionOf
    | OneOf
    | ComplementOf
    | SomeValuesFrom
    | AllValuesFrom
    | HasValue
    | HasSelf
    | Cardinality
    | DatatypeRestriction
)


@dataclass(slots=True, unsafe_hash=True)
class SubClassOf:
    sub: Term
    sup: Term


@dataclass(slots=True, unsafe_hash=True)
class EquivalentClasses:
    first: Term
    second: Term


@dataclass(slots=True, unsafe_hash=True)
class Definition:
    """An expression attached to a named class (``ub:Chair owl:intersectionOf (...)``), which is equivalent to the class."""

    name: Term
    expression: ClassExpression


@dataclass(slots=True, unsafe_hash=True)
class DisjointClasses:
    classes: tuple[Term, ...]
    rule: str = "cax-adc"
    """The W3C rule: ``cax-dw`` for owl:disjointWith, ``cax-adc`` for owl:AllDisjointClasses."""


@dataclass(slots=True, unsafe_hash=True)
class DisjointUnion:
    whole: Term
    parts: tuple[Term, ...]


@dataclass(slots=True, unsafe_hash=True)
class ClassAssertion:
    """An assertion of an anonymous class; assertions of named classes are plain facts."""

    cls: Term
    individual: Term


@dataclass(slots=True, unsafe_hash=True)
class HasKey:
    cls: Term
    properties: tuple[Term, ...]


@dataclass(slots=True, unsafe_hash=True)
class SubPropertyOf:
    sub: Term
    sup: Term


@dataclass(slots=True, unsafe_hash=True)
class PropertyChain:
    chain: tuple[Term, ...]
    sup: Term


@dataclass(slots=True, unsafe_hash=True)
class EquivalentProperties:
    first: Term
    second: Term


@dataclass(slots=True, unsafe_hash=True)
class InverseProperties:
    first: Term
    second: Term


@dataclass(slots=True, unsafe_hash=True)
class DisjointProperties:
    properties: tuple[Term, ...]
    rule: str = "prp-adp"
    """The W3C rule: ``prp-pdw`` for owl:propertyDisjointWith, ``prp-adp`` for owl:AllDisjointProperties."""


@dataclass(slots=True, unsafe_hash=True)
class PropertyDomain:
    property: Term
    domain: Term


@dataclass(slots=True, unsafe_hash=True)
class PropertyRange:
    property: Term
    range: Term


@dataclass(slots=True, unsafe_hash=True)
class Characteristic:
    """A property characteristic: `kind` is the class of the property, for example owl:TransitiveProperty."""

    kind: IRI
    property: Term


@dataclass(slots=True, unsafe_hash=True)
class SameNames:
    """owl:sameAs between two classes or two properties, which makes their names interchangeable."""

    first: Term
    second: Term
    of_classes: bool


@dataclass(slots=True, unsafe_hash=True)
class DifferentIndividuals:
    """An owl:AllDifferent; `rule` is ``eq-diff2`` for owl:members, ``eq-diff3`` for owl:distinctMembers."""

    individuals: tuple[Term, ...]
    rule: str


@dataclass(slots=True, unsafe_hash=True)
class NegativeAssertion:
    """A negative assertion; `rule` is ``prp-npa1`` for a target individual, ``prp-npa2`` for a target value."""

    property: Term
    source: Term
    target: Term
    rule: str


Axiom: TypeAlias = (
    SubClassOf
    | EquivalentClasses
    | Definition
    | DisjointClasses
    | DisjointUnion
    | ClassAssertion
    | HasKey
    | SubPropertyOf
    | PropertyChain
    | EquivalentProperties
    | InverseProperties
    | DisjointProperties
    | PropertyDomain
    | PropertyRange
    | Characteristic
    | SameNames
    | DifferentIndividuals
    | NegativeAssertion
)
