"""Parts of rules with values for their variables."""

from __future__ import annotations

from collections.abc import Mapping

from kg_reasoner.program import Argument, Atom, BodyLiteral, Call, Expression, Filter, Negation, Variable
from kg_reasoner.terms import Term

__all__ = ["ground", "ground_atom"]

Bindings = Mapping[Variable, Term]


def ground(part: BodyLiteral, bindings: Bindings) -> BodyLiteral:
    """A part of a body with values for the variables that have one."""
    if isinstance(part, Atom):
        return ground_atom(part, bindings)
    if isinstance(part, Negation):
        return Negation(ground_atom(part.atom, bindings))
    if isinstance(part, Filter):
        return Filter(_ground_expression(part.expression, bindings))
    return part


def ground_atom(atom: Atom, bindings: Bindings) -> Atom:
    """An atom with values for the variables that have one."""
    terms: list[Argument] = [bindings.get(term, term) if isinstance(term, Variable) else term for term in atom.terms]
    return Atom(atom.predicate, tuple(terms))


def _ground_expression(expression: Expression, bindings: Bindings) -> Expression:
    if isinstance(expression, Call):
        return Call(expression.name, tuple(_ground_expression(argument, bindings) for argument in expression.arguments))
    return bindings.get(expression, expression) if isinstance(expression, Variable) else expression
