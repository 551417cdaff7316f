"""Lookup of the triples that match one pattern, in relations and their indexes."""

from __future__ import annotations

import numpy as np

from kg_reasoner.errors import expect_name
from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.storage.arrays import NO_TRIPLES, Ids, selected_rows
from kg_reasoner.storage.relations.lookups import FLAGS, Which

__all__ = ["TripleMatcher", "Which", "check_which"]


def check_which(which: str) -> None:
    """Raise UnknownNameError for an unknown kind of facts."""
    expect_name("kind of facts", which, FLAGS)


class TripleMatcher:
    """Finds triples by any of their terms, in any layout. Terms are ids; None matches every term.

    Facts with a literal as the subject, or with a property that is not an IRI, are not RDF triples and are omitted, unless the
    matcher is for `generalised` RDF. Queries return what is stored, without materialisation.
    """

    def __init__(self, catalog: RelationCatalog, *, generalised: bool = False) -> None:
        self.catalog = catalog
        self.generalised = generalised
        self.database = catalog.database
        self._find = catalog.layout.find
        self._match = catalog.layout.match
        self._holds = catalog.layout.lookups.holds

    def contains(self, subject: int, property: int, value: int, which: Which = "all") -> bool:
        """Return whether a triple holds.

        Args:
            subject: Its id.
            property: Its id.
            value: Its id.
            which: Whether explicit triples, inferred ones or all are looked for.
        """
        relation, values = self._find(subject, property, value)
        return relation >= 0 and self.is_rdf(subject, property) and self._holds(relation, values, which)

    def match(
        self, subject: int | None, property: int | None, value: int | None, which: Which = "all", limit: int | None = None
    ) -> Ids:
        """Return the matching triples as ids, shape (n, 3).

        Args:
            subject: Its id, or None for any.
            property: Its id, or None for any.
            value: Its id, or None for any.
            which: Whether explicit triples, inferred ones or all are looked for.
            limit: At least this number is sufficient; None: all are wanted.
        """
        if not self.is_rdf(subject, property):
            return NO_TRIPLES
        found = self._match(subject, property, value, which, limit)
        if len(found) == 0 or self.generalised or (subject is not None and property is not None):
            return found
        first = self.catalog.dictionary.first_bytes()
        keep = first.take(found[:, 0]) != ord('"')
        if property is None:
            keep &= first.take(found[:, 1]) == ord("<")
        if keep.all():
            return found
        if limit is not None and np.count_nonzero(keep) < limit <= len(found):
            return self.match(subject, property, value, which)
        kept: Ids = selected_rows(found, keep)
        return kept

    def count(self, which: Which = "all") -> int:
        """Return the number of triples."""
        layout, database, first, total = self.catalog.layout, self.database, self.catalog.dictionary.first_bytes(), 0
        for relation in layout.held:
            subjects, properties, _ = layout.columns(relation, database.rows(relation))
            counted = (first.take(subjects) != ord('"')) & (first.take(properties) == ord("<"))
            if which != "all":
                counted &= database.are_explicit(relation) == (which == "explicit")
            total += int(np.count_nonzero(counted))
        return total

    def size(self) -> int:
        """Return an estimate of the number of triples, including those with literals as subjects."""
        return self.database.count(self.catalog.layout.held)

    def is_rdf(self, subject: int | None, property: int | None) -> bool:
        """Return whether RDF triples can have this subject and property."""
        if self.generalised:
            return True
        first = self.catalog.dictionary.first_bytes()
        return (subject is None or bool(first[subject] != ord('"'))) and (property is None or bool(first[property] == ord("<")))
