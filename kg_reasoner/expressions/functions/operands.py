"""What the operators ``+ - * /`` calculate with: numbers (see `numbers`), dates and times, and durations.

Days, months and seconds have limits as numbers have them: a literal beyond them is no operand.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, TypeAlias

from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions.durations import DURATIONS, Duration, read_duration
from kg_reasoner.expressions.functions.numbers import DIGITS, Number, decimal_of, literal_of, number_of
from kg_reasoner.expressions.moments import MOMENTS, Moment, read_moment
from kg_reasoner.terms import Literal, Term

__all__ = ["Operand", "duration_of", "expect_limits", "literal_of_operand", "moment_of", "operand_of"]

Operand: TypeAlias = Number | Moment | Duration

_SHORT: Final = DIGITS
"""Numbers in lexical forms of this length are not too large."""


def operand_of(term: Term) -> Operand | None:
    """Return the number, the moment or the duration that a term is, or None."""
    number = number_of(term)
    if number is not None or not isinstance(term, Literal):
        return number
    return moment_of(term) if term.datatype in MOMENTS else duration_of(term)


def moment_of(term: Term) -> Moment | None:
    """Return the date, the time of day, or both, that a term is; None if it is none, ill-typed, or too large.

    >>> from kg_reasoner.terms import XSD
    >>> moment_of(Literal("2024-02-29", XSD.date.value)).days, moment_of(Literal("2023-02-29", XSD.date.value))
    (739250, None)
    """
    if not isinstance(term, Literal) or term.datatype not in MOMENTS:
        return None
    moment = read_moment(term.lexical, term.datatype)
    return moment if moment is None or len(term.lexical) <= _SHORT or _is_within_limits(moment.days, moment.seconds) else None


def duration_of(term: Term) -> Duration | None:
    """Return the duration that a term is; None if it is none, ill-typed, or too large."""
    if not isinstance(term, Literal) or term.datatype not in DURATIONS:
        return None
    found = read_duration(term.lexical, term.datatype)
    return found if found is None or len(term.lexical) <= _SHORT or _is_within_limits(found.months, found.seconds) else None


def literal_of_operand(operand: Operand) -> Literal:
    """Return the canonical literal.

    >>> print(literal_of_operand(Moment(0, None, "+00:00")), literal_of_operand(5))
    "0000-03-01Z"^^<http://www.w3.org/2001/XMLSchema#date> "5"^^<http://www.w3.org/2001/XMLSchema#integer>
    """
    return Literal(operand.text(), operand.datatype) if isinstance(operand, tuple) else literal_of(operand)


def expect_limits(*numbers: int | Fraction | None) -> None:
    """Check computed numbers of days, months or seconds.

    Raises:
        ValueTooLargeError: One of them has too many digits.
    """
    for number in numbers:
        if number is not None:
            decimal_of(number)


def _is_within_limits(*numbers: int | Fraction | None) -> bool:
    try:
        expect_limits(*numbers)
    except ValueTooLargeError:
        return False
    return True
