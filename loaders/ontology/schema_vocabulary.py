"""The vocabulary in which OWL and SWRL are written in triples, and which triples matter to the translation."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from kg_reasoner.loaders.ontology.axioms import ClassExpression, IntersectionOf, OneOf, UnionOf
from kg_reasoner.loaders.rules.swrl import SWRL_CLASSES, SWRL_PREDICATES
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Term, Triple

__all__ = [
    "CARDINALITIES",
    "CHARACTERISTICS",
    "FACETS",
    "LISTED",
    "QUALIFIED",
    "RESTRICTIONS",
    "SCHEMA_CLASSES",
    "SCHEMA_PREDICATES",
    "is_schema_triple",
]

CARDINALITIES: Final = {
    OWL[name]: bound
    for name, bound in {
        "cardinality": "Exact",
        "maxCardinality": "Max",
        "minCardinality": "Min",
        "qualifiedCardinality": "Exact",
        "maxQualifiedCardinality": "Max",
        "minQualifiedCardinality": "Min",
    }.items()
}
QUALIFIED: Final = frozenset({OWL.qualifiedCardinality, OWL.maxQualifiedCardinality, OWL.minQualifiedCardinality})
RESTRICTIONS: Final = (OWL.someValuesFrom, OWL.allValuesFrom, OWL.hasValue, OWL.hasSelf, *CARDINALITIES)
LISTED: Final[dict[IRI, Callable[[tuple[Term, ...]], ClassExpression]]] = {
    OWL.intersectionOf: IntersectionOf,
    OWL.unionOf: UnionOf,
    OWL.oneOf: OneOf,
}
FACETS: Final = (
    *(XSD[f"{end}{kind}"] for end in ("min", "max") for kind in ("Inclusive", "Exclusive", "Length")),
    *(XSD[name] for name in ("length", "pattern", "totalDigits", "fractionDigits")),
    RDF.langRange,
)
CHARACTERISTICS: Final = tuple(
    OWL[f"{kind}Property"]
    for kind in ("Functional", "InverseFunctional", "Reflexive", "Irreflexive", "Symmetric", "Asymmetric", "Transitive")
)
"""The classes whose members are properties with a characteristic."""

SCHEMA_PREDICATES: Final = frozenset(
    {
        *(RDF.first, RDF.rest),
        *(RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain, RDFS.range),
        *(OWL.equivalentClass, OWL.disjointWith, OWL.disjointUnionOf, OWL.hasKey),
        *(OWL.complementOf, OWL.datatypeComplementOf, *LISTED),
        *(OWL.onProperty, OWL.onProperties, OWL.onClass, OWL.onDataRange, *RESTRICTIONS),
        *(OWL.onDatatype, OWL.withRestrictions, *FACETS),
        *(OWL.equivalentProperty, OWL.inverseOf, OWL.propertyDisjointWith, OWL.propertyChainAxiom),
        *(OWL.members, OWL.distinctMembers),
        *(OWL.sourceIndividual, OWL.assertionProperty, OWL.targetIndividual, OWL.targetValue),
        *SWRL_PREDICATES,
    }
)
"""The predicates whose triples state axioms, or parts of axioms."""

SCHEMA_CLASSES: Final = frozenset(
    {
        *(OWL.Class, OWL.Restriction, RDFS.Datatype, OWL.DataRange),
        *(OWL.ObjectProperty, OWL.DatatypeProperty, *CHARACTERISTICS),
        *(OWL.AllDifferent, OWL.AllDisjointClasses, OWL.AllDisjointProperties, OWL.NegativePropertyAssertion),
        *SWRL_CLASSES,
    }
)
"""The classes whose members are axioms or declared names: ``x rdf:type c`` matters to the translation for these `c`."""


def is_schema_triple(triple: Triple, vocabulary: Collection[Term] = frozenset()) -> bool:
    """Return whether a triple can be relevant to the translation.

    These are the triples with a predicate of `SCHEMA_PREDICATES`, the types among `SCHEMA_CLASSES`, and the types that are blank
    nodes (an individual of an anonymous class). owl:sameAs is data, except about a name of the ontology's `vocabulary`.

    >>> from kg_reasoner.terms import OWL, RDF, IRI
    >>> ada, chair = IRI("http://example.org/ada"), IRI("http://example.org/Chair")
    >>> is_schema_triple((chair, RDF.type, OWL.Class)), is_schema_triple((ada, RDF.type, chair))
    (True, False)
    """
    subject, predicate, object = triple
    if predicate == RDF.type:
        return isinstance(object, BlankNode) or object in SCHEMA_CLASSES
    return predicate in SCHEMA_PREDICATES or (predicate == OWL.sameAs and (subject in vocabulary or object in vocabulary))
