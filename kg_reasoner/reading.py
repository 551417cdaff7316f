"""Reading the solutions of a query: fetched as far as they are asked for, and to the end before the graph changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kg_reasoner.errors import ReasonerError
from kg_reasoner.matching import Ids, Which
from kg_reasoner.query import AnyPattern, answers

if TYPE_CHECKING:
    from kg_reasoner.reasoner import Reasoner

FIRST = 4096
"""Solutions that are fetched at first."""

GROWTH = 16
"""How many times more are fetched the next time. The query starts anew, and what is known is skipped."""


class Reading:
    """The solutions of a basic graph pattern, as they are when it is made.

    A query under a FILTER with a LIMIT, or under an EXISTS, has often said enough with its first solutions.
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
        self._fetch(first if which == "all" else None)
        self._version = reasoner.version

    def _fetch(self, limit: int | None) -> None:
        patterns, variables = self._query
        self._rows = answers(self._reasoner, patterns, variables, self._which, limit)[:limit]
        self.is_complete = limit is None or len(self._rows) < limit

    def complete(self) -> None:
        """Fetch the rest.

        Raises:
            ReasonerError: the reasoner has changed since the reading began.
        """
        if not self.is_complete:
            self._check()
            self._fetch(None)

    def blocks(self) -> Iterator[Ids]:
        """Tables of solutions, one after the other."""
        done = 0
        while True:
            block = self._rows[done:]
            if len(block) > 0:
                yield block
                done += len(block)
            elif self.is_complete:
                return
            else:
                self._check()
                self._fetch(GROWTH * len(self._rows))

    def _check(self) -> None:
        if self._reasoner.version != self._version:
            raise ReasonerError("the reasoner changed while the solutions of a query were read: make a list of them first")
