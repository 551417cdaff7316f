"""Substitution of values for variables in parts of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kg_reasoner.program import Aggregate, Argument, Atom, Bind, BodyLiteral, Call, Expression, Filter, Negation, Variable
from kg_reasoner.terms import Term

__all__ = ["ground", "ground_aggregate", "ground_atom", "ground_expression"]

Bindings = Mapping[Variable, Term]


def ground(part: BodyLiteral, bindings: Bindings) -> BodyLiteral:
    """Return a part of a body with variables replaced by their values."""
    if isinstance(part, Atom):
        return ground_atom(part, bindings)
    if isinstance(part, Negation):
        return Negation(ground_atom(part.atom, bindings))
    if isinstance(part, Filter):
        return Filter(ground_expression(part.expression, bindings))
    if isinstance(part, Bind):
        return Bind(ground_expression(part.expression, bindings), part.variable)
    return ground_aggregate(part, bindings)


def ground_aggregate(part: Aggregate, bindings: Bindings) -> Aggregate:
    """Return an aggregate with its group variables replaced by their values; its other variables are local."""
    values = {variable: bindings[variable] for variable in part.group if variable in bindings}
    body = tuple(ground(inner, values) for inner in part.body)
    group = tuple(variable for variable in part.group if variable not in values)
    results = (
        replace(binding, argument=None if binding.argument is None else ground_expression(binding.argument, values))
        for binding in part.bindings
    )
    return Aggregate(body, group, tuple(results))


def ground_atom(atom: Atom, bindings: Bindings) -> Atom:
    """Return an atom with variables replaced by their values."""
    terms: list[Argument] = [bindings.get(term, term) if isinstance(term, Variable) else term for term in atom.terms]
    return Atom(atom.predicate, tuple(terms))


def ground_expression(expression: Expression, bindings: Bindings) -> Expression:
    """Return an expression with variables replaced by their values."""
    if isinstance(expression, Call):
        return Call(expression.name, tuple(ground_expression(argument, bindings) for argument in expression.arguments))
    return bindings.get(expression, expression) if isinstance(expression, Variable) else expression
