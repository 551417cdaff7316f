"""Identities: each term of a triple is the same as itself (eq-ref). They are computed for queries where they are not stored.

``owl2rl-full`` derives it only where rules can use it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.planning.layouts.triple_layout import as_triples
from kg_reasoner.query.matching import TripleMatcher
from kg_reasoner.storage.arrays import NO_TRIPLES, Ids
from kg_reasoner.terms import OWL

__all__ = ["Identities"]

_ASKED_FOR: Final = "<tag:kg-reasoner:owl2rl/asks_for_identity>"
"""The predicate of the rule set that has a fact where identities are derived."""


class Identities:
    """The triples ``?x owl:sameAs ?x`` of all terms in the current facts.

    Args:
        catalog: The relations.
        are_stated: Returns whether a rule states them.
        generalised: Whether literals may be subjects.
    """

    def __init__(self, catalog: RelationCatalog, are_stated: Callable[[], bool], *, generalised: bool) -> None:
        self._catalog, self._are_stated = catalog, are_stated
        self._matcher = TripleMatcher(catalog, generalised=True)
        self._generalised = generalised

    def covers(self, property: int | str | None) -> bool:
        """Return whether triples of this property may hold without being stored; variables are None or named."""
        relation = self._catalog.predicates.get(_ASKED_FOR)
        if relation is None or not isinstance(property, int) or property != self._catalog.dictionary.find(OWL.sameAs):
            return False
        return self._catalog.database.size(relation) == 0 and self._are_stated()

    def match(self, subject: int | None, property: int, value: int | None) -> Ids:
        """Return the triples of owl:sameAs that relate a term to itself, shape (n, 3). They may include stored ones."""
        if subject is None and value is None:
            terms = self._terms(property)
        else:
            term = value if subject is None else subject
            if term is None or value not in (None, term) or not self._occurs(term, property):
                return NO_TRIPLES
            terms = np.array([term], np.int32)
        return self.of(terms, property)

    def of(self, terms: Ids, property: int) -> Ids:
        """Return the triples of owl:sameAs that relate some terms, each of which is given once and occurs, to themselves."""
        if not self._generalised:
            terms = terms[self._catalog.dictionary.first_bytes()[terms] != ord('"')]
        return as_triples(terms, property, terms)

    def size(self, property: int) -> float:
        """Return an estimate of the number of triples."""
        return float(len(self._catalog.dictionary))

    def _occurs(self, term: int, same_as: int) -> bool:
        """Return whether a term occurs in some triple, as owl:sameAs does if there are triples."""
        if term == same_as:
            return self._matcher.size() > 0
        places = (term, None, None), (None, None, term), (None, term, None)
        return any(len(self._matcher.match(s, p, o, limit=1)) > 0 for s, p, o in places)

    def _terms(self, same_as: int) -> Ids:
        """Return the terms of all triples, and owl:sameAs."""
        layout, database = self._catalog.layout, self._catalog.database
        occurs = np.zeros(len(self._catalog.dictionary), np.bool_)
        for relation in layout.held:
            rows = database.rows(relation)
            if len(rows):
                occurs[same_as] = True
                for column in layout.columns(relation, rows):
                    occurs[column] = True
        return np.flatnonzero(occurs).astype(np.int32)
