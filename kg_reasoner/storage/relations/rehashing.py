"""A larger hash table for the tuples of a relation, made by several threads at once (see `kernels.rehashed_rows`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from kg_reasoner.concurrency.tasks import Task
from kg_reasoner.storage.capacities import fill_of, limit_of, row_mask_for
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import EMPTY, RING
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
        relation, slots = self._relation, self._slots
        self._database.claim(4 * slots)
        table, row_mask = allocate(slots, np.int32), row_mask_for(self._rows, slots)
        whole = relation.address, address(table), slots - 1, row_mask

        def clear(first: int, end: int) -> None:
            table[first:end] = EMPTY

        def rehash(first: int, end: int) -> None:
            hashes = allocate(RING, np.int64)
            native.rehash_rows(*whole, first, end, address(hashes))

        yield [partial(clear, *part) for part in self._parts_of(slots)]
        yield [partial(rehash, *part) for part in self._parts_of(relation.count)]
        relation.publish(slots=table, row_mask=row_mask, mask=slots - 1, limit=limit_of(slots, fill_of(relation.arity)))

    def _parts_of(self, count: int) -> Iterator[tuple[int, int]]:
        """Return the bounds of equal parts of a number of items."""
        return pairwise(np.linspace(0, count, self._parts + 1, dtype=np.int64).tolist())
