"""Tables of ids: equal rows have equal labels, and tables are joined by labels."""

from __future__ import annotations

import numpy as np

from kg_reasoner.storage.arrays import Flags, Ids, Numbers


def labels_of(rows: Ids) -> Numbers:
    """Return a number for each row of ids (0, 1, 2 ...), the same for equal rows."""
    labels = np.zeros(len(rows), np.int64)
    for column in rows.T:
        labels = np.unique((labels << 32) | column, return_inverse=True)[1].reshape(-1)
    return labels


def distinct(rows: Ids) -> Ids:
    """Return the distinct rows, in order of first occurrence."""
    return rows[np.sort(np.unique(labels_of(rows), return_index=True)[1])]


def among(rows: Ids, others: Ids) -> Flags:
    """Return whether each row is one of the others."""
    labels = labels_of(np.concatenate([rows, others]))
    return np.isin(labels[: len(rows)], labels[len(rows) :])


def spread(counts: Numbers, labels: Numbers) -> tuple[Numbers, Numbers]:
    """Pair each row with all items of its label: row numbers, and positions of items, which are ordered by label.

    Args:
        counts: The number of items of each label.
        labels: The label of each row.
    """
    starts = np.cumsum(counts) - counts
    repeats = counts[labels]
    rows = np.repeat(np.arange(len(labels)), repeats)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return rows, starts[labels[rows]] + within


def paired(rows: Ids, others: Ids) -> tuple[Numbers, Numbers]:
    """Return all pairs of equal rows of two tables, by their numbers in each."""
    labels = labels_of(np.concatenate([rows, others]))
    mine, theirs = labels[: len(rows)], labels[len(rows) :]
    counts = np.bincount(theirs, minlength=int(labels.max(initial=-1)) + 1)
    numbers, places = spread(counts, mine)
    return numbers, np.argsort(theirs, kind="stable")[places]
