"""Finds the axioms that may not be in OWL 2 EL, without reading the others: an ontology in OWL 2 EL can be large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import OWL, RDF, RDFS, XSD, Term, Triple

__all__ = ["candidates"]

_PREDICATES: Final = tuple(
    OWL[name]
    for name in (
        *("unionOf", "oneOf", "complementOf", "datatypeComplementOf", "allValuesFrom", "disjointUnionOf"),
        *("onDatatype", "onProperties"),
        *("cardinality", "minCardinality", "maxCardinality", "onClass", "onDataRange", "inverseOf", "propertyDisjointWith"),
        *("qualifiedCardinality", "minQualifiedCardinality", "maxQualifiedCardinality"),
    )
)
_CLASSES: Final = tuple(
    OWL[name]
    for name in (
        *("SymmetricProperty", "AsymmetricProperty", "IrreflexiveProperty", "FunctionalProperty", "InverseFunctionalProperty"),
        *("AllDisjointProperties", "DataRange"),
    )
)
_DATATYPES: Final = tuple(
    XSD[name]
    for name in (
        *("boolean", "byte", "double", "float", "int", "language", "long", "negativeInteger", "nonPositiveInteger"),
        *("positiveInteger", "short", "unsignedByte", "unsignedInt", "unsignedLong", "unsignedShort"),
    )
)
_OF_PROPERTIES: Final = (OWL.propertyChainAxiom, RDFS.subPropertyOf, OWL.equivalentProperty, RDFS.range)
_KINDS: Final = (OWL.ObjectProperty, OWL.DatatypeProperty, RDFS.Datatype, OWL.Class)


def candidates(catalog: RelationCatalog, dictionary: Dictionary) -> list[Triple]:
    """Return the explicit triples of the axioms with something that is not in OWL 2 EL, and the declarations of their names.

    Args:
        catalog: The relations of triples.
        dictionary: The terms.
    """
    return list(_Search(catalog, dictionary).triples())


class _Search:
    def __init__(self, catalog: RelationCatalog, dictionary: Dictionary) -> None:
        self._layout = catalog.layout
        self._dictionary = dictionary
        self._found: dict[tuple[int, ...], None] = {}

    def triples(self) -> Iterator[Triple]:
        starts: list[tuple[int, ...]] = []
        for predicate in _PREDICATES:
            starts += self._match(None, predicate, None)
        starts += (row for kind in _CLASSES for row in self._match(None, RDF.type, kind))
        for predicate in (OWL.someValuesFrom, RDFS.range):
            starts += (row for datatype in _DATATYPES for row in self._match(None, predicate, datatype))
        if self._match(None, OWL.propertyChainAxiom, None) and self._match(None, RDFS.range, None):
            starts += (row for predicate in _OF_PROPERTIES for row in self._match(None, predicate, None))
        if not starts:
            return
        self._add(starts)
        kinds = {self._dictionary.find(kind) for kind in _KINDS}
        type_id = self._dictionary.find(RDF.type)
        for name in {term for row in self._found for term in row}:
            self._found.update(dict.fromkeys(row for row in self._rows(name, type_id, None) if row[2] in kinds))
        for row in self._found:
            first, second, third = map(self._dictionary.decode, row)
            yield first, second, third

    def _add(self, rows: Iterable[tuple[int, ...]]) -> None:
        """Add triples, and those that are connected with them by blank nodes."""
        waiting = list(rows)
        seen: set[int] = set()
        while waiting:
            row = waiting.pop()
            self._found[row] = None
            for node in (row[0], row[2]):
                if node not in seen and self._dictionary.is_blank(node):
                    seen.add(node)
                    waiting += (each for each in self._rows(node, None, None) if each not in self._found)
                    waiting += (each for each in self._rows(None, None, node) if each not in self._found)

    def _match(self, subject: Term | None, predicate: Term | None, value: Term | None) -> list[tuple[int, ...]]:
        ids = [None if term is None else self._dictionary.find(term) for term in (subject, predicate, value)]
        return [] if -1 in ids else self._rows(*ids)

    def _rows(self, subject: int | None, predicate: int | None, value: int | None) -> list[tuple[int, ...]]:
        return list(map(tuple, self._layout.match(subject, predicate, value, "explicit", None).tolist()))
