"""Columns of values: of each term the kind and, for numbers and points in time, the value as a double.

A double is not always the value: decimals, large integers and fractions of seconds are rounded. Rounding keeps the order, so that
different doubles decide a comparison. Of equal ones, only those that have no *scale* need the exact values: a decimal of at most 15
digits is the only such decimal with its double, so that its digits can be calculated with as an integer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.watching import blocks, mapped
from kg_reasoner.expressions.values import Key, double_of, value_of
from kg_reasoner.storage.arrays import Flags, Ids, unique_ids
from kg_reasoner.storage.grouping import distinct_ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.terms import XSD, Literal, Term, term_from_text, term_text

__all__ = [
    "DATE",
    "DATE_TIME",
    "DECIMAL",
    "DOUBLE",
    "INTEGER",
    "LARGEST",
    "NOTHING",
    "OTHER",
    "RESOURCE",
    "ROUNDED",
    "ROUNDING",
    "SCALED",
    "SMALLEST",
    "SPAN",
    "STRING",
    "UNSCALED",
    "UNSURE",
    "ForeignTexts",
    "Kinds",
    "Value",
    "ValueCache",
    "ValueColumn",
    "are_exact",
    "constant_values",
    "is_number",
    "read_value",
]

Kinds: TypeAlias = npt.NDArray[np.uint8]

UNSURE: Final = 0
"""Not known here: the exact evaluation decides."""
INTEGER: Final = 1
"""An xsd:integer of at most 53 bits."""
DOUBLE: Final = 2
"""An xsd:double."""
DECIMAL: Final = 3
"""An xsd:decimal; its double is rounded."""
ROUNDED: Final = 4
"""A number of another type, or a large integer; its double is rounded."""
DATE_TIME: Final = 5
DATE: Final = 6
RESOURCE: Final = 7
"""An IRI or a blank node."""
STRING: Final = 8
"""A string without a language tag."""
OTHER: Final = 9
"""Any other literal."""
NOTHING: Final = 10
"""No term."""
SPAN: Final = 11
"""A duration, or a time of day."""

ROUNDING: Final = 2.0**-52
"""The maximal relative error of a rounded double."""

SMALLEST: Final = 2.0**-1074
"""How far a rounded double may be from a value near 0, where doubles are not as close to each other as `ROUNDING` says."""

LARGEST: Final = float(2**53)

SCALED: Final = 1e15
"""A smaller number, as an integer of its last decimal place, is the only one with its double."""

UNSCALED: Final = -1
"""The scale of a value that is not known to be the only one with its double."""

Value: TypeAlias = tuple[int, float, int]
"""The kind, the double and the scale of a term."""

AT_ONCE: Final = 1 << 16
"""The number of terms whose values are read between two checks of the limits."""

_INTEGER_END: Final = f'"^^<{XSD.integer.value}>'
_DOUBLE_END: Final = f'"^^<{XSD.double.value}>'


class ValueColumn(NamedTuple):
    """Values, one for each row.

    Attributes:
        kinds: Their kinds.
        doubles: The nearest doubles of numbers and moments.
        scales: The decimal places of integers, decimals and moments, or `UNSCALED`.
        errors: How far the doubles may be from the values; None: not at all.
    """

    kinds: Kinds
    doubles: npt.NDArray[np.float64]
    scales: npt.NDArray[np.int8]
    errors: npt.NDArray[np.float64] | None = None


def _with_errors(kinds: Kinds, doubles: npt.NDArray[np.float64], scales: npt.NDArray[np.int8]) -> ValueColumn:
    inexact = (kinds >= DECIMAL) & (kinds <= DATE)
    if not inexact.any():
        return ValueColumn(kinds, doubles, scales)
    return ValueColumn(kinds, doubles, scales, np.where(inexact, np.abs(doubles) * ROUNDING + SMALLEST, 0.0))


def are_exact(column: ValueColumn) -> Flags:
    """Return which values are the only ones with their doubles, among those of which this is true and of the same kind of value."""
    flags: Flags = column.scales != UNSCALED
    return flags


def is_number(kinds: Kinds) -> Flags:
    """Return which kinds are of numbers."""
    flags: Flags = (kinds >= INTEGER) & (kinds <= ROUNDED)
    return flags


def constant_values(term: Term, size: int) -> ValueColumn:
    """Return a column with the value of one term everywhere."""
    kind, double, scale = read_value(term_text(term))
    return _with_errors(np.full(size, kind, np.uint8), np.full(size, double), np.full(size, scale, np.int8))


class ForeignTexts(Protocol):
    """Terms that are not in a dictionary.

    Attributes:
        values: The known values of some of them, by their ids.
    """

    values: dict[int, Value]

    def texts(self, ids: Ids) -> list[str]:
        """Return the texts of terms."""
        ...


class ValueCache:
    """The kinds and doubles of the terms of a dictionary, read when they are first needed.

    Args:
        dictionary: The dictionary.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._known = ValueColumn(np.zeros(0, np.uint8), np.zeros(0), np.zeros(0, np.int8))

    def column(self, ids: Ids, others: ForeignTexts | None = None) -> ValueColumn:
        """Return the values of a column of ids.

        Args:
            ids: The ids; -1 stands for no term.
            others: The terms with ids below -1, which are not in the dictionary.
        """
        if not len(ids) or int(ids.min()) >= 0:
            return self._stored(ids)
        kinds, doubles = np.full(len(ids), NOTHING, np.uint8), np.zeros(len(ids))
        scales = np.full(len(ids), UNSCALED, np.int8)
        stored = ids >= 0
        kinds[stored], doubles[stored], scales[stored], _ = self._stored(ids[stored])
        local = np.flatnonzero(ids < -1)
        if len(local):
            assert others is not None
            distinct, places = distinct_ids(ids[local])
            known = others.values
            given = zip(distinct.tolist(), others.texts(distinct), strict=True)
            columns = zip(*mapped(lambda each: known.get(each[0]) or read_value(each[1]), given), strict=True)
            arrays: tuple[npt.NDArray[Any], ...] = kinds, doubles, scales
            for array, values in zip(arrays, columns, strict=True):
                array[local] = np.array(values, array.dtype)[places.reshape(-1)]
        return _with_errors(kinds, doubles, scales)

    def _stored(self, ids: Ids) -> ValueColumn:
        known = self._known
        if len(ids) and int(ids.max()) >= len(known.kinds):
            known = self._grown(int(ids.max()) + 1)
        kinds = known.kinds[ids]
        if not kinds.all():
            self._fill(known, unique_ids(ids[kinds == UNSURE]))
            kinds = known.kinds[ids]
        return _with_errors(kinds, known.doubles[ids], known.scales[ids])

    def _grown(self, count: int) -> ValueColumn:
        """Return larger arrays. Threads that fill others meanwhile lose what they filled, and read it again later."""
        size = max(count, len(self._dictionary), 5 * len(self._known.kinds) // 4)
        old, new = self._known, ValueColumn(np.zeros(size, np.uint8), np.zeros(size), np.full(size, UNSCALED, np.int8))
        new.kinds[: len(old.kinds)] = old.kinds
        new.doubles[: len(old.doubles)] = old.doubles
        new.scales[: len(old.scales)] = old.scales
        self._known = new
        return self._known

    def _fill(self, known: ValueColumn, ids: Ids) -> None:
        """Read the values of some terms. A kind is set after its double, for other threads that read both."""
        for part in blocks(len(ids), AT_ONCE):
            some = ids[part]
            kinds, units, places = self._dictionary.read(some)
            is_scaled = (kinds >= INTEGER) & (kinds <= DATE)
            doubles = units / 10.0**places if places.any() else units.astype(np.float64)
            scales = np.where(is_scaled, places.view(np.int8), np.int8(UNSCALED))
            rest = np.flatnonzero(kinds == UNSURE)
            if len(rest):
                values = mapped(read_value, self._dictionary.texts_of(some[rest]))
                kinds[rest], doubles[rest], scales[rest] = zip(*values, strict=True)
            known.doubles[some], known.scales[some] = doubles, scales
            known.kinds[some] = kinds


def read_value(text: str) -> Value:
    """Return the value of a term's text."""
    if text[0] != '"':
        return RESOURCE, 0.0, UNSCALED
    if text[-1] == '"':
        return STRING, 0.0, UNSCALED
    if text.endswith(_INTEGER_END) and len(text) - len(_INTEGER_END) <= 16 and text[1 : -len(_INTEGER_END)].isdecimal():
        digits = text[1 : -len(_INTEGER_END)]
        if digits.isascii():
            return INTEGER, float(digits), 0
    if text.endswith(_DOUBLE_END) and (double := double_of(text[1 : -len(_DOUBLE_END)])) is not None:
        return DOUBLE, double, UNSCALED
    term = term_from_text(text)
    assert isinstance(term, Literal)
    value = value_of(term)
    if value is None:
        return OTHER, 0.0, UNSCALED
    return _KINDS[value[0]](term, value[1])


def _number(term: Literal, value: Key) -> Value:
    assert isinstance(value, Decimal)
    double = float(value)
    if term.datatype == XSD.double.value:
        return DOUBLE, double, UNSCALED
    double += 0.0  # zeros of integers and decimals have no sign
    if term.datatype == XSD.integer.value and abs(double) < LARGEST:
        return INTEGER, double, 0
    if term.datatype != XSD.decimal.value:
        return ROUNDED, double, UNSCALED
    places = max(0, -int(value.as_tuple().exponent))
    return DECIMAL, double, places if places <= 15 and abs(double) * 10.0**places < SCALED else UNSCALED


def _moment(kind: int) -> Callable[[Literal, Key], Value]:
    def read(term: Literal, value: Key) -> Value:
        assert isinstance(value, Fraction)
        try:
            return kind, float(value), 0 if value.denominator == 1 and abs(value) < SCALED else UNSCALED
        except OverflowError:
            return kind, math.inf if value > 0 else -math.inf, UNSCALED

    return read


def _without_double(kind: int) -> Callable[[Literal, Key], Value]:
    return lambda term, value: (kind, 0.0, UNSCALED)


_KINDS: Final = {
    "number": _number,
    "dateTime": _moment(DATE_TIME),
    "date": _moment(DATE),
    **dict.fromkeys(("time", "duration"), _without_double(SPAN)),
    **dict.fromkeys(("boolean", "string", "langString", "structure"), _without_double(OTHER)),
}
