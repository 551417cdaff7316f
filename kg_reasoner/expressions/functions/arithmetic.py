"""Arithmetic with SPARQL's promotion of types: integer, decimal, float, double (SPARQL 1.1 Query, section 17.3); the operators also
calculate with dates, times and durations (see `time_arithmetic`).

Sums, differences and products of integers and decimals are exact. A quotient of two of them is a decimal, cut after `PLACES`
decimal places if it goes on; dividing by zero is an error there, and infinite for floats and doubles.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, DecimalException
from typing import Any, Final

from kg_reasoner.expressions.functions import time_arithmetic
from kg_reasoner.expressions.functions.kinds import NUMBER, OPERAND, Function
from kg_reasoner.expressions.functions.numbers import (
    DIGITS,
    EXACT,
    PLACES,
    Number,
    Single,
    exactly,
    to_float,
    to_single,
    too_large,
)
from kg_reasoner.expressions.functions.operands import Operand

__all__ = ["FUNCTIONS", "WIDE", "add", "divide", "inexactly", "multiply"]

_SCALE: Final = 10**PLACES
_HALF: Final = Decimal("0.5")
WIDE: Final = Context(prec=2 * DIGITS, Emin=-2 * DIGITS, Emax=2 * DIGITS)
"""Arithmetic on decimals with places for all digits of a quotient's integer part."""


def inexactly(operation: Callable[[float, float], float], a: Number, b: Number) -> Number:
    """Return the operation on doubles if one of the numbers is a double, and on floats otherwise."""
    if type(a) is float or type(b) is float:
        return operation(to_float(a), to_float(b))
    return Single(operation(to_single(a), to_single(b)))


def _operator(
    on_numbers: Callable[[Any, Any], Any], on_decimals: Callable[[Any, Any], Decimal], on_times: Callable[[Operand, Operand], Any]
) -> Callable[[Any, Any], Any]:
    def apply(a: Operand, b: Operand) -> Operand | None:
        if isinstance(a, int) and isinstance(b, int):
            return exactly(on_numbers(a, b))
        if isinstance(a, tuple) or isinstance(b, tuple):
            found: Operand | None = on_times(a, b)
            return found
        if isinstance(a, float) or isinstance(b, float):
            return inexactly(on_numbers, a, b)
        try:
            return on_decimals(a, b)
        except DecimalException:
            raise too_large() from None

    return apply


add: Final = _operator(operator.add, EXACT.add, time_arithmetic.add)
"""``a + b``; an error if the result has too many digits."""
subtract: Final = _operator(operator.sub, EXACT.subtract, time_arithmetic.subtract)
multiply: Final = _operator(operator.mul, EXACT.multiply, time_arithmetic.multiply)


def divide(a: Number, b: Number) -> Number | None:
    """Return ``a / b`` for numbers, or None if `b` is the integer or decimal zero.

    >>> divide(2, 3), divide(1, 0), divide(1.0, 0)
    (Decimal('0.666666666666666666'), None, inf)

    Raises:
        ValueTooLargeError: The result has too many digits.
    """
    if isinstance(a, float) or isinstance(b, float):
        return inexactly(_divide_floats, a, b)
    if b == 0:
        return None
    (over, under), (by, part) = a.as_integer_ratio(), b.as_integer_ratio()
    scaled = abs(over * part) * _SCALE // abs(under * by)
    return exactly(Decimal(scaled if (a < 0) == (b < 0) else -scaled).scaleb(-PLACES, WIDE))


def _divide_floats(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _negate(a: Number) -> Number:
    return Single(-a) if isinstance(a, Single) else -a if not isinstance(a, Decimal) else a.copy_negate()


def _absolute(a: Number) -> Number:
    return Single(abs(a)) if isinstance(a, Single) else abs(a) if not isinstance(a, Decimal) else a.copy_abs()


def _to_whole(on_floats: Callable[[float], int], on_decimals: Callable[[Decimal], Decimal]) -> Callable[[Number], Number | None]:
    """Return a rounding function that keeps the type of its argument."""

    def apply(a: Number) -> Number | None:
        if isinstance(a, int):
            return a
        if isinstance(a, Decimal):
            return exactly(on_decimals(a))
        if not math.isfinite(a):
            return a
        return type(a)(math.copysign(on_floats(a), a))

    return apply


def _half_up(a: float) -> int:
    below = math.floor(a)
    return below + (a - below >= 0.5)


def _decimal_half_up(a: Decimal) -> Decimal:
    below = a.to_integral_value(ROUND_FLOOR, WIDE)
    return WIDE.add(below, 1) if WIDE.subtract(a, below) >= _HALF else below


def _divide(a: Operand, b: Operand) -> Operand | None:
    return time_arithmetic.divide(a, b) if isinstance(a, tuple) or isinstance(b, tuple) else divide(a, b)


FUNCTIONS: Final = {
    **{
        name: Function((OPERAND, OPERAND), OPERAND, apply)
        for name, apply in {"+": add, "-": subtract, "*": multiply, "/": _divide}.items()
    },
    **{
        name: Function((NUMBER,), NUMBER, apply)
        for name, apply in {
            "neg": _negate,
            "ABS": _absolute,
            "ROUND": _to_whole(_half_up, _decimal_half_up),
            "CEIL": _to_whole(math.ceil, lambda a: a.to_integral_value(ROUND_CEILING, WIDE)),
            "FLOOR": _to_whole(math.floor, lambda a: a.to_integral_value(ROUND_FLOOR, WIDE)),
        }.items()
    },
}
"""The operators, and the functions on numbers. ROUND takes halves up, also below zero (XPath's fn:round)."""
