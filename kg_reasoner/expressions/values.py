"""Comparison of RDF terms by value with the semantics of SPARQL's operators ``= != < <= > >=`` (SPARQL 1.1 Query, section 17.3).

Numbers of all types are compared exactly: the decimal ``0.1`` is not the double ``1.0E-1``. Strings are compared by code
point. A dateTime, date or time without a time zone counts as UTC. Durations are equal if both their months and their seconds
are, and ordered if both have no months, or both have no seconds. Literals of different known kinds are unequal and unordered.
Literals of unlisted datatypes are equal if they are the same term, and incomparable otherwise.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

from kg_reasoner.expressions.durations import DURATIONS, have_order, read_duration
from kg_reasoner.expressions.moments import MOMENTS, read_moment
from kg_reasoner.expressions.structures import is_structure
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.terms import XSD, Literal, Term

__all__ = [
    "COMPARISONS",
    "INTEGER_RANGES",
    "OPERATORS",
    "Key",
    "Value",
    "compare",
    "double_of",
    "equal",
    "lang_string",
    "satisfies",
    "single_of",
    "value_of",
]

Key: TypeAlias = Decimal | Fraction | str | bool | tuple[int, Fraction]

Value: TypeAlias = tuple[str, Key]
"""A kind (``number string boolean dateTime date time duration langString structure``) and a key. Keys of one kind are ordered as
the values are (except NaN, which is a `Decimal` NaN, and what `_UNORDERED` names). The keys of durations are their months and
seconds, and ordered even where the durations are not."""

_UNORDERED: Final = ("langString", "structure")
"""The kinds of values without an order: strings with a language tag, and structures (see `structures`)."""

INTEGER_RANGES: Final[dict[str, tuple[int | None, int | None]]] = {
    XSD[name].value: bounds
    for name, bounds in {
        "integer": (None, None),
        "nonNegativeInteger": (0, None),
        "positiveInteger": (1, None),
        "nonPositiveInteger": (None, 0),
        "negativeInteger": (None, -1),
        "long": (-(2**63), 2**63 - 1),
        "int": (-(2**31), 2**31 - 1),
        "short": (-(2**15), 2**15 - 1),
        "byte": (-(2**7), 2**7 - 1),
        "unsignedLong": (0, 2**64 - 1),
        "unsignedInt": (0, 2**32 - 1),
        "unsignedShort": (0, 2**16 - 1),
        "unsignedByte": (0, 2**8 - 1),
    }.items()
}
"""xsd:integer and the types derived from it, with the least and the greatest value (None where there is none)."""

_INTEGER: Final = regular_expression(r"[+-]?[0-9]+")
_DECIMAL: Final = regular_expression(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE: Final = regular_expression(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_MOMENT_KINDS: Final = {XSD[name].value: name for name in ("dateTime", "date", "time")}
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}


def _integer(lexical: str, datatype: str) -> Value | None:
    if not _INTEGER.fullmatch(lexical):
        return None
    number = Decimal(lexical)
    low, high = INTEGER_RANGES[datatype]
    fits = (low is None or low <= number) and (high is None or number <= high)
    return ("number", number) if fits else None


def _decimal(lexical: str, _: str) -> Value | None:
    return ("number", Decimal(lexical)) if _DECIMAL.fullmatch(lexical) else None


def _double(lexical: str, datatype: str) -> Value | None:
    if not _DOUBLE.fullmatch(lexical):
        return None
    number = float(lexical)
    if datatype == XSD.float.value:
        number = single_of(number, lexical)
    return "number", Decimal(number)


def single_of(number: float, lexical: str) -> float:
    """Return the single-precision number nearest to a lexical form, given its double-precision value `number`.

    Rounding twice is wrong only where the double lies in the middle between two singles: there the digits themselves decide.
    """
    near = _to_single(number)
    if near == number or math.isinf(number) or math.isnan(number):
        return near
    above = near if near > number else _next_single(near, 1)
    below = near if near < number else _next_single(near, -1)
    exact = Decimal(lexical)
    if Fraction(number) - _fraction(below) != _fraction(above) - Fraction(number) or exact == Decimal(number):
        return near
    return above if exact > Decimal(number) else below


def _to_single(number: float) -> float:
    try:
        (single,) = struct.unpack("f", struct.pack("f", number))
    except OverflowError:
        return math.copysign(math.inf, number)
    return single


def _next_single(single: float, step: int) -> float:
    """Return the next single-precision number above (step 1) or below (step -1) a number that is not the infinity at that end."""
    (bits,) = struct.unpack("i", struct.pack("f", single))
    if single == 0:
        return math.copysign(2.0**-149, step)
    (found,) = struct.unpack("f", struct.pack("i", bits + (step if single > 0 else -step)))
    return found


def _fraction(single: float) -> Fraction:
    """Return a single-precision number exactly; infinities continue the range of exponents."""
    return Fraction(single) if math.isfinite(single) else Fraction(math.copysign(2.0**128, single))


def double_of(lexical: str) -> float | None:
    """Return the value of an xsd:double, or None for an ill-typed literal."""
    return float(lexical) if _DOUBLE.fullmatch(lexical) else None


def _string(lexical: str, _: str) -> Value:
    return "string", lexical


def _boolean(lexical: str, _: str) -> Value | None:
    return ("boolean", _BOOLEANS[lexical]) if lexical in _BOOLEANS else None


def _moment(lexical: str, datatype: str) -> Value | None:
    moment = read_moment(lexical, datatype)
    return None if moment is None else (_MOMENT_KINDS[moment.datatype], moment.instant)


def _duration(lexical: str, datatype: str) -> Value | None:
    duration = read_duration(lexical, datatype)
    return None if duration is None else ("duration", (duration.months, duration.seconds))


_READERS: Final[dict[str, Callable[[str, str], Value | None]]] = {
    **dict.fromkeys(INTEGER_RANGES, _integer),
    XSD.decimal.value: _decimal,
    XSD.double.value: _double,
    XSD.float.value: _double,
    XSD.string.value: _string,
    XSD.boolean.value: _boolean,
    **dict.fromkeys(MOMENTS, _moment),
    **dict.fromkeys(DURATIONS, _duration),
}


def value_of(literal: Literal) -> Value | None:
    """Return the value of a literal, or None if its datatype is unknown or the literal is ill-typed.

    >>> from kg_reasoner.terms import literal
    >>> value_of(Literal("007", XSD.int.value)) == value_of(literal(7.0))
    True
    """
    if literal.language is not None:
        return lang_string(literal.lexical, literal.language)
    reader = _READERS.get(literal.datatype)
    if reader is None:
        return ("structure", f"{literal.datatype} {literal.lexical}") if is_structure(literal) else None
    return reader(literal.lexical, literal.datatype)


def lang_string(lexical: str, language: str) -> Value:
    """Return the value of a string with a language tag in lower case."""
    return "langString", f"{lexical}@{language}"


def compare(a: Term, b: Term) -> int | None:
    """Return -1, 0 or 1 if the value of `a` is less than, equal to or greater than that of `b`, or None if SPARQL's ``<`` is an
    error.

    >>> from kg_reasoner.terms import literal
    >>> compare(literal(2), literal(10)), compare(literal("2"), literal("10")), compare(literal(2), literal("10"))
    (-1, 1, None)
    """
    if not (isinstance(a, Literal) and isinstance(b, Literal)):
        return None
    left, right = value_of(a), value_of(b)
    if left is None or right is None or left[0] != right[0] or left[0] in _UNORDERED or _is_nan(left) or _is_nan(right):
        return None
    x, y = left[1], right[1]
    if isinstance(x, tuple) and isinstance(y, tuple) and not have_order(x, y):
        return None
    return (x > y) - (x < y)  # type: ignore[operator]  # keys of one kind are ordered


def equal(a: Term, b: Term) -> bool | None:
    """Return whether two terms are equal under SPARQL's ``=``, or None for an error.

    It is an error to compare a literal that has no known value (ill-typed, or of an unknown datatype) with another literal. Only
    those with a language tag are known to differ from it, for no other literals have their values.

    >>> from kg_reasoner.terms import literal
    >>> equal(literal(1), literal(1.0)), equal(literal(1), literal("1")), equal(literal(1), Literal("x", XSD.int.value))
    (True, False, None)
    """
    if not (isinstance(a, Literal) and isinstance(b, Literal)):
        return a == b
    left, right = value_of(a), value_of(b)
    if left is None or right is None:
        if a == b:
            return True
        return False if a.language is not None or b.language is not None else None
    return left == right


COMPARISONS: Final[dict[str, Callable[[Term, Term], bool | None]]] = {
    "=": equal,
    "!=": lambda a, b: None if (same := equal(a, b)) is None else not same,
    "<": lambda a, b: None if (order := compare(a, b)) is None else order < 0,
    "<=": lambda a, b: None if (order := compare(a, b)) is None else order <= 0,
    ">": lambda a, b: None if (order := compare(a, b)) is None else order > 0,
    ">=": lambda a, b: None if (order := compare(a, b)) is None else order >= 0,
}
"""The comparison operators; each says None where SPARQL has a type error (or compares with NaN, which is false as well)."""


OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""The comparison operators on keys of one kind, and on arrays of them."""


def satisfies(operator: str, a: Term, b: Term) -> bool:
    """Return whether ``FILTER(a operator b)`` accepts the terms: the comparison is true, neither false nor an error."""
    return COMPARISONS[operator](a, b) is True


def _is_nan(value: Value) -> bool:
    return isinstance(value[1], Decimal) and value[1].is_nan()
