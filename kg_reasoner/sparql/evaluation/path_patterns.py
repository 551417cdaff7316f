"""Patterns with property paths, followed from the ends that are known."""

from __future__ import annotations

import numpy as np

from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Path, PathPattern, PatternTerm
from kg_reasoner.sparql.evaluation.operator_interface import Evaluator
from kg_reasoner.sparql.evaluation.paths import Pairs, PathFollower, inverse
from kg_reasoner.sparql.solutions.table import Table
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.grouping import gathered, pair_rows

__all__ = ["PathPatterns"]


class PathPatterns:
    """Matches path patterns.

    Args:
        evaluator: Finds the place of a graph.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def matches(
        self, node: PathPattern, table: Table, nodes: frozenset[str] | set[str] = frozenset(), enough: int | None = None
    ) -> tuple[Numbers, Table]:
        """Return the solutions of a path pattern that are compatible with some solutions.

        Args:
            node: The pattern.
            table: Solutions that bind everywhere those of the pattern's variables that have a column.
            nodes: The variables known to be bound to nodes of the active graph.
            enough: A sufficient number of matches of a solution; by default, all.

        Returns:
            The numbers of the solutions, in order, and the values of the other variables.
        """
        assert not isinstance(node.graph, Variable), "a path in any graph is matched graph by graph"
        matcher = self._evaluator.matcher(node.graph)
        if matcher is None:
            return np.empty(0, np.int64), Table({}, 0)
        follower = self._evaluator.paths(matcher)
        if node.graph is not None:  # the nodes of another graph than the active one
            nodes = frozenset()
        start, end = self._known(node.start, table), self._known(node.end, table)
        if start is not None and (end is None or len(start) <= len(end)):
            pairs = self._pairs(follower, node.path, (node.start, node.end), start, nodes)
        elif end is not None:
            pairs = self._pairs(follower, inverse(node.path), (node.end, node.start), end, nodes).flipped()
        else:
            pairs = follower.pairs(node.path, enough=None if node.start == node.end else enough)
        if node.start == node.end:
            same = pairs.starts == pairs.ends
            pairs = Pairs(pairs.starts[same], pairs.ends[same])
        return self._joined(node, table, pairs)

    def _known(self, term: PatternTerm, table: Table) -> Ids | None:
        """Return the different nodes at an end of the pattern, if they are known."""
        if not isinstance(term, Variable):
            return np.array([self._evaluator.terms.find(term)], np.int32)
        column = table.columns.get(term.name)
        return None if column is None else np.unique(column)

    def _pairs(
        self,
        follower: PathFollower,
        path: Path,
        ends: tuple[PatternTerm, PatternTerm],
        starts: Ids,
        nodes: frozenset[str] | set[str],
    ) -> Pairs:
        """Follow a path from known values of its first end. A path of no steps leads from each node of the graph, and each term of
        the pattern, to itself.
        """
        first, last = ends
        if isinstance(first, Variable) and first.name not in nodes and _can_be_empty(path):
            is_end = follower.are_nodes(starts)
            if not isinstance(last, Variable):
                is_end |= starts == self._evaluator.terms.find(last)
            starts = starts[is_end]
        return follower.pairs(path, starts)

    def _joined(self, node: PathPattern, table: Table, pairs: Pairs) -> tuple[Numbers, Table]:
        """Join pairs with solutions, by the ends that these know."""
        mine: list[Ids] = []
        theirs: list[Ids] = []
        new: dict[str, Ids] = {}
        for term, column in ((node.start, pairs.starts), (node.end, pairs.ends)):
            if not isinstance(term, Variable):
                mine.append(np.full(table.size, self._evaluator.terms.find(term), np.int32))
                theirs.append(column)
            elif term.name in table.columns:
                mine.append(table.columns[term.name])
                theirs.append(column)
            else:
                new[term.name] = column
        left = np.stack(mine, axis=1) if mine else np.empty((table.size, 0), np.int32)
        right = np.stack(theirs, axis=1) if theirs else np.empty((len(pairs), 0), np.int32)
        rows, others = pair_rows(left, right)
        return rows, Table({name: gathered(column, others) for name, column in new.items()}, len(others))


def _can_be_empty(path: Path) -> bool:
    """Return whether a path can have no steps."""
    if isinstance(path, algebra.Repeat):
        return path.least == 0 or _can_be_empty(path.path)
    if isinstance(path, algebra.Alternative):
        return any(map(_can_be_empty, path.paths))
    if isinstance(path, algebra.Sequence):
        return all(map(_can_be_empty, path.paths))
    return isinstance(path, algebra.Inverse) and _can_be_empty(path.path)
