"""Collect the changes of an update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.engine.maintenance import ChangedFacts, Work
from kg_reasoner.storage.arrays import Flags
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import KIND_BITS, ROW
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, lend

FEW: Final = 16
"""The maximum number of changes to group one by one, where arrays are slower."""


def collect(database: Database, work: Work) -> None:
    """Collect the facts that an update has added, removed, and made explicit or no longer explicit. Their flags still exist."""
    changes = database.changes()
    tables = work.added, work.removed, work.restated
    for group, rows, explicit in (_groups_of_few if len(changes) <= FEW else _groups)(changes):
        relation, kind = divmod(group, 1 << KIND_BITS)
        tables[kind].append(ChangedFacts(relation, database.rows_at(relation, rows), explicit))


def _groups(changes: npt.NDArray[np.int64]) -> Iterator[tuple[int, npt.NDArray[Any], Flags]]:
    """Yield the rows of each relation with one kind of change, and whether each is explicit (see `kernels.maintenance.changes` for
    the numbers of groups).
    """
    counts = allocate(((int(changes[:, 0].max()) >> 32) + 1) << KIND_BITS, np.int64, 0)
    rows, explicit = allocate(len(changes), np.int64), allocate(len(changes), np.uint8)
    table = lend(np.ascontiguousarray(changes))
    data = address(table)
    native.count_by_group(data, len(changes), address(counts))
    ends = np.cumsum(counts)
    places = allocate(len(counts), np.int64)
    places[:] = ends - counts
    native.group_changes(data, len(changes), address(places), address(rows), address(explicit))
    for group in np.flatnonzero(counts).tolist():
        part = slice(int(ends[group] - counts[group]), int(ends[group]))
        yield group, rows[part], explicit[part].view(np.bool_)


def _groups_of_few(changes: npt.NDArray[np.int64]) -> Iterator[tuple[int, npt.NDArray[Any], Flags]]:
    """Yield the same for a few changes."""
    found: dict[int, tuple[list[int], list[bool]]] = {}
    for fact, kind in changes.tolist():
        rows, explicit = found.setdefault((fact >> 32 << KIND_BITS) + (kind >> 1), ([], []))
        rows.append(fact & ROW)
        explicit.append(kind & 1 > 0)
    for group in sorted(found):
        rows, explicit = found[group]
        yield group, np.array(rows), np.array(explicit)
