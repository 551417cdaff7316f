"""Expressions: variables, the functional forms of section 17.4.1, EXISTS, and aggregates over a group's solutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kg_reasoner.terms import IRI, XSD, Literal, Term, literal

from . import ast
from .aggregates import aggregate
from .functions import FUNCTIONS
from .notes import COUNT_OF_ERRORS, EMPTY_LIST, TEXTS_OF_OTHERS, of_operands, of_texts, of_truth
from .values import ExpressionError, equal, truth

Solution = Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression sees.

    Attributes:
        bindings: The values of the variables.
        exists: Whether a group has a solution when the bindings are substituted in it.
        members: The solutions of the group over which aggregates are computed, or None.
        notes: Gets what the specification leaves open.
    """

    bindings: Solution
    exists: Callable[[ast.Group, Solution], bool]
    members: Sequence[Solution] | None = None
    notes: set[str] = field(default_factory=set)


def value(expression: ast.Expression, scope: Scope) -> Term:
    """Return the value of an expression.

    Raises:
        ExpressionError: It has none.
    """
    match expression:
        case ast.Var(name):
            if name not in scope.bindings:
                raise ExpressionError(f"?{name} is not bound")
            return scope.bindings[name]
        case ast.Exists(group, negated):
            return literal(scope.exists(group, scope.bindings) != negated)
        case ast.Aggregate():
            return _aggregate(expression, scope)
        case ast.Call(name, arguments):
            return _call(name, arguments, scope)
        case _:
            return expression


def value_or_none(expression: ast.Expression, scope: Scope) -> Term | None:
    """Return the value of an expression, or None if it has none."""
    try:
        return value(expression, scope)
    except ExpressionError:
        return None


def holds(expression: ast.Expression, scope: Scope) -> bool:
    """Return whether a condition is true; an error is not."""
    return _truth(expression, scope) is True


def _truth(expression: ast.Expression, scope: Scope) -> bool | None:
    """The effective boolean value of an expression; None is an error."""
    try:
        return _truth_of(value(expression, scope), scope)
    except ExpressionError:
        return None


def _truth_of(term: Term, scope: Scope) -> bool:
    scope.notes.update(of_truth(term))
    return truth(term)


def _decided(result: bool | None) -> Term:
    if result is None:
        raise ExpressionError("neither true nor false")
    return literal(result)


def _call(name: str | IRI, arguments: Sequence[ast.Expression], scope: Scope) -> Term:
    match name, arguments:
        case "||", _:
            truths = {_truth(argument, scope) for argument in arguments}
            return _decided(True if True in truths else None if None in truths else False)
        case "&&", _:
            truths = {_truth(argument, scope) for argument in arguments}
            return _decided(False if False in truths else None if None in truths else True)
        case "!", (argument,):
            return literal(not _truth_of(value(argument, scope), scope))
        case "BOUND", (ast.Var(variable),):
            return literal(variable in scope.bindings)
        case "IF", (condition, then, otherwise):
            return value(then if _truth_of(value(condition, scope), scope) else otherwise, scope)
        case "COALESCE", _:
            for argument in arguments:
                found = value_or_none(argument, scope)
                if found is not None:
                    return found
            raise ExpressionError("all arguments are errors")
        case "IN", (first, *rest):
            return _is_in(first, rest, scope)
        case "NOT IN", (first, *rest):
            return literal(_is_in(first, rest, scope) != literal(True))
        case (("+" | "-"), (argument,)):
            return FUNCTIONS[f"unary {name}"](value(argument, scope))
    values = [value(argument, scope) for argument in arguments]
    scope.notes.update(of_operands(name, values))
    return FUNCTIONS[name](*values)


def _is_in(first: ast.Expression, rest: Sequence[ast.Expression], scope: Scope) -> Term:
    """Whether a value is in a list: ``a IN (b, c)`` is ``a = b || a = c``, also where `a` is an error, unless the list is empty."""
    if not rest:
        scope.notes.add(EMPTY_LIST)
    results: set[bool | None] = set()
    for other in rest:
        try:
            results.add(equal(value(first, scope), value(other, scope)))
        except ExpressionError:
            results.add(None)
    return _decided(True if True in results else None if None in results else False)


def _aggregate(expression: ast.Aggregate, scope: Scope) -> Term:
    if scope.members is None:
        raise TypeError("an aggregate without a group")
    if expression.argument is None:
        members = [frozenset(member.items()) for member in scope.members]
        return literal(len(set(members) if expression.distinct else members))
    values = [value_or_none(expression.argument, Scope(member, scope.exists, notes=scope.notes)) for member in scope.members]
    if expression.distinct:
        values = list(dict.fromkeys(values))
    if expression.name == "COUNT" and None in values and not isinstance(expression.argument, ast.Var):
        scope.notes.add(COUNT_OF_ERRORS)
    if expression.name == "GROUP_CONCAT":
        if not all(term is None or (isinstance(term, Literal) and term.datatype == XSD.string.value) for term in values):
            scope.notes.add(TEXTS_OF_OTHERS)
        scope.notes.update(of_texts(values))
    return aggregate(expression.name, values, expression.separator, scope.notes)
