"""Sums, differences, multiples and quotients of dates, times and durations (XPath and XQuery Functions and Operators, sections 8.4,
8.5 and 9.7), exactly.

A moment plus a duration is the moment its months later, in a shorter month on the last day, and then its seconds later (XML Schema
1.1, section E.3.3): for a date, the day of that moment. A time of day goes on after midnight, and takes no months. Sums of two
types of durations are of xsd:duration, and an error if months and seconds have different signs. Multiples of months are rounded,
halves up; quotients are cut after `PLACES` decimal places, as those of numbers are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from kg_reasoner.expressions.durations import DAY_TIME, DURATION, Duration, have_order
from kg_reasoner.expressions.functions.numbers import PLACES, Number, decimal_of, shortest_decimal
from kg_reasoner.expressions.functions.operands import Operand, expect_limits
from kg_reasoner.expressions.moments import DAY, Moment, months_later

__all__ = ["add", "divide", "multiply", "subtract"]

_HALF: Final = Fraction(1, 2)
_SCALE: Final = 10**PLACES


def add(a: Operand, b: Operand) -> Moment | Duration | None:
    """Return the sum of two durations, or of a moment and a duration; None for other operands.

    Raises:
        ValueTooLargeError: The result has too many digits, here as below.
    """
    if isinstance(a, Duration):
        a, b = b, a
    if not isinstance(b, Duration):
        return None
    if isinstance(a, Moment):
        return _later(a, b)
    if not isinstance(a, Duration):
        return None
    return _duration(a.months + b.months, a.seconds + b.seconds, a.datatype if a.datatype == b.datatype else DURATION)


def subtract(a: Operand, b: Operand) -> Moment | Duration | None:
    """Return the duration between two moments of one type, or a moment or duration less a duration; None for other operands."""
    if isinstance(b, Duration):
        return add(a, Duration(-b.months, -b.seconds, b.datatype))
    if isinstance(a, Moment) and isinstance(b, Moment) and a.datatype == b.datatype:
        return _duration(0, a.instant - b.instant, DAY_TIME)
    return None


def multiply(a: Operand, b: Operand) -> Duration | None:
    """Return a multiple of a duration that has no months, or no seconds; None for other operands."""
    if isinstance(b, Duration):
        a, b = b, a
    if not isinstance(a, Duration) or isinstance(b, Moment | Duration):
        return None
    factor = shortest_decimal(b)
    return None if factor is None else _multiple(a, Fraction(factor), lambda seconds: seconds)


def divide(a: Operand, b: Operand) -> Duration | Number | None:
    """Return a part of a duration, none of it for an infinite divisor; or the ratio of two durations that have an order, a decimal.

    None for other operands, and for zero as divisor.
    """
    if not isinstance(a, Duration) or isinstance(b, Moment):
        return None
    if isinstance(b, Duration):
        return _ratio(a, b)
    if b == 0 or b != b:
        return None
    divisor = shortest_decimal(b)
    return _multiple(a, Fraction(0) if divisor is None else 1 / Fraction(divisor), _cut)


def _later(moment: Moment, duration: Duration) -> Moment | None:
    days = moment.days
    if duration.months:
        if days is None:
            return None
        days = months_later(days, duration.months)
    later, seconds = divmod(moment._replace(days=days).local + duration.seconds, DAY)
    expect_limits(later, seconds)
    return Moment(None if days is None else later, None if moment.seconds is None else seconds, moment.zone)


def _duration(months: int, seconds: Fraction, datatype: str) -> Duration | None:
    expect_limits(months, seconds)
    return None if months < 0 < seconds or seconds < 0 < months else Duration(months, seconds, datatype)


def _multiple(duration: Duration, factor: Fraction, rounded: Callable[[Fraction], Fraction]) -> Duration | None:
    if duration.months and duration.seconds:
        return None
    return _duration(math.floor(duration.months * factor + _HALF), rounded(duration.seconds * factor), duration.datatype)


def _ratio(a: Duration, b: Duration) -> Number | None:
    if not have_order(a[:2], b[:2]):
        return None
    dividend, divisor = (a.seconds, b.seconds) if b.seconds else (a.months, b.months)
    return decimal_of(_cut(Fraction(dividend) / divisor)) if divisor else None


def _cut(number: Fraction) -> Fraction:
    return Fraction(math.trunc(number * _SCALE), _SCALE)
