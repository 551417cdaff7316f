"""Numbers of XML Schema as Python numbers, and back as canonical literals.

| XML Schema                                  | Python      |
|---------------------------------------------|-------------|
| xsd:integer and the types derived from it   | `int`       |
| xsd:decimal                                 | `Decimal`   |
| xsd:float                                   | `Single`    |
| xsd:double                                  | `float`     |

Integers and decimals are exact, within a limit that prevents a number from filling the memory: below 10 ** `DIGITS` and with at
most `DIGITS` significant digits. A result beyond that (XPath's FOAR0002) is an error that stops the reasoner, because a type error
would end a recursion silently. For functions, a literal beyond that is not a number.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation, Overflow, Subnormal
from fractions import Fraction
from typing import Final, TypeAlias

from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions.values import INTEGER_RANGES, single_of, value_of
from kg_reasoner.terms import XSD, Literal, Term, scientific

__all__ = [
    "DIGITS",
    "EXACT",
    "NUMERIC",
    "PLACES",
    "Number",
    "Single",
    "decimal_of",
    "decimal_text",
    "exact",
    "exactly",
    "literal_of",
    "number_of",
    "shortest",
    "shortest_decimal",
    "to_float",
    "to_single",
    "too_large",
]

DIGITS: Final = 1000
"""The maximal number of digits of an integer or a decimal."""

PLACES: Final = 18
"""The decimal places of quotients (XML Schema asks for 18 digits at least)."""

EXACT: Final = Context(prec=DIGITS, Emin=-DIGITS, Emax=DIGITS - 1, traps=[Inexact, InvalidOperation, Overflow, Subnormal])
"""Arithmetic on decimals that raises where the result would have to be rounded."""

_BOUND: Final = 10**DIGITS
_LONGEST: Final = 4 * DIGITS  # Python reads integers of at most 4300 digits
_INTEGER: Final = XSD.integer.value
_DECIMAL: Final = XSD.decimal.value
_FLOAT: Final = XSD.float.value
_DOUBLE: Final = XSD.double.value

NUMERIC: Final = frozenset([*INTEGER_RANGES, _DECIMAL, _FLOAT, _DOUBLE])
"""The numeric datatypes."""


class Single(float):
    """A value of xsd:float: the single-precision number nearest to the given number, or an infinity.

    >>> Single(16777217.0)
    Single(16777216.0)
    """

    __slots__ = ()

    def __new__(cls, value: float) -> Single:
        try:
            (value,) = struct.unpack("f", struct.pack("f", value))
        except OverflowError:
            value = float("inf") if value > 0 else float("-inf")
        return super().__new__(cls, value)

    def __repr__(self) -> str:
        return f"Single({float(self)!r})"


Number: TypeAlias = int | Decimal | Single | float


def exact(number: int | Decimal) -> int | Decimal | None:
    """Return the number, or None if it has too many digits."""
    if isinstance(number, int):
        return number if -_BOUND < number < _BOUND else None
    try:
        return EXACT.plus(number)
    except DecimalException:
        return None


def exactly(number: int | Decimal) -> int | Decimal:
    """Return a computed number unchanged.

    Raises:
        ValueTooLargeError: It has too many digits.
    """
    found = exact(number)
    if found is None:
        raise too_large()
    return found


def decimal_of(fraction: int | Fraction) -> Decimal:
    """Return a fraction whose decimal places have an end as a decimal.

    Raises:
        ValueTooLargeError: It has too many digits.
    """
    try:
        return EXACT.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    except DecimalException:
        raise too_large() from None


def too_large() -> ValueTooLargeError:
    """Return the error for a computed number with too many digits."""
    return ValueTooLargeError(f"the result has more than {DIGITS} digits")


def number_of(term: Term) -> Number | None:
    """Return the numeric value of a term, or None if the term is not a number, is ill-typed, or has too many digits.

    >>> number_of(Literal("1.50", XSD.decimal.value)), number_of(Literal("300", XSD.byte.value))
    (Decimal('1.50'), None)
    """
    if not isinstance(term, Literal) or term.datatype not in NUMERIC or len(term.lexical) > _LONGEST:
        return None
    if term.datatype == _INTEGER and len(term.lexical) < 19 and term.lexical.isascii() and term.lexical.isdecimal():
        return int(term.lexical)  # the most frequent numbers
    value = value_of(term)
    if value is None:
        return None
    if term.datatype == _DOUBLE:
        return float(term.lexical)
    number = value[1]
    assert isinstance(number, Decimal)
    if term.datatype == _FLOAT:
        return Single(float(number))
    return exact(number if term.datatype == _DECIMAL else int(number))


def literal_of(number: Number) -> Literal:
    """Return the canonical literal of a number according to XML Schema 1.1: ``3`` for the decimal 3.0, ``1.0E1`` for the double 10.

    >>> print(literal_of(Decimal("3.00")), literal_of(10.0))
    "3"^^<http://www.w3.org/2001/XMLSchema#decimal> "1.0E1"^^<http://www.w3.org/2001/XMLSchema#double>
    """
    return _WRITERS[type(number)](number)


def to_float(number: Number) -> float:
    """Return the nearest double. Zeros of integers and decimals have no sign."""
    if not number:
        return number if isinstance(number, float) else 0.0
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def to_single(number: Number) -> Single:
    """Return the nearest single-precision number.

    >>> to_single(Decimal("16777217.0000000000000001")), Single(to_float(Decimal("16777217.0000000000000001")))
    (Single(16777218.0), Single(16777216.0))
    """
    double = to_float(number)
    return Single(double if isinstance(number, float) else single_of(double, str(number)))


def decimal_text(number: Decimal) -> str:
    """Return the digits of a decimal without superfluous zeros, and without a trailing point."""
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def shortest(number: float) -> str:
    """Return the shortest digits that read back as the same number of the same type, in one of Python's notations."""
    if isinstance(number, Single) and math.isfinite(number):
        return next(text for text in (f"{float(number):.{digits}g}" for digits in range(1, 10)) if Single(float(text)) == number)
    return float.__repr__(number)


def shortest_decimal(number: Number) -> Decimal | None:
    """Return a number as a decimal, a float or double as the shortest that reads back as it; None if there is no such decimal.

    >>> shortest_decimal(0.1), shortest_decimal(math.inf)
    (Decimal('0.1'), None)
    """
    if isinstance(number, float):
        return Decimal(shortest(number)) if math.isfinite(number) else None
    return Decimal(number)


_WRITERS: Final[dict[type, Callable[..., Literal]]] = {
    int: lambda number: Literal(str(number), _INTEGER),
    Decimal: lambda number: Literal(decimal_text(number), _DECIMAL),
    Single: lambda number: Literal(scientific(shortest(number)), _FLOAT),
    float: lambda number: Literal(scientific(shortest(number)), _DOUBLE),
}
