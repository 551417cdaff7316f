"""The solutions of a query: fetched on demand, and completed before the graph changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kg_reasoner.concurrency.readings import CHANGED
from kg_reasoner.errors import ReasonerError
from kg_reasoner.query.matching import Which
from kg_reasoner.query.patterns import AnyPattern, answers
from kg_reasoner.storage.arrays import Ids

if TYPE_CHECKING:
    from kg_reasoner.api.reasoner import Reasoner

FIRST = 4096
"""The number of solutions fetched at first."""

MOST_COMPLETED = 1 << 24
"""The maximal number of solutions, as ids, that a writer fetches for a reader."""

GROWTH = 16
"""The factor by which each later fetch is larger. The query starts again, and known solutions are skipped."""


class LazySolutions:
    """The solutions of a basic graph pattern at the time when the object is made.

    A query under a FILTER with a LIMIT, or under an EXISTS, often needs the first solutions only.
    """

    def __init__(
        self,
        reasoner: Reasoner,
        patterns: Sequence[AnyPattern],
        variables: Sequence[str],
        which: Which = "all",
        first: int | None = FIRST,
    ) -> None:
        self._reasoner = reasoner
        self._query = patterns, variables
        self._which = which
        with reasoner.core.reading(which):
            self._version = reasoner.version
            self._rows, self.is_complete = self._fetch(first if which == "all" else None)
            if not self.is_complete:
                reasoner.engine.readings.add(self)

    def _fetch(self, limit: int | None) -> tuple[Ids, bool]:
        """Return the first solutions, and whether there are no others."""
        patterns, variables = self._query
        rows = answers(self._reasoner, patterns, variables, self._which, limit)[:limit]
        return rows, limit is None or len(rows) < limit

    def complete(self) -> None:
        """Fetch the remaining solutions, unless there are too many: then reading on is an error."""
        if not self.is_complete and self._version == self._reasoner.version:
            self._rows, self.is_complete = self._fetch(MOST_COMPLETED)

    def blocks(self) -> Iterator[Ids]:
        """Yield tables of solutions.

        Raises:
            ReasonerError: The reasoner has changed since the reading began, and the remaining solutions were not fetched before.
        """
        done = 0
        while True:
            is_complete, rows = self.is_complete, self._rows  # in this order: a writer may complete it in between
            if done < len(rows):
                yield rows[done:]
                done = len(rows)
            elif is_complete:
                return
            else:
                with self._reasoner.core.reading(self._which):
                    if not self.is_complete:
                        self._check()
                        self._rows, self.is_complete = self._fetch(GROWTH * len(rows))

    def _check(self) -> None:
        if self._reasoner.version != self._version:
            raise ReasonerError(CHANGED)
