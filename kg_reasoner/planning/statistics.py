"""Cardinality estimates for the join order of queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from kg_reasoner.planning.catalog import StoredAtom
from kg_reasoner.storage.databases.database import Database

SAMPLE = 512
"""The sample size of estimates."""


class RelationStatistics:
    """Cardinality estimates from the sizes of relations and samples of their columns.

    Samples are valid while the sizes of their relations change little.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._columns: dict[tuple[int, int], _ColumnSample] = {}

    def size(self, atom: StoredAtom) -> float:
        """Return an estimate of the number of rows that match the constants of an atom."""
        rows = float(self.database.size(atom.relation))
        for column, term in enumerate(atom.terms):
            if isinstance(term, int):
                rows *= self._column(atom.relation, column).share_of(term)
        return rows

    def join(self, atoms: Sequence[StoredAtom]) -> Callable[[StoredAtom, set[str]], float]:
        """Return a function that estimates the rows of an atom of a query for each solution of the atoms whose variables are
        bound.

        Two columns are assumed to share as many values as possible: a join has ``|R| |S| / max(V(R), V(S))`` rows, where V is the
        number of distinct values (Selinger, Astrahan, Chamberlin, Lorie and Price, Access Path Selection in a Relational Database
        Management System, SIGMOD 1979). Atoms without a bound variable count as a product.
        """
        sizes = {atom: self.size(atom) for atom in atoms}
        values: dict[tuple[StoredAtom, str], float] = {}
        having: dict[str, list[tuple[float, frozenset[str], StoredAtom]]] = {}
        for atom in sizes:
            names = frozenset(term for term in atom.terms if isinstance(term, str))
            for column, term in enumerate(atom.terms):
                if isinstance(term, str):
                    values[atom, term] = max(1.0, min(sizes[atom], self._column(atom.relation, column).distinct))
            for name in names:
                having.setdefault(name, []).append((values[atom, name], names, atom))
        for others in having.values():
            others.sort(key=itemgetter(0))

        def estimate(atom: StoredAtom, bound: set[str]) -> float:
            rows = sizes[atom]
            for name in bound.intersection(atom.terms):
                fewest = next((value for value, names, other in having[name] if names <= bound and other != atom), 1.0)
                rows /= max(values[atom, name], fewest)
            return rows

        return estimate

    def _column(self, relation: int, column: int) -> _ColumnSample:
        count = self.database.relations[relation].count
        known = self._columns.get((relation, column))
        if known is None or not 0.8 * known.count <= count <= 1.25 * known.count:
            known = self._columns[relation, column] = _ColumnSample(self.database.rows(relation)[:, column], count)
        return known


class _ColumnSample:
    """A sample of a column, and an estimate of the number of its distinct values."""

    def __init__(self, values: npt.NDArray[np.int32], count: int) -> None:
        self.count = count
        self.sample = values[:: max(1, len(values) // SAMPLE)].copy()
        self.distinct = float(len(np.unique(self.sample)))
        if self.distinct >= len(self.sample) // 2:  # few repetitions in the sample: values are nearly unique
            self.distinct *= len(values) / max(1, len(self.sample))

    def share_of(self, value: int) -> float:
        """Return the share of rows with a value, from the sample. Values not in it are rare, at most as frequent as a typical
        value.
        """
        if len(self.sample) == 0:
            return 0.0
        hits = int(np.count_nonzero(self.sample == value))
        return hits / len(self.sample) if hits else min(1 / self.distinct, 0.5 / len(self.sample))
