"""Monotonicity: the change of expressions and conditions when the values of variables improve.

A trend is `DOWN`, `UP`, or 0 for what does not change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from kg_reasoner.errors import Span
from kg_reasoner.program import Call, Expression, Variable, variables_of
from kg_reasoner.terms import IRI, Term

__all__ = ["DOWN", "UP", "NotMonotoneError", "Trends", "check_condition", "trend_of"]

DOWN: Final = -1
UP: Final = 1

Trends: TypeAlias = Mapping[Variable, int]
"""The trends of variables; those of all others are 0."""

_ROUNDING: Final = ("CEIL", "FLOOR", "ROUND")
_LOWER_LEFT: Final = ("<", "<=")
_LOWER_RIGHT: Final = (">", ">=")


class NotMonotoneError(Exception):
    """The result may change in either direction, or become false."""

    def __init__(self, reason: str, span: Span | None) -> None:
        super().__init__(reason)
        self.span = span


def trend_of(expression: Expression, trends: Trends) -> int:
    """Return the trend of an expression.

    >>> from kg_reasoner.terms import literal
    >>> cost = Variable("c")
    >>> trend_of(Call("-", (literal(10), cost)), {cost: DOWN})
    1

    Raises:
        NotMonotoneError: It has none.
    """
    if isinstance(expression, Variable):
        return trends.get(expression, 0)
    if not isinstance(expression, Call) or not _has_trend(expression, trends):
        return 0
    name, arguments = expression.name, expression.arguments
    if name in ("+", "-"):
        left, right = trend_of(arguments[0], trends), trend_of(arguments[1], trends)
        return _common(left, right if name == "+" else -right, expression)
    if name == "neg":
        return -trend_of(arguments[0], trends)
    if name in ("*", "/"):
        factor, other = arguments[1], arguments[0]
        if _has_trend(factor, trends) and name == "*":
            factor, other = other, factor
        sign = 0 if _has_trend(factor, trends) else _sign(factor)
        if sign == 0:
            what = "multiplied by" if name == "*" else "divided by"
            raise NotMonotoneError(
                f"a value is {what} something whose sign is not known: use a constant or ABS(...)", expression.span
            )
        return sign * trend_of(other, trends)
    if name in _ROUNDING:
        return trend_of(arguments[0], trends)
    raise NotMonotoneError(f"{name} does not preserve the order of values", expression.span)


def check_condition(condition: Expression, trends: Trends, span: Span | None) -> bool:
    """Check that a condition stays true along the trends. Return whether it depends on a variable with a trend.

    Raises:
        NotMonotoneError: It may become false.
    """
    if not _has_trend(condition, trends):
        return False
    if isinstance(condition, Call) and condition.name in ("&&", "||"):
        for part in condition.arguments:
            check_condition(part, trends, span)
        return True
    if isinstance(condition, Call) and condition.name in (*_LOWER_LEFT, *_LOWER_RIGHT):
        left, right = (trend_of(side, trends) for side in condition.arguments)
        if condition.name in _LOWER_RIGHT:
            left, right = right, left
        if left != UP and right != DOWN:
            return True
    raise NotMonotoneError(
        "a better value can make its FILTER false", (condition.span if isinstance(condition, Call) else None) or span
    )


def _has_trend(expression: Expression, trends: Trends) -> bool:
    return any(trends.get(variable) for variable in variables_of(expression))


def _common(left: int, right: int, expression: Call) -> int:
    if left and right and left != right:
        raise NotMonotoneError("an expression has values that improve in different directions", expression.span)
    return left or right


def _sign(expression: Expression) -> int:
    """Return the sign of an expression, as far as its form shows it: 1 (also if it is never negative), -1, or 0."""
    if isinstance(expression, Call):
        if expression.name in ("ABS", "STRLEN"):
            return 1
        if expression.name in ("+", "*") and all(_sign(argument) == 1 for argument in expression.arguments):
            return 1
        return -_sign(expression.arguments[0]) if expression.name == "neg" else 0
    if isinstance(expression, Variable | IRI):
        return 0
    return _sign_of(expression)


def _sign_of(term: Term) -> int:
    from kg_reasoner.expressions.functions.numbers import number_of

    number = number_of(term)
    return 0 if number is None or number != number else 1 if number >= 0 else -1
