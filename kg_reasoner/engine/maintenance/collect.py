"""Collect the changes of an update."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kg_reasoner.engine.maintenance import ChangedFacts, Work
from kg_reasoner.storage.arrays import Flags, Rows
from kg_reasoner.storage.kernels.layout import ROW
from kg_reasoner.storage.relation import Database


def collect(database: Database, work: Work) -> None:
    """Collect the facts that an update has added, removed, and made explicit or no longer explicit. Their flags still exist."""
    facts, kinds = database.changes()
    if len(facts) == 0:
        return
    groups = (facts >> 32 << 2) + (kinds >> 1)
    order = groups.argsort(kind="stable")
    facts, groups, explicit = facts[order], groups[order], kinds[order] & 1 > 0
    starts = ((groups[1:] != groups[:-1]).nonzero()[0] + 1).tolist()
    for first, end in pairwise([0, *starts, len(facts)]):
        relation, kind = divmod(int(groups[first]), 4)
        rows = database.rows_at(relation, facts[first:end] & ROW)
        (work.added, work.removed, work.restated)[kind].append(ChangedFacts(relation, rows, explicit[first:end]))


def contains(rows: Rows, sought: Rows) -> Flags:
    """Return whether each row of `sought` is among `rows`. Both have the same number of columns."""
    if len(rows) == 0 or len(sought) == 0:
        return np.zeros(len(sought), bool)
    if rows.shape[1] == 0:
        return np.ones(len(sought), bool)
    found: Flags = np.isin(_as_items(sought), _as_items(rows))
    return found


def _as_items(rows: Rows) -> npt.NDArray[np.void]:
    """Return each row as one comparable item."""
    table = np.ascontiguousarray(rows)
    if table.shape[1] == 1:
        return table[:, 0]  # type: ignore[return-value]
    if table.shape[1] == 2:
        return table.view(np.int64)[:, 0]  # type: ignore[return-value]
    return table.view([("", table.dtype)] * table.shape[1])[:, 0]
