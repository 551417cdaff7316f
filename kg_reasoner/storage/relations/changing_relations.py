"""Changes of relations by the update under way: its new rows, its lists of rows, and deletion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage.arrays import Rows, contains, selected_rows
from kg_reasoner.storage.capacities import resized
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import ABSENT, CLAIMED, EXPLICIT, REBORN, RETRACTED, ROW, Relation
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, grant, lend
from kg_reasoner.storage.relations.arguments import RETAINED
from kg_reasoner.storage.relations.indexes import IndexedRelations

__all__ = ["ChangingRelations"]

_FEW: Final = 1 << 10
"""Up to this number of relations, the rows of all are examined."""


class ChangingRelations(IndexedRelations):
    """Relations with an update under way.

    Args:
        claim: See `Relations`.
    """

    def __init__(self, claim: Callable[[int], None] = grant) -> None:
        super().__init__(claim)
        self.is_fresh = True
        """Whether no row has ever been processed, so that rules will see all rows as new ones."""
        self._list_room = 0
        self._reserved = {"removed": 0, "claimed": 0}

    def grown(self) -> list[int]:
        """Return the relations with unprocessed rows."""
        if self.context.has_listed_grown:
            return sorted(self._listed_grown().tolist())
        count = len(self.relations)
        return np.flatnonzero(self.relations.words[:count, Relation.fields["count"][0]] > self.materialised[:count]).tolist()

    def _listed_grown(self) -> npt.NDArray[np.int32]:
        """Return the relations with rows beyond the materialised ones, where they are listed."""
        return self._grown[: self.context.grown_count]

    def _possibly_grown(self) -> npt.NDArray[np.int32] | slice:
        """Return the listed relations, or all of them: if they are few, NumPy copies all numbers faster than some."""
        count = len(self.relations)
        return self._listed_grown() if self.context.has_listed_grown and count > _FEW else slice(count)

    def have_rows(self) -> npt.NDArray[np.bool_]:
        """Return for each relation whether it has rows."""
        count = len(self.relations)
        if not self.context.has_listed_grown:
            return self.relations.words[:count, Relation.fields["count"][0]] > 0
        found = self.materialised[:count] > 0
        found[self._listed_grown()] = True
        return found

    def new_rows(self, relation: int) -> Rows:
        """Return the facts that this update has inserted into a relation and not deleted before, shape (n, arity)."""
        first, record = int(self.materialised[relation]), self.relations[relation]
        if first >= record.count:
            return np.empty((0, record.arity), np.int32)
        flags = np.asarray(record.flags)[first : record.count]
        return selected_rows(self._table(relation)[first:], (flags & (ABSENT | REBORN)) == 0)

    def new_row_count(self) -> int:
        """Return the number of unprocessed rows."""
        grown = self.grown()
        return int((self.relations.words[grown, Relation.fields["count"][0]] - self.materialised[grown]).sum())

    def changes(self) -> npt.NDArray[np.int64]:
        """Return the facts changed by this update and their kinds of change (see `kernels.maintenance.changes`), shape (n, 2)."""
        changes = allocate(2 * RETAINED, np.int64)
        while (count := native.list_changes(self.address, address(changes), len(changes) // 2)) > len(changes) // 2:
            changes = allocate(2 * count, np.int64)
        found: npt.NDArray[np.int64] = np.asarray(changes)[: 2 * count].reshape(count, 2)
        return found

    def materialised_facts(self, relation: int) -> tuple[Rows, npt.NDArray[np.bool_]]:
        """Return the facts before the current update, shape (n, arity), and whether each was explicit. Nothing is deleted yet."""
        flags = self.flags(relation)[: self.materialised[relation]]
        rows = np.flatnonzero((flags & ABSENT) == 0)
        flags = flags[rows]
        return self.rows_at(relation, rows), ((flags & (EXPLICIT | CLAIMED)) == EXPLICIT) | ((flags & RETRACTED) > 0)

    def begin_stratum(self) -> None:
        """Declare the rows of this update unprocessed, as they are to a stratum at first."""
        where = self._possibly_grown()
        self.processed[where] = self.materialised[where]

    def mark_materialised(self) -> None:
        """Declare all existing rows processed. From now on, the relations that grow are listed."""
        self.is_fresh = False
        where = self._possibly_grown()
        self.materialised[where] = self.processed[where] = self.relations.words[where, Relation.fields["count"][0]]
        self.context.grown_count, self.context.has_listed_grown = 0, 1

    # --- lists of rows ----------------------------------------------------------------------------------------------

    def listed(self, name: str) -> npt.NDArray[np.int64]:
        """Return the facts in one of the context's lists: ``gone``, ``removed``, ``claimed``."""
        count = getattr(self.context, f"{name}_count")
        return np.asarray(getattr(self.context, name))[:count] if count else np.empty(0, np.int64)

    def gone_rows(self, relation: int) -> Rows:
        """Return the facts that this update has deleted from a relation, shape (n, arity); some may hold again."""
        gone = self.listed("gone")
        return self.rows_at(relation, gone[gone >> 32 == relation] & ROW)

    def lost_rows(self, relation: int) -> Rows:
        """Return the facts that this update has deleted from a relation and that do not hold again, shape (n, arity)."""
        gone, first = self.gone_rows(relation), int(self.materialised[relation])
        flags = np.asarray(self.relations[relation].flags)[first : self.relations[relation].count]
        again = selected_rows(self._table(relation)[first:], (flags & (ABSENT | REBORN)) == REBORN)
        return selected_rows(gone, ~contains(again, gone))

    def reserve_list(self, name: str, count: int) -> None:
        """Make room for further facts in the list of removed or claimed ones."""
        context = self.context
        used = context.removed_count if name == "removed" else context.claimed_count
        if used + count > self._reserved[name]:
            room = 2 * (used + count) + 16
            setattr(context, name, resized(getattr(context, name), room, used) if used else allocate(room, np.int64))
            self._reserved[name] = room

    def make_lists(self) -> None:
        """Allocate the lists of a deletion with one entry per row, so they cannot overflow; untouched memory costs nothing."""
        context = self.context
        total = context.total
        if total >= self._list_room:
            room = total + total // 2 + 64
            gone = resized(context.gone, room, used) if (used := context.gone_count) else allocate(room, np.int64)
            context.publish(gone=gone, **{name: allocate(room, np.int64) for name in ("candidates", "checked", "proved")})
            self._list_room = room

    def order_gone(self, first: int = 0) -> None:
        """Bring the deleted facts from a position on into an order that does not depend on the number of threads, where threads may
        have shared the work.
        """
        if self.context.is_large:
            self.listed("gone")[first:].sort()

    # --- deletion ---------------------------------------------------------------------------------------------------

    def delete_row(self, relation: int, row: int) -> None:
        """Delete a fact during an update."""
        self.make_lists()
        native.delete_row(self.address, relation, row)

    def delete(self, relation: int, facts: Rows) -> None:
        """Delete facts, shape (n, arity), during an update."""
        self.make_lists()
        data = lend(np.ascontiguousarray(facts, np.int32))
        native.delete_facts(self.address, relation, address(data), len(facts))
