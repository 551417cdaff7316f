"""SUM and AVG of groups, exactly: integers and decimals are added as integers of a common scale, doubles as if without rounding."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions.functions.arithmetic import divide
from kg_reasoner.expressions.functions.numbers import PLACES, Number, Single, exactly, literal_of, number_of
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.sparql.solutions.table import UNBOUND, constant
from kg_reasoner.storage.arrays import Flags, Ids, Numbers
from kg_reasoner.storage.grouping import distinct_ids, group_rows, ordered_by_group
from kg_reasoner.storage.values.value_arithmetic import decimal_digits, number_texts
from kg_reasoner.storage.values.value_columns import (
    DECIMAL,
    DOUBLE,
    INTEGER,
    SCALED,
    UNSCALED,
    ValueCache,
    ValueColumn,
    are_exact,
    is_number,
)
from kg_reasoner.terms import XSD, term_text

__all__ = ["averages", "sums"]

LARGEST: Final = 1 << 62

_INTEGER_END: Final = f'"^^<{XSD.integer.value}>'
_DECIMAL_END: Final = f'"^^<{XSD.decimal.value}>'


class _Exact(NamedTuple):
    """Sums of integers and decimals: as integers of one scale, and which of them are decimals."""

    units: Numbers
    scale: int
    are_decimal: Flags


def sums(column: Ids, labels: Ids, groups: int, terms: QueryTerms, values: ValueCache) -> Ids | None:
    """Return the sum of each group; None if there are values that are added one by one.

    Args:
        column: The values.
        labels: The groups of the values.
        groups: How many groups there are.
        terms: The terms of the query.
        values: Their values.
    """
    wrong, totals = _totals(column, labels, groups, terms, values)
    if totals is None:
        return None
    if not isinstance(totals, _Exact):
        return _without(wrong, _ids(totals, terms))
    firsts, places = _different(totals.units, totals.are_decimal)
    units, are_decimal = totals.units[firsts], totals.are_decimal[firsts]
    found = np.empty(len(units), np.int32)
    for chosen, datatype in ((are_decimal, XSD.decimal.value), (~are_decimal, XSD.integer.value)):
        rows = np.flatnonzero(chosen)  # integers have only zeros after the point, which are not written
        texts = number_texts(units[rows], np.full(len(rows), totals.scale, np.int8), datatype)
        found[rows] = terms.ids_of_texts(texts)
    return _without(wrong, found[places])


def averages(column: Ids, labels: Ids, groups: int, terms: QueryTerms, values: ValueCache) -> Ids | None:
    """Return the mean of each group; the integer 0 for an empty one. See `sums`."""
    wrong, totals = _totals(column, labels, groups, terms, values)
    if totals is None:
        return None
    counts = np.bincount(labels, minlength=groups)
    if not isinstance(totals, _Exact):
        means = [_mean(total, count) for total, count in zip(totals, counts.tolist(), strict=True)]
        return _without(wrong, _ids(means, terms))
    firsts, places = _different(totals.units, counts)
    texts, known = list[str](), list[tuple[int, float, int]]()
    for units, count in zip(totals.units[firsts].tolist(), counts[firsts].tolist(), strict=True):
        divisor = count * 10**totals.scale
        quotient = abs(units) * 10**PLACES // divisor if count else 0
        digits = decimal_digits(-quotient if units < 0 else quotient, PLACES)
        texts.append(f'"{digits}{_DECIMAL_END if count else _INTEGER_END}')
        known.append((DECIMAL, float(digits), UNSCALED) if count else (INTEGER, 0.0, 0))
    return _without(wrong, terms.ids_of_numbers(texts, known)[places])


def _without(wrong: Flags, ids: Ids) -> Ids:
    return np.where(wrong, np.int32(UNBOUND), ids)


def _different(units: Numbers, others: npt.NDArray[np.int64] | Flags) -> tuple[Numbers, Numbers]:
    """Return the first row of each different pair, and for each row the place of its pair among them."""
    rows = np.ascontiguousarray(np.stack([units, others.astype(np.int64)], axis=1)).view(np.int32)
    labels, firsts = group_rows(rows.reshape(len(units), 4))
    return firsts, labels.astype(np.int64)


def _mean(total: Number | None, count: int) -> Number | None:
    try:
        return total if total is None or not count else divide(total, count)
    except ValueTooLargeError:
        return None


def _totals(
    column: Ids, labels: Ids, groups: int, terms: QueryTerms, values: ValueCache
) -> tuple[Flags, _Exact | list[Number | None] | None]:
    """Return which groups have a value that is not a number, and the sums of the others."""
    given = values.column(column, terms)
    numeric = is_number(given.kinds)
    wrong = np.bincount(labels[~numeric], minlength=groups) > 0
    if wrong.any():
        kept = ~wrong[labels]
        column, labels, given = column[kept], labels[kept], values.column(column[kept], terms)
    kinds, doubles = given.kinds, given.doubles
    scaled = _of_scaled(given, labels, groups)
    if scaled is not None:
        return wrong, scaled
    if ((kinds == INTEGER) | (kinds == DOUBLE)).all():
        return wrong, _of_doubles(doubles, kinds == DOUBLE, labels, groups)
    return wrong, _of_decimals(column, labels, groups, terms)


def _of_scaled(given: ValueColumn, labels: Ids, groups: int) -> _Exact | None:
    """Add integers and decimals that have scales; None if there are others, or too large ones."""
    if len(given.kinds) and (given.kinds == INTEGER).all() and (given.scales == 0).all():
        largest = max(float(given.doubles.max()), -float(given.doubles.min()))
        if largest * len(given.kinds) < 2.0**53:
            totals = np.bincount(labels, weights=given.doubles, minlength=groups).astype(np.int64)
            return _Exact(totals, 0, np.zeros(groups, np.bool_))
    is_decimal = given.kinds == DECIMAL
    if not (are_exact(given) & (is_decimal | (given.kinds == INTEGER))).all():
        return None
    scale = int(given.scales.max()) if len(given.scales) else 0
    units = np.rint(given.doubles * 10.0**scale)
    total = np.abs(units).sum()
    if len(units) and not (np.abs(units).max() < SCALED and total < LARGEST):
        return None
    decimal = np.bincount(labels[is_decimal], minlength=groups) > 0
    if total < 2.0**53:
        return _Exact(np.bincount(labels, weights=units, minlength=groups).astype(np.int64), scale, decimal)
    totals = np.zeros(groups, np.int64)
    np.add.at(totals, labels, units.astype(np.int64))
    return _Exact(totals, scale, decimal)


def _of_doubles(doubles: npt.NDArray[np.float64], are_real: Flags, labels: Ids, groups: int) -> list[Number | None] | None:
    if not np.isfinite(doubles).all():
        return None
    order, starts = ordered_by_group(labels, groups)
    given, ends = doubles[order].tolist(), starts.tolist()
    real = (np.bincount(labels[are_real], minlength=groups) > 0).tolist()
    totals: list[Number | None] = []
    for group in range(groups):
        members = given[ends[group] : ends[group + 1]]
        try:
            totals.append(math.fsum(members) if real[group] else sum(map(int, members)))
        except OverflowError:
            return None
    return totals


def _of_decimals(column: Ids, labels: Ids, groups: int, terms: QueryTerms) -> list[Number | None] | None:
    """Add integers and decimals as integers of the smallest unit; None if there are others, or too large ones."""
    distinct, places = distinct_ids(column)
    numbers = [None if term is None else number_of(term) for term in terms.terms(distinct.tolist())]
    exact: list[Decimal] = []
    for number in numbers:
        if number is None or isinstance(number, (float, Single)):
            return None
        exact.append(Decimal(number))
    scale = max((-int(each.as_tuple().exponent) for each in exact), default=0)
    if not 0 <= scale <= 18 or any(each.adjusted() + scale > 17 for each in exact if each):
        return None
    units = np.array([int(each.scaleb(scale)) for each in exact], np.int64)[places.reshape(-1)]
    if float(np.abs(units.astype(np.float64)).sum()) >= LARGEST:
        return None
    totals = np.zeros(groups, np.int64)
    np.add.at(totals, labels, units)
    is_decimal = np.array([isinstance(number, Decimal) for number in numbers], np.bool_)[places.reshape(-1)]
    decimal = (np.bincount(labels[is_decimal], minlength=groups) > 0).tolist()
    unit = Decimal(1).scaleb(-scale)
    return [exactly(total * unit) if is_one else int(total * unit) for total, is_one in zip(totals.tolist(), decimal, strict=True)]


def _ids(numbers: list[Number | None], terms: QueryTerms) -> Ids:
    texts = [None if number is None else term_text(literal_of(number)) for number in numbers]
    given = [text for text in texts if text is not None]
    found = constant(UNBOUND, len(texts))
    found[np.array([text is not None for text in texts], np.bool_)] = terms.ids_of_texts(given)
    return found
