"""Changes of the triples of a reasoner since an earlier time, if a single relation has all triples."""

from __future__ import annotations

import numpy as np

from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.classification.derived import SUB, TripleChanges
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.databases.row_marks import RowMarks

__all__ = ["TripleHistory"]


class TripleHistory:
    """Finds the changes of the triples since earlier marks.

    Args:
        core: The reasoner.
    """

    def __init__(self, core: ReasonerCore) -> None:
        self._core = core

    def look(self) -> RowMarks | None:
        """Return marks of the current triples; None if several relations have them, or equal terms are merged."""
        with self._core.reading():
            relation = self._relation()
            return None if relation is None else RowMarks(self._core.engine.database, relation)

    def changes(self, since: RowMarks) -> TripleChanges | None:
        """Return the changes of the triples, and marks of the current ones; None if they are not known.

        Args:
            since: Marks of former triples.
        """
        with self._core.reading():
            relation, database = self._relation(), self._core.engine.database
            if relation is None:
                return None
            now = RowMarks(database, relation)
            rows = since.until(now)
            if rows is None:
                return None
            queries = self._core.queries
            gone, new, explicit = (database.rows_at(relation, numbers) for numbers in rows)
            return TripleChanges(now, queries.seen(gone), queries.seen(new), explicit)

    def inclusions(self, cls: int) -> Ids:
        """Return the inclusions of and in a class that `owl2el` has derived, as pairs; among them, those with anonymous classes."""
        with self._core.reading():
            base = self._core.engine.base
            return np.concatenate([base.matching(SUB, {place: cls}) for place in (0, 1)])

    def _relation(self) -> int | None:
        """Return the relation that has all triples, if there is one."""
        base = self._core.engine.base
        if base.equality.merges or base.catalog.layout.is_split:
            return None
        (relation,) = base.catalog.layout.relations()
        return relation
