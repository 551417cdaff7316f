"""Keys of values, which equal values have in common: joins by values compare only solutions with equal keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kg_reasoner.concurrency.watching import watched
from kg_reasoner.expressions.values import value_of
from kg_reasoner.sparql.solutions.query_terms import QueryTerms
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.grouping import distinct_ids
from kg_reasoner.storage.values.value_columns import DATE, INTEGER, OTHER, RESOURCE, ROUNDED, STRING, ValueCache
from kg_reasoner.terms import Literal

__all__ = ["value_keys"]


def value_keys(columns: Sequence[Ids], terms: QueryTerms, values: ValueCache) -> list[Ids]:
    """Return keys of the values of columns of ids, shape (n, 3) for each.

    Values that are equal have equal keys; of other values, few have.

    Args:
        columns: The columns.
        terms: The terms of the query.
        values: The values of the dictionary's terms.
    """
    others: dict[Any, int] = {}
    return [_keys(ids, terms, values, others) for ids in columns]


def _keys(ids: Ids, terms: QueryTerms, values: ValueCache, others: dict[Any, int]) -> Ids:
    """Return keys of terms: the kind of value, and the bits of numbers and moments, numbers of other values, or the ids."""
    column = values.column(ids, terms)
    keys = _keys_of_resources(ids)
    by_double = (column.kinds >= INTEGER) & (column.kinds <= DATE)
    keys[by_double, 0] = np.maximum(column.kinds[by_double], ROUNDED)
    keys[by_double, 1:] = (column.doubles[by_double] + 0.0).view(np.int32).reshape(-1, 2)
    rest = np.flatnonzero(~by_double & (column.kinds != RESOURCE) & (column.kinds != STRING))
    distinct, places = distinct_ids(ids[rest])
    found = _keys_of_resources(distinct)
    for row, term in enumerate(watched(terms.terms(distinct.tolist()))):
        value = value_of(term) if isinstance(term, Literal) else None
        if value is not None:
            found[row] = OTHER, others.setdefault(value, len(others)), 0
    keys[rest] = found[places.reshape(-1)]
    return keys


def _keys_of_resources(ids: Ids) -> Ids:
    return np.stack([np.full(len(ids), RESOURCE, np.int32), ids, np.zeros(len(ids), np.int32)], axis=1)
