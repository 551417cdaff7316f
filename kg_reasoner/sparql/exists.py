"""EXISTS: for which solutions a pattern, with their values in the place of variables, has a solution (18.6, ``exists``).

Usually this is a semi-join: the pattern is followed from the solutions, or evaluated once. Where the values of outer variables can
be seen inside the pattern otherwise than by a join (in a FILTER of an OPTIONAL in it, say), it is evaluated for each different
combination of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node
from kg_reasoner.sparql.contract import Evaluator, Need
from kg_reasoner.sparql.extending import Extending
from kg_reasoner.sparql.joins import is_among, merged
from kg_reasoner.sparql.scope import certain, in_scope, mentioned, names_in
from kg_reasoner.sparql.substitution import substitute
from kg_reasoner.sparql.table import Table
from kg_reasoner.storage.arrays import Flags
from kg_reasoner.storage.grouping import group_rows

__all__ = ["exists"]


def exists(evaluator: Evaluator, extending: Extending, node: Node, table: Table) -> Flags:
    """Return for which solutions a pattern has a compatible solution.

    Args:
        evaluator: Evaluates patterns.
        extending: Joins tables with patterns.
        node: The pattern.
        table: The solutions.
    """
    outer = [variable.name for variable in mentioned(node) if variable.name in table.columns]
    labels, firsts = group_rows(table.matrix(outer))
    if not len(labels):
        return np.zeros(table.size, np.bool_)
    different = table.project(outer).take(firsts)
    conditions, inner = _conditions(node)
    if _is_join(inner, set(outer)):
        found = _joined(evaluator, extending, inner, conditions, different)
    else:
        evaluator.report.note(node, "for each combination of outer values")
        found = _one_by_one(evaluator, node, different)
    return found[labels]


def _conditions(node: Node) -> tuple[Sequence[Expression], Node]:
    """Return the conditions of the filters around a pattern, and what is inside."""
    conditions: list[Expression] = []
    while isinstance(node, algebra.Filter):
        conditions += node.conditions
        node = node.node
    return conditions, node


def _is_join(node: Node, outer: set[str]) -> bool:
    """Return whether substitution into a pattern gives what a join with its solutions gives."""
    if isinstance(node, (algebra.Patterns, algebra.PathPattern, algebra.Values)):
        return True
    if isinstance(node, (algebra.Join, algebra.Union)):
        return all(_is_join(part, outer) for part in node.parts)
    if isinstance(node, algebra.Filter):
        sure = {variable.name for variable in certain(node.node)}
        return names_in(node.conditions) & outer <= sure and _is_join(node.node, outer)
    if isinstance(node, algebra.EachGraph):
        return _is_join(node.node, outer)
    inside = {variable.name for variable in mentioned(node)}
    return not inside & outer


def _joined(evaluator: Evaluator, extending: Extending, node: Node, conditions: Sequence[Expression], table: Table) -> Flags:
    """Return which solutions have a match, of which conditions hold that see both."""
    if not conditions and not any(variable.name in table.columns for variable in in_scope(node)):
        is_there = evaluator.table(node, Need(frozenset(), enough=1)).size > 0
        return np.full(table.size, is_there, np.bool_)
    rows, right = extending.matches(table, node, Need(names_in(conditions), is_set=True))
    if conditions:
        whole = merged(table, right, rows, np.arange(right.size))
        rows = rows[evaluator.expressions.all_hold(conditions, whole)]
    return is_among(rows, table.size)


def _one_by_one(evaluator: Evaluator, node: Node, table: Table) -> Flags:
    """Return for which solutions a pattern has a solution after substitution."""
    names = list(table.columns)
    found = np.zeros(table.size, np.bool_)
    for row in range(table.size):
        values = evaluator.terms.terms([int(table.columns[name][row]) for name in names])
        bindings = {Variable(name): term for name, term in zip(names, values, strict=True) if term is not None}
        found[row] = evaluator.table(substitute(node, bindings), Need(enough=1)).size > 0
    return found
