"""The mapping of OWL 2 to RDF graphs as tables, from the names of constructs to the RDF vocabulary.

Source: W3C, OWL 2 Web Ontology Language Mapping to RDF Graphs, table 1.
"""

from __future__ import annotations

from typing import Final

from kg_reasoner.loaders.rules.swrl import SWRL
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD

__all__ = [
    "ATOMS",
    "BINARY_AXIOMS",
    "CARDINALITIES",
    "CHAINED_AXIOMS",
    "CHARACTERISTICS",
    "COMPLEMENTS",
    "DISJOINTNESS",
    "ENTITIES",
    "NARY_EXPRESSIONS",
    "NEGATIVE_TARGETS",
    "VALUE_RESTRICTIONS",
    "is_built_in_datatype",
]

_DATATYPES: Final = frozenset({RDFS.Literal, RDF.PlainLiteral, RDF.XMLLiteral, RDF.langString, OWL.real, OWL.rational})

ENTITIES: Final = {
    "Class": OWL.Class,
    "Datatype": RDFS.Datatype,
    "ObjectProperty": OWL.ObjectProperty,
    "DataProperty": OWL.DatatypeProperty,
    "AnnotationProperty": OWL.AnnotationProperty,
    "NamedIndividual": OWL.NamedIndividual,
}
NARY_EXPRESSIONS: Final = {
    # An expression over a list of others: its type and its property.
    "ObjectIntersectionOf": (OWL.Class, OWL.intersectionOf),
    "ObjectUnionOf": (OWL.Class, OWL.unionOf),
    "ObjectOneOf": (OWL.Class, OWL.oneOf),
    "DataIntersectionOf": (RDFS.Datatype, OWL.intersectionOf),
    "DataUnionOf": (RDFS.Datatype, OWL.unionOf),
    "DataOneOf": (RDFS.Datatype, OWL.oneOf),
}
COMPLEMENTS: Final = {
    "ObjectComplementOf": (OWL.Class, OWL.complementOf),
    "DataComplementOf": (RDFS.Datatype, OWL.datatypeComplementOf),
}
VALUE_RESTRICTIONS: Final = {
    "ObjectSomeValuesFrom": OWL.someValuesFrom,
    "ObjectAllValuesFrom": OWL.allValuesFrom,
    "ObjectHasValue": OWL.hasValue,
    "DataSomeValuesFrom": OWL.someValuesFrom,
    "DataAllValuesFrom": OWL.allValuesFrom,
    "DataHasValue": OWL.hasValue,
}
CARDINALITIES: Final = {
    # Without and with a qualification, and what the qualification is.
    f"{kind}{name}Cardinality": (OWL[plain], OWL[qualified], filler)
    for kind, filler in (("Object", OWL.onClass), ("Data", OWL.onDataRange))
    for name, plain, qualified in (
        ("Min", "minCardinality", "minQualifiedCardinality"),
        ("Max", "maxCardinality", "maxQualifiedCardinality"),
        ("Exact", "cardinality", "qualifiedCardinality"),
    )
}
BINARY_AXIOMS: Final = {
    "SubClassOf": RDFS.subClassOf,
    "SubDataPropertyOf": RDFS.subPropertyOf,
    "SubAnnotationPropertyOf": RDFS.subPropertyOf,
    "InverseObjectProperties": OWL.inverseOf,
    "ObjectPropertyDomain": RDFS.domain,
    "ObjectPropertyRange": RDFS.range,
    "DataPropertyDomain": RDFS.domain,
    "DataPropertyRange": RDFS.range,
    "AnnotationPropertyDomain": RDFS.domain,
    "AnnotationPropertyRange": RDFS.range,
    "DatatypeDefinition": OWL.equivalentClass,
}
CHAINED_AXIOMS: Final = {
    # Adjacent items are related.
    "EquivalentClasses": OWL.equivalentClass,
    "EquivalentObjectProperties": OWL.equivalentProperty,
    "EquivalentDataProperties": OWL.equivalentProperty,
    "SameIndividual": OWL.sameAs,
}
DISJOINTNESS: Final = {
    # The property for two, and the class for more.
    "DisjointClasses": (OWL.disjointWith, OWL.AllDisjointClasses),
    "DisjointObjectProperties": (OWL.propertyDisjointWith, OWL.AllDisjointProperties),
    "DisjointDataProperties": (OWL.propertyDisjointWith, OWL.AllDisjointProperties),
    "DifferentIndividuals": (OWL.differentFrom, OWL.AllDifferent),
}
CHARACTERISTICS: Final = {
    "FunctionalObjectProperty": OWL.FunctionalProperty,
    "FunctionalDataProperty": OWL.FunctionalProperty,
    "InverseFunctionalObjectProperty": OWL.InverseFunctionalProperty,
    "ReflexiveObjectProperty": OWL.ReflexiveProperty,
    "IrreflexiveObjectProperty": OWL.IrreflexiveProperty,
    "SymmetricObjectProperty": OWL.SymmetricProperty,
    "AsymmetricObjectProperty": OWL.AsymmetricProperty,
    "TransitiveObjectProperty": OWL.TransitiveProperty,
}
NEGATIVE_TARGETS: Final = {
    "NegativeObjectPropertyAssertion": OWL.targetIndividual,
    "NegativeDataPropertyAssertion": OWL.targetValue,
}
ATOMS: Final = {
    # The atoms of SWRL rules: their type, and the property of the first part unless that is an argument.
    "ClassAtom": (SWRL.ClassAtom, SWRL.classPredicate),
    "DataRangeAtom": (SWRL.DataRangeAtom, SWRL.dataRange),
    "ObjectPropertyAtom": (SWRL.IndividualPropertyAtom, SWRL.propertyPredicate),
    "DataPropertyAtom": (SWRL.DatavaluedPropertyAtom, SWRL.propertyPredicate),
    "SameIndividualAtom": (SWRL.SameIndividualAtom, None),
    "DifferentIndividualsAtom": (SWRL.DifferentIndividualsAtom, None),
}


def is_built_in_datatype(iri: IRI) -> bool:
    """Return whether an IRI denotes a datatype of OWL 2, without a declaration."""
    return iri in XSD or iri in _DATATYPES
