"""Aggregate functions over the values of a group (SPARQL 1.1 Query, sections 11 and 18.5.1; `collecting` has those that collect).

A value is None if the evaluation of the aggregate's argument was a type error. COUNT ignores errors (18.5.1.2); for the other
functions, an error or an unsuitable value is an error of the whole aggregate (11.3), and the group has no result.

Results do not depend on the order of the values, as incremental maintenance requires:

* Integers and decimals are added exactly. Floats and doubles are added as if exactly, then rounded: 1E16 + 1 - 1E16 is 1.
* MIN and MAX take the first and the last in the order of `order_key`, which is total: among literals of one value, such as ``1``
  and ``01``, their text decides.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import Any, Final

from kg_reasoner.errors import Span, UnsupportedError, suggest
from kg_reasoner.expressions import collecting
from kg_reasoner.expressions.functions.arithmetic import divide
from kg_reasoner.expressions.functions.numbers import DIGITS, Number, Single, exactly, literal_of, number_of, to_float
from kg_reasoner.expressions.ordering import order_key
from kg_reasoner.expressions.reductions import Arguments
from kg_reasoner.expressions.structures import decode
from kg_reasoner.program import AggregateBinding
from kg_reasoner.terms import XSD, Literal, Term

__all__ = [
    "FUNCTIONS",
    "NAMES",
    "aggregate",
    "arguments_of",
    "arguments_of_group",
    "check",
    "count_literal",
    "order_key",
    "value_of_group",
]

_WIDE: Final = Context(prec=4 * DIGITS)  # holds the digits of any sum before it is rounded
_INTEGER: Final = XSD.integer.value


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


def value_of_group(binding: AggregateBinding, values: Iterable[Term | None]) -> Term | None:
    """Return the value of an aggregate function with an argument, given the values of the argument, or None for an error."""
    if binding.definition is None:
        return aggregate(binding.function, binding.distinct, values)
    arguments = arguments_of_group(binding, values)
    result: Term | None = None if arguments is None else binding.definition.value(arguments)
    return result


def arguments_of_group(binding: AggregateBinding, values: Iterable[Term | None]) -> list[Arguments] | None:
    """Return the arguments of a function of the program's own for the solutions of a group, in order; None for an error."""
    collected = list(dict.fromkeys(values) if binding.distinct else values)
    if None in collected:
        return None
    return [arguments_of(binding, term) for term in sorted((term for term in collected if term is not None), key=order_key)]


def arguments_of(binding: AggregateBinding, value: Term) -> Arguments:
    """Return the arguments of a function of the program's own, given the value of the expression between its parentheses."""
    structure = decode(value) if len(binding.definition.parameters) > 1 else None
    return (value,) if structure is None else structure.members


def count_literal(count: int) -> Literal:
    """Return the result of COUNT as a literal."""
    return Literal(str(count), _INTEGER)


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
    floats.append(to_float(total))
    rounded = _float_sum(floats)
    return rounded if any(type(number) is float for number in numbers) else _single_sum(floats, rounded)


def _single_sum(numbers: Sequence[float], rounded: float) -> Single:
    """Return the sum rounded to single precision, given the sum rounded to double precision.

    Halfway between two singles, what it lacks decides. Of the two doubles around the sum, the odd one is never halfway.
    """
    if math.isfinite(rounded):
        lacking = math.fsum([*numbers, -rounded])
        if lacking and not struct.unpack("q", struct.pack("d", rounded))[0] & 1:
            rounded = math.nextafter(rounded, math.copysign(math.inf, lacking))
    return Single(rounded)


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
    **collecting.FUNCTIONS,
}
"""The aggregate functions by name; MIN and MAX of nothing are errors, COUNT, SUM and AVG of nothing are 0."""

NAMES: Final = tuple(sorted(FUNCTIONS))
"""The names of aggregate functions in the rule language."""
