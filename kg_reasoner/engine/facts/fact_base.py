"""Facts in relations, as stored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kg_reasoner.engine.axioms.axiom_rules import AxiomRules
from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.planning.layouts.triple_layout import TripleLayout
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.matching import Which
from kg_reasoner.storage.arrays import Changed, Ids, TripleIds
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import EXPLICIT
from kg_reasoner.storage.kernels.memory.buffers import grant
from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["FactBase"]


class FactBase:
    """Facts as stored, in one of the two layouts of triples.

    Args:
        dictionary: The dictionary of the ids.
        axioms: Notified of added and removed triples.
        layout: The layout of triples.
        claim: Called with the size in bytes before a table is allocated; raises an error if a limit is exceeded.
    """

    def __init__(
        self, dictionary: Dictionary, axioms: AxiomRules, *, layout: type[TripleLayout], claim: Callable[[int], None] = grant
    ) -> None:
        self.axioms = axioms
        self.database = Database(claim)
        self.catalog = RelationCatalog(dictionary, self.database, layout)
        self._store_triples = self.catalog.layout.store
        self._retract_triples = self.catalog.layout.retract

    def store(self, predicate: str, ids: Ids, flag: int = EXPLICIT) -> Changed:
        """Insert facts of a predicate as they are (triples only as explicit ones). Return whether each is new."""
        if predicate != TRIPLE:
            return self.database.load(self.catalog.predicate(predicate, ids.shape[1]), ids, flag)
        self.axioms.note_change(ids)
        return self._store_triples(ids)

    def unstore(self, predicate: str, ids: Ids, flag: int = EXPLICIT) -> Changed:
        """Remove a flag from facts as they are. Return whether each had it."""
        if predicate == TRIPLE:
            self.axioms.note_change(ids)
            return self._retract_triples(ids)
        if predicate not in self.catalog.predicates:
            return np.zeros(len(ids), np.bool_)
        return self.database.retract(self.catalog.predicates[predicate], ids, flag)

    def are_explicit(self, predicate: str, ids: Ids) -> Changed:
        """Return whether each of some facts is explicit."""
        if predicate == TRIPLE:
            return self.catalog.layout.are_explicit(ids)
        relation = self.catalog.predicates.get(predicate)
        return np.zeros(len(ids), np.bool_) if relation is None else self.database.have_flag(relation, ids)

    def triples(self, which: Which) -> TripleIds:
        """Return the stored triples."""
        return self.catalog.layout.triples(which)
