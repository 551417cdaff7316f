"""Facts in relations, as they are stored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kg_reasoner.engine.axiom_rules import AxiomRules
from kg_reasoner.engine.encoding import TripleIds
from kg_reasoner.engine.schema import FEW
from kg_reasoner.planning.catalog import Catalog
from kg_reasoner.program import TRIPLE
from kg_reasoner.query.matching import Which
from kg_reasoner.query.quads import NO_TRIPLES
from kg_reasoner.storage.dictionary import Dictionary, Ids
from kg_reasoner.storage.kernels.layout import EXPLICIT
from kg_reasoner.storage.kernels.memory import grant
from kg_reasoner.storage.relation import Changed, Database

__all__ = ["FactBase"]


class FactBase:
    """Facts in one of the two layouts of triples, as they are stored.

    Args:
        dictionary: what the ids mean.
        axioms: are told of triples that come and go.
        ternary: the layout: one relation for all triples, or one for each property and class.
        claim: is called before a table takes so many bytes; it raises an error if that is too much.
    """

    def __init__(self, dictionary: Dictionary, axioms: AxiomRules, *, ternary: bool, claim: Callable[[int], None] = grant) -> None:
        self.axioms = axioms
        self.database = Database(claim)
        self.catalog = Catalog(dictionary, self.database, ternary=ternary)

    def store(self, predicate: str, ids: Ids, flag: int = EXPLICIT) -> Changed:
        """Insert facts of a predicate as they are (triples only as explicit ones). Says of each whether it is new."""
        if predicate != TRIPLE:
            return self.database.load(self.catalog.predicate(predicate, ids.shape[1]), ids, flag)
        self.axioms.note_change(ids)
        return self.database.load(self.catalog.predicates[TRIPLE], ids) if self.catalog.ternary else self._store_vertically(ids)

    def _store_vertically(self, ids: Ids) -> Changed:
        """Store triples in relations of their properties and classes: relations first, then all triples at once."""
        catalog = self.catalog
        catalog.extend_maps()
        if len(ids) > FEW:
            typed = ids[:, 1] == catalog.type_id
            for column, make, part in ((1, catalog.property, ids[~typed]), (2, catalog.cls, ids[typed])):
                terms, counts = np.unique(part[:, column], return_counts=True)
                for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
                    relation = make(term)
                    if count > 64:
                        self.database.reserve(relation, count)
        else:
            for _, property, value in ids.tolist():
                if property == catalog.type_id:
                    catalog.cls(value)
                else:
                    catalog.property(property)
        return self.database.load_triples(ids)

    def unstore(self, predicate: str, ids: Ids, flag: int = EXPLICIT) -> Changed:
        """Take a flag from facts as they are. Says of each whether it had it."""
        if predicate == TRIPLE:
            self.axioms.note_change(ids)
            if not self.catalog.ternary:
                self.catalog.extend_maps()
                return self.database.retract_triples(ids)
        if predicate not in self.catalog.predicates:
            return np.zeros(len(ids), np.bool_)
        return self.database.retract(self.catalog.predicates[predicate], ids, flag)

    def are_explicit(self, predicate: str, ids: Ids) -> Changed:
        """Of each of some facts, whether it is explicit."""
        if predicate == TRIPLE and not self.catalog.ternary:
            self.catalog.extend_maps()
            return self.database.triples_have_flag(ids)
        relation = self.catalog.predicates.get(predicate)
        return np.zeros(len(ids), np.bool_) if relation is None else self.database.have_flag(relation, ids)

    def triples(self, which: Which) -> TripleIds:
        """The triples there are."""
        catalog, database = self.catalog, self.database
        if catalog.ternary:
            return database.rows(catalog.predicates[TRIPLE], which)
        parts = [NO_TRIPLES]
        for term, relation in catalog.properties.items():
            rows = database.rows(relation, which)
            parts.append(np.stack([rows[:, 0], np.full(len(rows), term, np.int32), rows[:, 1]], axis=1))
        for term, relation in catalog.classes.items():
            rows = database.rows(relation, which)
            kind = np.full(len(rows), catalog.type_id, np.int32)
            parts.append(np.stack([rows[:, 0], kind, np.full(len(rows), term, np.int32)], axis=1))
        return np.concatenate(parts)
