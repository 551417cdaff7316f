"""A total order of terms: that of ORDER BY, MIN and MAX."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from kg_reasoner.expressions.values import value_of
from kg_reasoner.terms import BlankNode, Literal, Term

__all__ = ["order_key"]

_KINDS: Final = ("number", "dateTime", "date", "time", "duration", "boolean", "string", "langString", "structure")
_RANKS: Final = {kind: rank for rank, kind in enumerate(_KINDS)}


def order_key(term: Term) -> tuple[Any, ...]:
    """Return a sort key for ORDER BY (section 15.1) that makes the order total.

    Blank nodes come first, then IRIs, then literals: numbers (NaN before all others), dateTimes, dates, times, durations (by their
    months, then by their seconds), booleans, strings, strings with a language tag, each of them by value; at last literals of
    unknown datatypes and ill-typed ones. What is equal so far is ordered by text and datatype.
    """
    if not isinstance(term, Literal):
        return (0, term.label) if isinstance(term, BlankNode) else (1, term.value)
    value = value_of(term)
    if value is None:
        return 3, term.datatype, term.lexical
    kind, key = value
    if isinstance(key, Decimal) and key.is_nan():
        return 2, -1, term.datatype, term.lexical
    return 2, _RANKS[kind], key, term.lexical, term.datatype, term.language or ""
