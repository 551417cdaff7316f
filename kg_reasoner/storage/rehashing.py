"""A larger hash table for the tuples of a relation, made by several threads at once (see `kernels.bulk_insertion`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from kg_reasoner.concurrency.tasks import Task
from kg_reasoner.storage.capacities import limit_of
from kg_reasoner.storage.growing_relations import Relations
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.bulk_insertion import MOST_SPILLED, SPILLS
from kg_reasoner.storage.kernels.layout import DONE, RING
from kg_reasoner.storage.kernels.memory import address, allocate

__all__ = ["Rehashing"]


class Rehashing:
    """The growth of a relation's hash table, in parts. `steps` is used as that of `index_building.Building`.

    Args:
        database: The database.
        relation: The number of the relation.
        slots: The size of the new table.
        parts: The number of parts.
    """

    def __init__(self, database: Relations, relation: int, slots: int, parts: int) -> None:
        self._database, self._relation, self._slots, self._parts = database, database.relations[relation], slots, parts

    def steps(self) -> Iterator[list[Task]]:
        """Yield the tasks of each step. They have been run when the next step is asked for."""
        database, slots = self._database, self._slots
        database.claim(12 * slots)
        keys, rows = allocate(slots, np.int64), allocate(slots, np.int32)
        reports = [allocate(SPILLS + 2 * MOST_SPILLED, np.int64, 0) for _ in range(self._parts)]
        waiting = [allocate(2 * RING + 2, np.int64) for _ in range(self._parts)]
        results: list[int] = []

        def rehash(part: int) -> None:
            table = address(keys), address(rows), slots - 1
            scratch = address(waiting[part]), address(reports[part])
            results.append(native.rehash_part(self._relation.address, *table, part, self._parts, *scratch))

        yield [partial(rehash, part) for part in range(self._parts)]
        if any(status != DONE for status in results):
            database.set_slots(self._relation, slots)
            return
        for report in reports:
            native.place_tuples(address(keys), address(rows), slots - 1, address(report))
        self._relation.publish(keys=keys, key_rows=rows, mask=slots - 1, limit=limit_of(slots))
