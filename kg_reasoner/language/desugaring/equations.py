"""Conditions that stand alone: equations give values where a variable has none, everything else is a FILTER."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.desugaring.members import is_range, members
from kg_reasoner.language.desugaring.structure_patterns import is_pattern, taken_apart
from kg_reasoner.language.surface import Condition, Each, NotAny, Same, SurfaceBody
from kg_reasoner.program import (
    Aggregate,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Expression,
    Filter,
    Variable,
    variables_of,
)

__all__ = ["given_by", "without_conditions"]


def given_by(parts: Sequence[object]) -> set[Variable]:
    """Return the variables that the atoms, BINDs and aggregates of a body bind, and its members of collections."""
    found: set[Variable] = set()
    for part in parts:
        if isinstance(part, Atom | Aggregate):
            found.update(variables_of(part))
        elif isinstance(part, Bind):
            found.add(part.variable)
        elif isinstance(part, Each):
            found.update(variable for variable in part.variables if isinstance(variable, Variable))
    return found


def without_conditions(body: SurfaceBody, context: Context) -> tuple[BodyLiteral | NotAny, ...]:
    """Return a body in which conditions are FILTERs, BINDs, and atoms for the members of collections.

    Each keeps its place. An equation with one variable that nothing else binds is a BIND; of several that could give a variable its
    value, the first does, and the others compare, as do members of ranges.
    """
    bound = given_by([part for part in body if not isinstance(part, Each)])
    results: dict[int, tuple[BodyLiteral, ...]] = {}
    waiting = [place for place, part in enumerate(body) if isinstance(part, Condition | Same | Each)]
    waiting.sort(key=lambda place: is_range(getattr(body[place], "collection", None)))  # ranges last: a bound variable is compared
    while waiting:
        for place in waiting:
            found = _resolved(body[place], bound, _so_far(body, results), context)
            if found is not None:
                results[place] = found
                bound |= given_by(found)
                waiting.remove(place)
                break
        else:  # the checks of the rule say which variable has no value
            results.update((place, (_as_filter(body[place]),)) for place in waiting)
            break
    return tuple(_so_far(body, results))


def _so_far(body: SurfaceBody, results: Mapping[int, tuple[BodyLiteral, ...]]) -> list[Any]:
    """Return a body with results in place of the parts that have some."""
    return [part for place, given in enumerate(body) for part in results.get(place, (given,))]


def _resolved(part: object, bound: set[Variable], body: Sequence[object], context: Context) -> tuple[BodyLiteral, ...] | None:
    """Return the form of a part once the variables that it needs are bound; None before."""
    if isinstance(part, Each):
        return members(part, bound, body, context) if bound.issuperset(variables_of(part.collection)) else None
    if isinstance(part, Same):
        sides: tuple[Expression, Expression] = (part.first, part.second)
    else:
        assert isinstance(part, Condition)
        expression = part.expression
        if not (isinstance(expression, Call) and expression.name == "="):
            return (Filter(expression, part.span),) if bound.issuperset(variables_of(expression)) else None
        sides = expression.arguments[0], expression.arguments[1]
    for pattern, value in (sides, sides[::-1]):
        if is_pattern(pattern) and not bound.issuperset(variables_of(pattern)) and bound.issuperset(variables_of(value)):
            whole = context.variable("value")
            return (Bind(value, whole, part.span), *taken_apart(pattern, whole, context))  # type: ignore[arg-type]  # a call
    for variable, value in (sides, sides[::-1]):
        if isinstance(variable, Variable) and variable not in bound and bound.issuperset(variables_of(value)):
            return (Bind(value, variable, part.span),)
    return (_as_filter(part),) if bound.issuperset((*variables_of(sides[0]), *variables_of(sides[1]))) else None


def _as_filter(part: object) -> Filter:
    if isinstance(part, Same):
        return Filter(Call("SAMETERM", (part.first, part.second), part.span), part.span)
    if isinstance(part, Each):
        return Filter(Call("=", (part.variables[0], part.collection), part.span), part.span)
    assert isinstance(part, Condition)
    return Filter(part.expression, part.span)
