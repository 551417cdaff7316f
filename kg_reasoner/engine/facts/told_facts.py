"""Copies of explicit and stated triples, for rules that distinguish told facts from concluded ones.

See `kg_reasoner.planning.told_rules`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kg_reasoner.planning.catalog import RelationCatalog
from kg_reasoner.planning.told_rules import Told
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT, ROW, STATED

__all__ = ["ToldFacts"]


class ToldFacts:
    """States a copy of each explicit or stated triple of some properties, as a fact of a predicate of the engine.

    Args:
        catalog: The relations.
        database: The same, as stored.

    Attributes:
        fed: The rules for which there are copies at present, as keys: their order is that of the copies' relations.
    """

    def __init__(self, catalog: RelationCatalog, database: Database) -> None:
        self._catalog = catalog
        self._database = database
        self.fed: dict[Told, None] = {}

    def feed(self, wanted: Iterable[Told]) -> None:
        """State copies of the triples that have become explicit or stated since the last update, and retract the copies of triples
        that no longer are.

        Args:
            wanted: The rules that need copies. For those that did not need them before, all such triples are copied.
        """
        chosen = dict.fromkeys(wanted)
        for told in self.fed:
            if told not in chosen:
                self._retract(told, np.concatenate(self._changed(told, everything=True)))
        for told in chosen:
            now, former = self._changed(told, everything=told not in self.fed)
            self._retract(told, former)
            if len(now):
                self._database.load(self._catalog.predicate(told.given(), 2), now, STATED)
        self.fed = chosen

    def _retract(self, told: Told, ends: Ids) -> None:
        """Retract copies."""
        if len(ends):
            self._database.retract(self._catalog.predicate(told.given(), 2), ends, STATED)

    def _changed(self, told: Told, *, everything: bool) -> tuple[Ids, Ids]:
        """Return the subjects and objects of triples that may have become explicit or stated, and of those that no longer are."""
        database, layout = self._database, self._catalog.layout
        property = self._catalog.dictionary.encode(told.property)
        listed = np.concatenate([database.listed("claimed"), database.listed("removed")])
        now, former = [np.empty((0, 2), np.int32)], [np.empty((0, 2), np.int32)]
        for relation in layout.relations(property):
            count = database.relations[relation].count
            new = np.arange(0 if everything else int(database.materialised[relation]), count)
            rows = np.concatenate([new, listed[listed >> 32 == relation] & ROW])
            if not len(rows):
                continue
            subjects, properties, values = layout.columns(relation, database.rows_at(relation, rows))
            if not isinstance(properties, int):
                chosen = properties == property
                rows, subjects, values = rows[chosen], subjects[chosen], values[chosen]  # type: ignore[index]
            ends = np.stack([subjects, values], axis=1)
            flags = database.flags(relation)[rows]
            given = ((flags & (EXPLICIT | STATED)) != 0) & ((flags & ABSENT) == 0)
            now.append(ends[given])
            former.append(ends[~given])
        return np.concatenate(now), np.concatenate(former)
