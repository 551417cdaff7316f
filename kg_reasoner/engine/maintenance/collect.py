"""Collect the changes of an update."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.engine.maintenance import ChangedFacts, Work
from kg_reasoner.storage.arrays import Flags
from kg_reasoner.storage.database import Database
from kg_reasoner.storage.kernels.layout import ROW

FEW: Final = 16
"""The maximum number of changes to sort one by one, where NumPy is slower."""


def collect(database: Database, work: Work) -> None:
    """Collect the facts that an update has added, removed, and made explicit or no longer explicit. Their flags still exist."""
    changes = database.changes()
    tables = work.added, work.removed, work.restated
    for group, rows, explicit in (_groups_of_few if len(changes) <= FEW else _groups)(changes):
        relation, kind = divmod(group, 4)
        tables[kind].append(ChangedFacts(relation, database.rows_at(relation, rows), explicit))


def _groups(changes: npt.NDArray[np.int64]) -> Iterator[tuple[int, npt.NDArray[Any], Flags]]:
    """Yield the rows of each relation with one kind of change, and whether each is explicit. The group is the relation, shifted by
    two bits, and the kind.
    """
    facts, kinds = changes.T
    groups = (facts >> 32 << 2) + (kinds >> 1)
    if groups.max() <= np.iinfo(np.int16).max:
        groups = groups.astype(np.int16)  # NumPy sorts them in linear time
    order = groups.argsort(kind="stable")
    facts, groups, explicit = facts[order], groups[order], kinds[order] & 1 > 0
    starts = ((groups[1:] != groups[:-1]).nonzero()[0] + 1).tolist()
    for first, end in pairwise([0, *starts, len(facts)]):
        yield int(groups[first]), facts[first:end] & ROW, explicit[first:end]


def _groups_of_few(changes: npt.NDArray[np.int64]) -> Iterator[tuple[int, npt.NDArray[Any], Flags]]:
    """Yield the same for a few changes."""
    found: dict[int, tuple[list[int], list[bool]]] = {}
    for fact, kind in changes.tolist():
        rows, explicit = found.setdefault((fact >> 32 << 2) + (kind >> 1), ([], []))
        rows.append(fact & ROW)
        explicit.append(kind & 1 > 0)
    for group in sorted(found):
        rows, explicit = found[group]
        yield group, np.array(rows), np.array(explicit)
