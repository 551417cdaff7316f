"""Dates, times of day, and both together: their forms in XML Schema, and their places on a line of days and seconds."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.terms import XSD

__all__ = ["DAY", "LONGEST", "MOMENTS", "Moment", "date_of", "months_later", "read_moment", "seconds_text"]

DAY: Final = 86400
"""The seconds of a day."""

LONGEST: Final = 4000
"""The maximal length of lexical forms: Python reads integers of at most 4300 digits."""

_DATE_TIME, _DATE, _TIME = XSD.dateTime.value, XSD.date.value, XSD.time.value
_STAMP: Final = XSD.dateTimeStamp.value
_DATE_FORM: Final = r"(?P<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"
_TIME_FORM: Final = (
    r"(?:(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9](?:\.[0-9]+)?)|(?P<midnight>24:00:00(?:\.0+)?))"
)
_ZONE: Final = r"(?P<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
_BOTH: Final = regular_expression(f"{_DATE_FORM}T{_TIME_FORM}{_ZONE}?")
_FORMS: Final = {
    _DATE_TIME: _BOTH,
    _STAMP: _BOTH,
    _DATE: regular_expression(f"{_DATE_FORM}{_ZONE}?"),
    _TIME: regular_expression(f"{_TIME_FORM}{_ZONE}?"),
}
MOMENTS: Final = frozenset(_FORMS)
"""The datatypes of moments."""

_DIGITS: Final = Context(prec=2 * LONGEST)
"""Arithmetic on decimals with places for all digits of a moment."""


class Moment(NamedTuple):
    """A date, a time of day, or both, as the clocks of its time zone show it.

    Attributes:
        days: The days since 1 March of year 0 in the proleptic Gregorian calendar; None for a time of day.
        seconds: The seconds since midnight; None for a date.
        zone: The time zone as it is written, or None.
    """

    days: int | None
    seconds: Fraction | None
    zone: str | None

    @property
    def datatype(self) -> str:
        """The datatype of moments with these parts."""
        return _DATE if self.seconds is None else _TIME if self.days is None else _DATE_TIME

    @property
    def local(self) -> Fraction:
        """The seconds since 1 March of year 0, or since midnight; those of a date until it begins."""
        if self.seconds is None:
            return Fraction((self.days or 0) * DAY)
        return self.seconds if self.days is None else self.seconds + self.days * DAY

    @property
    def instant(self) -> Fraction:
        """The same in UTC, which is assumed where there is no time zone."""
        zone = self.zone
        if zone is None or zone == "Z":
            return self.local
        return self.local - (-60 if zone[0] == "-" else 60) * (int(zone[1:3]) * 60 + int(zone[4:6]))

    def text(self) -> str:
        """Return the canonical form, in the time zone that the moment has."""
        parts = []
        if self.days is not None:
            year, month, day = date_of(self.days)
            parts.append(f"{'-' if year < 0 else ''}{abs(year):04}-{month:02}-{day:02}")
        if self.seconds is not None:
            minutes, seconds = divmod(self.seconds, 60)
            parts.append(f"{minutes // 60:02}:{minutes % 60:02}:{'0' if seconds < 10 else ''}{seconds_text(seconds)}")
        return "T".join(parts) + ("Z" if self.zone in ("+00:00", "-00:00") else self.zone or "")


def read_moment(lexical: str, datatype: str) -> Moment | None:
    """Return the moment with a lexical form of one of the datatypes in `MOMENTS`, or None if it is not valid.

    24:00:00 is the first moment of the next day.

    >>> read_moment("2024-02-28T24:00:00Z", XSD.dateTime.value).text()
    '2024-02-29T00:00:00Z'
    """
    found = _FORMS[datatype].fullmatch(lexical) if len(lexical) <= LONGEST else None
    if found is None:
        return None
    part = found.groupdict()
    days = seconds = None
    if datatype != _TIME:
        days = _days_of(int(part["year"]), int(part["month"]), int(part["day"]))
        if days is None or (datatype == _STAMP and part["zone"] is None):
            return None
    if datatype != _DATE:
        if part["midnight"] is None:
            seconds = int(part["hour"]) * 3600 + int(part["minute"]) * 60 + Fraction(part["second"])
        else:
            seconds, days = Fraction(0), None if days is None else days + 1
    return Moment(days, seconds, part["zone"])


def seconds_text(seconds: int | Fraction) -> str:
    """Return the digits of seconds, whose decimal places have an end.

    >>> seconds_text(Fraction(5, 4)), seconds_text(Fraction(30))
    ('1.25', '30')
    """
    if seconds.denominator == 1:
        return str(seconds.numerator)
    return format(_DIGITS.divide(Decimal(seconds.numerator), Decimal(seconds.denominator)), "f")


def _days_of(year: int, month: int, day: int) -> int | None:
    """Return the days since 1 March of year 0, or None if the month has no such day."""
    if day > _length(year, month):
        return None
    year, month = (year - 1, month + 9) if month < 3 else (year, month - 3)
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 1


def _length(year: int, month: int) -> int:
    """Return the number of days of a month."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def date_of(days: int) -> tuple[int, int, int]:
    """Return the year, the month and the day of the month, given the days since 1 March of year 0.

    >>> date_of(0), date_of(-1), date_of(738885)
    ((0, 3, 1), (0, 2, 29), (2023, 3, 1))
    """
    era, day = divmod(days, 146097)  # the days of 400 years
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    return 400 * era + year + (month > 9), month - 9 if month > 9 else month + 3, day - (153 * month + 2) // 5 + 1


def months_later(days: int, months: int) -> int:
    """Return the same day of another month, or its last day if the month is shorter, as days since 1 March of year 0.

    >>> date_of(months_later(_days_of(2024, 1, 31), 1)), date_of(months_later(_days_of(2024, 1, 31), -11))
    ((2024, 2, 29), (2023, 2, 28))
    """
    year, month, day = date_of(days)
    year, before = divmod(12 * year + month - 1 + months, 12)
    found = _days_of(year, before + 1, min(day, _length(year, before + 1)))
    assert found is not None
    return found
