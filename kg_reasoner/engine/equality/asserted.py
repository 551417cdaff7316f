"""The explicit facts about merged terms, as they were asserted.

The engine stores the *normal form* of a fact about merged terms, which several asserted facts may share. This module stores each of
these facts with its normal form, as a row of a relation that no rule uses: the terms of the normal form, then those of the fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kg_reasoner.planning.catalog import INTERNAL, RelationCatalog
from kg_reasoner.storage.arrays import Changed, Flags, Rows, contains, selected_rows, unique_rows
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT

PREFIX = f"{INTERNAL}asserted: "

LOOK_UP = 64
"""The cost of looking up one key, in scanned rows."""


class Asserted:
    """Facts about merged terms and their normal forms, by predicate.

    Rows called *pairs* consist of a normal form and then the fact: shape (n, 2 * arity).
    """

    def __init__(self, catalog: RelationCatalog) -> None:
        self._catalog = catalog
        self._database = catalog.database

    def predicates(self) -> Iterator[str]:
        """Return the predicates that have, or had, facts about merged terms."""
        return (name.removeprefix(PREFIX) for name in list(self._catalog.predicates) if name.startswith(PREFIX))

    def add(self, predicate: str, pairs: Rows) -> Changed:
        """Add facts. Return whether each is new."""
        if len(pairs) == 0:
            return np.zeros(0, bool)
        return self._database.load(self._catalog.predicate(PREFIX + predicate, pairs.shape[1]), pairs)

    def remove(self, predicate: str, pairs: Rows) -> Changed:
        """Remove facts. Return whether each existed."""
        relation = self._relation(predicate)
        if relation is None or len(pairs) == 0:
            return np.zeros(len(pairs), bool)
        return self._database.retract(relation, pairs)

    def release(self, predicate: str) -> None:
        """Discard a predicate without facts, so that it can be used again with another arity."""
        if self._relation(predicate) is not None:
            self._catalog.release(PREFIX + predicate)

    def contain(self, predicate: str, pairs: Rows) -> Flags:
        """Return whether each of some facts is asserted."""
        return self._begin_with(predicate, pairs)

    def are_normal_forms(self, predicate: str, normal_forms: Rows) -> Flags:
        """Return whether each of some facts, shape (n, arity), is the normal form of an asserted fact."""
        return self._begin_with(predicate, normal_forms)

    def matching(self, predicate: str, pattern: Sequence[int | None]) -> Rows:
        """Return the facts with these terms, shape (n, arity). None matches all terms."""
        arity = len(pattern)
        relation = self._relation(predicate)
        if relation is None:
            return np.empty((0, arity), np.int32)
        key = [(arity + column, term) for column, term in enumerate(pattern) if term is not None]
        pairs = self._with_key(relation, *zip(*key, strict=True)) if key else self._database.rows(relation, "explicit")
        return pairs[:, arity:]

    def with_normal_form(self, predicate: str, normal_form: Sequence[int]) -> Rows:
        """Return the facts with a normal form, shape (n, arity)."""
        relation = self._relation(predicate)
        if relation is None:
            return np.empty((0, len(normal_form)), np.int32)
        return self._with_key(relation, range(len(normal_form)), normal_form)[:, len(normal_form) :]

    def others(self, predicate: str, normal_forms: Rows, pairs: Rows) -> Rows:
        """Return the pairs with some normal forms, shape (n, arity), except for some pairs."""
        relation = self._relation(predicate)
        if relation is None or len(normal_forms) == 0:
            return pairs[:0]
        width = normal_forms.shape[1]
        if len(normal_forms) * LOOK_UP < self._database.size(relation):
            found = np.concatenate([self._with_key(relation, range(width), normal_form) for normal_form in normal_forms.tolist()])
        else:
            found = self._database.rows(relation, "explicit")
            found = selected_rows(found, contains(normal_forms, found[:, :width]))
        return found[~contains(pairs, found)]

    def about(self, predicate: str, terms: Rows) -> Rows:
        """Return the pairs of the facts with some of the terms, shape (n,). The predicate is one of `predicates`."""
        relation = self._catalog.predicates[PREFIX + predicate]
        width = self._database.relations[relation].arity
        columns = range(width // 2, width)
        if len(terms) * len(columns) * LOOK_UP < self._database.size(relation):
            found = [self._with_key(relation, (column,), (term,)) for term in terms.tolist() for column in columns]
            return unique_rows(np.concatenate([np.empty((0, width), np.int32), *found]))
        pairs = self._database.rows(relation, "explicit")
        return pairs[np.isin(pairs[:, width // 2 :], terms).any(axis=1)]

    def _begin_with(self, predicate: str, keys: Rows) -> Flags:
        """Return whether some pair begins with each of some keys, shape (n, width)."""
        relation = self._relation(predicate)
        if relation is None or len(keys) == 0:
            return np.zeros(len(keys), bool)
        columns = range(keys.shape[1])
        if len(keys) * LOOK_UP < self._database.size(relation):
            return np.array([len(self._with_key(relation, columns, key)) > 0 for key in keys.tolist()])
        return contains(self._database.rows(relation, "explicit")[:, : len(columns)], keys)

    def _with_key(self, relation: int, columns: Sequence[int], key: Sequence[int]) -> Rows:
        numbers = self._database.matching(relation, columns, key)
        flags = self._database.flags(relation)[numbers]
        return self._database.rows_at(relation, numbers[(flags & (ABSENT | EXPLICIT)) == EXPLICIT])

    def _relation(self, predicate: str) -> int | None:
        return self._catalog.predicates.get(PREFIX + predicate)
