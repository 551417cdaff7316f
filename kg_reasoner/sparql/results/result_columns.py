"""The columns of a result: ids, 4 bytes for each value, and the terms that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kg_reasoner.sparql.solutions.query_terms import QueryTerms, TermCache
from kg_reasoner.sparql.solutions.table import UNBOUND
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.grouping import distinct_ids, group_rows
from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["Columns", "DistinctIds", "distinct"]


class Columns:
    """Columns of ids, which later changes of the graph leave as they are: an id always stands for the same term.

    Args:
        names: The names of the columns.
        ids: The columns, all of length `size`.
        size: The number of rows.
        terms: The terms of the ids.
    """

    __slots__ = ("_block", "_ids", "names", "size", "terms")
    _block: Ids

    def __init__(self, names: Sequence[str], ids: Sequence[Ids], size: int, terms: QueryTerms) -> None:
        self.names = tuple(names)
        self._ids: tuple[Ids, ...] | None = tuple(column if column.flags.owndata else np.array(column) for column in ids)
        self.size = size
        self.terms = terms

    @staticmethod
    def of_block(names: tuple[str, ...], block: Ids, terms: QueryTerms) -> Columns:
        """Return the rows of an array, which is not used elsewhere, as columns.

        Args:
            names: The names of the columns.
            block: The array, shape (columns, rows).
            terms: The terms of the ids.
        """
        made: Columns = object.__new__(Columns)
        made.names, made._block, made._ids, made.size, made.terms = names, block, None, block.shape[1], terms
        return made

    @property
    def ids(self) -> tuple[Ids, ...]:
        """The columns."""
        found = self._ids
        if found is None:
            found = self._ids = tuple(self._block)
        return found

    @property
    def nbytes(self) -> int:
        """The size of the columns in bytes."""
        return sum(column.nbytes for column in self.ids)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the columns with a dictionary of their own, of the terms that occur in them."""
        numbers, places = distinct_ids(np.concatenate([np.empty(0, np.int32), *self.ids]))
        is_bound = numbers != UNBOUND
        own = np.where(is_bound, np.cumsum(is_bound) - 1, UNBOUND).astype(np.int32)
        ids = own[places.reshape(-1)].reshape(len(self.ids), self.size)
        return _with_own_terms, (self.names, list(ids), self.size, self.terms.texts(numbers[is_bound]))


def _with_own_terms(names: Sequence[str], ids: Sequence[Ids], size: int, texts: Sequence[str]) -> Columns:
    """Return columns of the places of terms among some."""
    dictionary = Dictionary()
    numbers = np.append(dictionary.encode_texts(texts), UNBOUND)  # the last one is at place UNBOUND, too
    columns = [numbers[column].astype(np.int32) for column in ids]
    return Columns(names, columns, size, QueryTerms(TermCache(dictionary)))


class DistinctIds(NamedTuple):
    """The distinct ids of a column, without `UNBOUND`, and for each row its place among them, or -1."""

    ids: Ids
    places: Ids


def distinct(ids: Ids) -> DistinctIds:
    """Return the distinct ids of a column.

    >>> found = distinct(np.array([7, -1, 5, 7], np.int32))
    >>> found.ids.tolist(), found.places.tolist()
    ([7, 5], [0, -1, 1, 0])
    """
    labels, firsts = group_rows(ids.reshape(-1, 1))
    found = ids[firsts]
    gone = np.flatnonzero(found == UNBOUND)
    if not len(gone):
        return DistinctIds(found, labels)
    place = int(gone[0])
    places = np.where(labels > place, labels - 1, labels)
    places[labels == place] = -1
    return DistinctIds(np.delete(found, place), places.astype(np.int32, copy=False))
