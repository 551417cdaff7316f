"""YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS, TIMEZONE, TZ (SPARQL 1.1 Query, section 17.4.5).

The parts are those of the local time, as written. YEAR, MONTH, DAY, TIMEZONE and TZ also accept an xsd:date.
"""

from __future__ import annotations

from typing import Any, Final

from kg_reasoner.expressions.durations import DAY_TIME, Duration
from kg_reasoner.expressions.functions.kinds import MOMENT, NUMBER, OPERAND, SIMPLE, TIME, Function
from kg_reasoner.expressions.functions.numbers import decimal_of
from kg_reasoner.expressions.moments import Moment, date_of

__all__ = ["FUNCTIONS"]


def _timezone(moment: Moment) -> Duration | None:
    """Return the time zone as a duration, such as ``-PT5H30M``, or None if the moment has none."""
    return None if moment.zone is None else Duration(0, moment.local - moment.instant, DAY_TIME)


def _of_date(place: int) -> Any:
    return lambda moment: date_of(moment.days)[place]


FUNCTIONS: Final = {
    "YEAR": Function((MOMENT,), NUMBER, _of_date(0)),
    "MONTH": Function((MOMENT,), NUMBER, _of_date(1)),
    "DAY": Function((MOMENT,), NUMBER, _of_date(2)),
    "HOURS": Function((TIME,), NUMBER, lambda moment: moment.seconds // 3600),
    "MINUTES": Function((TIME,), NUMBER, lambda moment: moment.seconds // 60 % 60),
    "SECONDS": Function((TIME,), NUMBER, lambda moment: decimal_of(moment.seconds % 60)),
    "TIMEZONE": Function((MOMENT,), OPERAND, _timezone),
    "TZ": Function((MOMENT,), SIMPLE, lambda moment: moment.zone or ""),
}
"""The functions on dates and times."""
