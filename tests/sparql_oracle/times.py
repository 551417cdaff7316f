"""Dates, points in time and durations: their values, and arithmetic with them as XPath has it, for the years that Python has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal
from fractions import Fraction
from math import floor, trunc
from typing import Final

from kg_reasoner.terms import XSD, Literal, Term, literal

_MOMENT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?))?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_DURATION: Final = re.compile(r"(-?)P(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9.]+)S)?)?")
_DATES: Final = (XSD.date.value, XSD.dateTime.value)
_DURATIONS: Final = (XSD.dayTimeDuration.value, XSD.yearMonthDuration.value, XSD.duration.value)


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or a point in time: its seconds in its time zone, which is minutes from UTC, or None."""

    datatype: str
    local: Fraction
    zone: int | None

    @property
    def instant(self) -> Fraction:
        return self.local - 60 * (self.zone or 0)


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration: a number of months and of seconds."""

    datatype: str
    months: int
    seconds: Fraction

    @property
    def kind(self) -> str:
        """Durations of one kind are ordered."""
        return (
            "none"
            if not self.months and not self.seconds
            else "seconds"
            if not self.months
            else "months"
            if not self.seconds
            else "both"
        )


def moment(term: Term) -> Moment | None:
    """Return the value of a literal of xsd:dateTime or xsd:date, or None."""
    found = _MOMENT.fullmatch(term.lexical) if isinstance(term, Literal) and term.datatype in _DATES else None
    if found is None or not isinstance(term, Literal) or (found[2] is None) != (term.datatype == XSD.date.value):
        return None
    try:
        days = date.fromisoformat(found[1]).toordinal()
    except ValueError:
        return None
    clock = sum(Fraction(part or 0) * unit for part, unit in zip(found.groups()[1:4], (3600, 60, 1), strict=True))
    zone = (
        None
        if found[5] is None
        else 0
        if found[5] == "Z"
        else int(f"{found[5][0]}1") * (int(found[5][1:3]) * 60 + int(found[5][4:]))
    )
    return Moment(term.datatype, days * 86400 + clock, zone)


def duration(term: Term) -> Duration | None:
    """Return the value of a literal of a type of durations, or None."""
    found = _DURATION.fullmatch(term.lexical) if isinstance(term, Literal) and term.datatype in _DURATIONS else None
    if found is None or not isinstance(term, Literal):
        return None
    sign = -1 if found[1] else 1
    years, months, days, hours, minutes, seconds = (Fraction(part or 0) for part in found.groups()[1:])
    return Duration(term.datatype, sign * int(years * 12 + months), sign * (((days * 24 + hours) * 60 + minutes) * 60 + seconds))


def calculated(operator: str, a: Moment | Duration | Fraction, b: Moment | Duration | Fraction) -> Literal | None:
    """Return the result of an operator, of which one operand is no number, or None for a type error."""
    match operator, a, b:
        case "-", Moment(datatype=one), Moment(datatype=other) if one == other:
            return _span(0, a.instant - b.instant, XSD.dayTimeDuration.value)
        case "+", Duration(), Moment():
            return _later(b, a.months, a.seconds)
        case "+", Moment(), Duration():
            return _later(a, b.months, b.seconds)
        case "-", Moment(), Duration():
            return _later(a, -b.months, -b.seconds)
        case (("+" | "-"), Duration(), Duration()):
            sign = 1 if operator == "+" else -1
            datatype = a.datatype if a.datatype == b.datatype else XSD.duration.value
            return _span(a.months + sign * b.months, a.seconds + sign * b.seconds, datatype)
        case "*", Fraction(), Duration():
            return _multiple(b, a)
        case "*", Duration(), Fraction():
            return _multiple(a, b)
        case "/", Duration(), Fraction() if b:
            return _multiple(a, 1 / b, 10**18)
        case "/", Duration(), Duration() if "both" not in (a.kind, b.kind) and b.kind != "none" and a.kind in (b.kind, "none"):
            ratio = Fraction(a.months, b.months) if b.months else a.seconds / b.seconds
            return literal(_decimal(Fraction(trunc(ratio * 10**18), 10**18)))
    return None


def _multiple(whole: Duration, factor: Fraction, scale: int | None = None) -> Literal | None:
    if whole.kind == "both":
        return None
    seconds = whole.seconds * factor
    return _span(
        floor(whole.months * factor + Fraction(1, 2)),
        seconds if scale is None else Fraction(trunc(seconds * scale), scale),
        whole.datatype,
    )


def _later(start: Moment, months: int, seconds: Fraction) -> Literal | None:
    day, clock = divmod(start.local, 86400)
    try:
        found = date.fromordinal(day)
        year, month = divmod(found.year * 12 + found.month - 1 + months, 12)
        while True:
            try:
                shifted = date(year, month + 1, found.day)
                break
            except ValueError:
                found = found.replace(day=found.day - 1)
        day, clock = divmod(shifted.toordinal() * 86400 + clock + seconds, 86400)
        text = date.fromordinal(day).isoformat()
    except (ValueError, OverflowError):
        return None
    if start.datatype == XSD.dateTime.value:
        minutes, rest = divmod(clock, 60)
        whole, fraction = divmod(rest, 1)
        text += f"T{minutes // 60:02}:{minutes % 60:02}:{whole:02}{format(_decimal(fraction), 'f')[1:]}"
    if start.zone is not None:
        text += f"{'-' if start.zone < 0 else '+'}{abs(start.zone) // 60:02}:{abs(start.zone) % 60:02}" if start.zone else "Z"
    return Literal(text, start.datatype)


def _span(months: int, seconds: Fraction, datatype: str) -> Literal | None:
    if months * seconds < 0:
        return None
    if not months and not seconds:
        return Literal("P0M" if datatype == XSD.yearMonthDuration.value else "PT0S", datatype)
    whole, rest = divmod(abs(seconds), 1)
    units = [abs(months) // 12, abs(months) % 12, whole // 86400, whole // 3600 % 24, whole // 60 % 60]
    parts = [f"{number}{unit}" if number else "" for number, unit in zip(units, "YMDHM", strict=True)]
    last = f"{_decimal(whole % 60 + rest):f}S" if whole % 60 or rest else ""
    time = f"{parts[3]}{parts[4]}{last}"
    return Literal(f"{'-' if months < 0 or seconds < 0 else ''}P{''.join(parts[:3])}{'T' if time else ''}{time}", datatype)


def _decimal(number: Fraction) -> Decimal:
    return Context(prec=100).divide(Decimal(number.numerator), Decimal(number.denominator))
