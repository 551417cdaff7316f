"""Casts: the IRIs of datatypes as functions (SPARQL 1.1 Query, section 17.5; XPath and XQuery Functions and Operators, section 17).

A cast takes a literal of a castable datatype, or a string that is a valid lexical form after trimming white space. Any other
argument is a type error; but xsd:string takes IRIs, and all literals: those that SPARQL's table lacks, with their lexical form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Final

from kg_reasoner.expressions.durations import DAY_TIME, DURATIONS, YEAR_MONTH, Duration
from kg_reasoner.expressions.functions.kinds import BOOLEAN, NUMBER, OPERAND, TERM, Function
from kg_reasoner.expressions.functions.numbers import (
    Number,
    decimal_text,
    number_of,
    shortest,
    shortest_decimal,
    to_float,
    to_single,
)
from kg_reasoner.expressions.functions.operands import duration_of, literal_of_operand, moment_of, operand_of
from kg_reasoner.expressions.moments import Moment
from kg_reasoner.expressions.values import value_of
from kg_reasoner.terms import IRI, XSD, Literal, Term, scientific

__all__ = ["FUNCTIONS"]

_BOOLEAN: Final = XSD.boolean.value
_STRING: Final = XSD.string.value
_SPACE: Final = " \t\n\r"


def _source(term: Term, datatype: str) -> Literal | None:
    """Return the literal to cast; a string counts as the literal of the target datatype with this lexical form."""
    if not isinstance(term, Literal):
        return None
    return Literal(term.lexical.strip(_SPACE), datatype) if term.datatype == _STRING else term


def _to_number(target: str, convert: Callable[[Number], Number | None]) -> Callable[[Term], Number | None]:
    def cast(term: Term) -> Number | None:
        source = _source(term, target)
        if source is None:
            return None
        number = int(BOOLEAN.read(source)) if source.datatype == _BOOLEAN and value_of(source) is not None else number_of(source)
        return None if number is None else convert(number)

    return cast


def _to_integer(number: Number) -> int | None:
    """Return the integer part of a number."""
    return None if isinstance(number, float) and not math.isfinite(number) else int(number)


def _to_boolean(term: Term) -> Literal | None:
    source = _source(term, _BOOLEAN)
    if source is None or (source.datatype != _BOOLEAN and number_of(source) is None) or value_of(source) is None:
        return None
    return BOOLEAN.write(BOOLEAN.read(source))  # type: ignore[return-value]


def _to_string(term: Term) -> Literal | None:
    """Return the canonical form of a value, without an exponent for floats and doubles of moderate size, and that of other literals
    as it is written.
    """
    if isinstance(term, IRI):
        return Literal(term.value)
    if not isinstance(term, Literal):
        return None
    if term.datatype == _STRING or term.language is not None:
        return Literal(term.lexical)
    boolean = _to_boolean(term) if term.datatype == _BOOLEAN else None
    if boolean is not None:
        return Literal(boolean.lexical)
    value = operand_of(term)
    if value is None:
        return Literal(term.lexical)
    if not isinstance(value, float):
        return Literal(literal_of_operand(value).lexical)
    if value == 0:
        return Literal("-0" if math.copysign(1, value) < 0 else "0")
    return Literal(decimal_text(Decimal(shortest(value))) if 1e-6 <= abs(value) < 1e6 else scientific(shortest(value)))


def _to_moment(target: str, convert: Callable[[Moment], Moment | None]) -> Callable[[Term], Moment | None]:
    def cast(term: Term) -> Moment | None:
        source = _source(term, target)
        moment = None if source is None else moment_of(source)
        return None if moment is None else convert(moment)

    return cast


def _to_date_time(moment: Moment) -> Moment | None:
    return None if moment.days is None else moment._replace(seconds=moment.seconds or Fraction(0))


def _to_date(moment: Moment) -> Moment | None:
    return None if moment.days is None else moment._replace(seconds=None)


def _to_time(moment: Moment) -> Moment | None:
    return None if moment.seconds is None else moment._replace(days=None)


def _to_duration(target: str) -> Callable[[Term], Duration | None]:
    """Return the cast to a type of durations: those of months or of seconds take nothing else of a duration."""

    def cast(term: Term) -> Duration | None:
        source = _source(term, target)
        found = None if source is None else duration_of(source)
        if found is None:
            return None
        return Duration(found.months if target != DAY_TIME else 0, found.seconds if target != YEAR_MONTH else Fraction(0), target)

    return cast


_NUMBERS: Final = {
    "integer": _to_integer,
    "decimal": shortest_decimal,
    "float": to_single,
    "double": lambda number: float(to_float(number)),
}
_TIMES: Final = {
    **{
        XSD[name].value: _to_moment(XSD[name].value, convert)
        for name, convert in {"dateTime": _to_date_time, "date": _to_date, "time": _to_time}.items()
    },
    **{datatype: _to_duration(datatype) for datatype in DURATIONS},
}

FUNCTIONS: Final = {
    **{
        f"<{XSD[name].value}>": Function((TERM,), NUMBER, _to_number(XSD[name].value, convert))
        for name, convert in _NUMBERS.items()
    },
    **{f"<{datatype}>": Function((TERM,), OPERAND, cast) for datatype, cast in _TIMES.items()},
    f"<{_BOOLEAN}>": Function((TERM,), TERM, _to_boolean),
    f"<{_STRING}>": Function((TERM,), TERM, _to_string),
}
"""The casts, by the IRI in angle brackets."""
