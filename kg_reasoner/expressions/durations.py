"""Durations: their forms in XML Schema, and their values, which are months and seconds."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from kg_reasoner.expressions.moments import DAY, LONGEST, seconds_text
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.terms import XSD

__all__ = ["DAY_TIME", "DURATION", "DURATIONS", "YEAR_MONTH", "Duration", "have_order", "read_duration"]

DURATION: Final = XSD.duration.value
DAY_TIME: Final = XSD.dayTimeDuration.value
YEAR_MONTH: Final = XSD.yearMonthDuration.value

_MONTHS: Final = r"(?:(?P<years>[0-9]+)Y)?(?:(?P<months>[0-9]+)M)?"
_SECONDS: Final = (
    r"(?:(?P<days>[0-9]+)D)?"
    r"(?:T(?=[0-9])(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?(?:(?P<seconds>[0-9]+(?:\.[0-9]+)?)S)?)?"
)
_BEGIN: Final = r"(?P<sign>-?)P(?=.)"
_FORMS: Final = {
    DURATION: regular_expression(f"{_BEGIN}{_MONTHS}{_SECONDS}"),
    DAY_TIME: regular_expression(f"{_BEGIN}{_SECONDS}"),
    YEAR_MONTH: regular_expression(f"{_BEGIN}{_MONTHS}"),
}
DURATIONS: Final = frozenset(_FORMS)
"""The datatypes of durations."""


class Duration(NamedTuple):
    """A duration of a datatype. Months and seconds do not have different signs."""

    months: int
    seconds: Fraction
    datatype: str

    def text(self) -> str:
        """Return the canonical form."""
        years, months = divmod(abs(self.months), 12)
        whole, fraction = divmod(abs(self.seconds), 1)
        minutes = whole % DAY // 60
        date = _written((years, "Y"), (months, "M"), (whole // DAY, "D"))
        time = _written((minutes // 60, "H"), (minutes % 60, "M"), (whole % 60 + fraction, "S"))
        if not date and not time:
            return "P0M" if self.datatype == YEAR_MONTH else "PT0S"
        return f"{'-' if self.months < 0 or self.seconds < 0 else ''}P{date}{'T' if time else ''}{time}"


def _written(*parts: tuple[int | Fraction, str]) -> str:
    return "".join([f"{seconds_text(number)}{unit}" for number, unit in parts if number])


def read_duration(lexical: str, datatype: str) -> Duration | None:
    """Return the duration with a lexical form of one of the datatypes in `DURATIONS`, or None if it is not valid.

    >>> read_duration("P1Y14MT90M", DURATION).text(), read_duration("P1Y", DAY_TIME), read_duration("P1DT", DAY_TIME)
    ('P2Y2MT1H30M', None, None)
    """
    found = _FORMS[datatype].fullmatch(lexical) if len(lexical) <= LONGEST else None
    if found is None:
        return None
    part = {name: text or "0" for name, text in found.groupdict().items()}
    sign = -1 if part["sign"] == "-" else 1
    months, seconds = 0, Fraction(0)
    if datatype != DAY_TIME:
        months = int(part["years"]) * 12 + int(part["months"])
    if datatype != YEAR_MONTH:
        whole = (int(part["days"]) * 24 + int(part["hours"])) * 60 + int(part["minutes"])
        seconds = whole * 60 + Fraction(part["seconds"])
    return Duration(sign * months, sign * seconds, datatype)


def have_order(one: tuple[int, Fraction], other: tuple[int, Fraction]) -> bool:
    """Return whether two durations, as months and seconds, are ordered: both have no months, or both have no seconds."""
    return one[0] == other[0] == 0 or one[1] == other[1] == 0
