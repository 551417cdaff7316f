"""COUNT, SUM, MIN, MAX and AVG over the values of a group (SPARQL 1.1 Query, sections 11 and 18.5.1).

A value is None if the evaluation of the aggregate's argument was a type error. COUNT ignores errors (18.5.1.2); for the other
functions, an error or an unsuitable value is an error of the whole aggregate (11.3), and the group has no result.

Results do not depend on the order of the values, as incremental maintenance requires:

* Integers and decimals are added exactly. Floats and doubles are added as if exactly, then rounded: 1E16 + 1 - 1E16 is 1.
* MIN and MAX take the first and the last in the order of `order_key`, which is total: among literals of one value, such as ``1``
  and ``01``, their text decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import Any, Final

from kg_reasoner.errors import Span, UnsupportedError, suggest
from kg_reasoner.expressions.functions.arithmetic import divide
from kg_reasoner.expressions.functions.numbers import DIGITS, Number, Single, exactly, literal_of, number_of, to_float
from kg_reasoner.expressions.values import value_of
from kg_reasoner.terms import XSD, BlankNode, Literal, Term

__all__ = ["FUNCTIONS", "NAMES", "REFUSED", "aggregate", "check", "count_literal", "order_key"]

_WIDE: Final = Context(prec=4 * DIGITS)  # holds the digits of any sum before it is rounded
_INTEGER: Final = XSD.integer.value
_RANKS: Final = {
    kind: rank for rank, kind in enumerate(("number", "dateTime", "date", "boolean", "string", "langString", "structure"))
}


def check(function: str, span: Span | None = None) -> None:
    """Reject an aggregate function that cannot be evaluated.

    Args:
        function: The name of the function, in upper case.
        span: The place of the function in the rule, for the error.

    Raises:
        UnsupportedError: The function cannot be evaluated; the message gives the reason.
    """
    if function in FUNCTIONS:
        return
    known = ", ".join(FUNCTIONS)
    if function in REFUSED:
        reason, hint = REFUSED[function]
        raise UnsupportedError(f"{function} {reason}", span, hint or f"aggregates: {known}")
    raise UnsupportedError(f"unknown aggregate function {function}{suggest(function, FUNCTIONS)}", span, f"aggregates: {known}")


def aggregate(function: str, distinct: bool, values: Iterable[Term | None]) -> Term | None:
    """Return the value of an aggregate function over a group, or None for a type error.

    With `distinct`, a term counts once; ``1`` and ``01`` are two terms. For ``COUNT(*)``, whose result is the number of solutions,
    see `count_literal`.

    >>> from kg_reasoner.terms import literal
    >>> print(aggregate("SUM", False, [literal(1), literal(2), literal(2)]), aggregate("MAX", False, []))
    "5"^^<http://www.w3.org/2001/XMLSchema#integer> None
    """
    collected = list(dict.fromkeys(values) if distinct else values)
    return FUNCTIONS[function](collected)


def count_literal(count: int) -> Literal:
    """Return the result of COUNT as a literal."""
    return Literal(str(count), _INTEGER)


def order_key(term: Term) -> tuple[Any, ...]:
    """Return a sort key for ORDER BY (section 15.1) that makes the order total.

    Blank nodes come first, then IRIs, then literals: numbers (NaN before all others), dateTimes, dates, booleans, strings, strings
    with a language tag, each of them by value; at last literals of unknown datatypes and ill-typed ones. What is equal so far is
    ordered by text and datatype.
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


def _count(values: Sequence[Term | None]) -> Literal:
    return count_literal(sum(value is not None for value in values))


def _sum(values: Sequence[Term | None]) -> Literal | None:
    total = _total(values)
    return None if total is None else literal_of(total)


def _avg(values: Sequence[Term | None]) -> Literal | None:
    """Return the sum divided by the number of values, or the integer 0 for an empty group (18.5.1.4)."""
    total = _total(values)
    average = total if total is None or not values else divide(total, len(values))
    return None if average is None else literal_of(average)


def _total(values: Sequence[Term | None]) -> Number | None:
    """Return the sum, with the type that pairwise addition would give, or None if a value is not a number."""
    numbers = [None if value is None else number_of(value) for value in values]
    integers: list[int] = []
    decimals: list[Decimal] = []
    floats: list[float] = []
    for number in numbers:
        if number is None:
            return None
        if isinstance(number, int):
            integers.append(number)
        elif isinstance(number, Decimal):
            decimals.append(number)
        else:
            floats.append(number)
    total: int | Decimal = sum(integers)
    if decimals:
        total = reduce(_WIDE.add, decimals, Decimal(total))
    if not floats:
        return exactly(total)
    rounded = _float_sum([to_float(total), *floats])
    return rounded if any(type(number) is float for number in floats) else Single(rounded)


def _float_sum(numbers: Sequence[float]) -> float:
    """Return the sum as if computed without rounding, then rounded."""
    beyond = [number for number in numbers if not math.isfinite(number)]
    if beyond:
        return sum(beyond)
    try:
        return math.fsum(numbers)
    except OverflowError:  # in between, or at last
        total = sum(map(Fraction, numbers))
        try:
            return float(total)
        except OverflowError:
            return math.inf if total > 0 else -math.inf


def _extreme(choose: Callable[..., Any]) -> Callable[[Sequence[Term | None]], Term | None]:
    def apply(values: Sequence[Term | None]) -> Term | None:
        return choose(values, key=order_key, default=None) if None not in values else None

    return apply


FUNCTIONS: Final[dict[str, Callable[[Sequence[Term | None]], Term | None]]] = {
    "COUNT": _count,
    "SUM": _sum,
    "MIN": _extreme(min),
    "MAX": _extreme(max),
    "AVG": _avg,
}
"""The aggregate functions by name; MIN and MAX of nothing are errors, COUNT, SUM and AVG of nothing are 0."""

REFUSED: Final[dict[str, tuple[str, str | None]]] = {
    "GROUP_CONCAT": ("is not supported: the values of a group have no order", None),
    "SAMPLE": (
        "is not supported: its result is not determined by the group and cannot be maintained",
        "use MIN or MAX, which are deterministic",
    ),
}
"""SPARQL's other aggregate functions: why there is none here, and what to do instead."""

NAMES: Final = tuple(sorted([*FUNCTIONS, *REFUSED]))
"""What the rule language takes for aggregate functions."""
