"""Substitution of terms for the variables of rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from kg_reasoner.program import Argument, Atom, Bind, BodyLiteral, Call, Expression, Filter, Negation, Variable

__all__ = ["Substitution", "in_atom", "in_expression", "in_part", "in_term", "with_expressions"]

Substitution: TypeAlias = Mapping[Variable, Argument]
"""The constants or variables that replace variables."""


def in_term(term: Argument, values: Substitution) -> Argument:
    """Return the replacement of a term, or the term itself."""
    return values.get(term, term) if isinstance(term, Variable) else term


def in_atom(atom: Atom, values: Substitution) -> Atom:
    """Return an atom with variables replaced."""
    terms = tuple([values.get(term, term) if isinstance(term, Variable) else term for term in atom.terms])
    return atom if terms == atom.terms else Atom(atom.predicate, terms, atom.span)


def in_expression(expression: Expression, values: Substitution) -> Expression:
    """Return an expression with variables replaced."""
    if isinstance(expression, Call):
        arguments = tuple([in_expression(argument, values) for argument in expression.arguments])
        return Call(expression.name, arguments, expression.span, expression.definition)
    return in_term(expression, values)


def with_expressions(expression: Expression, values: Mapping[Variable, Expression]) -> Expression:
    """Return an expression with expressions in place of variables."""
    if isinstance(expression, Call):
        arguments = tuple(with_expressions(argument, values) for argument in expression.arguments)
        return Call(expression.name, arguments, expression.span, expression.definition)
    return values.get(expression, expression) if isinstance(expression, Variable) else expression


def in_part(part: BodyLiteral, values: Substitution) -> BodyLiteral:
    """Return a part of a body with variables replaced. An AGGREGATE, whose variables are its own, is unchanged.

    The BIND of a variable that a constant replaces becomes the condition that it gives this value.

    >>> x, y = Variable("x"), Variable("y")
    >>> in_part(Bind(Call("STR", (x,)), y), {y: x})
    Bind(expression=Call(name='STR', arguments=(Variable(name='x'),)), variable=Variable(name='x'))
    """
    if isinstance(part, Atom):
        return in_atom(part, values)
    if isinstance(part, Negation):
        return Negation(in_atom(part.atom, values), part.span)
    if isinstance(part, Filter):
        return Filter(in_expression(part.expression, values), part.span)
    if isinstance(part, Bind):
        expression, value = in_expression(part.expression, values), values.get(part.variable, part.variable)
        if isinstance(value, Variable):
            return Bind(expression, value, part.span)
        return Filter(Call("SAMETERM", (expression, value)), part.span)
    return part
