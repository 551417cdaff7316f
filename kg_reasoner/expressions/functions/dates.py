"""YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS, TIMEZONE, TZ (SPARQL 1.1 Query, section 17.4.5).

The parts are those of the local time, as written. YEAR, MONTH, DAY, TIMEZONE and TZ also accept an xsd:date.
"""

from __future__ import annotations

from typing import Final

from kg_reasoner.expressions.functions.kinds import MOMENT, NUMBER, SIMPLE, TERM, TIME, Function
from kg_reasoner.expressions.functions.moments import timezone

__all__ = ["FUNCTIONS"]

FUNCTIONS: Final = {
    "YEAR": Function((MOMENT,), NUMBER, lambda moment: moment.year),
    "MONTH": Function((MOMENT,), NUMBER, lambda moment: moment.month),
    "DAY": Function((MOMENT,), NUMBER, lambda moment: moment.day),
    "HOURS": Function((TIME,), NUMBER, lambda moment: moment.hour),
    "MINUTES": Function((TIME,), NUMBER, lambda moment: moment.minute),
    "SECONDS": Function((TIME,), NUMBER, lambda moment: moment.second),
    "TIMEZONE": Function((MOMENT,), TERM, timezone),
    "TZ": Function((MOMENT,), SIMPLE, lambda moment: moment.zone or ""),
}
"""The functions on dates and times."""
