"""Estimated numbers of solutions, for the order of joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Node, PatternTerm
from kg_reasoner.sparql.evaluation.pattern_matcher import PatternMatcher
from kg_reasoner.terms import IRI

if TYPE_CHECKING:
    from kg_reasoner.sparql.evaluation.datasets import Dataset

__all__ = ["Estimates"]

UNKNOWN: Final = 1e6
"""The estimate for parts that rdflib evaluates."""

KEPT: Final = 0.3
"""The estimated share of solutions for which a condition is true."""


class Graphs(Protocol):
    """The part of an evaluation that estimates need: its graphs."""

    dataset: Dataset

    def matcher(self, graph: PatternTerm | None) -> PatternMatcher | None: ...


class Estimates:
    """Estimates the number of a pattern's solutions.

    Args:
        graphs: Where patterns are matched.
    """

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs
        self._known: dict[int, tuple[Node, float]] = {}

    def of(self, node: Node) -> float:
        """Return the estimated number of solutions of a pattern."""
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._estimate(node))
        return known[1]

    def _estimate(self, node: Node) -> float:
        if isinstance(node, algebra.Patterns):
            matcher = self._graphs.matcher(node.graph)
            return 0.0 if matcher is None else matcher.estimate(node.triples)
        if isinstance(node, algebra.PathPattern):
            return self._path(node)
        if isinstance(node, algebra.Values):
            return len(node.rows)
        if isinstance(node, algebra.Join):
            return min(map(self.of, node.parts), default=1.0)
        if isinstance(node, algebra.Union):
            return sum(map(self.of, node.parts))
        if isinstance(node, (algebra.LeftJoin, algebra.Minus)):
            return self.of(node.left)
        if isinstance(node, algebra.Service):
            return UNKNOWN
        below = self.of(node.node)
        if isinstance(node, algebra.Filter):
            return below * KEPT ** len(node.conditions)
        if isinstance(node, algebra.EachGraph):
            return below * (len(self._graphs.dataset.names()) if isinstance(node.name, Variable) else 1)
        if isinstance(node, algebra.Group):
            return 1.0 if node.is_whole else below**0.5
        if isinstance(node, algebra.Slice) and node.length is not None:
            return min(below, node.length)
        return below

    def _path(self, node: algebra.PathPattern) -> float:
        """Return a guess: paths from or to a node find few, others at least as many as their longest step."""
        matcher = self._graphs.matcher(node.graph)
        if matcher is None:
            return 0.0
        fixed = sum(not isinstance(term, Variable) for term in (node.start, node.end))
        start, end = Variable("from"), Variable("to")
        steps = [matcher.estimate([(start, property, end)]) for property in _properties(node.path)]
        total = 4.0 * max(steps, default=UNKNOWN)
        return total if not fixed else min(total, 64.0) if fixed == 1 else 1.0


def _properties(path: algebra.Path) -> list[IRI]:
    """Return the properties of a path."""
    if isinstance(path, (algebra.Inverse, algebra.Repeat)):
        return _properties(path.path)
    if isinstance(path, (algebra.Sequence, algebra.Alternative)):
        return [property for each in path.paths for property in _properties(each)]
    return [] if isinstance(path, algebra.Negated) else [path]
