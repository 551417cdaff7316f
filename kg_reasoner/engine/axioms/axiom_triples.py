"""Finds the triples that may be part of axioms, without a scan of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property

import numpy as np

from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.planning.layouts.triple_layout import NO_NAMES, Names, TripleLayout
from kg_reasoner.query.matching import Which
from kg_reasoner.storage.arrays import NO_TRIPLES, Flags, Ids, among_sorted
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import OWL, RDF, RDFS, Term, term_text

FEW = 16
"""The maximum number of triples to examine one by one, where NumPy is slower."""


class SchemaTriples:
    """Recognises schema triples by the ids of the RDFS and OWL vocabularies (see `schema_vocabulary.is_schema_triple`)."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._name_set: set[int] = set()
        self._name_array: Ids | None = None
        self._named_for: tuple[TripleLayout, Names] | None = None
        """The layout whose names they include, and how many these were."""
        self._plain_classes: set[int] = set()
        """The known classes that are neither blank nodes nor in the vocabularies."""

    @cached_property
    def _vocabulary(self) -> tuple[Ids, Ids, int]:
        """The ids of the properties and classes of the vocabularies, and of rdf:type."""
        properties, classes = _vocabulary_texts()
        ids = self._dictionary.encode_texts([*properties, *classes, term_text(RDF.type)])
        return np.sort(ids[: len(properties)]), np.sort(ids[len(properties) : -1]), int(ids[-1])

    @cached_property
    def same_as(self) -> int:
        """The id of owl:sameAs."""
        return self._dictionary.encode(OWL.sameAs)

    def name(self, terms: Iterable[Term], ids: Iterable[int] = ()) -> bool:
        """Set the classes and properties of the ontology, and some by their ids. Return whether that changes which owl:sameAs
        triples are axioms.
        """
        texts = list(map(term_text, terms))
        names = {*(self._dictionary.encode_texts(texts).tolist() if texts else ()), *ids}
        changed = names != self._name_set
        self._name_set, self._name_array, self._named_for = names, None, None
        return changed

    def rename(self, term: int, is_name: bool) -> None:
        """Set whether a term is a class or property of the ontology."""
        if (term in self._name_set) != is_name:
            (self._name_set.add if is_name else self._name_set.remove)(term)
            self._name_array = None

    @property
    def _names(self) -> Ids:
        """The classes and properties of the ontology."""
        if self._name_array is None:
            self._name_array = np.sort(np.fromiter(self._name_set, np.int32))
        return self._name_array

    def touching(self, ids: Ids) -> Ids:
        """Return those triples, shape (n, 3), that may be part of an axiom. This is faster than `of` for a few triples."""
        if len(ids) > FEW:
            return ids[self.of(ids)]
        properties, classes, type_id, same_as = self._sets
        touching = []
        for row, (subject, property, value) in enumerate(ids.tolist()):
            if property == type_id:
                if value in self._plain_classes:
                    continue
                if value in classes or self._dictionary.is_blank(value):
                    touching.append(row)
                else:
                    self._plain_classes.add(value)
            elif property in properties or (property == same_as and (subject in self._name_set or value in self._name_set)):
                touching.append(row)
        return ids[touching] if touching else NO_TRIPLES

    @cached_property
    def _sets(self) -> tuple[frozenset[int], frozenset[int], int, int]:
        """The vocabulary as sets, to look up single ids."""
        properties, classes, type_id = self._vocabulary
        return frozenset(properties.tolist()), frozenset(classes.tolist()), type_id, self.same_as

    def of(self, ids: Ids) -> Flags:
        """Return whether each triple, shape (n, 3), may be part of an axiom."""
        found = self._have_schema_names(ids[:, 1], ids[:, 2])
        equal = np.flatnonzero(ids[:, 1] == self.same_as)
        found[equal] |= self._touches_names(ids[equal, 0], ids[equal, 2])
        return found

    def _have_schema_names(self, properties: Ids, values: Ids) -> Flags:
        """Return whether triples with these properties and values are about a property or class of the vocabularies, or typed by a
        blank node.
        """
        vocabulary, classes, type_id = self._vocabulary
        found = among_sorted(properties, vocabulary, len(self._dictionary))
        types = np.flatnonzero(properties == type_id)
        of_types = values[types]
        found[types] |= among_sorted(of_types, classes, len(self._dictionary))
        found[types] |= self._dictionary.first_bytes_of(of_types) == ord("_")
        return found

    def _touches_names(self, left: Ids, right: Ids) -> Flags:
        return among_sorted(left, self._names) | among_sorted(right, self._names)

    def equalities(self, catalog: RelationCatalog, which: Which = "all") -> Ids:
        """Return the owl:sameAs triples about classes and properties of the ontology."""
        ids = catalog.layout.triples_of(self.same_as, which=which)
        if len(ids) > FEW:
            return ids[self._touches_names(ids[:, 0], ids[:, 2])]
        return (
            ids[[subject in self._name_set or value in self._name_set for subject, _, value in ids.tolist()]] if len(ids) else ids
        )

    def name_all(self, catalog: RelationCatalog, vocabulary: Callable[[], Iterable[Term]]) -> bool:
        """Set the classes and properties of the ontology and of the data, if an owl:sameAs triple could equate them. Return whether
        there are further ones in data.

        Args:
            catalog: The relations of triples.
            vocabulary: Returns those of the ontology. It is called only if they are not known; later ones are added by `rename`.
        """
        layout, names = catalog.layout, catalog.layout.names
        known = NO_NAMES if self._named_for is None or self._named_for[0] is not layout else self._named_for[1]
        if names != NO_NAMES and known == names:
            return False
        if in_data := layout.names_related_by(self.same_as, known):
            if known == NO_NAMES:
                self.name(vocabulary(), in_data)
            else:
                self._name_set.update(in_data)
                self._name_array = None
            self._named_for = layout, names
        return bool(in_data)

    def rule_labels(self, catalog: RelationCatalog, which: Which) -> Ids:
        """Return the labels of SWRL rules, which are their names."""
        from kg_reasoner.loaders.rules.swrl import SWRL

        rule, label = self._dictionary.encode(SWRL.Imp), self._dictionary.encode(RDFS.label)
        rules = catalog.layout.triples_of(self._vocabulary[2], rule, which)[:, 0]
        if len(rules) == 0:
            return NO_TRIPLES
        labels = catalog.layout.triples_of(label, which=which)
        return labels[np.isin(labels[:, 0], rules)]

    def names_in_data(self, catalog: RelationCatalog) -> list[int]:
        """Return the properties and classes in the data, if an owl:sameAs triple could equate them."""
        return catalog.layout.names_related_by(self.same_as)

    def triples(self, catalog: RelationCatalog, which: Which, equalities: Which) -> Ids:
        """Return the schema triples, shape (n, 3).

        Args:
            catalog: The relations of triples.
            which: All triples, the explicit or the inferred ones.
            equalities: The same for owl:sameAs triples.
        """
        others = catalog.layout.select(self._have_schema_names, which)
        return np.concatenate([self.equalities(catalog, equalities), self.rule_labels(catalog, which), others])

    def inferred(self, catalog: RelationCatalog, patterns: Iterable[tuple[Term, Term | None]]) -> Ids:
        """Return the inferred triples, shape (n, 3), with some properties, and for rdf:type with some classes, but for those that
        always hold (cls-thing, cls-nothing1).
        """
        always = [self._dictionary.encode(cls) for cls in (OWL.Thing, OWL.Nothing)]
        found = [NO_TRIPLES]
        for property, cls in patterns:
            ids = self._dictionary.encode(property), None if cls is None else self._dictionary.encode(cls)
            triples = catalog.layout.triples_of(*ids, which="inferred")
            found.append(triples[~np.isin(triples[:, 0], always)] if cls == OWL.Class else triples)
        return np.concatenate(found)


@cache
def _vocabulary_texts() -> tuple[list[str], list[str]]:
    """Return the texts of the properties and of the classes of the vocabularies."""
    from kg_reasoner.loaders.ontology import owl

    return sorted(map(term_text, owl.SCHEMA_PREDICATES)), sorted(map(term_text, owl.SCHEMA_CLASSES))
