"""A graph that is read for constructs: its triples by node, its lists, and the kinds of its names."""

from __future__ import annotations

from collections.abc import Iterable

from kg_reasoner.loaders.syntaxes.vocabulary import is_built_in_datatype
from kg_reasoner.terms import BUILT_IN_ANNOTATIONS, IRI, OWL, RDF, RDFS, BlankNode, Literal, Term, Triple

__all__ = ["RdfGraph"]


class RdfGraph:
    """Some triples. `left` are those that are part of no construct yet, in their order."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.left: dict[Triple, None] = dict.fromkeys(triples)
        self.of_node: dict[Term, list[tuple[Term, Term]]] = {}
        self.types: dict[Term, set[Term]] = {}
        literal_valued: set[Term] = {OWL.topDataProperty, OWL.bottomDataProperty}
        for subject, property, object in self.left:
            self.of_node.setdefault(subject, []).append((property, object))
            if property == RDF.type:
                self.types.setdefault(object, set()).add(subject)
            elif isinstance(object, Literal):
                literal_valued.add(property)
            elif property == RDFS.range and isinstance(object, IRI) and is_built_in_datatype(object):
                literal_valued.add(subject)
        self.datatypes = self.types.get(RDFS.Datatype, set()) | self.types.get(OWL.DataRange, set())
        self._object_properties = self.types.get(OWL.ObjectProperty, set())
        self._annotation_properties = self.types.get(OWL.AnnotationProperty, set()) | BUILT_IN_ANNOTATIONS
        declared = self._object_properties | self._annotation_properties
        self._data_properties = self.types.get(OWL.DatatypeProperty, set()) | (literal_valued - declared)

    def values(self, node: Term, property: Term) -> list[Term]:
        """Return the values of a property."""
        return [object for found, object in self.of_node.get(node, ()) if found == property]

    def use(self, *triples: Triple) -> None:
        """Take note that triples are part of a construct."""
        for triple in triples:
            self.left.pop(triple, None)

    def items(self, head: Term) -> tuple[list[Term], list[Triple]] | None:
        """Return the items of a list and its triples, or None if it is malformed."""
        items: list[Term] = []
        triples: list[Triple] = []
        seen: set[Term] = set()
        node = head
        while node != RDF.nil:
            first, rest = self.values(node, RDF.first), self.values(node, RDF.rest)
            if node in seen or len(first) != 1 or len(rest) != 1 or not isinstance(node, BlankNode):
                return None
            seen.add(node)
            items.append(first[0])
            triples += ((node, RDF.first, first[0]), (node, RDF.rest, rest[0]))
            if (node, RDF.type, RDF.List) in self.left:
                triples.append((node, RDF.type, RDF.List))
            node = rest[0]
        return items, triples

    def is_datatype(self, term: Term) -> bool:
        """Return whether a term denotes a datatype or a data range."""
        return term in self.datatypes or (isinstance(term, IRI) and is_built_in_datatype(term))

    def kind(self, property: Term) -> str:
        """Return the kind of a property: ``Object``, ``Data`` or ``Annotation``."""
        if property in self._object_properties:
            return "Object"
        if property in self._data_properties:
            return "Data"
        return "Annotation" if property in self._annotation_properties else "Object"

    def is_annotation(self, property: Term) -> bool:
        """Return whether a property is one of annotations."""
        return property in self._annotation_properties
