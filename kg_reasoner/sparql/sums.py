"""SUM and AVG of groups, exactly: integers and decimals are added as integers of a common scale, doubles as if without rounding."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.errors import ValueTooLargeError
from kg_reasoner.expressions.functions.arithmetic import divide
from kg_reasoner.expressions.functions.numbers import Number, Single, exactly, literal_of, number_of
from kg_reasoner.sparql.table import UNBOUND, constant
from kg_reasoner.sparql.terms import QueryTerms
from kg_reasoner.storage.arrays import Flags, Ids
from kg_reasoner.storage.grouping import distinct_ids, ordered_by_group
from kg_reasoner.storage.value_columns import DOUBLE, INTEGER, ValueCache, is_number
from kg_reasoner.terms import term_text

__all__ = ["averages", "sums"]

LARGEST: Final = 1 << 62


def sums(column: Ids, labels: Ids, groups: int, terms: QueryTerms, values: ValueCache) -> Ids | None:
    """Return the sum of each group; None if there are values that are added one by one.

    Args:
        column: The values.
        labels: The groups of the values.
        groups: How many groups there are.
        terms: The terms of the query.
        values: Their values.
    """
    totals = _totals(column, labels, groups, terms, values)
    return None if totals is None else _ids(totals, terms)


def averages(column: Ids, labels: Ids, groups: int, terms: QueryTerms, values: ValueCache) -> Ids | None:
    """Return the mean of each group; the integer 0 for an empty one. See `sums`."""
    totals = _totals(column, labels, groups, terms, values)
    if totals is None:
        return None
    counts = np.bincount(labels, minlength=groups).tolist()
    known: dict[tuple[type, Number | None, int], Number | None] = {}
    means: list[Number | None] = []
    for total, count in zip(totals, counts, strict=True):
        key = type(total), total, count
        if key not in known:
            known[key] = _mean(total, count)
        means.append(known[key])
    return _ids(means, terms)


def _mean(total: Number | None, count: int) -> Number | None:
    try:
        return total if total is None or not count else divide(total, count)
    except ValueTooLargeError:
        return None


def _totals(column: Ids, labels: Ids, groups: int, terms: QueryTerms, values: ValueCache) -> list[Number | None] | None:
    kinds, doubles, _ = values.column(column, terms)
    numeric = is_number(kinds)
    wrong = np.bincount(labels[~numeric], minlength=groups) > 0
    if wrong.any():
        kept = ~wrong[labels]
        column, labels, kinds, doubles = column[kept], labels[kept], kinds[kept], doubles[kept]
    found: list[Number | None] | None
    if (kinds == INTEGER).all() and float(np.abs(doubles).sum()) < 2.0**53:
        found = list(np.bincount(labels, weights=doubles, minlength=groups).astype(np.int64).tolist())
    elif ((kinds == INTEGER) | (kinds == DOUBLE)).all():
        found = _of_doubles(doubles, kinds == DOUBLE, labels, groups)
    else:
        found = _of_decimals(column, labels, groups, terms)
    if found is None:
        return None
    return [None if is_wrong else total for is_wrong, total in zip(wrong.tolist(), found, strict=True)]


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
