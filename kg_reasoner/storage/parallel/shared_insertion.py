"""Insertion of the heads that several threads have kept (see `kernels.parallel_blocks` for how it works)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.tasks import Task
from kg_reasoner.storage import capacities
from kg_reasoner.storage.capacities import copy_items, fill_of, slots_for
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.storage.parallel.worker import Worker
from kg_reasoner.storage.relations.indexes import IndexedRelations
from kg_reasoner.storage.relations.rehashing import Rehashing

__all__ = ["Segments", "SharedInsertion"]

Counts: TypeAlias = npt.NDArray[np.int64]
"""A number for each relation."""

Steps: TypeAlias = "Iterator[Sequence[Task]]"
"""The tasks of each step of an operation."""

FULLEST: Final = 0.8
"""The maximal load factor of a hash table while threads insert heads."""


class Segments:
    """Ranges of kept heads: the number of a list, and its first and end."""

    def __init__(self, items: Sequence[tuple[int, ...]]) -> None:
        self.items, self.count = items, len(items)
        self.heads = sum(end - first for _, first, end in items)
        self._numbers = allocate(3 * self.count, np.int64)
        self._numbers[: 3 * self.count] = np.array(items, np.int64).reshape(-1)
        self.address = address(self._numbers)

    def parts(self, most: int) -> Iterator[Segments]:
        """Yield the same heads, in order, in parts of a maximal size."""
        part, room = list[tuple[int, int, int]](), most
        for number, first, end in self.items:
            while first < end:
                taken = min(end - first, room)
                part.append((number, first, first + taken))
                first, room = first + taken, room - taken
                if room == 0:
                    yield Segments(part)
                    part, room = [], most
        if part:
            yield Segments(part)

    def groups(self, count: int) -> list[tuple[int, int]]:
        """Return ranges of segments, at most `count` of them, with about the same number of heads each."""
        ends = np.cumsum([end - first for _, first, end in self.items])
        inner = np.searchsorted(ends, [self.heads * part // count for part in range(1, count)]).tolist()
        return [(first, end) for first, end in pairwise([0, *inner, self.count]) if first < end]


class SharedInsertion:
    """The insertion of kept heads, whose rows are then in the order in which a single thread would have derived them.

    Args:
        database: The relations.
        workers: The threads, with the heads that they have kept.
        run: Runs tasks at the same time.
        run_steps: Runs tasks, and the steps of several operations, at the same time.
    """

    def __init__(
        self,
        database: IndexedRelations,
        workers: Sequence[Worker],
        run: Callable[[Sequence[Task]], None],
        run_steps: Callable[[Sequence[Task], Sequence[Steps]], None],
    ) -> None:
        self._database, self._workers, self._run, self._run_steps = database, workers, run, run_steps

    def heads_by_relation(self, segments: Segments) -> dict[int, int]:
        """Return the number of kept heads of each relation that has some."""
        total = np.zeros(len(self._database.relations), np.int64)
        for number, first, end in segments.items:
            total += np.bincount(np.asarray(self._workers[number].kept.relations)[first:end], minlength=len(total))
        return {int(relation): int(total[relation]) for relation in np.flatnonzero(total)}

    def insert(self, segments: Segments, sizes: Mapping[int, int]) -> int:
        """Insert kept heads in the order of the segments, and extend the indexes.

        An interrupt leaves the relations as they were, or with all new rows, but without some indexes, which are built again.

        Args:
            segments: The segments.
            sizes: The number of kept heads of each relation.

        Returns:
            The number of new rows.
        """
        database = self._database
        self.reserve(sizes)
        rows = {relation: database.relations[relation].count for relation in sizes}
        parts = len(self._workers) if segments.heads >= capacities.current.shared_heads else 1
        groups = segments.groups(parts)
        counts = [allocate(len(database.relations), np.int64, 0) for _ in range(len(groups) + 1)]
        database.context.claiming = 1
        try:
            self._claim(segments, parts)
            self._number(segments, groups, counts, list(sizes))
            new = int(np.sum(counts[-1]))
            indexes = [(index, row) for relation, row in rows.items() for index in self._unlinked(relation, counts[-1])]
            native.add_rows(database.address, segments.address, segments.count, address(counts[-1]))
        finally:
            native.undo_claims(database.address, segments.address, segments.count)
        self._run([partial(database.extend_index, index, row) for index, row in indexes])
        for index, _ in reversed(indexes):
            database.link_index(index)
        return new

    def reserve(self, sizes: Mapping[int, int]) -> None:
        """Make room for heads in the hash tables. Most of the heads may be the same, so tables may get fuller than usual."""
        tasks, large = list[Task](), list[Iterator[list[Task]]]()
        for relation, size in sizes.items():
            record = self._database.relations[relation]
            slots, rows = slots_for(record.used + size, fill_of(record.arity)), record.count + size
            if record.used + size <= FULLEST * (record.mask + 1) and rows <= record.row_mask + 1:
                continue
            if record.used + size >= capacities.current.shared_rows:
                large.append(Rehashing(self._database, relation, slots, len(self._workers), rows).steps())
            else:
                tasks.append(partial(self._database.set_slots, record, slots, rows))
        self._run_steps(tasks, large)

    def _claim(self, segments: Segments, parts: int) -> None:
        """Claim slots for the kept heads that have not done so while threads joined, each thread in one part of all tables."""
        if not any(worker.kept.has_unclaimed for worker in self._workers):
            return
        postponed: list[int] = []

        def claims(part: int) -> None:
            postponed.append(native.claim_slots(self._workers[part].address, segments.address, segments.count, part, parts))

        self._run([partial(claims, part) for part in range(parts)])
        if any(postponed):
            native.decide_rest(self._database.address, segments.address, segments.count)

    def _number(
        self, segments: Segments, groups: Sequence[tuple[int, int]], counts: Sequence[Counts], relations: Sequence[int]
    ) -> None:
        """Assign row numbers to the heads that have slots, in the order of the segments, and write their rows.

        Args:
            segments: The segments.
            groups: Ranges of them.
            counts: Zero for each relation: a list for each group, and one that gets the number of new rows in all groups.
            relations: The relations of the heads.
        """
        here = self._database.address, segments.address
        self._run(
            [partial(native.count_new, *here, *group, address(found)) for group, found in zip(groups, counts[:-1], strict=True)]
        )
        for relation in relations:
            row = self._database.relations[relation].count
            for found in counts[:-1]:
                new, found[relation] = found[relation], row + counts[-1][relation]
                counts[-1][relation] += new
        database, added = self._database, counts[-1].tolist()
        large = [relation for relation in relations if database.relations[relation].count >= capacities.current.shared_rows]
        self._run([partial(database.reserve_rows, relation, added[relation]) for relation in relations if relation not in large])
        for relation in large:
            database.reserve_rows(relation, added[relation], self._copy)
        self._run(
            [
                partial(native.append_heads, *here, *group, address(next_rows))
                for group, next_rows in zip(groups, counts[:-1], strict=True)
            ]
        )

    def _copy(self, target: Any, source: Any, first: int, end: int) -> None:
        """Copy items of an array, each thread a part of them."""
        bounds = np.linspace(first, end, len(self._workers) + 1, dtype=np.int64).tolist()
        self._run([partial(copy_items, target, source, *part) for part in pairwise(bounds)])

    def _unlinked(self, relation: int, counts: Counts) -> list[int]:
        """Return the indexes of a relation, if it gets new rows, with which they must be extended."""
        return self._database.unlink_indexes(relation) if counts[relation] else []
