"""Functions on floats and doubles, as XPath's math functions: roots, logarithms, trigonometry.

The result is a double, or a float if the arguments are floats. Where a function is not defined it is NaN, and where it has no bound
it is infinite, as for the operators on doubles. The last digit may depend on the C library, as those of Python's `math` do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from kg_reasoner.expressions.functions.kinds import BOOLEAN, NUMBER, Function
from kg_reasoner.expressions.functions.numbers import Number, Single, to_float

__all__ = ["FUNCTIONS", "power"]


def _of(operate: Callable[..., float]) -> Callable[..., Number]:
    """Return a function on numbers; where `operate` has no result in the reals, it is NaN."""

    def apply(*numbers: Number) -> Number:
        try:
            result = operate(*map(to_float, numbers))
        except ValueError:
            result = math.nan
        return Single(result) if all(isinstance(number, Single) for number in numbers) and numbers else float(result)

    return apply


def _power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        return math.inf if a == 0 else math.nan  # zero to a negative power; a root of a negative number


power: Final = _of(_power)
"""The power of two numbers of which one is a float or a double."""


def _growing(operate: Callable[[float], float]) -> Callable[[float], float]:
    """Return the function with infinities for results that are too large; it has the sign of its argument there, or is positive."""

    def apply(a: float) -> float:
        try:
            return operate(a)
        except OverflowError:
            return math.copysign(math.inf, operate(math.copysign(1.0, a)))

    return apply


def _logarithm(operate: Callable[[float], float]) -> Callable[[float], float]:
    return lambda a: -math.inf if a == 0 else operate(a)


def _truncated(a: float) -> float:
    return math.copysign(math.trunc(a), a) if math.isfinite(a) else a


def _sign(a: Number) -> Number:
    if isinstance(a, float):
        return a if a == 0 or a != a else type(a)(math.copysign(1.0, a))
    return type(a)((a > 0) - (a < 0))


def _test(operate: Callable[[float], bool]) -> Function:
    return Function((NUMBER,), BOOLEAN, lambda a: operate(to_float(a)))


FUNCTIONS: Final = {
    **{
        name: Function((NUMBER,), NUMBER, _of(operate))
        for name, operate in {
            "SQRT": math.sqrt,
            "EXP": _growing(math.exp),
            "LN": _logarithm(math.log),
            "LOG2": _logarithm(math.log2),
            "LOG10": _logarithm(math.log10),
            "SIN": math.sin,
            "COS": math.cos,
            "TAN": math.tan,
            "ASIN": math.asin,
            "ACOS": math.acos,
            "ATAN": math.atan,
            "SINH": _growing(math.sinh),
            "COSH": _growing(math.cosh),
            "TANH": math.tanh,
        }.items()
    },
    "ATAN2": Function((NUMBER, NUMBER), NUMBER, _of(math.atan2)),
    "PI": Function((), NUMBER, _of(lambda: math.pi)),
    "TRUNC": Function((NUMBER,), NUMBER, lambda a: _of(_truncated)(a) if isinstance(a, float) else type(a)(int(a))),
    "SIGN": Function((NUMBER,), NUMBER, _sign),
    "ISNAN": _test(math.isnan),
    "ISFINITE": _test(math.isfinite),
}
"""The functions by name. TRUNC and SIGN keep the type of their argument."""
