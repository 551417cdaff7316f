"""Types of the operators ``+ - * /``: on numbers, and on dates, times and durations.

Times and durations are among the other literals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kg_reasoner.expressions.types import NUMBERS
from kg_reasoner.language.types.inferred_types import Kinds

__all__ = ["NUMERIC", "OPERANDS", "result_kinds"]

NUMERIC: Final = frozenset([*NUMBERS, "other"])
_EXACT: Final = frozenset(["integer", "decimal"])
_TIMES: Final[Mapping[str, Mapping[tuple[str, str], str]]] = {
    "+": {
        **{(kind, "other"): kind for kind in ("date", "dateTime", "other")},
        **{("other", kind): kind for kind in ("date", "dateTime")},
    },
    "-": {
        **{(kind, "other"): kind for kind in ("date", "dateTime", "other")},
        **{(kind, kind): "other" for kind in ("date", "dateTime")},
    },
    "*": {pair: "other" for kind in NUMERIC for pair in ((kind, "other"), ("other", kind))},
    "/": {("other", kind): "other" for kind in NUMERIC},
}
"""The kinds of results by those of both operands, where these are not both numbers."""

_MOMENTS: Final = (NUMERIC | {"date", "dateTime"}, "a number, date, time or duration")
_MULTIPLES: Final = (NUMERIC, "a number or duration")
OPERANDS: Final = {"+": _MOMENTS, "-": _MOMENTS, "*": _MULTIPLES, "/": _MULTIPLES}
"""The kinds of operands, and their names, by operators."""


def result_kinds(operator: str, left: Kinds, right: Kinds) -> frozenset[str]:
    """Return the kinds of the results of an operator; none if it has no results for these operands."""
    either = OPERANDS[operator][0]
    mine, theirs = either if left is None else left, either if right is None else right
    found = {result for (a, b), result in _TIMES[operator].items() if a in mine and b in theirs}
    if mine & NUMERIC and theirs & NUMERIC:
        is_known = left is not None and right is not None
        found |= _numbers(operator, mine & NUMERIC | theirs & NUMERIC) if is_known else frozenset(NUMBERS)
    return frozenset(found)


def _numbers(operator: str, used: frozenset[str]) -> frozenset[str]:
    if operator == "/":
        return frozenset(["decimal"]) if used <= _EXACT else frozenset(NUMBERS) - {"integer"}
    return used if used <= {"integer"} else _EXACT if used <= _EXACT else frozenset(NUMBERS)
