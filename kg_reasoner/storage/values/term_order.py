"""The total order of terms on columns of ids, see `kg_reasoner.expressions.ordering`."""

from __future__ import annotations

import numpy as np

from kg_reasoner.expressions.ordering import order_key
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.grouping import distinct_ids
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.values.value_columns import RESOURCE, STRING, ValueCache, is_number
from kg_reasoner.storage.values.value_order import ranks_of_values

__all__ = ["TermOrder"]


class TermOrder:
    """Ranks terms. Different terms have different ranks.

    Args:
        dictionary: The terms.
        values: The values of its terms.
    """

    def __init__(self, dictionary: Dictionary, values: ValueCache) -> None:
        self._dictionary, self._values = dictionary, values

    def ranks(self, column: Ids) -> Numbers:
        """Return a number for each row of a column, whose order is the order of the terms."""
        distinct, places = distinct_ids(column)
        found = self._by_values(distinct)
        if found is None:
            keys = [order_key(self._dictionary.decode(number)) for number in distinct.tolist()]
            found = np.empty(len(keys), np.int64)
            found[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        return found[places.reshape(-1)]

    def _by_values(self, distinct: Ids) -> Numbers | None:
        """Return the ranks of different terms, if they are numbers with different doubles, strings, or IRIs and blank nodes."""
        values = self._values.column(distinct)
        if is_number(values.kinds).all() and not np.isnan(values.doubles).any():
            doubles, found = np.unique(values.doubles, return_inverse=True)
            return found.reshape(-1) if len(doubles) == len(distinct) else None
        if not any((values.kinds == kind).all() for kind in (STRING, RESOURCE)):
            return None
        ranks = ranks_of_values(self._dictionary, distinct)
        if ranks is None or values.kinds[0] == STRING:
            return ranks
        are_iris = self._dictionary.first_bytes()[distinct] == ord("<")
        return np.where(are_iris, ranks + len(ranks), ranks)
