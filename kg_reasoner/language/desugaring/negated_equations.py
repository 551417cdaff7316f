"""Equations in the body of NOT that give values to its own variables: ``NOT (?k = ?m % 7, ?k > 5)`` is a condition on ``?m``."""

from __future__ import annotations

from collections.abc import Callable, Collection

from kg_reasoner.language.surface import Condition, Same, SurfaceBody
from kg_reasoner.program import Call, Expression, Filter, Variable, variables_of
from kg_reasoner.substitution import with_expressions

__all__ = ["sides_of", "with_values_in_place"]


def sides_of(part: object) -> tuple[Expression, Expression] | None:
    """Return the sides of an equation."""
    if isinstance(part, Same):
        return part.first, part.second
    if isinstance(part, Condition) and isinstance(part.expression, Call) and part.expression.name == "=":
        return part.expression.arguments[0], part.expression.arguments[1]
    return None


def with_values_in_place(
    body: SurfaceBody, bound: Collection[Variable], bound_by: Callable[[SurfaceBody], set[Variable]]
) -> SurfaceBody:
    """Return a body of conditions only, with values in place of the variables that its equations give them to.

    Other bodies are returned as they are. Where a value is an error, the body has no solution.

    Args:
        body: The body.
        bound: The variables that have values around it.
        bound_by: Returns the variables that a body binds.
    """
    values: dict[Variable, Expression] = {}
    rest = body
    while (found := _next_value(rest, {*bound, *values}, bound_by)) is not None:
        variable, value, rest = found
        values[variable] = with_expressions(value, values)
    conditions = [part.expression for part in rest if isinstance(part, Condition | Filter)]
    if not values or len(conditions) < len(rest):
        return body
    computed = (Call("SAMETERM", (value, value)) for value in values.values())
    return tuple(map(Condition, (*computed, *(with_expressions(condition, values) for condition in conditions))))


def _next_value(
    body: SurfaceBody, known: Collection[Variable], bound_by: Callable[[SurfaceBody], set[Variable]]
) -> tuple[Variable, Expression, SurfaceBody] | None:
    """Return a variable to which an equation gives a value, this value, and the other parts."""
    for place, part in enumerate(body):
        sides, others = sides_of(part), (*body[:place], *body[place + 1 :])
        for variable, value in () if sides is None else (sides, sides[::-1]):
            is_new = isinstance(variable, Variable) and variable not in known and variable not in bound_by(others)
            if is_new and set(known).issuperset(variables_of(value)):
                assert isinstance(variable, Variable)
                return variable, value, others
    return None
