"""The grammars of OWL 2 EL, QL and RL: sections 2.2, 3.2 and 4.2 of OWL 2 Web Ontology Language Profiles (second edition)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Cardinality,
    Characteristic,
    ClassAssertion,
    ClassExpression,
    ComplementOf,
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
    SameNames,
    SomeValuesFrom,
    SubClassOf,
    SubPropertyOf,
    UnionOf,
    at_most,
)
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD

__all__ = ["GRAMMARS", "Grammar", "of_one"]

Kinds: TypeAlias = frozenset[type]


@dataclass(frozen=True)
class Side:
    """The class expressions that are permitted on one side of an inclusion.

    Attributes:
        name: Its name in messages.
        kinds: The kinds of expressions.
        has_thing: Whether owl:Thing may be there.
        operands: The side for the parts of an expression, by its kind; this side where it is absent.
        only: Whether the details of an expression are permitted, by its kind.
    """

    name: str
    kinds: Kinds
    has_thing: bool = True
    operands: Mapping[type, str] = field(default_factory=dict)
    only: Mapping[type, Callable[[Ontology, ClassExpression], bool]] = field(default_factory=dict)

    def permits(self, ontology: Ontology, expression: ClassExpression) -> bool:
        """Return whether the details of an expression are permitted."""
        check = self.only.get(type(expression))
        return check is None or check(ontology, expression)


@dataclass(frozen=True)
class Grammar:
    """The constructs that a profile permits, by the sides of inclusions, kinds of axioms, and datatypes."""

    name: str
    sides: Mapping[str, Side]
    axioms: Kinds
    characteristics: frozenset[IRI]
    datatypes: frozenset[IRI]
    ranges: Kinds
    has_inverses: bool
    has_blank_individuals: bool
    has_built_in_properties: bool = True


def of_one(_: Ontology, expression: ClassExpression) -> bool:
    """Return whether an expression lists one individual, if it lists any."""
    return not isinstance(expression, OneOf) or len(expression.members) == 1


def _upper_bound(_: Ontology, expression: ClassExpression) -> bool:
    return isinstance(expression, Cardinality) and expression.bound == "Max" and at_most(expression) in (0, 1)


def _of_thing(ontology: Ontology, expression: ClassExpression) -> bool:
    return isinstance(expression, SomeValuesFrom) and (expression.filler == OWL.Thing or ontology.is_datatype(expression.filler))


def _of_name(ontology: Ontology, expression: ClassExpression) -> bool:
    return isinstance(expression, SomeValuesFrom) and (
        isinstance(expression.filler, IRI) or ontology.is_datatype(expression.filler)
    )


def _datatypes(xsd: str, *others: IRI) -> frozenset[IRI]:
    return frozenset({RDF.PlainLiteral, RDF.XMLLiteral, RDFS.Literal, *(XSD[name] for name in xsd.split()), *others})


_COMMON: Final = (
    "decimal integer nonNegativeInteger string normalizedString token Name NCName NMTOKEN hexBinary base64Binary anyURI"
)
_MORE: Final = (
    "nonPositiveInteger positiveInteger negativeInteger long int short byte unsignedLong unsignedInt unsignedShort unsignedByte "
    "float double language boolean"
)
_OF_CLASSES: Final = frozenset({SubClassOf, EquivalentClasses, Definition, DisjointClasses, ClassAssertion})
_OF_PROPERTIES: Final = frozenset({SubPropertyOf, EquivalentProperties, PropertyDomain, PropertyRange, Characteristic})
_BOTH_WAYS: Final = frozenset({InverseProperties, DisjointProperties})
_NAMES: Final = frozenset({SameNames, DifferentIndividuals})

_OF_RL: Final = ("Functional", "InverseFunctional", "Irreflexive", "Symmetric", "Asymmetric", "Transitive")

_EL_CLASS: Final = Side("in a class", frozenset({IntersectionOf, OneOf, SomeValuesFrom, HasValue, HasSelf}), only={OneOf: of_one})
GRAMMARS: Final = {
    "EL": Grammar(
        "EL",
        {"sub": _EL_CLASS, "super": _EL_CLASS, "equivalent": _EL_CLASS},
        _OF_CLASSES | _OF_PROPERTIES | _NAMES | {PropertyChain, HasKey, NegativeAssertion},
        frozenset({OWL.TransitiveProperty, OWL.ReflexiveProperty}),
        _datatypes(f"{_COMMON} dateTime dateTimeStamp", OWL.real, OWL.rational),
        frozenset({IntersectionOf, OneOf}),
        has_inverses=False,
        has_blank_individuals=False,
    ),
    "QL": Grammar(
        "QL",
        {
            "sub": Side("as a subclass", frozenset({SomeValuesFrom}), only={SomeValuesFrom: _of_thing}),
            "equivalent": Side("as an equivalent class", frozenset({SomeValuesFrom}), only={SomeValuesFrom: _of_thing}),
            "super": Side(
                "as a superclass",
                frozenset({IntersectionOf, ComplementOf, SomeValuesFrom}),
                operands={ComplementOf: "sub"},
                only={SomeValuesFrom: _of_name},
            ),
        },
        _OF_CLASSES | _OF_PROPERTIES | {DifferentIndividuals, InverseProperties, DisjointProperties, SameNames},
        frozenset({OWL.ReflexiveProperty, OWL.IrreflexiveProperty, OWL.SymmetricProperty, OWL.AsymmetricProperty}),
        _datatypes(f"{_COMMON} dateTime dateTimeStamp", OWL.real, OWL.rational),
        frozenset({IntersectionOf}),
        has_inverses=True,
        has_blank_individuals=False,
    ),
    "RL": Grammar(
        "RL",
        {
            "sub": Side(
                "as a subclass",
                frozenset({IntersectionOf, UnionOf, OneOf, SomeValuesFrom, HasValue}),
                has_thing=False,
                operands={SomeValuesFrom: "filler"},
            ),
            "filler": Side(
                "as a value of a subclass",
                frozenset({IntersectionOf, UnionOf, OneOf, SomeValuesFrom, HasValue}),
                operands={SomeValuesFrom: "filler", IntersectionOf: "sub", UnionOf: "sub"},
            ),
            "super": Side(
                "as a superclass",
                frozenset({IntersectionOf, ComplementOf, AllValuesFrom, HasValue, Cardinality}),
                has_thing=False,
                operands={ComplementOf: "sub", Cardinality: "filler"},
                only={Cardinality: _upper_bound},
            ),
            "equivalent": Side("as an equivalent class", frozenset({IntersectionOf, HasValue}), has_thing=False),
        },
        _OF_CLASSES | _OF_PROPERTIES | _NAMES | _BOTH_WAYS | {PropertyChain, HasKey, NegativeAssertion},
        frozenset(OWL[f"{kind}Property"] for kind in _OF_RL),
        _datatypes(f"{_COMMON} {_MORE} dateTime dateTimeStamp"),
        frozenset({IntersectionOf}),
        has_inverses=True,
        has_blank_individuals=True,
        has_built_in_properties=False,
    ),
}
