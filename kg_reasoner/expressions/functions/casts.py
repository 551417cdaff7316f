"""Casts: the IRIs of datatypes as functions (SPARQL 1.1 Query, section 17.5; XPath and XQuery Functions and Operators, section 17).

A cast takes a literal of a castable datatype, or a string that is a valid lexical form after trimming white space. Any other
argument is a type error; but xsd:string takes IRIs, and all literals: those that SPARQL's table lacks, with their lexical form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from kg_reasoner.expressions.functions.kinds import BOOLEAN, NUMBER, TERM, Function
from kg_reasoner.expressions.functions.moments import Moment, moment_of
from kg_reasoner.expressions.functions.numbers import (
    Number,
    decimal_text,
    literal_of,
    number_of,
    shortest,
    to_float,
    to_single,
)
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


def _to_decimal(number: Number) -> Decimal | None:
    """Return the shortest decimal that reads back as the float or double: the double 0.1 becomes 0.1, not 0.1000000000000000055."""
    if isinstance(number, float):
        return Decimal(shortest(number)) if math.isfinite(number) else None
    return Decimal(number)


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
    moment = moment_of(term)
    if moment is not None:
        return Literal(moment.date_text() if moment.hour is None else moment.text())
    number = number_of(term)
    if number is None:
        return Literal(term.lexical)
    if not isinstance(number, float):
        return Literal(literal_of(number).lexical)
    if number == 0:
        return Literal("-0" if math.copysign(1, number) < 0 else "0")
    return Literal(decimal_text(Decimal(shortest(number))) if 1e-6 <= abs(number) < 1e6 else scientific(shortest(number)))


def _to_moment(target: str, write: Callable[[Moment], str]) -> Callable[[Term], Literal | None]:
    def cast(term: Term) -> Literal | None:
        source = _source(term, target)
        moment = None if source is None else moment_of(source)
        return None if moment is None else Literal(write(moment), target)

    return cast


_NUMBERS: Final = {
    "integer": _to_integer,
    "decimal": _to_decimal,
    "float": to_single,
    "double": lambda number: float(to_float(number)),
}
_OTHERS: Final = {
    "boolean": _to_boolean,
    "string": _to_string,
    "dateTime": _to_moment(XSD.dateTime.value, Moment.text),
    "date": _to_moment(XSD.date.value, Moment.date_text),
}

FUNCTIONS: Final = {
    **{
        f"<{XSD[name].value}>": Function((TERM,), NUMBER, _to_number(XSD[name].value, convert))
        for name, convert in _NUMBERS.items()
    },
    **{f"<{XSD[name].value}>": Function((TERM,), TERM, cast) for name, cast in _OTHERS.items()},
}
"""The casts, by the IRI in angle brackets."""
