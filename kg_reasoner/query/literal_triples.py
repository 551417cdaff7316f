"""Triples about literals that the W3C's rules entail and that are not stored: computed on demand for queries.

``owl2rl-full`` derives the part of table 8 of OWL 2 Profiles that rules can use. The rest is computed here:
``?x owl:differentFrom ?y`` for terms with different values; and in generalised RDF, where literals may be subjects, the types of
literals.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.errors import UnsupportedError
from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.planning.layouts.triple_layout import as_triples
from kg_reasoner.query.matching import TripleMatcher
from kg_reasoner.storage.arrays import Ids, unique_rows
from kg_reasoner.terms import OWL, RDF

__all__ = ["LiteralTriples"]

_STATED: Final = "<tag:kg-reasoner:owl2rl/stated>"
"""The predicate of the rule set for the literals that are objects of triples."""

_MOST: Final = 20_000_000
"""The maximum number of pairs of different values to list."""


class LiteralTriples:
    """Types of literals, and differences by their values, in the current facts.

    Args:
        catalog: The relations of facts about literals (see `kg_reasoner.storage.terms.literals`).
        matcher: Finds owl:sameAs triples. If it is for generalised RDF, literals may be subjects here, too.
    """

    def __init__(self, catalog: RelationCatalog, matcher: TripleMatcher) -> None:
        self._catalog = catalog
        self._type = catalog.dictionary.encode(RDF.type)
        self._generalised = matcher.generalised
        self._matcher = matcher
        self._known: Ids | None = None

    def forget(self) -> None:
        """Discard computed values, as facts may have changed."""
        self._known = None

    def covers(self, property: int | str | None) -> bool:
        """Return whether triples of this property may hold without being stored; variables are None or named."""
        if not isinstance(property, int) or _STATED not in self._catalog.predicates:
            return False
        return property == self._different or (self._generalised and property == self._type)

    @property
    def _different(self) -> int:
        return self._catalog.dictionary.find(OWL.differentFrom)

    def match(self, subject: int | None, property: int, value: int | None) -> Ids:
        """Return the triples of a property that `covers` accepts, shape (n, 3). They may include stored ones.

        Raises:
            UnsupportedError: There are too many such triples.
        """
        if property == self._different:
            return self._differences(subject, value)
        return self._types(subject, value)

    def size(self, property: int) -> float:
        """Return an estimate of the number of triples. It is high for differences, so that subjects or objects are bound first."""
        return float(len(self._values())) ** 2 if property == self._different else float(len(self._rows("literal_type")))

    def _types(self, subject: int | None, datatype: int | None) -> Ids:
        rows = self._rows("literal_type")
        if subject is not None:
            rows = rows[rows[:, 0] == subject]
        rows = rows[np.isin(rows[:, 0], self._rows(_STATED)[:, 0])]
        if datatype is None:
            return as_triples(rows[:, 0], self._type, rows[:, 1])
        names = self._matcher.match(datatype, self._catalog.dictionary.find(OWL.sameAs), None)[:, 2]
        members = np.unique(rows[np.isin(rows[:, 1], [datatype, *names.tolist()]), 0])
        return as_triples(members, self._type, datatype)

    def _differences(self, subject: int | None, value: int | None) -> Ids:
        known = self._values()
        left = known if subject is None else known[known[:, 0] == subject]
        right = known if value is None else known[known[:, 0] == value]
        if not self._generalised:
            left = left[self._catalog.dictionary.first_bytes()[left[:, 0]] != ord('"')]
        if len(left) * len(right) > _MOST:
            raise UnsupportedError(
                f"{len(left)} times {len(right)} values are too many to list those that differ",
                hint="name one of the two sides, or ask for something else of it",
            )
        first, second = np.nonzero(left[:, 1][:, None] != right[:, 1][None, :])
        found = as_triples(left[first, 0], self._different, right[second, 0])
        return unique_rows(found) if len(found) else found

    def _values(self) -> Ids:
        """Return the terms that have values, with their values: literals in triples, and terms equal to them. Shape (n, 2)."""
        values = self._known
        if values is None:
            rows = self._rows("literal_value")
            rows = rows[np.isin(rows[:, 0], self._rows(_STATED)[:, 0])]
            same = self._matcher.match(None, self._catalog.dictionary.find(OWL.sameAs), None)[:, [0, 2]]
            same = same[same[:, 0] != same[:, 1]]
            value_of = np.full(len(self._catalog.dictionary), -1, np.int32)
            value_of[rows[:, 0]] = rows[:, 1]
            pairs = [rows, *(np.stack([other, value_of[one]], axis=1) for one, other in (same.T, same.T[::-1]))]
            known = np.concatenate(pairs)
            self._known = values = unique_rows(known[known[:, 1] >= 0])
        return values

    def _rows(self, predicate: str) -> Ids:
        relation = self._catalog.predicates.get(predicate)
        return np.empty((0, 2), np.int32) if relation is None else self._catalog.database.rows(relation)
