"""Constructs to triples, by the mapping of OWL 2 to RDF graphs (W3C, OWL 2 Mapping to RDF Graphs, section 2)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from kg_reasoner.loaders.rules.swrl import SWRL
from kg_reasoner.loaders.syntaxes import vocabulary as tables
from kg_reasoner.loaders.syntaxes.constructs import Construct, Part
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, Term, Triple

__all__ = ["RdfMapping"]

_TRUE: Final = Literal("true", XSD.boolean.value)


class RdfMapping:
    """The mapping of one document. `fresh` makes labels of blank nodes that the document does not have.

    Constructs are taken as they are: `kg_reasoner.loaders.syntaxes.constructs.check` finds those that are malformed.
    """

    def __init__(self, fresh: Callable[[], str]) -> None:
        self._label = fresh
        self._ontology: Term | None = None
        self._out: list[Triple] = []

    def triples(self, construct: Construct) -> list[Triple]:
        """Return the triples of an ontology, an import, an annotation of the ontology, or an axiom."""
        self._out = []
        if construct.name == "Annotation":
            self._annotation(self._ontology_node(), construct)
        else:
            for triple in _AXIOMS[construct.name](self, construct):
                self._out.append(triple)
                if construct.annotations:
                    self._annotate(self._reified(triple, OWL.Axiom), construct)
        return self._out

    # ---- building blocks

    def _add(self, subject: Term, predicate: Term, object: Term) -> None:
        self._out.append((subject, predicate, object))

    def _fresh(self) -> BlankNode:
        return BlankNode(self._label())

    def _list(self, terms: Iterable[Term]) -> Term:
        head: Term = RDF.nil
        for term in reversed(list(terms)):
            node = self._fresh()
            self._add(node, RDF.first, term)
            self._add(node, RDF.rest, head)
            head = node
        return head

    def _terms(self, parts: Iterable[Part]) -> list[Any]:
        return [self._term(part) if isinstance(part, Construct) else part for part in parts]

    def _term(self, whole: Construct) -> Term:
        """Return the term that stands for an expression, after adding the triples of the expression.

        The expressions inside it come first. The function is not recursive, so expressions may be nested to any depth.
        """
        waiting: list[tuple[Construct, list[Any]]] = [(whole, [])]
        while True:
            construct, terms = waiting[-1]
            if len(terms) < len(construct.parts):
                part = construct.parts[len(terms)]
                if isinstance(part, Construct):
                    waiting.append((part, []))
                else:
                    terms.append(part)
                continue
            waiting.pop()
            term = _EXPRESSIONS[construct.name](self, construct.name, terms)
            if not waiting:
                return term
            waiting[-1][1].append(term)

    # ---- the ontology and its annotations

    def _ontology_node(self) -> Term:
        if self._ontology is None:
            self._ontology = self._fresh()
            self._add(self._ontology, RDF.type, OWL.Ontology)
        return self._ontology

    def _begin(self, construct: Construct) -> list[Triple]:
        iris: list[Any] = list(construct.parts)
        self._ontology = iris[0] if iris else self._fresh()
        versions = [(self._ontology, OWL.versionIRI, version) for version in iris[1:]]
        return [(self._ontology, RDF.type, OWL.Ontology), *versions]

    def _import(self, construct: Construct) -> list[Triple]:
        return [(self._ontology_node(), OWL.imports, *self._terms(construct.parts))]

    def _annotation(self, subject: Term, annotation: Construct) -> None:
        """Add an annotation of a subject, with the annotations of that annotation, and so on."""
        waiting = [(subject, annotation)]
        while waiting:
            subject, annotation = waiting.pop()
            property, value = self._terms(annotation.parts)
            self._add(subject, property, value)
            if annotation.annotations:
                node = self._reified((subject, property, value), OWL.Annotation)
                waiting += ((node, each) for each in reversed(annotation.annotations))

    def _annotate(self, node: Term, construct: Construct) -> None:
        for annotation in construct.annotations:
            self._annotation(node, annotation)

    def _reified(self, triple: Triple, kind: IRI) -> Term:
        """Return a node that reifies a triple."""
        node = self._fresh()
        self._add(node, RDF.type, kind)
        for property, term in zip((OWL.annotatedSource, OWL.annotatedProperty, OWL.annotatedTarget), triple, strict=True):
            self._add(node, property, term)
        return node

    # ---- expressions

    def _same(self, name: str, terms: list[Any]) -> Term:
        term: Term = terms[0]
        return term

    def _inverse(self, name: str, terms: list[Any]) -> Term:
        node = self._fresh()
        self._add(node, OWL.inverseOf, terms[0])
        return node

    def _nary_expression(self, name: str, terms: list[Any]) -> Term:
        kind, property = tables.NARY_EXPRESSIONS[name]
        node = self._fresh()
        self._add(node, RDF.type, kind)
        self._add(node, property, self._list(terms))
        return node

    def _complement(self, name: str, terms: list[Any]) -> Term:
        kind, property = tables.COMPLEMENTS[name]
        node = self._fresh()
        self._add(node, RDF.type, kind)
        self._add(node, property, terms[0])
        return node

    def _datatype_restriction(self, name: str, terms: list[Any]) -> Term:
        node = self._fresh()
        self._add(node, RDF.type, RDFS.Datatype)
        self._add(node, OWL.onDatatype, terms[0])
        self._add(node, OWL.withRestrictions, self._list(terms[1:]))
        return node

    def _facet(self, name: str, terms: list[Any]) -> Term:
        node = self._fresh()
        self._add(node, terms[0], terms[1])
        return node

    def _restriction(self, properties: list[Term]) -> Term:
        node = self._fresh()
        self._add(node, RDF.type, OWL.Restriction)
        if len(properties) == 1:
            self._add(node, OWL.onProperty, properties[0])
        else:
            self._add(node, OWL.onProperties, self._list(properties))
        return node

    def _value_restriction(self, name: str, terms: list[Any]) -> Term:
        node = self._restriction(terms[:-1])
        self._add(node, tables.VALUE_RESTRICTIONS[name], terms[-1])
        return node

    def _has_self(self, name: str, terms: list[Any]) -> Term:
        node = self._restriction(terms)
        self._add(node, OWL.hasSelf, _TRUE)
        return node

    def _cardinality(self, name: str, terms: list[Any]) -> Term:
        number, property, *qualification = terms
        plain, qualified, filler = tables.CARDINALITIES[name]
        node = self._restriction([property])
        self._add(node, qualified if qualification else plain, Literal(str(number), XSD.nonNegativeInteger.value))
        for term in qualification:
            self._add(node, filler, term)
        return node

    # ---- axioms: the triples that annotations are about; the others are added

    def _declaration(self, construct: Construct) -> list[Triple]:
        (entity,) = construct.parts
        assert isinstance(entity, Construct)
        return [(*self._terms(entity.parts), RDF.type, tables.ENTITIES[entity.name])]

    def _binary_axiom(self, construct: Construct) -> list[Triple]:
        subject, object = self._terms(construct.parts)
        return [(subject, tables.BINARY_AXIOMS[construct.name], object)]

    def _sub_property(self, construct: Construct) -> list[Triple]:
        sub, sup = construct.parts
        if isinstance(sub, Construct) and sub.name == "ObjectPropertyChain":
            (term,) = self._terms([sup])
            return [(term, OWL.propertyChainAxiom, self._list(self._terms(sub.parts)))]
        first, second = self._terms(construct.parts)
        return [(first, RDFS.subPropertyOf, second)]

    def _chained_axiom(self, construct: Construct) -> list[Triple]:
        property = tables.CHAINED_AXIOMS[construct.name]
        return [(one, property, next_one) for one, next_one in itertools.pairwise(self._terms(construct.parts))]

    def _disjointness(self, construct: Construct) -> list[Triple]:
        terms = self._terms(construct.parts)
        property, kind = tables.DISJOINTNESS[construct.name]
        if len(terms) == 2:
            return [(terms[0], property, terms[1])]
        node = self._fresh()
        self._add(node, RDF.type, kind)
        self._add(node, OWL.members, self._list(terms))
        self._annotate(node, construct)
        return []

    def _disjoint_union(self, construct: Construct) -> list[Triple]:
        union, *members = self._terms(construct.parts)
        return [(union, OWL.disjointUnionOf, self._list(members))]

    def _characteristic(self, construct: Construct) -> list[Triple]:
        return [(*self._terms(construct.parts), RDF.type, tables.CHARACTERISTICS[construct.name])]

    def _has_key(self, construct: Construct) -> list[Triple]:
        keyed, *lists = construct.parts
        properties = [property for part in lists if isinstance(part, Construct) for property in part.parts]
        (cls,) = self._terms([keyed])
        return [(cls, OWL.hasKey, self._list(self._terms(properties)))]

    def _class_assertion(self, construct: Construct) -> list[Triple]:
        cls, individual = self._terms(construct.parts)
        return [(individual, RDF.type, cls)]

    def _property_assertion(self, construct: Construct) -> list[Triple]:
        property, subject, object = construct.parts
        if isinstance(property, Construct):  # an inverse
            property, subject, object = property.parts[0], object, subject
        term, one, other = self._terms([property, subject, object])
        return [(one, term, other)]

    def _negative_assertion(self, construct: Construct) -> list[Triple]:
        property, subject, object = self._terms(construct.parts)
        node = self._fresh()
        self._add(node, RDF.type, OWL.NegativePropertyAssertion)
        self._add(node, OWL.sourceIndividual, subject)
        self._add(node, OWL.assertionProperty, property)
        self._add(node, tables.NEGATIVE_TARGETS[construct.name], object)
        self._annotate(node, construct)
        return []

    # ---- SWRL rules

    def _rule(self, construct: Construct) -> list[Triple]:
        node = self._fresh()
        self._add(node, RDF.type, SWRL.Imp)
        for part in construct.parts:
            assert isinstance(part, Construct)
            self._add(node, SWRL[part.name.lower()], self._list(self._terms(part.parts)))
        self._annotate(node, construct)
        return []

    def _atom(self, name: str, terms: list[Any]) -> Term:
        kind, predicate = tables.ATOMS[name]
        node = self._fresh()
        self._add(node, RDF.type, kind)
        if predicate is not None:
            self._add(node, predicate, terms.pop(0))
        for place, term in enumerate(terms, start=1):
            self._add(node, SWRL[f"argument{place}"], term)
        return node

    def _builtin_atom(self, name: str, terms: list[Any]) -> Term:
        node = self._fresh()
        self._add(node, RDF.type, SWRL.BuiltinAtom)
        self._add(node, SWRL.builtin, terms[0])
        self._add(node, SWRL.arguments, self._list(terms[1:]))
        return node

    def _variable(self, name: str, terms: list[Any]) -> Term:
        variable: Term = terms[0]
        self._add(variable, RDF.type, SWRL.Variable)
        return variable


_Expression: TypeAlias = Callable[[RdfMapping, str, list[Any]], Term]
_Axiom: TypeAlias = Callable[[RdfMapping, Construct], list[Triple]]

_EXPRESSIONS: Final[dict[str, _Expression]] = {
    **dict.fromkeys(tables.ENTITIES, RdfMapping._same),
    "Variable": RdfMapping._variable,
    "ObjectInverseOf": RdfMapping._inverse,
    **dict.fromkeys(tables.NARY_EXPRESSIONS, RdfMapping._nary_expression),
    **dict.fromkeys(tables.COMPLEMENTS, RdfMapping._complement),
    "DatatypeRestriction": RdfMapping._datatype_restriction,
    "FacetRestriction": RdfMapping._facet,
    **dict.fromkeys(tables.VALUE_RESTRICTIONS, RdfMapping._value_restriction),
    "ObjectHasSelf": RdfMapping._has_self,
    **dict.fromkeys(tables.CARDINALITIES, RdfMapping._cardinality),
    **dict.fromkeys(tables.ATOMS, RdfMapping._atom),
    "BuiltInAtom": RdfMapping._builtin_atom,
}
"""The constructs that stand for a term, and how."""

_AXIOMS: Final[dict[str, _Axiom]] = {
    "Ontology": RdfMapping._begin,
    "Import": RdfMapping._import,
    "Declaration": RdfMapping._declaration,
    **dict.fromkeys(tables.BINARY_AXIOMS, RdfMapping._binary_axiom),
    "SubObjectPropertyOf": RdfMapping._sub_property,
    **dict.fromkeys(tables.CHAINED_AXIOMS, RdfMapping._chained_axiom),
    **dict.fromkeys(tables.DISJOINTNESS, RdfMapping._disjointness),
    "DisjointUnion": RdfMapping._disjoint_union,
    **dict.fromkeys(tables.CHARACTERISTICS, RdfMapping._characteristic),
    "HasKey": RdfMapping._has_key,
    "ClassAssertion": RdfMapping._class_assertion,
    "ObjectPropertyAssertion": RdfMapping._property_assertion,
    "DataPropertyAssertion": RdfMapping._property_assertion,
    "AnnotationAssertion": RdfMapping._property_assertion,
    **dict.fromkeys(tables.NEGATIVE_TARGETS, RdfMapping._negative_assertion),
    "DLSafeRule": RdfMapping._rule,
}
"""The constructs of documents, and the triples that their annotations are about."""
