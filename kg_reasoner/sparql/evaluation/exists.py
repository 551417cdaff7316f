"""EXISTS: for which solutions a pattern, with their values in the place of variables, has a solution (18.6, ``exists``).

Usually this is a semi-join: the pattern is followed from the solutions, or evaluated once. Operators that cannot remove all
solutions (OPTIONAL, BIND, DISTINCT) are omitted, the parts of a UNION are tried one after the other, and conditions in nested
groups that see outer variables are evaluated after the join. Where the values of outer variables can still be seen otherwise (by
MINUS or an aggregate, say), the pattern is evaluated for each different combination of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node
from kg_reasoner.sparql.evaluation.extending import Extending
from kg_reasoner.sparql.evaluation.operator_interface import Evaluator, Need
from kg_reasoner.sparql.scope import certain, in_scope, mentioned, names_in
from kg_reasoner.sparql.solutions.table import Table
from kg_reasoner.sparql.solutions.table_joins import is_among, merged
from kg_reasoner.sparql.substitute import substitute
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
    return _found(evaluator, extending, node, different)[labels]


def _found(evaluator: Evaluator, extending: Extending, node: Node, table: Table) -> Flags:
    """Return for which of some different solutions a pattern has a compatible one."""
    conditions, inner = _conditions(node, table)
    if _is_join(inner, set(table.columns)):
        return _joined(evaluator, extending, inner, conditions, table)
    if isinstance(inner, algebra.Union):
        found = np.zeros(table.size, np.bool_)
        for part in inner.parts:
            rest = np.flatnonzero(~found)
            if len(rest):
                whole = algebra.Filter(tuple(conditions), part) if conditions else part
                found[rest] = _found(evaluator, extending, whole, table.take(rest))
        return found
    evaluator.report.note(node, "for each combination of outer values")
    return _one_by_one(evaluator, node, table)


def _conditions(node: Node, table: Table) -> tuple[Sequence[Expression], Node]:
    """Return conditions and a pattern of which some solution meets these exactly where the whole pattern has a solution."""
    conditions: list[Expression] = []
    while True:
        inner, further = _outermost(node, names_in(conditions), table)
        if inner is node:
            return conditions, node
        conditions += further
        node = inner


def _outermost(node: Node, used: frozenset[str], table: Table) -> tuple[Node, Sequence[Expression]]:
    """Return a pattern without its outermost operator, if that cannot remove all solutions, and conditions to be met instead of it.

    Args:
        node: The pattern.
        used: The variables in conditions around it.
        table: The outer solutions.
    """
    if isinstance(node, algebra.Filter):
        return node.node, node.conditions
    if isinstance(node, algebra.LeftJoin):
        sure = _names(certain(node.left))
        return (node, ()) if used & _names(in_scope(node.right)) - sure else (node.left, ())
    if isinstance(node, algebra.Extend):
        return (node, ()) if node.variable.name in used or node.variable.name in table.columns else (node.node, ())
    if isinstance(node, (algebra.Distinct, algebra.OrderBy)):
        return node.node, ()
    if isinstance(node, algebra.Slice) and node.start == 0 and node.length != 0:
        return (node, ()) if used & _names(in_scope(node)) else (node.node, ())
    if isinstance(node, algebra.Project):
        local = _names(mentioned(node.node)) - _names(node.variables)
        return (node, ()) if local & (used | table.columns.keys()) else (node.node, ())
    if isinstance(node, algebra.Join):
        return _without_conditions(node, table)
    return node, ()


def _without_conditions(node: algebra.Join, table: Table) -> tuple[Node, Sequence[Expression]]:
    """Return a join without the conditions of its parts that see outer variables, where these mean the same after the join."""
    parts, moved = list[Node](), list[Expression]()
    for part in node.parts:
        if isinstance(part, algebra.Filter) and not _is_join(part, set(table.columns)):
            others = {name for other in node.parts if other is not part for name in _names(in_scope(other))}
            same = _names(certain(part.node)) | {name for name in table.columns if table.is_bound_everywhere(name)}
            free = [condition for condition in part.conditions if names_in([condition]) & others <= same]
            kept = tuple(condition for condition in part.conditions if condition not in free)
            part = algebra.Filter(kept, part.node) if kept else part.node
            moved += free
        parts.append(part)
    return (algebra.Join(tuple(parts)), moved) if moved else (node, ())


def _names(variables: Iterable[Variable]) -> frozenset[str]:
    return frozenset(variable.name for variable in variables)


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
    """Return a mask of the solutions with a match for which the conditions on both hold."""
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
