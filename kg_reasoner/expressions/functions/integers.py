"""Functions on integers: division with remainder, bits, powers; and the least and greatest of several terms.

Bits are those of two's complement with no end, so that ``BNOT(0)`` is -1 and nothing overflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from kg_reasoner.expressions.functions.arithmetic import WIDE, divide, inexactly, multiply
from kg_reasoner.expressions.functions.floats import power
from kg_reasoner.expressions.functions.kinds import NUMBER, TERM, Function
from kg_reasoner.expressions.functions.numbers import DIGITS, Number, exactly, too_large
from kg_reasoner.expressions.values import compare
from kg_reasoner.terms import Term

__all__ = ["FUNCTIONS"]

_BITS: Final = (10**DIGITS).bit_length()
"""The bits of the greatest integer."""


def _whole_quotient(a: Number, b: Number) -> int | None:
    """Return the quotient towards zero (XPath's idiv)."""
    if isinstance(a, float) or isinstance(b, float):
        try:
            return exactly(int(float(a) / float(b)))  # type: ignore[return-value]  # of an integer
        except (ArithmeticError, ValueError):  # by zero, infinite, not a number
            return None
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    quotient = divide(a, b)
    return None if quotient is None else int(quotient)


def _remainder(a: Number, b: Number) -> Number | None:
    """Return the remainder of division towards zero, which has the sign of the dividend (XPath's mod)."""
    if isinstance(a, float) or isinstance(b, float):
        return inexactly(_remainder_of_floats, a, b)
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        rest = abs(a) % abs(b)
        return -rest if a < 0 else rest
    return exactly(WIDE.remainder(a, b))


def _remainder_of_floats(a: float, b: float) -> float:
    return math.nan if math.isinf(a) or b == 0 else math.fmod(a, b)


def _on_integers(operate: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*numbers: Number) -> Any:
        return operate(*numbers) if all(isinstance(number, int) for number in numbers) else None

    return apply


def _shifted_left(a: int, places: int) -> Number | None:
    if places < 0:
        return None
    if places > _BITS and a:
        raise too_large()
    return exactly(a << places)


def _power(a: Number, b: Number) -> Number | None:
    if isinstance(a, float) or isinstance(b, float):
        return power(a, b)
    if not isinstance(b, int) or b < 0:
        return None
    if isinstance(a, Decimal):
        result_of: Number = Decimal(1)
    else:
        if abs(a) > 1 and b > _BITS:
            raise too_large()
        return exactly(a**b)
    if abs(a) in (0, 1):
        b = min(b, 2 + b % 2)
    elif b > _BITS:
        raise too_large()
    for _ in range(b):
        result_of = multiply(result_of, a)
    return result_of


def _extreme(sign: int) -> Callable[..., Term | None]:
    def apply(first: Term, *others: Term) -> Term | None:
        best = first
        for term in others:
            order = compare(term, best)
            if order is None:
                return None
            best = term if order == sign else best
        return best

    return apply


FUNCTIONS: Final = {
    "%": Function((NUMBER, NUMBER), NUMBER, _remainder),
    "IDIV": Function((NUMBER, NUMBER), NUMBER, _whole_quotient),
    "POW": Function((NUMBER, NUMBER), NUMBER, _power),
    "BAND": Function((NUMBER, NUMBER), NUMBER, _on_integers(int.__and__)),
    "BOR": Function((NUMBER, NUMBER), NUMBER, _on_integers(int.__or__)),
    "BXOR": Function((NUMBER, NUMBER), NUMBER, _on_integers(int.__xor__)),
    "BNOT": Function((NUMBER,), NUMBER, _on_integers(int.__invert__)),
    "SHL": Function((NUMBER, NUMBER), NUMBER, _on_integers(_shifted_left)),
    "SHR": Function((NUMBER, NUMBER), NUMBER, _on_integers(lambda a, places: a >> min(places, _BITS) if places >= 0 else None)),
    "LEAST": Function((TERM,), TERM, _extreme(-1), rest=TERM),
    "GREATEST": Function((TERM,), TERM, _extreme(1), rest=TERM),
}
"""The functions by name; ``%`` is an operator."""
