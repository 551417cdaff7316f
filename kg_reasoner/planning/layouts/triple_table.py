"""The triple table: one relation of all triples, for rules with variables for properties or classes that cannot be expanded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from kg_reasoner.planning.layouts.triple_layout import NO_NAMES, Columns, Names, T, TripleLayout, concatenated
from kg_reasoner.program import Atom, Rule
from kg_reasoner.storage.arrays import Flags, Rows, selected_rows
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT, IN_ROW
from kg_reasoner.storage.relations.lookups import Buffer, Which
from kg_reasoner.storage.terms.dictionary import Dictionary

PROPERTY_COLUMN: Final = 1


class TripleTable(TripleLayout):
    """One relation, with a section for each property. See `TripleLayout`."""

    is_split = False

    def __init__(self, dictionary: Dictionary, database: Database) -> None:
        super().__init__(dictionary, database)
        self._table = table = database.add_relation(3, section_column=PROPERTY_COLUMN)
        self.held[table] = -1, -1
        self.store = partial(database.load, table)
        self.retract = partial(database.retract, table)
        self.are_explicit = partial(database.have_flag, table)
        self.joined = concatenated

    def expect(self, blocks: Sequence[Rows]) -> None:
        """See `TripleLayout`."""
        self._database.reserve(self._table, sum(map(len, blocks)))

    # --- relations --------------------------------------------------------------------------------------------------

    def place(self, subject: T, property: T, value: T) -> tuple[int, tuple[T, ...]]:
        return self._table, (subject, property, value)

    find = place

    def is_in_one(self, property: int | str, value: int | str) -> bool:
        return True

    def relations(self, property: int | None = None, cls: int | None = None) -> Collection[int]:
        return self.held

    def columns(self, relation: int, rows: Rows) -> Columns:
        return rows[:, 0], rows[:, 1], rows[:, 2]

    # --- triples ----------------------------------------------------------------------------------------------------

    def match(self, subject: int | None, property: int | None, value: int | None, which: Which, limit: int | None) -> Rows:
        terms = (subject, property, value)
        columns = tuple(column for column, term in enumerate(terms) if term is not None and column != PROPERTY_COLUMN)
        if property is None and not columns:
            every: Rows = self.triples(which)[:limit].copy()
            return every
        if None not in terms:
            there = self.lookups.holds(self._table, [term for term in terms if term is not None], which)
            return np.array([terms] if there else [], np.int32).reshape(-1, 3)
        key = 0
        for column in columns:
            key = (key << 32) | (terms[column] or 0)
        index = self._database.index(self._table, columns, -1 if property is None else property)
        rows = self.lookups.probe(index, key, which)[:, 1]
        record = self._database.relations[self._table]
        table: Rows = np.asarray(record.rows)[: 3 * record.count].reshape(-1, 3).take(rows, axis=0)
        return table

    def surroundings(self, *, forwards: bool, of_classes: bool) -> Mapping[str, Any]:
        """See `TripleLayout`."""
        index = self._database.index(self._table, (0 if forwards else 2,), self._type if of_classes else -1)
        return {
            "properties": Buffer.of([IN_ROW]).array,
            "indexes": Buffer.of([index]).array,
            "property_count": 1,
            "classes": Buffer.of([]).array,
            "class_relations": Buffer.of([]).array,
            "class_count": 0,
        }

    def triples(self, which: Which = "all") -> Rows:
        return self._database.rows(self._table, which)

    def triples_of(self, property: int, cls: int | None = None, which: Which = "all") -> Rows:
        def wanted(properties: Rows, values: Rows) -> Flags:
            chosen: Flags = properties == property
            return chosen if cls is None else chosen & (values == cls)

        return self.select(wanted, which)

    def select(self, wanted: Callable[[Rows, Rows], Flags], which: Which) -> Rows:
        record = self._database.relations[self._table]
        table: Rows = np.asarray(record.rows)[: 3 * record.count].reshape(-1, 3)
        chosen = wanted(table[:, 1], table[:, 2])
        if which != "all" or record.dead:
            looked_at = ABSENT if which == "all" else ABSENT | EXPLICIT
            chosen &= (np.asarray(record.flags)[: len(table)] & looked_at) == (EXPLICIT if which == "explicit" else 0)
        return selected_rows(table, chosen)

    # --- names ------------------------------------------------------------------------------------------------------

    def names_related_by(self, property: int, since: Names = NO_NAMES) -> list[int]:
        rows = self.triples()
        related = np.unique(selected_rows(rows, rows[:, 1] == property)[:, ::2])
        used = np.isin(related, rows[:, 1]) | np.isin(related, rows[rows[:, 1] == self._type, 2])
        return related[used].tolist()

    # --- rules ------------------------------------------------------------------------------------------------------

    def is_open(self, rule: Rule) -> bool:
        return False

    @property
    def names(self) -> Names:
        """See `TripleLayout.names`."""
        return NO_NAMES

    def choices(self, atoms: Collection[Atom], since: Names = NO_NAMES) -> None:
        return None

    def kind(self, relation: int, values: Sequence[int]) -> tuple[int, int, int]:
        if relation != self._table:
            return relation, -1, -1
        return relation, values[1], values[2] if values[1] == self._type else -1
