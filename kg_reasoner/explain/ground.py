"""Substitution of values for variables in parts of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kg_reasoner.program import Aggregate, Bind, BodyLiteral, Variable
from kg_reasoner.substitution import in_expression, in_part
from kg_reasoner.terms import Term

__all__ = ["ground", "ground_aggregate"]

Bindings = Mapping[Variable, Term]


def ground(part: BodyLiteral, bindings: Bindings) -> BodyLiteral:
    """Return a part of a body with its bound variables replaced by their values, except for the variable of a BIND."""
    if isinstance(part, Bind):
        return Bind(in_expression(part.expression, bindings), part.variable)
    return ground_aggregate(part, bindings) if isinstance(part, Aggregate) else in_part(part, bindings)


def ground_aggregate(part: Aggregate, bindings: Bindings) -> Aggregate:
    """Return an aggregate with its group variables replaced by their values; its other variables are local."""
    values = {variable: bindings[variable] for variable in part.group if variable in bindings}
    body = tuple(ground(inner, values) for inner in part.body)
    group = tuple(variable for variable in part.group if variable not in values)
    results = (
        replace(binding, argument=None if binding.argument is None else in_expression(binding.argument, values))
        for binding in part.bindings
    )
    return Aggregate(body, group, tuple(results))
