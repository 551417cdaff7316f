"""A thread of a team: its context over the relations of a database, and its list of heads."""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.calculation import MAY_READ, STACK
from kg_reasoner.storage.kernels.layout import (
    DONE,
    GROW,
    LIST_BITS,
    RECENT,
    REQUESTS,
    RING,
    Context,
    Goal,
    Plan,
)
from kg_reasoner.storage.kernels.memory.buffers import allocate, argument
from kg_reasoner.storage.kernels.memory.struct_tables import Record, StructTable
from kg_reasoner.storage.kernels.thread_results import DEEPEST
from kg_reasoner.storage.parallel.shared_copies import Copy
from kg_reasoner.storage.parallel.shared_deletion import Visible
from kg_reasoner.storage.relations.indexes import IndexedRelations
from kg_reasoner.storage.relations.plan_memory import JoinFrames, join_tables

__all__ = ["MOST_KEPT", "Worker"]

MOST_HEADS: Final = (1 << (31 - LIST_BITS)) - 1
"""The maximal number of heads in a list: slots of hash tables hold their numbers, see `kernels.listed_heads.holder`."""

COLUMNS: Final = {"keys": np.int64, "relations": np.int32, "places": np.int64, "tasks": np.int32}
"""What a list has of each head beside its ids."""

ENTRY: Final = sum(np.dtype(dtype).itemsize for dtype in COLUMNS.values())
"""The bytes of a head in a list, without its ids."""

MOST_KEPT: Final = 1 << 17
"""A thread that keeps more heads than this stops after its block."""


class Worker:
    """The context of one thread over the relations of a database, and the list of the heads that it derives.

    Args:
        database: The database.
        number: The number of the list.
        kept: The list.
        room: The number of heads for which the list has room at first.
    """

    def __init__(self, database: IndexedRelations, number: int, kept: Record, room: int) -> None:
        self._database = database
        self._contexts = StructTable(Context, capacity=1)
        self.context = self._contexts.add(own_list=number + 1)
        self.address = argument(self.context.address)
        self.frames = JoinFrames(self.context)
        self.context.publish(**join_tables())
        self.context.stack = allocate(STACK, np.int64)
        self.frames.add(DEEPEST)
        self.context.publish(goals=allocate((DEEPEST, len(Goal.fields)), np.int64, 0), goal_room=DEEPEST)
        self.number, self.kept = number, kept
        kept.requests = allocate(REQUESTS, np.int64)
        self._stride = 0
        self._plans: tuple[object, int] = None, 0
        """The plans that have been copied: their words, and how many there are."""
        self._grow(room)

    def start(self, room: int | None = None) -> None:
        """Take over the relations and plans of the database as they are, and begin with an empty list.

        Args:
            room: The number of heads that the list may hold; None: as many as it has room for.
        """
        database, context = self._database, self.context
        theirs = database.frames
        self.frames.fit(theirs.bindings, theirs.depth, theirs.arity)
        stride = database.context.ring_stride
        if stride != self._stride:
            self._stride = stride
            context.ring = allocate(RING * stride, np.int32, 0)
            self.kept.values = allocate(self.room * stride, np.int32)
        context.own_list = self.number + 1
        words = self._contexts.words[0]
        words[_SHARED_WORDS] = database.context_words[_SHARED_WORDS]
        if self._plans[0] is not database.plans.words or self._plans[1] != len(database.plans):
            plans = allocate(database.plans.words.shape, np.int64)
            plans[:] = database.plans.words
            plans[:, Plan.fields["checked_block"][0]] = 0
            context.plans = plans
            self._plans = database.plans.words, len(database.plans)
        if database.context.request_stride:
            context.publish(requests=allocate(database.context.request_stride, np.int32), request_room=1)
        context.instances = context.looped = context.stop = context.request_count = context.scans = 0
        context.term_access = min(database.context.term_access, MAY_READ)
        self.kept.room = self.room if room is None else min(room, self.room)
        self.kept.count = self.kept.claimed = self.kept.has_unclaimed = self.kept.repeated = 0

    def join(self, relation: int, low: int, high: int, task: int) -> int:
        """Keep the heads of some rows that are not present. Return the status of the kernel.

        Args:
            relation: The relation.
            low: The first row.
            high: The row behind the last one.
            task: The number of these joins: heads come before those of joins with a greater number.
        """
        first, self.kept.task = self.kept.count, task
        while (status := native.join_rows(self.address, relation, low, high)) == GROW:
            if (first and self.room >= MOST_KEPT) or self.room >= MOST_HEADS or self.context.claim_room:
                break  # other threads may be reading the list, whose heads claim slots
            low = self.context.place
            self.lengthen(MOST_HEADS)
        if status != DONE:
            self.kept.count = first
        return status

    def start_deletion(self, view: Visible) -> None:
        """See `shared_deletion.ThreadContext`."""
        self._plans = None, 0  # plans may have been made at the places of others
        self.start()
        context = self.context
        context.plans[:, _FOUND] = 0
        context.hidden, context.checks_flags, context.old = view
        context.deletion_instances = context.backward_instances = 0
        self.kept.request_count = 0

    def end_deletion(self) -> list[int]:
        """See `shared_deletion.ThreadContext`."""
        own, whole, plans = self.context, self._database.context, self._database.plans
        whole.deletion_instances += own.deletion_instances
        whole.backward_instances += own.backward_instances
        plans.words[:, _FOUND] += own.plans[:, _FOUND]
        return np.asarray(self.kept.requests)[: self.kept.request_count].tolist()

    def lengthen(self, most: int | None = None) -> None:
        """See `shared_deletion.ThreadContext`.

        Args:
            most: The maximal number of heads.
        """
        self._lengthen(4 * self.room if most is None else min(4 * self.room, most))

    def lengthen_to(self, heads: int) -> bool:
        """Empty the list, and make it long enough for a number of heads. Return False, and do nothing, if it cannot be so long."""
        if heads > MOST_HEADS:
            return False
        self.kept.count = 0
        if self.room < heads:
            self._lengthen(heads)
        return True

    def copy(self, copy: Copy) -> bool:
        """Copy the new rows of a relation to another one. Return whether all have been copied.

        No other thread reads or changes the rows of that one meanwhile, or adds any to the former.
        """
        database = self._database
        self.context.own_list = 0
        low, high = int(database.processed[copy.source]), database.relations[copy.source].count
        while (status := native.copy_to(self.address, copy.head, copy.source, low, high)) == GROW:
            low = self.context.place
            database.grow(copy.head)
        return status == DONE

    def _lengthen(self, room: int) -> None:
        self._database.claim(room * (4 * self._stride + ENTRY))
        self._grow(room)

    def _grow(self, room: int) -> None:
        used, kept, stride = self.kept.count, self.kept, self._stride
        values = allocate(room * stride, np.int32)
        columns = {name: allocate(room, dtype) for name, dtype in COLUMNS.items()}
        if used:
            values[: used * stride] = kept.values[: used * stride]
            for name, column in columns.items():
                column[:used] = getattr(kept, name)[:used]
        recent = kept.recent if kept.room else allocate(RECENT, np.int64, 0)
        kept.publish(values=values, recent=recent, room=room, **columns)
        self.room = room


_OWN: Final = {
    "plans",
    "frames",
    "ring",
    "ring_keys",
    "ring_relations",
    "hashes",
    "copied",
    "filter_slots",
    "filter_values",
    "filter_count",
    "filter_numbers",
    "filter_matches",
    "recent_values",
    "group",
    "group_plan",
    "group_key",
    "pair_relation",
    "pair_keys",
    "pair_count",
    "pair",
    "ring_next",
    "ring_count",
    "block",
    "place",
    "looped",
    "instances",
    "wanted",
    "stop",
    "own_list",
    "requests",
    "request_count",
    "request_room",
    "stack",
    "term_access",
    "goals",
    "goal_room",
    "depth",
}
"""The fields that the context of a thread does not share."""
_FOUND: Final = Plan.fields["found"][0]
_SHARED_WORDS: Final = np.array([field[0] for name, field in Context.fields.items() if name not in _OWN])
