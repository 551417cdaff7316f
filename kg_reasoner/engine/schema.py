"""Which of a reasoner's triples may be part of an ontology's axioms, found without looking at the data."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from kg_reasoner.planning.catalog import Catalog
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.matching import Which
from kg_reasoner.storage.arrays import NO_TRIPLES, Flags, Ids
from kg_reasoner.storage.dictionary import Dictionary
from kg_reasoner.terms import OWL, RDF, RDFS, Term

FEW = 16
"""So many triples are looked at one by one: NumPy would take longer."""


class SchemaTriples:
    """Tells schema triples by the ids of the RDFS and OWL vocabularies (see `loaders.ontology.is_schema_triple`)."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._names: Ids = np.empty(0, np.int32)
        self._name_set: frozenset[int] = frozenset()
        self._plain_classes: set[int] = set()
        """Classes that are neither blank nodes nor of the vocabularies, as far as they have been met."""

    @cached_property
    def _vocabulary(self) -> tuple[Ids, Ids, int, int]:
        """The ids of the properties and classes of the vocabularies, of rdf:type, and of owl:sameAs."""
        from kg_reasoner.loaders.ontology import owl

        encode = self._dictionary.encode
        properties = np.array(sorted(map(encode, owl.SCHEMA_PREDICATES)), np.int32)
        classes = np.array(sorted(map(encode, owl.SCHEMA_CLASSES)), np.int32)
        return properties, classes, encode(RDF.type), encode(OWL.sameAs)

    def name(self, terms: Iterable[Term]) -> bool:
        """Say which classes and properties the ontology names; whether that changes which owl:sameAs are axioms."""
        names = np.array(sorted(map(self._dictionary.encode, terms)), np.int32)
        changed = not np.array_equal(names, self._names)
        self._names, self._name_set = names, frozenset(names.tolist())
        return changed

    def touched_by(self, ids: Ids) -> bool:
        """Whether one of some triples, shape (n, 3), may be part of an axiom. For a few of them, this is quicker than `of`."""
        if len(ids) > FEW:
            return bool(self.of(ids).any())
        properties, classes, type_id, same_as = self._sets
        for subject, property, value in ids.tolist():
            if property == type_id:
                if value not in self._plain_classes:
                    if value in classes or self._dictionary.is_blank(value):
                        return True
                    self._plain_classes.add(value)
            elif property in properties or (property == same_as and (subject in self._name_set or value in self._name_set)):
                return True
        return False

    @cached_property
    def _sets(self) -> tuple[frozenset[int], frozenset[int], int, int]:
        """The vocabulary, for looking up single ids."""
        properties, classes, type_id, same_as = self._vocabulary
        return frozenset(properties.tolist()), frozenset(classes.tolist()), type_id, same_as

    def of(self, ids: Ids) -> Flags:
        """Per triple, shape (n, 3), whether it may be part of an axiom."""
        properties, classes, type_id, same_as = self._vocabulary
        blank = self._dictionary.first_bytes()[ids[:, 2]] == ord("_")
        typed = (ids[:, 1] == type_id) & (blank | np.isin(ids[:, 2], classes))
        return typed | np.isin(ids[:, 1], properties) | ((ids[:, 1] == same_as) & self._touches_names(ids[:, 0], ids[:, 2]))

    def _touches_names(self, left: Ids, right: Ids) -> Flags:
        return np.isin(left, self._names) | np.isin(right, self._names)

    def has_equalities(self, catalog: Catalog) -> bool:
        """Whether there are any owl:sameAs triples (in the ternary layout: whether there may be)."""
        if catalog.ternary:
            return True
        relation = catalog.properties.get(self._vocabulary[3])
        return relation is not None and catalog.database.size(relation) > 0

    def equalities(self, catalog: Catalog, which: Which = "all") -> Ids:
        """The owl:sameAs triples about classes and properties that the ontology names."""
        same_as = self._vocabulary[3]
        if catalog.ternary:
            ids = catalog.database.rows(catalog.predicates[TRIPLE], which)
            ids = ids[ids[:, 1] == same_as]
        elif same_as in catalog.properties:
            rows = catalog.database.rows(catalog.properties[same_as], which)
            ids = _as_triples(rows[:, 0], same_as, rows[:, 1])
        else:
            ids = NO_TRIPLES
        return ids[self._touches_names(ids[:, 0], ids[:, 2])]

    def rule_labels(self, catalog: Catalog, which: Which) -> Ids:
        """The labels of SWRL rules, which are their names."""
        from kg_reasoner.loaders.rules.swrl import SWRL

        rule, label = self._dictionary.encode(SWRL.Imp), self._dictionary.encode(RDFS.label)
        if catalog.ternary:
            ids = catalog.database.rows(catalog.predicates[TRIPLE], which)
            rules = ids[(ids[:, 1] == self._vocabulary[2]) & (ids[:, 2] == rule), 0]
            return ids[(ids[:, 1] == label) & np.isin(ids[:, 0], rules)]
        if rule not in catalog.classes or label not in catalog.properties:
            return NO_TRIPLES
        rows = catalog.database.rows(catalog.properties[label], which)
        rows = rows[np.isin(rows[:, 0], catalog.database.rows(catalog.classes[rule], which)[:, 0])]
        return _as_triples(rows[:, 0], label, rows[:, 1])

    def names_in_data(self, catalog: Catalog) -> list[int]:
        """The properties and classes that data uses, if any owl:sameAs could equate them."""
        if not catalog.ternary:
            return [*catalog.properties, *catalog.classes] if self.has_equalities(catalog) else []
        _, _, type_id, same_as = self._vocabulary
        ids = catalog.database.rows(catalog.predicates[TRIPLE])
        equal = np.unique(ids[ids[:, 1] == same_as][:, [0, 2]])
        used = np.isin(equal, ids[:, 1]) | np.isin(equal, ids[ids[:, 1] == type_id, 2])
        return equal[used].tolist() if len(equal) else []

    def triples(self, catalog: Catalog, which: Which, equalities: Which) -> Ids:
        """The schema triples that are there, shape (n, 3); in the vertical layout without looking at any others.

        `equalities` says which owl:sameAs triples count, `which` the same for all others.
        """
        properties, classes, type_id, _ = self._vocabulary
        if catalog.ternary:
            ids = catalog.database.rows(catalog.predicates[TRIPLE], which)
            return np.concatenate([ids[self.of(ids)], self.rule_labels(catalog, which), self.equalities(catalog, equalities)])
        parts = [self.equalities(catalog, equalities), self.rule_labels(catalog, which)]
        for term in properties.tolist():
            if term in catalog.properties:
                rows = catalog.database.rows(catalog.properties[term], which)
                parts.append(_as_triples(rows[:, 0], term, rows[:, 1]))
        first = self._dictionary.first_bytes()
        known = set(classes.tolist())
        for term, relation in catalog.classes.items():
            if term in known or first[term] == ord("_"):
                parts.append(_as_triples(catalog.database.rows(relation, which)[:, 0], type_id, term))
        return np.concatenate(parts)


def _as_triples(subjects: Ids, predicate: int, objects: Ids | int) -> Ids:
    table = np.empty((len(subjects), 3), np.int32)
    table[:, 0], table[:, 1], table[:, 2] = subjects, predicate, objects
    return table
