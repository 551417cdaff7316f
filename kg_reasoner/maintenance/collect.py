"""What an update has changed, read from the flags of rows before they are cleared."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kg_reasoner.kernels.layout import ABSENT, CLAIMED, EXPLICIT, REBORN, RETRACTED
from kg_reasoner.maintenance import Table, Work
from kg_reasoner.relation import Database, Rows

Facts = npt.NDArray[np.int64]


def collect(database: Database, work: Work) -> None:
    """Write down the facts that an update has added, removed, and made explicit or derived only. Its flags are still there."""
    for relation in database.grown():
        flags, first = database.flags(relation), int(database.settled[relation])
        rows = np.flatnonzero((flags[first:] & (ABSENT | REBORN)) == 0) + first
        if len(rows):
            work.added.append(Table(relation, database.rows_at(relation, rows), (flags[rows] & EXPLICIT) > 0))
    for relation, rows in _by_relation(database.listed("gone")):
        rows = rows[rows < database.settled[relation]]
        ids, was_explicit = database.rows_at(relation, rows), (database.flags(relation)[rows] & RETRACTED) > 0
        back = contains(_reborn(database, relation), ids)
        work.removed.append(Table(relation, ids[~back], was_explicit[~back]))
        kept = ids[back & was_explicit]
        work.restated.append(Table(relation, kept, np.zeros(len(kept), bool)))
    for name, flag, explicit in (("removed", RETRACTED, 0), ("claimed", CLAIMED, EXPLICIT)):
        for relation, rows in _by_relation(database.listed(name)):
            rows = rows[(database.flags(relation)[rows] & (flag | EXPLICIT | ABSENT)) == (flag | explicit)]
            ids = database.rows_at(relation, rows)
            work.restated.append(Table(relation, ids, np.full(len(ids), explicit > 0)))


def contains(rows: Rows, sought: Rows) -> npt.NDArray[np.bool_]:
    """Which of the rows `sought` are among `rows`; both have the same number of columns."""
    if len(rows) == 0 or len(sought) == 0:
        return np.zeros(len(sought), bool)
    if rows.shape[1] == 0:
        return np.ones(len(sought), bool)
    found: npt.NDArray[np.bool_] = np.isin(_as_items(sought), _as_items(rows))
    return found


def _as_items(rows: Rows) -> npt.NDArray[np.void]:
    """Each row as one item that can be compared."""
    table = np.ascontiguousarray(rows)
    if table.shape[1] == 1:
        return table[:, 0]  # type: ignore[return-value]
    if table.shape[1] == 2:
        return table.view(np.int64)[:, 0]  # type: ignore[return-value]
    return table.view([("", table.dtype)] * table.shape[1])[:, 0]


def _reborn(database: Database, relation: int) -> Rows:
    first = int(database.settled[relation])
    return database.rows_at(relation, np.flatnonzero(database.flags(relation)[first:] & REBORN) + first)


def _by_relation(facts: Facts) -> list[tuple[int, npt.NDArray[np.int64]]]:
    """The rows of listed facts by relation, each once."""
    facts = np.unique(facts)
    relations = facts >> 32
    return [(number, facts[relations == number] & 0xFFFFFFFF) for number in np.unique(relations).tolist()]
