"""Copies of rows, made by several threads: each inserts into relations of its own, as a single thread would, without lists.

Most rules of ontologies copy rows from one relation to another (subclasses, domains, inverses). Successive relations whose new rows
trigger nothing else are processed together. The rows of a relation come in the order in which one thread derives them, if three
things hold: the copies to one relation are made one after the other; those of a relation's rows begin when it has all that one
thread would find at its turn; and none are added to it until they have been copied.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Sequence
from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np

from kg_reasoner.storage.arrays import Numbers
from kg_reasoner.storage.kernels.layout import COMPARE, SPARSE, Relation
from kg_reasoner.storage.kernels.memory.struct_tables import Record
from kg_reasoner.storage.preparation.index_needs import soon_wanted
from kg_reasoner.storage.preparation.triggered_steps import field_of
from kg_reasoner.storage.relations.indexes import IndexedRelations

__all__ = ["Copy", "CopySchedule", "Copying", "SharedSchedule", "copying_from", "makespan"]

WAIT: Final = 0.02
"""Seconds after which a thread that waits for another one looks whether it is to stop."""


class Copy(NamedTuple):
    """The copies of the new rows of a relation in another one."""

    turn: int
    """The number of the relation among those that are processed together."""
    source: int
    head: int
    work: int
    """About how many rows are read."""


class CopySchedule:
    """Says which copies may be made, while threads make them. It is used by one thread at a time.

    Args:
        copies: The copies, in the order in which one thread makes them.
    """

    def __init__(self, copies: Sequence[Copy]) -> None:
        self._waiting: dict[int, list[Copy]] = {}
        """The copies to each relation that have not begun, the next one last."""
        self._unread: dict[int, int] = {}
        """The number of copies from each relation that have not been made."""
        self._turns: dict[int, int] = {}
        for copy in reversed(copies):
            self._waiting.setdefault(copy.head, []).append(copy)
        for copy in copies:
            self._unread[copy.source] = self._unread.get(copy.source, 0) + 1
            self._turns[copy.source] = copy.turn
        self._rest = {head: sum(copy.work for copy in waiting) for head, waiting in self._waiting.items()}
        """The work of the copies to each relation that have not begun."""
        self._running: dict[int, int] = {}
        """The turns of the copies that are being made, by the relations that they are made in."""
        self.left = len(copies)
        """The number of copies that have not begun."""

    def begin(self) -> Copy | None:
        """Begin a copy that may be made now, one to the relation that gets most of them. Return None if there is none."""
        heads = (head for head, waiting in self._waiting.items() if waiting and head not in self._running)
        chosen = max(filter(self._may_begin, heads), key=self._rest.__getitem__, default=None)
        if chosen is None:
            return None
        copy = self._waiting[chosen].pop()
        self._rest[chosen] -= copy.work
        self._running[chosen] = copy.turn
        self.left -= 1
        return copy

    def end(self, copy: Copy) -> None:
        """Note that a copy has been made."""
        del self._running[copy.head]
        self._unread[copy.source] -= 1

    def _may_begin(self, head: int) -> bool:
        copy = self._waiting[head][-1]
        is_read = self._turns.get(head, copy.turn) < copy.turn and self._unread[head] > 0
        return not is_read and not self._gets_rows(copy.source, copy.turn)

    def _gets_rows(self, relation: int, turn: int) -> bool:
        """Return whether copies to a relation that come before a turn have not all been made."""
        waiting = self._waiting.get(relation)
        return bool(waiting and waiting[-1].turn < turn) or self._running.get(relation, turn) < turn


def makespan(copies: Sequence[Copy], seconds: Callable[[Copy], float], threads: int) -> float:
    """Return the time in which threads make copies, given the time for each copy."""
    schedule, now, running = CopySchedule(copies), 0.0, list[tuple[float, Copy]]()
    while True:
        while len(running) < threads and (copy := schedule.begin()) is not None:
            heappush(running, (now + seconds(copy), copy))
        if not running:
            return now
        now, copy = heappop(running)
        schedule.end(copy)


class SharedSchedule:
    """A schedule that threads share.

    Args:
        copies: See `CopySchedule`.
    """

    def __init__(self, copies: Sequence[Copy]) -> None:
        self._schedule, self._changed = CopySchedule(copies), threading.Condition()
        self._has_failed = False
        self._left = len(copies)

    @property
    def is_done(self) -> bool:
        """Whether all copies have been made."""
        return self._left == 0

    def work(self, make: Callable[[Copy], bool], is_stopped: Callable[[], object]) -> None:
        """Make copies until there are none, or a thread has failed or is to stop.

        Args:
            make: Makes a copy. Returns whether it has been made.
            is_stopped: Says whether this thread is to stop.
        """
        while (copy := self._next(is_stopped)) is not None:
            is_made = False
            try:
                is_made = make(copy)
            finally:
                with self._changed:
                    if is_made:
                        self._schedule.end(copy)
                        self._left -= 1
                    else:
                        self._has_failed = True
                    self._changed.notify_all()

    def _next(self, is_stopped: Callable[[], object]) -> Copy | None:
        """Wait for a copy that may be made."""
        with self._changed:
            while self._schedule.left and not self._has_failed and not is_stopped():
                copy = self._schedule.begin()
                if copy is not None:
                    return copy
                self._changed.wait(WAIT)
        return None


class Copying(NamedTuple):
    """Relations whose new rows can only be copied, in the order in which one thread processes them."""

    relations: list[int]
    copies: list[Copy]
    """In the order in which one thread makes them."""
    rows: Numbers
    """The number of rows that each relation of the database is expected to have then."""

    def wanted_indexes(self, database: IndexedRelations) -> list[int]:
        """Return indexes that the next relations will want, of relations that get no copies."""
        heads = {copy.head for copy in self.copies}
        wanted = soon_wanted(database, self.rows, self.relations)
        return [index for index in wanted if database.indexes[index].relation not in heads]


def copying_from(database: IndexedRelations, first: int) -> Copying:
    """Return the relations, from one on, that are processed next and only copied. They end where most of the time would go to
    handling copies.
    """
    admitted, is_ordered = database.context.admitted, database.context.latest > 0
    end = first + 1 if admitted else min(len(database.relations), first + SPARSE)
    rows, columns, lateness = (
        field_of(database.relations, Relation, name).copy() for name in ("count", "section_column", "lateness")
    )
    turns, copies, work = dict[int, int](), list[Copy](), 0
    for number in range(first, end):
        new = int(rows[number] - database.processed[number])
        if new <= 0 or (is_ordered and lateness[number] > admitted):
            continue
        heads = _heads_of_copies(database, number, turns) if columns[number] < 0 else None
        work += new * len(heads or ())
        if heads is None or work < (len(copies) + len(heads)) * database.context.block_rows:
            break
        for head in dict.fromkeys(heads):
            copies.append(Copy(len(turns), number, head, new * heads.count(head)))
            rows[head] = max(rows[head], database.processed[head] + new)
        turns[number] = len(turns)
    return Copying(list(turns), copies, rows)


def _heads_of_copies(database: IndexedRelations, number: int, processed: Container[int]) -> list[int] | None:
    """Return the relations to which plans copy the rows of a relation, once for each plan; None if there are other plans that may
    find something, or rows are copied to the relation itself.

    Args:
        database: The database.
        number: The relation.
        processed: Relations that will have been processed before.
    """
    section = database.sections[database.relations[number].section]
    heads = list[int]()
    for plan in np.asarray(database.context.triggers)[section.first_trigger : section.end_trigger].tolist():
        record = database.plans[plan]
        if record.copies and record.head_relation != number:
            heads.append(record.head_relation)
        elif record.copies or not _is_idle(database, record, number, processed):
            return None
    return heads


def _is_idle(database: IndexedRelations, plan: Record, number: int, processed: Container[int]) -> bool:
    """Return whether a plan certainly finds nothing, because no row of some body atom has been processed."""
    for place in range(plan.first_step, plan.first_step + plan.step_count):
        step = database.steps[place]
        is_of_another = step.kind < COMPARE and not step.negated and step.relation != number
        if is_of_another and step.relation not in processed and not database.processed[step.relation]:
            return True
    return False
