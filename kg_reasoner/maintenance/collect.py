"""What an update has changed, read from the flags of rows before they are cleared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kg_reasoner.kernels.layout import ABSENT, CLAIMED, EXPLICIT, REBORN, RETRACTED, ROW
from kg_reasoner.maintenance import Table, Work
from kg_reasoner.relation import Database, Rows

Facts = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]

NO_FLAGS = np.empty(0, np.int16)

FEW = 32
"""So many facts are looked at one by one: NumPy would take longer, with several arrays for each relation."""


def collect(database: Database, work: Work) -> None:
    """Write down the facts that an update has added, removed, and made explicit or derived only. Its flags are still there."""
    facts = np.concatenate([database.listed(name) for name in ("gone", "removed", "claimed")])
    come = [(relation, int(database.settled[relation]), database.flags(relation)) for relation in database.grown()]
    reborn: dict[int, Rows] = {}
    if come:
        latest = np.concatenate([np.arange(first, len(flags)) + (relation << 32) for relation, first, flags in come])
        state = np.concatenate([flags[first:] for _, first, flags in come]) & (ABSENT | REBORN | EXPLICIT)
        new = state & ~EXPLICIT == 0
        for relation, rows, explicit in _by_relation(latest[new], state[new] == EXPLICIT):
            work.added.append(Table(relation, database.rows_at(relation, rows), explicit))
        if len(facts):
            for relation, rows, _ in _by_relation(again := latest[(state & REBORN) > 0], again):
                reborn[relation] = database.rows_at(relation, rows)
    if len(facts) > FEW:
        _collect_settled(database, work, facts, reborn)
    elif len(facts):
        _collect_few(database, work, facts, {relation: set(map(tuple, rows.tolist())) for relation, rows in reborn.items()})


def _collect_settled(database: Database, work: Work, facts: Facts, reborn: dict[int, Rows]) -> None:
    """Collect the changes of facts that were there before, given the rows of facts that have gone and come back."""
    facts = np.sort(facts)
    facts = facts[np.append(True, facts[1:] != facts[:-1])]
    facts = facts[(facts & ROW) < database.settled[facts >> 32]]
    flags = np.concatenate([database.flags(relation)[rows] for relation, rows, _ in _by_relation(facts, facts)] or [NO_FLAGS])
    kind = flags & (RETRACTED | CLAIMED | EXPLICIT | ABSENT)
    kept, gone = (kind == RETRACTED) | (kind == CLAIMED | EXPLICIT), (kind & ABSENT) > 0
    for relation, rows, explicit in _by_relation(facts[kept], (kind[kept] & EXPLICIT) > 0):
        work.restated.append(Table(relation, database.rows_at(relation, rows), explicit))
    for relation, rows, was_explicit in _by_relation(facts[gone], (kind[gone] & RETRACTED) > 0):
        ids = database.rows_at(relation, rows)
        if relation in reborn:
            back = contains(reborn[relation], ids)
            now_derived = ids[back & was_explicit]
            work.restated.append(Table(relation, now_derived, np.zeros(len(now_derived), bool)))
            ids, was_explicit = ids[~back], was_explicit[~back]
        work.removed.append(Table(relation, ids, was_explicit))


def _collect_few(database: Database, work: Work, facts: Facts, reborn: dict[int, set[tuple[int, ...]]]) -> None:
    """`_collect_settled` for a handful of facts."""
    tables: dict[tuple[int, bool], list[tuple[list[int], bool]]] = {}
    for fact in sorted(set(facts.tolist())):
        relation, row = fact >> 32, fact & ROW
        if row >= database.settled[relation]:
            continue
        flags = int(database.relations[relation].flags[row])
        removed, explicit = flags & ABSENT > 0, flags & (RETRACTED if flags & ABSENT else EXPLICIT) > 0
        ids = database.tuple_of(relation, row)
        if removed and tuple(ids) in reborn.get(relation, ()):
            if explicit:
                tables.setdefault((relation, False), []).append((ids, False))
        elif removed or flags & (RETRACTED | CLAIMED | EXPLICIT) in (RETRACTED, CLAIMED | EXPLICIT):
            tables.setdefault((relation, removed), []).append((ids, explicit))
    for (relation, removed), found in tables.items():
        rows = np.array([ids for ids, _ in found], np.int32).reshape(len(found), -1)
        table = Table(relation, rows, np.array([explicit for _, explicit in found]))
        (work.removed if removed else work.restated).append(table)


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


def _by_relation(facts: Facts, values: AnyArray) -> Iterator[tuple[int, npt.NDArray[np.int64], AnyArray]]:
    """The relations of sorted facts, each with its rows and with what belongs to them of some values, one for each fact."""
    relations, rows = facts >> 32, facts & ROW
    starts = (np.flatnonzero(relations[1:] != relations[:-1]) + 1).tolist()
    for first, end in pairwise([0, *starts, len(facts)] if len(facts) else ()):
        yield int(relations[first]), rows[first:end], values[first:end]
