"""What evaluation asks of a graph, or of whatever else answers basic graph patterns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from kg_reasoner.program import Variable
from kg_reasoner.sparql.algebra import TriplePattern
from kg_reasoner.sparql.table import Table
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.terms import Term

__all__ = ["PatternMatcher"]


class PatternMatcher(Protocol):
    """Matches basic graph patterns in a graph."""

    method: str | None
    """How the last pattern was matched, if not by the indexes of a graph."""

    def solve(
        self,
        triples: Sequence[TriplePattern],
        wanted: Collection[str] | None = None,
        limit: int | None = None,
        graph: Variable | None = None,
    ) -> Table:
        """Return the solutions of a basic graph pattern, see `kg_reasoner.sparql.matching.Matcher.solve`."""
        ...

    def extends(self, triples: Sequence[TriplePattern], graph: Variable | None = None) -> bool:
        """Return whether solutions can be extended by patterns, see
        `kg_reasoner.sparql.matching.Matcher.extend`."""
        ...

    def extend(
        self,
        table: Table,
        names: Sequence[str],
        triples: Sequence[TriplePattern],
        graph: Variable | None = None,
        wanted: Collection[str] | None = None,
        *,
        once: bool = False,
    ) -> tuple[Numbers, Table]:
        """Return the matches of patterns that agree with solutions, see
        `kg_reasoner.sparql.matching.Matcher.extend`."""
        ...

    def estimate(self, triples: Sequence[TriplePattern], graph: Variable | None = None) -> float:
        """Return an estimate of the number of solutions."""
        ...

    def ids(self, terms: Sequence[Term]) -> Ids:
        """Return the query's ids of terms."""
        ...

    def join_order(self, triples: Sequence[TriplePattern], graph: Variable | None = None) -> Sequence[TriplePattern]:
        """Return patterns in the order in which they are joined."""
        ...
