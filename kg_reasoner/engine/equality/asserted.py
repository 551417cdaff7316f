"""The explicit facts about merged terms, as they were asserted.

The engine holds a fact about merged terms in its rewritten form, its *image*, which may stand for several asserted facts. Here each
of them is kept beside its image, as a row of a relation that no rule sees: the terms of the image, then those of the fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kg_reasoner.engine.maintenance.collect import contains
from kg_reasoner.planning.catalog import INTERNAL, Catalog
from kg_reasoner.storage.arrays import Changed, Flags, Rows, unique_rows
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT

PREFIX = f"{INTERNAL}asserted: "

LOOK_UP = 64
"""What looking up one key costs, in rows that are looked through."""


class Asserted:
    """Facts about merged terms and their images, by predicate.

    Wherever rows are said to be *pairs*, they hold an image and then the fact: shape (n, 2 * arity).
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._database = catalog.database

    def predicates(self) -> Iterator[str]:
        """The predicates that have, or had, facts about merged terms."""
        return (name.removeprefix(PREFIX) for name in list(self._catalog.predicates) if name.startswith(PREFIX))

    def add(self, predicate: str, pairs: Rows) -> Changed:
        """Add facts; says of each whether it is new."""
        if len(pairs) == 0:
            return np.zeros(0, bool)
        return self._database.load(self._catalog.predicate(PREFIX + predicate, pairs.shape[1]), pairs)

    def remove(self, predicate: str, pairs: Rows) -> Changed:
        """Remove facts; says of each whether it was there."""
        relation = self._relation(predicate)
        if relation is None or len(pairs) == 0:
            return np.zeros(len(pairs), bool)
        return self._database.retract(relation, pairs)

    def release(self, predicate: str) -> None:
        """Forget a predicate that has no facts: it can come back with another arity."""
        if self._relation(predicate) is not None:
            self._catalog.release(PREFIX + predicate)

    def contain(self, predicate: str, pairs: Rows) -> Flags:
        """Which of some facts are there."""
        return self._begin_with(predicate, pairs)

    def are_images(self, predicate: str, images: Rows) -> Flags:
        """Which of some facts, shape (n, arity), are the image of one that is there."""
        return self._begin_with(predicate, images)

    def matching(self, predicate: str, pattern: Sequence[int | None]) -> Rows:
        """The facts with these terms, None matching all, shape (n, arity)."""
        arity = len(pattern)
        relation = self._relation(predicate)
        if relation is None:
            return np.empty((0, arity), np.int32)
        key = [(arity + column, term) for column, term in enumerate(pattern) if term is not None]
        pairs = self._with_key(relation, *zip(*key, strict=True)) if key else self._database.rows(relation, "explicit")
        return pairs[:, arity:]

    def with_image(self, predicate: str, image: Sequence[int]) -> Rows:
        """The facts that have an image, shape (n, arity)."""
        relation = self._relation(predicate)
        if relation is None:
            return np.empty((0, len(image)), np.int32)
        return self._with_key(relation, range(len(image)), image)[:, len(image) :]

    def others(self, predicate: str, images: Rows, pairs: Rows) -> Rows:
        """The pairs with some images, shape (n, arity), besides some pairs."""
        relation = self._relation(predicate)
        if relation is None or len(images) == 0:
            return pairs[:0]
        width = images.shape[1]
        if len(images) * LOOK_UP < self._database.size(relation):
            found = np.concatenate([self._with_key(relation, range(width), image) for image in images.tolist()])
        else:
            found = self._database.rows(relation, "explicit")
            found = found[contains(images, found[:, :width])]
        return found[~contains(pairs, found)]

    def about(self, predicate: str, terms: Rows) -> Rows:
        """The pairs of the facts in which some of the terms, shape (n,), occur. The predicate is one of `predicates`."""
        relation = self._catalog.predicates[PREFIX + predicate]
        width = self._database.relations[relation].arity
        columns = range(width // 2, width)
        if len(terms) * len(columns) * LOOK_UP < self._database.size(relation):
            found = [self._with_key(relation, (column,), (term,)) for term in terms.tolist() for column in columns]
            return unique_rows(np.concatenate([np.empty((0, width), np.int32), *found]))
        pairs = self._database.rows(relation, "explicit")
        return pairs[np.isin(pairs[:, width // 2 :], terms).any(axis=1)]

    def _begin_with(self, predicate: str, keys: Rows) -> Flags:
        """With which of some keys, shape (n, width), some pair begins."""
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
