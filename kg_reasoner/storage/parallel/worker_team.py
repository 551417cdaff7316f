"""Semi-naive evaluation by several threads (see `kernels.parallel_blocks` for how it works).

Rows, and their order, are those that one thread derives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Final

import numpy as np

from kg_reasoner.concurrency.tasks import Round, Task, ThreadPool
from kg_reasoner.storage import capacities
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import (
    DONE,
    FUNCTION_RESULTS,
    GROW,
    MOST,
    STOPPED,
    HeadList,
    Plan,
)
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.parallel.shared_copies import Copy, Copying, SharedSchedule, copying_from, makespan
from kg_reasoner.storage.parallel.shared_deletion import SharedDeletion
from kg_reasoner.storage.parallel.shared_insertion import Segments, SharedInsertion
from kg_reasoner.storage.parallel.worker import MOST_KEPT, Worker
from kg_reasoner.storage.preparation.index_needs import soon_wanted
from kg_reasoner.storage.relations.index_building import Building
from kg_reasoner.storage.relations.indexes import IndexedRelations
from kg_reasoner.storage.relations.rehashing import Rehashing

__all__ = ["WorkerTeam"]

KEEPING: Final = 1.5
"""How much longer it takes to keep heads and insert them than to insert them at once."""

MOST_BLOCKS: Final = 16
"""The maximal number of blocks of rows that a thread takes at once."""

FEW_KEPT: Final = 1 << 16
"""As `MOST_KEPT`, while it is not known whether many of them are the same."""

LEAST_KEPT: Final = 1 << 14
"""As `FEW_KEPT`, when many of them have been the same."""

LEAST_CLAIMED: Final = 1 << 17
"""The number of heads that a thread may list at first while they claim slots, unless its list is shorter."""

MOST_CLAIMED: Final = 1 << 21
"""The maximal number of heads that a thread lists while they claim slots: hash tables get room for all of them."""

CLAIMED_PART: Final = 8
"""In an inner loop over pairs, threads insert what they have when one has listed this part of what it may: a pair that is a row is
recognised in less time than one that is listed.
"""

FEW_REPEATED: Final = 8
"""Heads claim slots while threads join if at most one of this many derived heads is the same as another one."""

MOST_RESERVED: Final = 4
"""If joins derive heads of no more relations than this, hash tables get room for heads that are to claim slots."""

PAIR: Final = 2
_HEAD: Final = Plan.fields["head_relation"][0]


class WorkerTeam:
    """Threads that evaluate rules together, in the place of one.

    Args:
        database: The database.
        size: The number of threads, at most `concurrency.cores.MOST_THREADS`.
    """

    def __init__(self, database: IndexedRelations, size: int) -> None:
        self._database = database
        self._lists = StructTable(HeadList, database.context, "lists", capacity=size)
        self._few = FEW_KEPT
        """When a thread keeps more heads than this, all insert what they have, because many of them may be the same."""
        self._claims_early = False
        """Whether heads claim slots while threads join. If many are the same, comparing a head with one that another thread has
        just listed takes longer than listing both, except in an inner loop over pairs.
        """
        self._least_claims = LEAST_CLAIMED
        """The number of heads with slots that each thread may list, if the relation is small."""
        self._loops = False
        """Whether such loops have derived most heads."""
        room = max(1, min(capacities.current.heads, capacities.current.inserted_heads // size))
        self._workers = [Worker(database, number, self._lists.add(), room) for number in range(size)]
        self._pool = ThreadPool()

    def process(self, relation: int) -> int:
        """Process the new rows of a relation, as far as they fill blocks.

        Returns:
            DONE, or a request of the kernels, after which the call is repeated. A relation with too many heads for threads, or
            that triggers functions whose results Python computes, is left to one thread.

        An interrupt leaves the rows as not processed, though some of what they derive may be present.
        """
        database, context = self._database, self._database.context
        if not context.has_listed_grown:
            copying = copying_from(database, relation)
            share = sum(copy.work for copy in copying.copies) / len(self._workers)
            if 0 < makespan(copying.copies, lambda copy: copy.work, len(self._workers)) <= KEEPING * share:
                return self._copy(copying)
        rows = context.block_rows
        low = int(database.processed[relation])
        blocks = (database.relations[relation].count - low) // rows
        try:
            status, done, segments = self._joined(relation, low, blocks)
            sizes = self._insertion().heads_by_relation(segments)
            is_too_much = any(database.relations[head].count + size > MOST for head, size in sizes.items())
            if status in (GROW, FUNCTION_RESULTS) or is_too_much:
                database.relations[relation].is_alone = 1
                return DONE
            if status == DONE:
                instances = sum(worker.context.instances for worker in self._workers)
                most = capacities.current.inserted_heads
                for part in [segments] if context.claim_room or segments.heads <= most else segments.parts(most):
                    self._insert(part, sizes if part is segments else self._insertion().heads_by_relation(part))
                database.processed[relation] = low + done * rows
                context.instances, context.block_instances = context.instances + instances, instances // done
            return status
        finally:
            self._undo_claims()

    def deletion(self, which: int) -> SharedDeletion:
        """Return the work on a list of a deletion (see `SharedDeletion`)."""
        return SharedDeletion(self._database, self._workers, self._run, which)

    def build(self, wanted: int) -> None:
        """Build the index that a kernel wants, and others that plans will want soon."""
        database = self._database
        for indexes in database.in_turns(sorted({wanted, *soon_wanted(database)}, key=self._rows_of, reverse=True)):
            self._run_steps(*self._filling(indexes))
            for index in indexes:
                database.link_index(index)

    def grow(self) -> None:
        """Make room in the relation that a kernel found full, or in its indexes."""
        database, number = self._database, self._database.context.wanted
        relation = database.relations[number]
        if relation.used >= relation.limit and relation.used >= capacities.current.shared_rows:
            self._run_steps((), [Rehashing(database, number, 2 * (relation.mask + 1), len(self._workers)).steps()])
        database.grow()

    def _filling(self, indexes: Sequence[int]) -> tuple[list[Task], list[Iterator[list[Task]]]]:
        """Return the tasks that fill indexes, and the steps of filling those that are large."""
        database, shared_rows = self._database, capacities.current.shared_rows
        large = [index for index in indexes if database.size_of(index) >= shared_rows]
        tasks: list[Task] = [partial(database.fill_index, index) for index in indexes if index not in large]
        return tasks, [Building(database, index, len(self._workers)).steps() for index in large]

    def _rows_of(self, index: int) -> int:
        """Return the number of rows of an index's relation."""
        count: int = self._database.relations[self._database.indexes[index].relation].count
        return count

    def _run(self, tasks: Sequence[Task]) -> None:
        """Run tasks at the same time."""
        if len(tasks) > 1:
            Round(lambda: self._database.context.stop, self._stop, self._pool).run(tasks, len(self._workers))
        else:
            for task in tasks:
                task()

    def _run_steps(self, tasks: Sequence[Task], several: Sequence[Iterator[Sequence[Task]]]) -> None:
        """Run tasks, and the tasks of the steps of several operations, one step of each at the same time."""
        while tasks or several:
            following = [(steps, step) for steps in several if (step := next(steps, None)) is not None]
            self._run([*tasks, *(task for _, step in following for task in step)])
            tasks, several = (), [steps for steps, _ in following]

    def _stop(self) -> None:
        """Stop all joins."""
        for worker in self._workers:
            worker.context.stop = 1

    # --- copies -----------------------------------------------------------------------------------------------------

    def _copy(self, copying: Copying) -> int:
        """Process the new rows of some relations, which are only copied, and build indexes that the next ones will want.

        Returns:
            DONE or STOPPED.
        """
        database, context = self._database, self._database.context
        relations, turns, schedule = database.relations, copying.relations, SharedSchedule(copying.copies)
        places = {number: turn for turn, number in enumerate(turns)}
        ends: dict[int, int] = {}
        """The number of rows that a relation had at its turn, if it gets more later."""

        def copies(worker: Worker) -> None:
            schedule.work(partial(copy_rows, worker), lambda: worker.context.stop)

        def copy_rows(worker: Worker, copy: Copy) -> bool:
            if places.get(copy.head, copy.turn) < copy.turn:
                ends.setdefault(copy.head, relations[copy.head].count)
            return worker.copy(copy)

        indexes = copying.wanted_indexes(database)
        for worker in self._workers:
            worker.start()
        first, *others = (partial(copies, worker) for worker in self._workers)
        try:
            filling, steps = self._filling(indexes)
            self._run_steps([first, *filling, *others], steps)
        finally:
            native.count_rows(database.address)
        context.has_reborn = max(context.has_reborn, *(worker.context.has_reborn for worker in self._workers))
        if not schedule.is_done:
            return STOPPED
        for index in indexes:
            database.link_index(index)
        processed = np.array([ends.get(number, relations[number].count) for number in turns])
        context.current = turns[int(np.flatnonzero(processed > database.processed[turns])[-1])]
        database.processed[turns] = processed
        context.instances += sum(worker.context.instances for worker in self._workers)
        return DONE

    # --- joins ------------------------------------------------------------------------------------------------------

    def _joined(self, relation: int, low: int, blocks: int) -> tuple[int, int, Segments]:
        """Join the blocks of a relation, as `_join` does. Heads may claim slots meanwhile if the lists have room for them."""
        claims, has_claimed = self._claims_early, False
        while True:
            room = self._prepare_claims(relation) if claims else None
            for worker in self._workers:
                worker.start(room)
            self._database.context.claiming = int(room is not None)  # not before the lists are empty: an interrupt undoes claims
            status, done, segments = self._join(relation, low, blocks)
            lists = [worker.kept for worker in self._workers]
            if room is None:
                if has_claimed or status != GROW or not self._derives_by_loops(sum(kept.room for kept in lists)):
                    return status, done, segments
                claims = self._loops = True
                continue
            if segments.heads == sum(kept.count for kept in lists) and all(kept.claimed <= kept.count for kept in lists):
                return status, done, segments
            self._undo_claims()  # of heads that are not in the segments
            if status != GROW:
                return status, done, segments
            has_claimed, claims = True, self._loops and self._claim_more(4 * room)

    def _prepare_claims(self, relation: int) -> int | None:
        """Let heads that rows of a relation trigger claim slots while threads join, if lists and tables may have room for them.

        Returns:
            The number of heads that each thread may list; None: they do not claim slots.
        """
        database, size, room = self._database, len(self._workers), min(worker.room for worker in self._workers)
        if self._loops:
            heads = self._heads_of(relation)
            used = max((int(database.relations[head].used) for head in heads), default=0)
            room = min(room, max(self._least_claims, used // (2 * size)))
            if len(heads) <= MOST_RESERVED:
                self._insertion().reserve(dict.fromkeys(heads, size * room + 1))
        elif size * room > capacities.current.inserted_heads:
            return None
        database.context.claim_room = size * room
        return room

    def _claim_more(self, heads: int) -> bool:
        """Let each thread list a number of heads that claim slots. Return False if that is too many."""
        self._least_claims = heads
        return heads <= MOST_CLAIMED and all(worker.lengthen_to(heads) for worker in self._workers)

    def _heads_of(self, relation: int) -> list[int]:
        """Return the relations of two columns to which plans add heads that the rows of a relation trigger."""
        database = self._database
        section = database.sections[database.relations[relation].section]
        plans = np.asarray(database.context.triggers)[section.first_trigger : section.end_trigger]
        heads = dict.fromkeys(database.plans.words[plans, _HEAD].tolist())
        return [head for head in heads if database.relations[head].arity == PAIR]

    def _derives_by_loops(self, heads: int) -> bool:
        """Return whether inner loops over pairs have derived most of a number of heads."""
        return 2 * sum(worker.context.looped for worker in self._workers) >= heads

    def _undo_claims(self) -> None:
        """Make the hash tables as they were before heads claimed slots, unless the heads are rows by now."""
        context = self._database.context
        if context.claiming:
            listed = Segments([(worker.number, 0, max(worker.kept.count, worker.kept.claimed)) for worker in self._workers])
            native.undo_claims(self._database.address, listed.address, listed.count)
            for worker in self._workers:
                worker.kept.has_unclaimed = 1
        context.claim_room = 0

    def _join(self, relation: int, low: int, blocks: int) -> tuple[int, int, Segments]:
        """Join the blocks of a relation from a row on.

        Returns:
            DONE or a request, the number of joined blocks, and the segments of their heads.
        """
        share = max(1, min(MOST_BLOCKS, blocks // (8 * len(self._workers))))
        rows, tasks = share * self._database.context.block_rows, -(-blocks // share)
        end = low + blocks * self._database.context.block_rows
        numbers, found = count(), list[tuple[int, int, int, int]]()
        failures, enough = [(tasks, DONE, 0)], list[int]()
        room = self._database.context.claim_room // len(self._workers)
        most = self._few
        if room:
            most = room // CLAIMED_PART if self._loops else min(most, room // 2)

        def joins(worker: Worker) -> None:
            while not enough and (task := next(numbers)) < min(failures)[0]:
                first, begin = worker.kept.count, low + task * rows
                status = worker.join(relation, begin, min(begin + rows, end), task)
                if status != DONE:
                    failures.append((task, status, worker.context.wanted))
                    return
                found.append((task, worker.number, first, worker.kept.count))
                if worker.kept.count > most:
                    enough.append(task)

        self._run([partial(joins, worker) for worker in self._workers])
        task, status, wanted = min(failures)
        if task == 0:
            self._database.context.wanted = wanted
            return status, 0, Segments([])
        joined = sorted(segment for segment in found if segment[0] < task)
        return DONE, min(len(joined) * share, blocks), Segments([segment[1:] for segment in joined])

    def _insert(self, segments: Segments, sizes: Mapping[int, int]) -> None:
        """Insert kept heads. How many were new determines how many of them threads keep from now on, and when these claim slots."""
        if sizes:
            new = self._insertion().insert(segments, sizes)
            is_useful = 2 * new > segments.heads
            repeated = segments.heads - new + sum(worker.kept.repeated for worker in self._workers)
            self._loops = self._derives_by_loops(segments.heads)
            self._claims_early = self._loops or FEW_REPEATED * repeated <= segments.heads
            self._few = min(2 * self._few, MOST_KEPT) if is_useful else max(self._few // 2, LEAST_KEPT)

    def _insertion(self) -> SharedInsertion:
        """Return the work of inserting heads. This object does not keep it, because it refers back to this object."""
        return SharedInsertion(self._database, self._workers, self._run, self._run_steps)
