"""Dates and times of XML Schema in parts: those of the local time, as it was written."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, NamedTuple

from kg_reasoner.expressions.functions.numbers import decimal_text
from kg_reasoner.expressions.values import value_of
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.terms import XSD, Literal, Term

__all__ = ["Moment", "moment_of", "timezone"]

_PARTS: Final = regular_expression(r"(-?\d+)-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):([\d.]+))?(.*)")


class Moment(NamedTuple):
    """A date, or a date and a time. `zone` is as written, or None; the three parts of the time are None for a date."""

    year: int
    month: int
    day: int
    hour: int | None
    minute: int | None
    second: Decimal | None
    zone: str | None

    def date_text(self) -> str:
        """Return the canonical form of the date."""
        sign = "-" if self.year < 0 else ""
        return f"{sign}{abs(self.year):04}-{self.month:02}-{self.day:02}{self._zone_text()}"

    def text(self) -> str:
        """Return the canonical form of the date and time; for a date, of its first moment."""
        sign = "-" if self.year < 0 else ""
        whole, point, fraction = decimal_text(self.second or Decimal(0)).partition(".")
        time = f"{self.hour or 0:02}:{self.minute or 0:02}:{whole.zfill(2)}{point}{fraction}"
        return f"{sign}{abs(self.year):04}-{self.month:02}-{self.day:02}T{time}{self._zone_text()}"

    def _zone_text(self) -> str:
        return "Z" if self.zone in ("+00:00", "-00:00") else self.zone or ""


def moment_of(term: Term) -> Moment | None:
    """Return the parts of a valid xsd:dateTime, xsd:dateTimeStamp or xsd:date, or None. 24:00:00 is the first moment of the next
    day.

    >>> moment_of(Literal("2024-02-28T24:00:00Z", XSD.dateTime.value))[:4]
    (2024, 2, 29, 0)
    """
    if not isinstance(term, Literal):
        return None
    value = value_of(term)
    found = _PARTS.fullmatch(term.lexical) if value is not None and value[0] in ("dateTime", "date") else None
    if found is None:
        return None
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    zone = found[7] or None
    if found[4] is None:
        return Moment(year, month, day, None, None, None, zone)
    hour = int(found[4])
    if hour == 24:
        hour, day = 0, day + 1
        if day > (28 + _is_leap(year) if month == 2 else 30 if month in (4, 6, 9, 11) else 31):
            month, day = month + 1, 1
        if month > 12:
            year, month = year + 1, 1
    return Moment(year, month, day, hour, int(found[5]), Decimal(found[6]), zone)


def timezone(moment: Moment) -> Literal | None:
    """Return the time zone as an xsd:dayTimeDuration, such as ``-PT5H30M``, or None if the moment has none."""
    if moment.zone is None:
        return None
    sign, hours, minutes = (moment.zone[0], int(moment.zone[1:3]), int(moment.zone[4:])) if moment.zone != "Z" else ("", 0, 0)
    text = f"{hours}H" if hours else ""
    text += f"{minutes}M" if minutes else ""
    return Literal(f"{'-' if sign == '-' and text else ''}PT{text or '0S'}", XSD.dayTimeDuration.value)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
