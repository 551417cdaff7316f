"""The interface of operators to each other: a pattern's solutions, as many and with the variables that are needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Protocol

from kg_reasoner.data_classes import dataclass
from kg_reasoner.sparql.algebra import Node, PatternTerm, Service
from kg_reasoner.sparql.evaluation.estimates import Estimates
from kg_reasoner.sparql.evaluation.paths import PathFollower
from kg_reasoner.sparql.evaluation.pattern_matcher import PatternMatcher
from kg_reasoner.sparql.evaluation.report import EvaluationReport
from kg_reasoner.sparql.solutions.expressions import Expressions
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import Table
from kg_reasoner.terms import Term

__all__ = ["ALL", "Evaluator", "Need"]


@dataclass(frozen=True, slots=True)
class Need:
    """The variables and the number of solutions that are needed of a pattern.

    Attributes:
        names: The variables whose values are wanted; None: all.
        enough: A sufficient number of solutions; None: all.
        is_set: Whether repetitions may be omitted.
    """

    names: frozenset[str] | None = None
    enough: int | None = None
    is_set: bool = False

    def with_names(self, names: Iterable[str]) -> Need:
        """Return the need for further variables."""
        return self if self.names is None else replace(self, names=self.names.union(names))

    def whole(self) -> Need:
        """Return the need for all solutions, with their multiplicities."""
        return Need(self.names)


ALL: Final = Need()


class Evaluator(Protocol):
    """The evaluation of a query, as its operators see it."""

    terms: QueryTerms
    expressions: Expressions
    estimates: Estimates
    report: EvaluationReport

    def table(self, node: Node, need: Need = ...) -> Table:
        """Return the solutions of a pattern."""
        ...

    def matcher(self, graph: PatternTerm | None) -> PatternMatcher | None:
        """Return a matcher for the patterns of a graph; None if there is no such graph."""
        ...

    def paths(self, matcher: PatternMatcher) -> PathFollower:
        """Return the evaluator of property paths over a matcher's graph."""
        ...

    def service(self, node: Service, address: Term | None) -> Table:
        """Return the solutions of a SERVICE at an address."""
        ...
