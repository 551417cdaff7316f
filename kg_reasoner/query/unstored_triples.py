"""Triples that the W3C's rules entail and that are not stored, because they hold of all terms: computed on demand for queries."""

from __future__ import annotations

from collections.abc import Callable

from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.query.identities import Identities
from kg_reasoner.query.literal_triples import LiteralTriples
from kg_reasoner.query.matching import TripleMatcher
from kg_reasoner.storage.arrays import Ids

__all__ = ["UnstoredTriples"]


class UnstoredTriples:
    """Triples about literals, and identities, in the current facts.

    Args:
        catalog: The relations.
        matcher: Finds stored triples. If it is for generalised RDF, literals may be subjects here, too.
        states_identities: Returns whether a rule states identities.

    Attributes:
        identities: That terms are the same as themselves.
    """

    def __init__(self, catalog: RelationCatalog, matcher: TripleMatcher, states_identities: Callable[[], bool]) -> None:
        self._literals = LiteralTriples(catalog, matcher)
        self.identities = Identities(catalog, states_identities, generalised=matcher.generalised)

    def covers(self, property: int | str | None) -> bool:
        """Return whether triples of this property may hold without being stored; variables are None or named."""
        return self._literals.covers(property) or self.identities.covers(property)

    def match(self, subject: int | None, property: int, value: int | None) -> Ids:
        """Return the triples of a property that `covers` accepts, shape (n, 3). They may include stored ones.

        Raises:
            UnsupportedError: There are too many such triples.
        """
        return self._of(property).match(subject, property, value)

    def size(self, property: int) -> float:
        """Return an estimate of the number of triples of a property that `covers` accepts."""
        return self._of(property).size(property)

    def forget(self) -> None:
        """Discard computed values, as facts may have changed."""
        self._literals.forget()

    def _of(self, property: int) -> LiteralTriples | Identities:
        return self._literals if self._literals.covers(property) else self.identities
