"""Restrictions on the variables of a SELECT (sections 11.4, 16.1.2 and 18.2.4.4)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression
from kg_reasoner.sparql.syntax.tokens import Unread

__all__ = ["check_assigned", "check_grouped"]

_Items = list[tuple[Variable, Expression | None]]


def check_assigned(items: _Items, visible: Collection[Variable]) -> None:
    """Check that no variable to which SELECT assigns a value has one.

    Args:
        items: The variables of the SELECT, with the expressions assigned to them.
        visible: The variables of its pattern.

    Raises:
        Unread: One has.
    """
    assigned = [variable for variable, expression in items if expression is not None]
    plain = {variable for variable, expression in items if expression is None}
    if len(set(assigned)) < len(assigned) or any(variable in plain or variable in visible for variable in assigned):
        raise Unread


def check_grouped(items: _Items, keys: Collection[Variable], order: Collection[Expression]) -> None:
    """Check that the variables outside of aggregates are keys, or have been assigned a value before.

    Args:
        items: The variables of the SELECT, with the expressions assigned to them.
        keys: The keys of its groups.
        order: The expressions of ORDER BY, if it has no aggregates, which make samples of the variables.

    Raises:
        Unread: One is not.
    """
    known = set(keys)
    for variable, expression in items:
        used = [variable] if expression is None else _outside(expression)
        if not known.issuperset(used):
            raise Unread
        known.add(variable)
    if not all(known.issuperset(_outside(expression)) for expression in order):
        raise Unread


def _outside(expression: Expression) -> Iterator[Variable]:
    """Yield the variables of an expression that are not in aggregates."""
    if isinstance(expression, Variable):
        yield expression
    elif isinstance(expression, (Call, algebra.Foreign)):
        for argument in expression.arguments:
            yield from _outside(argument)
