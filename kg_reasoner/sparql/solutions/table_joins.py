"""Joins of tables: all pairs of compatible solutions (SPARQL 1.1 Query, section 18.3).

Two solutions are compatible if every variable that both bind has the same value in both. Where all shared variables are bound,
this is an equi-join; otherwise the solutions are divided by which of the shared variables they bind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kg_reasoner.sparql.solutions.table import UNBOUND, Table
from kg_reasoner.storage.arrays import Flags, Numbers
from kg_reasoner.storage.grouping import gathered, group_rows, pair_rows

__all__ = ["compatible", "is_among", "merged", "shared_names"]


def shared_names(left: Table, right: Table) -> list[str]:
    """Return the variables with a column in both tables."""
    return [name for name in left.columns if name in right.columns]


def compatible(left: Table, right: Table, *, only_overlapping: bool = False) -> tuple[Numbers, Numbers]:
    """Return the pairs of compatible solutions, by their numbers in each table.

    Args:
        left: A table.
        right: Another one.
        only_overlapping: Whether to omit pairs that bind no variable in common, as MINUS does.
    """
    shared = shared_names(left, right)
    pairs = [
        _equal(left, right, names, mine, theirs)
        for names, mine, theirs in _divided(left, right, shared)
        if names or not only_overlapping
    ]
    if len(pairs) == 1:
        return pairs[0]
    if not pairs:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    rows = np.concatenate([pair[0] for pair in pairs])
    order = np.argsort(rows, kind="stable")
    return rows[order], np.concatenate([pair[1] for pair in pairs])[order]


def _divided(left: Table, right: Table, shared: Sequence[str]) -> Iterator[tuple[list[str], Numbers | None, Numbers | None]]:
    """Yield the variables to compare, for each way in which rows of the left and the right table (None: all) bind them."""
    unsure = [name for name in shared if not (left.is_bound_everywhere(name) and right.is_bound_everywhere(name))]
    if not unsure:
        yield list(shared), None, None
        return
    sure = [name for name in shared if name not in unsure]
    for mine, rows in _by_bound(left, unsure):
        for theirs, others in _by_bound(right, unsure):
            yield [*sure, *(name for name in unsure if name in mine and name in theirs)], rows, others


def _by_bound(table: Table, names: Sequence[str]) -> Iterator[tuple[set[str], Numbers]]:
    """Yield each set of bound variables, among some, with the numbers of the rows that bind just these."""
    is_bound = (table.matrix(names) != UNBOUND).astype(np.int32)
    labels, firsts = group_rows(is_bound)
    for label, first in enumerate(firsts.tolist()):
        yield {name for name, flag in zip(names, is_bound[first].tolist(), strict=True) if flag}, np.flatnonzero(labels == label)


def _equal(
    left: Table, right: Table, names: Sequence[str], mine: Numbers | None, theirs: Numbers | None
) -> tuple[Numbers, Numbers]:
    """Return the pairs, among some rows of each table, that agree on some variables."""
    left = left if mine is None else left.take(mine)
    right = right if theirs is None else right.take(theirs)
    rows, others = pair_rows(left.matrix(names), right.matrix(names))
    return rows if mine is None else mine[rows], others if theirs is None else theirs[others]


def merged(left: Table, right: Table, rows: Numbers, others: Numbers) -> Table:
    """Return the merges of pairs of compatible solutions."""
    columns = {name: gathered(column, rows) for name, column in left.columns.items()}
    for name, column in right.columns.items():
        found = gathered(column, others)
        known = columns.get(name)
        columns[name] = found if known is None else np.where(known == UNBOUND, found, known)
    return Table(columns, len(rows))


def is_among(rows: Numbers, size: int) -> Flags:
    """Return, for each of the numbers below `size`, whether it is among some."""
    flags = np.zeros(size, np.bool_)
    flags[rows] = True
    return flags
