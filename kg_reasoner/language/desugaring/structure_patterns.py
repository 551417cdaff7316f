"""Patterns of structures: ``Ok(?n)`` and ``TUPLE(?a, 1)`` take a structure apart."""

from __future__ import annotations

from collections.abc import Iterator

from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.program import Bind, Call, Expression, Filter, Variable, variables_of
from kg_reasoner.terms import Literal, literal

__all__ = ["in_pattern", "is_pattern", "pattern_variables", "taken_apart"]

_KINDS = ("TUPLE", "RECORD")


def is_pattern(expression: Expression) -> bool:
    """Return whether an expression is a structure with a variable in it."""
    return isinstance(expression, Call) and expression.name in _KINDS and any(variables_of(expression))


def pattern_variables(expression: Expression) -> Iterator[Variable]:
    """Yield the variables to which a pattern, or a variable alone, gives values."""
    if isinstance(expression, Variable):
        yield expression
    elif isinstance(expression, Call) and expression.name in _KINDS:
        for argument in expression.arguments:
            yield from pattern_variables(argument)


def taken_apart(pattern: Call, value: Variable, context: Context) -> tuple[Bind | Filter, ...]:
    """Return the parts of a body that say that a variable fits a pattern, and give values to the variables of the pattern."""
    parts: list[Bind | Filter] = [Filter(condition, pattern.span) for condition in _has_shape(pattern, value)]
    for member, place in _members(pattern, value):
        if isinstance(member, Variable):
            if not member.name.startswith("_"):
                parts.append(Bind(place, member, pattern.span))
        elif not isinstance(member, Call):
            parts.append(Filter(Call("SAMETERM", (place, member), pattern.span), pattern.span))
        else:
            inner = context.variable("part")
            parts.append(Bind(place, inner, pattern.span))
            parts += taken_apart(member, inner, context) if is_pattern(member) else [Bind(member, inner, pattern.span)]
    return tuple(parts)


def in_pattern(pattern: Expression, value: Expression) -> tuple[list[Expression], dict[Variable, Expression]]:
    """Return the conditions under which a value fits a pattern, and what the variables of the pattern stand for."""
    if isinstance(pattern, Variable):
        return [Call("SAMETERM", (value, value))], {pattern: value}
    if not is_pattern(pattern):
        return [Call("SAMETERM", (value, pattern))], {}
    assert isinstance(pattern, Call)
    conditions, values = _has_shape(pattern, value), {}
    for member, place in _members(pattern, value):
        if isinstance(member, Variable) and member not in values:
            values[member] = place
        else:
            inner, given = in_pattern(values.get(member, member) if isinstance(member, Variable) else member, place)
            conditions += inner
            values |= given
    return conditions, values


def _has_shape(pattern: Call, value: Expression) -> list[Expression]:
    """Return the conditions under which a value is a structure of a pattern's kind and size."""
    span = pattern.span
    if pattern.name == "RECORD":
        size: Expression = literal(len(pattern.arguments) - 1)
        return [Call("IS_RECORD", (value, pattern.arguments[0]), span), Call("=", (Call("SIZE", (value,), span), size), span)]
    kind = Call("=", (Call("STR", (Call("DATATYPE", (value,)),)), Literal("urn:kg-reasoner:tuple")), span)
    return [kind, Call("=", (Call("SIZE", (value,), span), literal(len(pattern.arguments))), span)]


def _members(pattern: Call, value: Expression) -> list[tuple[Expression, Expression]]:
    """Return the members of a pattern, each with the expression of the member of a value."""
    members = pattern.arguments[1:] if pattern.name == "RECORD" else pattern.arguments
    return [(member, Call("ELEMENT", (value, literal(place)), pattern.span)) for place, member in enumerate(members)]
