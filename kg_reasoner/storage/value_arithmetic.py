"""Arithmetic on columns of values: integers while they are exact as doubles, and doubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from kg_reasoner.expressions.functions.numbers import literal_of
from kg_reasoner.program import Call
from kg_reasoner.storage.arrays import Flags, Ids
from kg_reasoner.storage.value_columns import DECIMAL, DOUBLE, INTEGER, LARGEST, NOTHING, ROUNDED, ROUNDING, UNSURE, ValueColumn
from kg_reasoner.terms import XSD, term_text

__all__ = ["numbers_of", "terms_of_numbers"]

_INTEGER_END: Final = f'"^^<{XSD.integer.value}>'
_NEAR: Final = DECIMAL
"""The kind of results that are known up to an error: enough for most comparisons, and not for terms."""

T = TypeVar("T")


def numbers_of(expression: Any, table: T, values: Callable[[Any, T], ValueColumn]) -> ValueColumn | None:
    """Return the values of an expression as a column, `UNSURE` where they are not exact; None if nothing is known.

    Args:
        expression: The expression.
        table: The values of its variables, in the form that `values` takes.
        values: Returns the values of expressions that are no arithmetic.
    """
    if not isinstance(expression, Call):
        return values(expression, table)
    if expression.name not in ("+", "-", "*", "neg"):
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
    with np.errstate(all="ignore"):
        doubles = _results(name, left.doubles, right.doubles)
    whole = (left.kinds == INTEGER) & (right.kinds == INTEGER)
    exact = _are(left, INTEGER, DOUBLE) & _are(right, INTEGER, DOUBLE)
    kinds = np.full(len(doubles), UNSURE, np.uint8)
    kinds[exact] = DOUBLE
    kinds[whole] = np.where(np.abs(doubles[whole]) < LARGEST, INTEGER, UNSURE)
    kinds[(left.kinds > ROUNDED) | (right.kinds > ROUNDED)] = NOTHING  # what is no number
    doubles = np.where((kinds == INTEGER) & (doubles == 0), 0.0, doubles)
    near = ~exact & _are(left, INTEGER, DOUBLE, DECIMAL) & _are(right, INTEGER, DOUBLE, DECIMAL)
    if not near.any():
        return ValueColumn(kinds, doubles)
    kinds[near] = _NEAR
    errors = np.where(near, _errors(name, left, right) + np.abs(doubles) * ROUNDING, 0.0)
    kinds[near & ~np.isfinite(errors)] = UNSURE
    return ValueColumn(kinds, doubles, errors)


def _are(column: ValueColumn, *kinds: int) -> Flags:
    found = np.zeros(len(column.kinds), np.bool_)
    for kind in kinds:
        found |= column.kinds == kind
    return found


def _errors(name: str, left: ValueColumn, right: ValueColumn) -> Any:
    """Return how far results are from the exact ones, besides the rounding of the results themselves."""
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


def terms_of_numbers(numbers: ValueColumn, ids_of_texts: Callable[[Sequence[str]], Ids]) -> Ids:
    """Return the ids of exact numbers; -1 for everything else.

    Args:
        numbers: The numbers.
        ids_of_texts: Returns the ids of terms, given by their texts.
    """
    found = np.full(len(numbers.kinds), -1, np.int32)
    for kind in (INTEGER, DOUBLE):
        rows = np.flatnonzero(numbers.kinds == kind)
        if len(rows):
            # by bits, so that -0.0 is not 0.0
            distinct, places = np.unique(numbers.doubles[rows].view(np.int64), return_inverse=True)
            doubles = distinct.view(np.float64)
            if kind == INTEGER:
                texts = [f'"{number}{_INTEGER_END}' for number in doubles.astype(np.int64).tolist()]
            else:
                texts = [term_text(literal_of(double)) for double in doubles.tolist()]
            found[rows] = ids_of_texts(texts)[places.reshape(-1)]
    return found
