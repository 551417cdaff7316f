"""The interface of graphs, and of anything else that answers basic graph patterns, for evaluation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the reasoner imports this module, and not all of SPARQL
    from kg_reasoner.sparql.algebra import TriplePattern
    from kg_reasoner.sparql.solutions.table import Table
    from kg_reasoner.storage.arrays import Ids, Numbers
    from kg_reasoner.terms import Term

__all__ = ["PatternMatcher"]


class PatternMatcher(Protocol):
    """Matches basic graph patterns in a graph, or in any graph for which a variable stands.

    A class that derives from it defines `solve`, `estimate` and `ids`, and the other methods where it can do better.
    """

    method: str | None
    """The method by which the last pattern was matched, if not by the indexes of a graph."""

    def solve(
        self,
        triples: Sequence[TriplePattern],
        wanted: Collection[str] | None = None,
        limit: int | None = None,
        *,
        is_set: bool = False,
    ) -> Table:
        """Return the solutions of a basic graph pattern.

        Args:
            triples: The patterns.
            wanted: The variables whose values are wanted; by default, all. The number of solutions does not depend on it.
            limit: A sufficient number of solutions; there may be more.
            is_set: Whether repetitions may be omitted.
        """
        ...

    def extends(self, triples: Sequence[TriplePattern]) -> bool:
        """Return whether solutions can be extended by patterns, see `extend`."""
        return False

    def extend(
        self,
        table: Table,
        names: Sequence[str],
        triples: Sequence[TriplePattern],
        wanted: Collection[str] | None = None,
        *,
        once: bool = False,
    ) -> tuple[Numbers, Table]:
        """Return the matches of patterns that agree with solutions: for each, the number of the solution, and the other variables.

        Args:
            table: The solutions.
            names: Variables that all of them bind, and that occur in the patterns.
            triples: The patterns.
            wanted: The variables whose values are wanted; by default, all.
            once: Whether one match of each solution is sufficient.
        """
        raise TypeError("this matcher does not extend solutions")

    def reached(self, triple: TriplePattern, start: int) -> Ids | None:
        """Return the nodes that a repeated step leads to, each once; None: steps are found by `extend`.

        Args:
            triple: The pattern of a step, from the variable ``from`` to the variable ``to``.
            start: The node at which it starts.
        """
        return None

    def counts(self, triple: TriplePattern) -> tuple[Ids, Numbers] | None:
        """Return the properties of the matches of a pattern of three variables, and how many matches each has; None if the matches
        have to be found.
        """
        return None

    def estimate(self, triples: Sequence[TriplePattern]) -> float:
        """Return an estimate of the number of solutions."""
        ...

    def ids(self, terms: Sequence[Term]) -> Ids:
        """Return the query's ids of terms."""
        ...

    def join_order(self, triples: Sequence[TriplePattern]) -> Sequence[TriplePattern]:
        """Return patterns in the order in which they are joined, as far as that is known in advance."""
        return triples
