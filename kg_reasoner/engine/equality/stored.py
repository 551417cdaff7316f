"""Stored facts about terms, and stored equalities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kg_reasoner.engine.equality.cliques import Cliques
from kg_reasoner.expressions.given_relations import LITERAL_PREDICATES
from kg_reasoner.planning.catalog import INTERNAL, RelationCatalog, is_shown
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.matching import TripleMatcher, Which
from kg_reasoner.storage.arrays import Ids, Rows, unique_rows
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT, STATED
from kg_reasoner.terms import OWL

FEW_TERMS = 64
"""The maximum number of terms whose facts are looked up; for more terms, all facts are scanned."""


def flag_of(predicate: str) -> int:
    """Return the flag of facts that are not derived. Facts about literals are stated by the engine."""
    return STATED if predicate in LITERAL_PREDICATES else EXPLICIT


class StoredFacts:
    """The facts in the relations of a catalog, as stored."""

    def __init__(self, catalog: RelationCatalog, cliques: Cliques) -> None:
        self._catalog = catalog
        self._database = catalog.database
        self._layout = catalog.layout
        self._cliques = cliques
        self._matcher = TripleMatcher(catalog, generalised=True)
        self._same_as = catalog.dictionary.encode(OWL.sameAs)
        self._looked_at, self._numbering = 0, (-1, 0)

    # --- facts about terms ------------------------------------------------------------------------------------------

    def about(self, terms: Ids, explicit: bool) -> dict[str, Rows]:
        """Return the stored facts with some terms, by predicate: all that changes show, or those that are not derived."""
        if len(terms) == 0:
            return {}
        which: Which = "explicit" if explicit else "all"
        if len(terms) <= FEW_TERMS:
            match = self._matcher.match
            parts = [
                (match(t, None, None, which), match(None, t, None, which), match(None, None, t, which)) for t in terms.tolist()
            ]
            triples = np.concatenate([part for three in parts for part in three])
        else:
            triples = self._matcher.match(None, None, None, which)
            triples = triples[np.isin(triples, terms).any(axis=1)]
        found = {TRIPLE: unique_rows(triples)}
        for predicate, relation in list(self._catalog.predicates.items()):
            if predicate.startswith(INTERNAL) or not (explicit or is_shown(predicate)):
                continue
            found[predicate] = self._rows_about(predicate, relation, terms, flag_of(predicate) if explicit else 0)
        return {predicate: facts for predicate, facts in found.items() if len(facts)}

    def _rows_about(self, predicate: str, relation: int, terms: Ids, flag: int) -> Rows:
        """Return the facts of a general predicate with some terms."""
        database = self._database
        columns = (0,) if predicate in LITERAL_PREDICATES else range(database.relations[relation].arity)
        if len(terms) <= FEW_TERMS:
            found = [database.matching(relation, (column,), (term,)) for term in terms.tolist() for column in columns]
            numbers = np.unique(np.concatenate([np.empty(0, np.int32), *found]))
        else:
            rows = database.rows_at(relation, np.arange(len(database.flags(relation))))
            numbers = np.flatnonzero(np.isin(rows[:, list(columns)], terms).any(axis=1))
        flags = database.flags(relation)[numbers]
        return database.rows_at(relation, numbers[(flags & (ABSENT | flag)) == flag])

    # --- equal terms ------------------------------------------------------------------------------------------------

    def new_equalities(self, flag: int) -> Rows:
        """Return the pairs of different equal terms in new rows with a flag (0: all)."""
        relation = self._equalities()
        if relation is None:
            return np.empty((0, 2), np.int32)
        first = self._looked_at if self._numbering == self._numbers(relation) else 0
        flags = self._database.flags(relation)[first:]
        numbers = first + np.flatnonzero((flags & (ABSENT | flag)) == flag)
        pairs = self._pairs(relation, numbers)
        return pairs[pairs[:, 0] != pairs[:, 1]]

    def equal_in(self, facts: npt.NDArray[np.int64]) -> Rows:
        """Return the pairs of equal terms in some facts, each given as ``relation << 32 | row``."""
        relation = self._equalities()
        if relation is None:
            return np.empty((0, 2), np.int32)
        return self._pairs(relation, facts[facts >> 32 == relation] & 0xFFFFFFFF)

    def note_looked_at(self) -> None:
        """Mark all existing rows as old."""
        relation = self._equalities()
        if relation is None:
            self._looked_at = 0
        else:
            self._looked_at, self._numbering = len(self._database.flags(relation)), self._numbers(relation)

    def _numbers(self, relation: int) -> tuple[int, int]:
        """Return a key that changes when the equalities get other row numbers."""
        return relation, self._database.renumbered[relation]

    def _equalities(self) -> int | None:
        """Return the relation with the equalities."""
        return next(iter(self._layout.relations(self._cliques.of_term(self._same_as))), None)

    def _pairs(self, relation: int, numbers: Ids | npt.NDArray[np.int64]) -> Rows:
        """Return the pairs of equal terms in some rows of the relation with the equalities."""
        if len(numbers) == 0:
            return np.empty((0, 2), np.int32)
        triples = self._layout.triples_in(relation, self._database.rows_at(relation, numbers))
        return triples[triples[:, 1] == self._cliques.of_term(self._same_as)][:, [0, 2]]
