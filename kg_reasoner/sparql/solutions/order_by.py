"""ORDER BY: ranks of terms, and the order of solutions by several keys (SPARQL 1.1 Query, section 15.1).

Unbound comes first, then blank nodes, IRIs and literals, these by value (see `kg_reasoner.expressions.aggregate_functions`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np

from kg_reasoner.concurrency.watching import blocks, mapped
from kg_reasoner.expressions.aggregate_functions import order_key
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.grouping import distinct_ids
from kg_reasoner.storage.values.value_columns import (
    DATE,
    DATE_TIME,
    DECIMAL,
    DOUBLE,
    INTEGER,
    RESOURCE,
    ROUNDED,
    STRING,
    Kinds,
    ValueCache,
    ValueColumn,
    are_exact,
)
from kg_reasoner.storage.values.value_order import ranks_of_values
from kg_reasoner.terms import Term, unescape

__all__ = ["order", "ranks"]

RUN: Final = 1 << 16
"""The number of terms that are sorted between two checks of the limits. Runs in order are merged quickly."""

MANY: Final = 64
"""The number of terms above which a kernel ranks them."""

RanksOf: TypeAlias = Callable[[Numbers], Numbers]


def ranks(ids: Ids, terms: QueryTerms, values: ValueCache) -> Numbers:
    """Return a number for each row of a column, whose order is the order of the terms.

    Args:
        ids: The column.
        terms: The terms of the query.
        values: Their values.
    """
    distinct, places = distinct_ids(ids)
    return _ranks(distinct, terms, values)[places.reshape(-1)]


def _ranks(distinct: Ids, terms: QueryTerms, values: ValueCache) -> Numbers:
    """Return the ranks of different ids."""
    column = values.column(distinct, terms)
    kinds = column.kinds
    if len(distinct) and _are_of_one_kind(column):
        return _by_doubles(distinct, column, terms)
    found = _by_bytes(distinct, kinds, terms)
    if found is not None:
        return found
    keys: list[Any]
    if len(distinct) and (kinds == STRING).all():
        texts = terms.texts(distinct)
        keys = [text[1:-1] if "\\" not in text else _unescaped(text) for part in blocks(len(texts), RUN) for text in texts[part]]
    elif len(distinct) and (kinds == RESOURCE).all():
        texts = terms.texts(distinct)
        keys = [
            (text[0] == "<", text[1:-1] if text[0] == "<" else text) for part in blocks(len(texts), RUN) for text in texts[part]
        ]
    else:
        keys = mapped(_key, terms.terms(distinct.tolist()))
    return _ranks_of_keys(keys)


def _are_of_one_kind(column: ValueColumn) -> bool:
    """Return whether values are all numbers (and not NaN), all dates, or all points in time."""
    low, high = int(column.kinds.min()), int(column.kinds.max())
    if low >= INTEGER and high <= ROUNDED:
        return not np.isnan(column.doubles).any()
    return low == high and low in (DATE, DATE_TIME)


def _by_bytes(distinct: Ids, kinds: Kinds, terms: QueryTerms) -> Numbers | None:
    """Rank strings, or IRIs and blank nodes, by the dictionary's bytes; None if there are others, or bytes do not tell."""
    if len(distinct) < MANY or distinct[0] < 0 or int(kinds.min()) != int(kinds.max()) or kinds[0] not in (STRING, RESOURCE):
        return None
    found = ranks_of_values(terms.dictionary, distinct)
    if found is None or kinds[0] == STRING:
        return found
    are_iris = terms.first_bytes(distinct) == ord("<")
    return np.where(are_iris, found + len(found), found)


def _by_doubles(distinct: Ids, column: ValueColumn, terms: QueryTerms) -> Numbers:
    """Rank values by their doubles, and exactly where different values may have the same one."""
    _, found, counts = np.unique(column.doubles, return_inverse=True, return_counts=True)
    found = found.reshape(-1)
    rounded, binary, decimal = np.zeros((3, len(counts)), np.bool_)
    rounded[found[~are_exact(column) & (column.kinds != DOUBLE)]] = True
    binary[found[column.kinds == DOUBLE]] = True
    decimal[found[column.kinds == DECIMAL]] = True
    rows = np.flatnonzero(((rounded | (binary & decimal)) & (counts > 1))[found])
    if not len(rows):
        return found
    within = np.zeros(len(found), np.int64)
    within[rows] = _ranks_of_keys(mapped(_key, terms.terms(distinct[rows].tolist())))
    return np.unique(found * (len(rows) + 1) + within, return_inverse=True)[1].reshape(-1)


def _ranks_of_keys(keys: Sequence[Any]) -> Numbers:
    """Return the ranks of sort keys; equal ones have the same."""
    runs = [sorted(range(len(keys))[part], key=keys.__getitem__) for part in blocks(len(keys), RUN)]
    ordered = sorted(chain.from_iterable(runs), key=keys.__getitem__) if len(runs) > 1 else [*chain.from_iterable(runs)]
    result = np.empty(len(keys), np.int64)
    rank, before = -1, None
    for place in ordered:
        if before is None or keys[place] != keys[before]:
            rank += 1
        result[place] = rank
        before = place
    return result


def _key(term: Term | None) -> tuple[Any, ...]:
    """Return the sort key of a term: the same for literals of one value."""
    if term is None:
        return (-1,)
    key = order_key(term)
    return key if key[0] < 2 or len(key) < 6 else key[:3]


def _unescaped(text: str) -> str:
    return unescape(text[1:-1])


def order(size: int, keys: Sequence[tuple[RanksOf, bool]], first: int | None = None) -> Numbers:
    """Return the numbers of the rows in the order of keys; ties keep their order.

    Args:
        size: The number of rows.
        keys: Functions that return the ranks of some rows, and whether they descend; the first decides.
        first: How many rows are needed; by default, all.
    """
    rows = np.arange(size)
    if first is not None and 0 < first < size // 4:  # the later keys of the rows that the first one excludes are not needed
        leading = _directed(keys[0], rows)
        rows = np.flatnonzero(leading <= np.partition(leading, first - 1)[first - 1])
    columns = [_directed(key, rows) for key in keys]
    found: Numbers = rows[np.lexsort(list(reversed(columns)))]
    return found if first is None else found[:first]


def _directed(key: tuple[RanksOf, bool], rows: Numbers) -> Numbers:
    rank = key[0](rows)
    return -rank if key[1] else rank
