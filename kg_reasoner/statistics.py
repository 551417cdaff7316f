"""Estimates of how many rows an atom matches, for the join order of queries."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from kg_reasoner.catalog import StoredAtom
from kg_reasoner.relation import Database

SAMPLE = 512
"""Rows that an estimate looks at."""


class Statistics:
    """Estimates from the sizes of a database's relations and from samples of their columns.

    Samples are kept while the sizes of their relations change little.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._columns: dict[tuple[int, int], _Column] = {}

    def estimate(self, atom: StoredAtom, bound: Collection[str]) -> float:
        """The expected number of rows for one value of each bound variable; unconnected atoms count as a product."""
        size = float(self.database.size(atom.relation))
        for column, term in enumerate(atom.terms):
            if isinstance(term, int):
                size *= self._column(atom.relation, column).share_of(term)
            elif term in bound:
                size *= self._column(atom.relation, column).typical_share
        return size

    def _column(self, relation: int, column: int) -> _Column:
        count = self.database.relations[relation].count
        known = self._columns.get((relation, column))
        if known is None or not 0.8 * known.count <= count <= 1.25 * known.count:
            known = self._columns[relation, column] = _Column(self.database.rows(relation)[:, column], count)
        return known


class _Column:
    """A sample of a column, and the share of rows that a typical value has."""

    def __init__(self, values: npt.NDArray[np.int32], count: int) -> None:
        self.count = count
        self.sample = values[:: max(1, len(values) // SAMPLE)].copy()
        distinct = len(np.unique(self.sample))
        if distinct == 0:
            self.typical_share = 0.0
        elif distinct < len(self.sample) // 2:
            self.typical_share = 1 / distinct
        else:  # a sample with few repetitions says that values are nearly unique
            self.typical_share = len(self.sample) / (distinct * len(values))

    def share_of(self, value: int) -> float:
        """The share of rows with a value: as in the sample; what is not there is rare, but no more than a typical value."""
        if len(self.sample) == 0:
            return 0.0
        hits = int(np.count_nonzero(self.sample == value))
        return hits / len(self.sample) if hits else min(self.typical_share, 0.5 / len(self.sample))
