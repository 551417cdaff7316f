"""A larger hash table for the tuples of a relation, made by several threads at once (see `kernels.bulk_insertion`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from kg_reasoner.concurrency.tasks import Task
from kg_reasoner.storage.capacities import fill_of, limit_of, row_mask_for
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.bulk_insertion import MOST_SPILLED, SPILLS
from kg_reasoner.storage.kernels.layout import DONE, RING
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.storage.relations.growing_relations import Relations

__all__ = ["Rehashing"]


class Rehashing:
    """The growth of a relation's hash table, in parts. `steps` is used as that of `index_building.Building`.

    Args:
        database: The database.
        relation: The number of the relation.
        slots: The size of the new table.
        parts: The number of parts.
        rows: The number of rows for whose numbers it has room, if that is more than the relation has room for.
    """

    def __init__(self, database: Relations, relation: int, slots: int, parts: int, rows: int = 0) -> None:
        self._database, self._relation, self._parts = database, database.relations[relation], parts
        self._slots, self._rows = slots, max(rows, self._relation.capacity)

    def steps(self) -> Iterator[list[Task]]:
        """Yield the tasks of each step. They have been run when the next step is asked for."""
        database, slots = self._database, self._slots
        database.claim(4 * slots)
        table, row_mask = allocate(slots, np.int32), row_mask_for(self._rows, slots)
        reports = [allocate(SPILLS + 2 * MOST_SPILLED, np.int64, 0) for _ in range(self._parts)]
        waiting = [allocate(2 * RING + 2, np.int64) for _ in range(self._parts)]
        whole = self._relation.address, address(table), slots - 1, row_mask
        results: list[int] = []

        def rehash(part: int) -> None:
            scratch = address(waiting[part]), address(reports[part])
            results.append(native.rehash_part(*whole, part, self._parts, *scratch))

        yield [partial(rehash, part) for part in range(self._parts)]
        if any(status != DONE for status in results):
            database.set_slots(self._relation, slots, self._rows)
            return
        for report in reports:
            native.place_tuples(*whole, address(report))
        self._relation.publish(slots=table, row_mask=row_mask, mask=slots - 1, limit=limit_of(slots, fill_of(self._relation.arity)))
