"""Arithmetic on columns of values: integers and decimals while doubles identify them, and doubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from kg_reasoner.expressions.functions.numbers import literal_of
from kg_reasoner.program import Call
from kg_reasoner.storage.arrays import Flags, Ids, Numbers
from kg_reasoner.storage.grouping import distinct_numbers
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.literal_values import LINE
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.storage.values.value_columns import (
    DATE,
    DATE_TIME,
    DECIMAL,
    DOUBLE,
    INTEGER,
    LARGEST,
    NOTHING,
    ROUNDED,
    ROUNDING,
    SCALED,
    SMALLEST,
    SPAN,
    UNSCALED,
    UNSURE,
    Value,
    ValueColumn,
    are_exact,
)
from kg_reasoner.terms import XSD, term_text

__all__ = [
    "NumberIds",
    "are_terms",
    "decimal_digits",
    "ids_of_decimals",
    "integer_buffer",
    "number_texts",
    "numbers_of",
    "terms_of_numbers",
]

MOST_PLACES: Final = 15
"""The number of decimal places of calculated decimals."""

_OF_INTEGERS: Final = ("%", "IDIV")

_NUMBERS: Final = (INTEGER, DOUBLE, DECIMAL, ROUNDED)
_MOMENTS: Final = (DATE_TIME, DATE)
_SPANS: Final = (SPAN,)
_KINDS: Final = SPAN + 1
"""The number of kinds of values."""


def _without_value(*pairs: tuple[Sequence[int], Sequence[int]]) -> Flags:
    """Return by the kinds of both operands, ``left * _KINDS + right``, whether an operator has no value.

    Args:
        pairs: The kinds of operands of which not both are numbers, and for which it may have a value.
    """
    found = np.ones((_KINDS, _KINDS), np.bool_)
    operands = [UNSURE, *_NUMBERS, *_MOMENTS, *_SPANS]
    found[UNSURE, operands] = found[operands, UNSURE] = False
    for left, right in ((_NUMBERS, _NUMBERS), *pairs):
        found[np.ix_(left, right)] = False
    return found.reshape(-1)


_WITHOUT_VALUE: Final = {
    "+": _without_value((_MOMENTS, _SPANS), (_SPANS, _MOMENTS), (_SPANS, _SPANS)),
    "-": _without_value((_MOMENTS, _MOMENTS), (_MOMENTS, _SPANS), (_SPANS, _SPANS)),
    "*": _without_value((_NUMBERS, _SPANS), (_SPANS, _NUMBERS)),
    "neg": _without_value(),
}

T = TypeVar("T")

NumberIds: TypeAlias = Callable[[Sequence[str], Sequence[Value]], Ids]
"""Returns the ids of terms, given by their texts and their values."""


def numbers_of(expression: Any, table: T, values: Callable[[Any, T], ValueColumn]) -> ValueColumn | None:
    """Return the values of an expression as a column, `UNSURE` where they are not known; None if nothing is known.

    Args:
        expression: The expression.
        table: The values of its variables, in the form that `values` takes.
        values: Returns the values of expressions that are not arithmetic.
    """
    if not isinstance(expression, Call):
        return values(expression, table)
    if expression.name not in ("+", "-", "*", "neg", *_OF_INTEGERS):
        return None
    columns = [numbers_of(argument, table, values) for argument in expression.arguments]
    if any(column is None for column in columns):
        return None
    left = columns[0]
    assert left is not None
    right = columns[1] if len(columns) > 1 else left
    assert right is not None
    return _applied(expression.name, left, right)


def _applied(name: str, left: ValueColumn, right: ValueColumn) -> ValueColumn:
    if name in _OF_INTEGERS:
        return _of_integers(name, left, right)
    return _of_decimals(name, left, right) or _of_any(name, left, right)


def _of_integers(name: str, left: ValueColumn, right: ValueColumn) -> ValueColumn:
    """Return quotients towards zero, or their remainders, where both operands are integers."""
    size = len(left.kinds)
    kinds, doubles = np.full(size, UNSURE, np.uint8), np.zeros(size)
    kinds[(left.kinds > ROUNDED) | (right.kinds > ROUNDED)] = NOTHING
    whole = (left.kinds == INTEGER) & (right.kinds == INTEGER)
    kinds[whole] = np.where(right.doubles[whole] != 0, INTEGER, NOTHING)
    rows = np.flatnonzero(kinds == INTEGER)
    first, second = left.doubles[rows].astype(np.int64), right.doubles[rows].astype(np.int64)
    if name == "%":
        doubles[rows] = np.fmod(first, second)
    else:
        doubles[rows] = np.where((first < 0) == (second < 0), 1, -1) * (np.abs(first) // np.abs(second))
    return ValueColumn(kinds, doubles, np.where(kinds == INTEGER, np.int8(0), np.int8(UNSCALED)))


def _of_decimals(name: str, left: ValueColumn, right: ValueColumn) -> ValueColumn | None:
    """Return the results for columns of exact decimals, or of decimals and integers, in few passes; None for other columns."""
    if not len(left.kinds) or DECIMAL not in (left.kinds[0], right.kinds[0]):
        return None
    mine, theirs = _places(left), _places(right)
    if mine is None or theirs is None:
        return None
    scale = mine + theirs if name == "*" else max(mine, theirs)
    if scale > MOST_PLACES:
        return None
    first, second = np.rint(left.doubles * 10.0**mine), np.rint(right.doubles * 10.0**theirs)
    if name != "*":
        first, second = first * 10.0 ** (scale - mine), second * 10.0 ** (scale - theirs)
    units = _results(name, first, second)
    if any(max(-each.min(), each.max()) >= SCALED for each in (first, second, units)):
        return None
    doubles = units / 10.0**scale + 0.0
    size = len(doubles)
    kinds, scales = np.full(size, DECIMAL, np.uint8), np.full(size, scale, np.int8)
    return ValueColumn(kinds, doubles, scales, np.abs(doubles) * ROUNDING)


def _places(column: ValueColumn) -> int | None:
    """Return the largest number of decimal places, if all values are exact integers, or all are exact decimals."""
    kind = column.kinds[0]
    if kind not in (INTEGER, DECIMAL) or (column.kinds != kind).any() or column.scales.min() == UNSCALED:
        return None
    return int(column.scales.max())


def _of_any(name: str, left: ValueColumn, right: ValueColumn) -> ValueColumn:
    with np.errstate(all="ignore"):
        doubles = _results(name, left.doubles, right.doubles)
    whole = (left.kinds == INTEGER) & (right.kinds == INTEGER)
    exact = _are(left, INTEGER, DOUBLE) & _are(right, INTEGER, DOUBLE)
    kinds = np.full(len(doubles), UNSURE, np.uint8)
    kinds[exact] = DOUBLE
    kinds[whole] = np.where(np.abs(doubles[whole]) < LARGEST, INTEGER, UNSURE)
    if max(left.kinds.max(initial=0), right.kinds.max(initial=0)) > ROUNDED:
        kinds[_WITHOUT_VALUE[name].take(left.kinds * np.uint8(_KINDS) + right.kinds)] = NOTHING
    doubles = np.where((kinds == INTEGER) & (doubles == 0), 0.0, doubles)
    scales = np.where(kinds == INTEGER, np.int8(0), np.int8(UNSCALED))
    near = ~exact & _are(left, INTEGER, DOUBLE, DECIMAL) & _are(right, INTEGER, DOUBLE, DECIMAL)
    if not near.any():
        return ValueColumn(kinds, doubles, scales)
    kinds[near] = DECIMAL
    errors = np.where(near, _errors(name, left, right) + np.abs(doubles) * ROUNDING + 4 * SMALLEST, 0.0)
    kinds[near & ~np.isfinite(errors)] = UNSURE
    rows = np.flatnonzero(near & are_exact(left) & are_exact(right))
    if len(rows):
        known, scales[rows] = _decimals(name, left, right, rows)
        doubles[rows] = np.where(scales[rows] != UNSCALED, known, doubles[rows])
        errors[rows] = np.where(scales[rows] != UNSCALED, np.abs(known) * ROUNDING, errors[rows])
    return ValueColumn(kinds, doubles, scales, errors)


def _decimals(
    name: str, left: ValueColumn, right: ValueColumn, rows: Numbers
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int8]]:
    """Return the results of some rows, calculated with integers of the last decimal place, and their scales where that is exact."""
    mine, theirs = left.scales[rows].astype(np.int64), right.scales[rows].astype(np.int64)
    scales = mine + theirs if name == "*" else np.maximum(mine, theirs)
    first, second = _units(left.doubles[rows], mine), _units(right.doubles[rows], theirs)
    if name != "*":
        first, second = first * 10.0 ** (scales - mine), second * 10.0 ** (scales - theirs)
    units = _results(name, first, second)  # exact, as is each operand, while they are small
    is_small = (np.abs(units) < SCALED) & (np.abs(first) < SCALED) & (np.abs(second) < SCALED) & (scales <= MOST_PLACES)
    return units / 10.0**scales + 0.0, np.where(is_small, scales, UNSCALED).astype(np.int8)


def _units(doubles: npt.NDArray[np.float64], scales: Numbers) -> npt.NDArray[np.float64]:
    """Return numbers with scales as integers of the last decimal place."""
    return np.rint(doubles * 10.0**scales)


def _are(column: ValueColumn, *kinds: int) -> Flags:
    found = np.zeros(len(column.kinds), np.bool_)
    for kind in kinds:
        found |= column.kinds == kind
    return found


def _errors(name: str, left: ValueColumn, right: ValueColumn) -> Any:
    """Return bounds on the differences between results and exact ones, without the rounding of the results themselves."""
    mine = np.zeros(len(left.kinds)) if left.errors is None else left.errors
    theirs = np.zeros(len(right.kinds)) if right.errors is None else right.errors
    with np.errstate(all="ignore"):
        if name == "neg":
            return mine
        if name == "*":
            return np.abs(left.doubles) * theirs + np.abs(right.doubles) * mine + mine * theirs
        return mine + theirs


def _results(name: str, left: Any, right: Any) -> Any:
    if name == "neg":
        return -left
    return left + right if name == "+" else left - right if name == "-" else left * right


def are_terms(numbers: ValueColumn) -> Flags:
    """Return which results of arithmetic `terms_of_numbers` gives: all but those that are not known, or only up to an error."""
    return _are(numbers, INTEGER, DOUBLE, NOTHING) | ((numbers.kinds == DECIMAL) & are_exact(numbers))


def terms_of_numbers(numbers: ValueColumn, ids_of: NumberIds, ids_of_integers: Callable[[Numbers], Ids] | None = None) -> Ids:
    """Return the ids of exact numbers; -1 for everything else, such as decimals that are known up to an error.

    Args:
        numbers: The numbers.
        ids_of: Returns the ids of terms.
        ids_of_integers: Returns those of integers, if there is a way without their texts.
    """
    found = np.full(len(numbers.kinds), -1, np.int32)
    rows = np.flatnonzero((numbers.kinds == DECIMAL) & are_exact(numbers))
    if len(rows):
        found[rows] = ids_of_decimals(numbers.doubles[rows], numbers.scales[rows], ids_of)
    for kind in (INTEGER, DOUBLE):
        rows = np.flatnonzero(numbers.kinds == kind)
        if len(rows):
            if kind == INTEGER and ids_of_integers is not None:
                integers, places = distinct_numbers(numbers.doubles[rows].astype(np.int64))
                found[rows] = ids_of_integers(integers)[places]
                continue
            # by bits, so that -0.0 is not 0.0
            distinct, places = np.unique(numbers.doubles[rows].view(np.int64), return_inverse=True)
            doubles = distinct.view(np.float64)
            if kind == INTEGER:
                texts = number_texts(doubles.astype(np.int64), np.zeros(len(doubles), np.int8), XSD.integer.value)
            else:
                texts = [term_text(literal_of(double)) for double in doubles.tolist()]
            scale = 0 if kind == INTEGER else UNSCALED
            found[rows] = ids_of(texts, [(kind, double, scale) for double in doubles.tolist()])[places.reshape(-1)]
    return found


def ids_of_decimals(doubles: npt.NDArray[np.float64], scales: npt.NDArray[np.int8], ids_of: NumberIds) -> Ids:
    """Return the ids of decimals with scales."""
    distinct, firsts, places = np.unique(doubles, return_index=True, return_inverse=True)
    known = scales[firsts]
    units = _units(distinct, known.astype(np.int64)).astype(np.int64)
    texts = number_texts(units, known, XSD.decimal.value)
    values = [(DECIMAL, double, scale) for double, scale in zip(distinct.tolist(), known.tolist(), strict=True)]
    return ids_of(texts, values)[places.reshape(-1)]


def number_texts(units: npt.NDArray[np.int64], scales: npt.NDArray[np.int8], datatype: str) -> list[str]:
    """Return the texts of canonical numbers, which are given as integers of their last decimal place.

    Args:
        units: The integers.
        scales: The numbers of decimal places, of at most 18.
        datatype: The IRI of the datatype.

    >>> number_texts(np.array([-1250, 1000]), np.array([3, 2], np.int8), "d")
    ['"-1.25"^^<d>', '"10"^^<d>']
    """
    end = f'"^^<{datatype}>'
    return [f'"{digits}{end}' for digits in str(_lines(units, scales), "ascii").split()]


def integer_buffer(integers: npt.NDArray[np.int64]) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Return the texts of integers one after the other, and where each begins, and the last one ends.

    >>> data, bounds = integer_buffer(np.array([-7, 12]))
    >>> [data[start:end].decode() for start, end in zip(bounds[:-1], bounds[1:])]
    ['"-7"^^<http://www.w3.org/2001/XMLSchema#integer>', '"12"^^<http://www.w3.org/2001/XMLSchema#integer>']
    """
    lines = _lines(integers, np.zeros(len(integers), np.int8))
    end = f'"^^<{XSD.integer.value}>'.encode()
    bounds = np.zeros(len(integers) + 1, np.int64)
    ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n"))
    bounds[1:] = ends + 1 + (1 + np.arange(len(integers))) * len(end)  # a quotation mark takes the place of each line's end
    return b'"' + lines.replace(b"\n", end + b'"')[:-1], bounds


def _lines(units: npt.NDArray[np.int64], scales: npt.NDArray[np.int8]) -> bytes:
    """Return canonical numbers as lines, see `number_texts`."""
    count = len(units)
    given, places, out = allocate(count, np.int64), allocate(count, np.uint8), allocate(count * LINE, np.uint8)
    given[:count], places[:count] = units, scales
    length = native.write_numbers(address(given), address(places), count, address(out))
    return bytes(memoryview(out)[:length])


def decimal_digits(units: int, scale: int) -> str:
    """Return the canonical lexical form of a decimal, which is given as an integer of its last place.

    >>> decimal_digits(-1250, 3), decimal_digits(1000, 2), decimal_digits(5, 0), decimal_digits(5, 3)
    ('-1.25', '10', '5', '0.005')
    """
    if scale == 0:
        return str(units)
    digits = str(abs(units)).rjust(scale + 1, "0")
    fraction = digits[-scale:].rstrip("0")
    whole = f"{digits[:-scale]}.{fraction}" if fraction else digits[:-scale]
    return f"-{whole}" if units < 0 else whole
