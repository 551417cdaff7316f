"""Deletion by several threads (see `kernels.parallel_deletion` for how it works).

What is deleted is what one thread deletes; candidates are found in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Final, NamedTuple, Protocol

import numpy as np

from kg_reasoner.concurrency.tasks import Task
from kg_reasoner.storage.indexes import IndexedRelations
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    CANDIDATES,
    DEAD,
    DELETED,
    DISPROVED,
    DONE,
    EXPLICIT,
    GROW,
    OVERDELETED,
    PROCESSED,
    ROW,
    STATED,
)
from kg_reasoner.storage.kernels.memory import Argument, Record, address, allocate

__all__ = ["Joiner", "Request", "SharedDeletion"]

MOST_FACTS: Final = 1 << 12
"""The most facts that a thread takes at once."""

PARTS: Final = 16
"""A thread takes about so many parts of the facts, if there are fewer."""


class Request(NamedTuple):
    """What a deletion needs before it can go on: a kernel's status, and the number that is wanted."""

    status: int
    wanted: int


class View(NamedTuple):
    """What joins see: rows without the `hidden` flags; whether flags count in relations without dead rows; and whether they see the
    materialisation before the update.
    """

    hidden: int
    look: int
    old: int


class Tracing(NamedTuple):
    """How the consequences of listed facts are found: what joins see, and the flags of the facts that are traced."""

    view: View
    wanted: int
    unwanted: int


PROVING: Final = View(ABSENT | DISPROVED, 1, 0)
TRACINGS: Final = {
    CANDIDATES: Tracing(View(ABSENT | PROCESSED, 1, 0), DISPROVED, PROCESSED),
    OVERDELETED: Tracing(View(ABSENT | PROCESSED, 1, 0), 0, EXPLICIT | STATED | PROCESSED),
    DELETED: Tracing(View(DEAD, 0, 1), 0, 0),
}


class Joiner(Protocol):
    """The context of a thread, and its list of facts (see `storage.parallel`)."""

    number: int
    """The number of its list."""
    context: Record
    address: Argument
    """The argument that kernels are called with."""
    kept: Record
    """Its list."""

    def start_deletion(self, view: View) -> None:
        """Take over the relations and plans of the database as they are, and begin with empty lists of facts and requests."""
        ...

    def end_deletion(self) -> list[int]:
        """Add its numbers of rule instances to those of the database, and return its requests."""
        ...

    def lengthen(self) -> None:
        """Make room for more facts in the list."""
        ...


class SharedDeletion:
    """The work on one list of facts, which threads share.

    Args:
        database: The database.
        joiners: The threads' contexts.
        run: Runs tasks at the same time.
        which: CANDIDATES, OVERDELETED or DELETED: the kernel that wants the work to be shared (see `kernels.deletion`).
    """

    def __init__(
        self, database: IndexedRelations, joiners: Sequence[Joiner], run: Callable[[Sequence[Task]], None], which: int
    ) -> None:
        self._database, self._joiners, self._run, self._which = database, joiners, run, which
        context = database.context
        if which == DELETED:
            self._facts, self._first, self._end = context.gone, context.place, context.gone_count
        else:
            self._facts, self._first, self._end = context.candidates, context.candidates_done, context.candidates_count
        self._outcomes = allocate(self._end, np.int8, 0)
        self._list, self._found = address(self._facts), address(self._outcomes)
        self.requests: list[Request] = []
        """What must be fulfilled before the next step."""

    def step(self) -> int:
        """Find out what can be told without further requests.

        Returns:
            The number of requests. Without any, the work is done, or has been stopped. Facts of which nothing has been found are
            left to one thread.
        """
        self.requests = []
        if self._prove() and not self.requests and self._trace() and not self.requests:
            self._database.context.shared_to = self._end
            if self._which == DELETED and np.count_nonzero(self._outcomes[self._first :] != PROCESSED) == 0:
                self._database.context.place = self._end
        return len(self.requests)

    def _prove(self) -> bool:
        """Look for proofs of one step, if the algorithm does. Return whether all facts have been looked at."""

        def prove(joiner: Joiner, first: int, end: int) -> int:
            return native.try_facts(joiner.address, self._list, self._found, first, end)

        if self._which != CANDIDATES:
            return True
        is_done = self._share(PROVING, prove)
        if is_done:
            self._settle()
        return is_done

    def _trace(self) -> bool:
        """List the consequences of facts as candidates for deletion. Return whether all facts have been looked at."""
        view, wanted, unwanted = TRACINGS[self._which]
        segments = list[tuple[int, int, int, int]]()

        def trace(joiner: Joiner, first: int, end: int) -> int:
            place, begin = first, joiner.kept.count
            while (status := native.trace_facts(joiner.address, self._list, self._found, place, end, wanted, unwanted)) == GROW:
                place = joiner.context.place
                joiner.lengthen()
            segments.append((first, joiner.number, begin, joiner.kept.count))
            return status

        is_done = self._share(view, trace)
        if is_done:
            numbers = allocate((len(segments), 3), np.int64)
            numbers[: len(segments)] = [segment[1:] for segment in sorted(segments)]
            native.add_listed_candidates(self._database.address, address(numbers), len(segments))
            if self._which != DELETED:
                self._settle()
        return is_done

    def _settle(self) -> None:
        """Set the flags that have been found for facts."""
        self._run([partial(native.settle_facts, self._database.address, self._list, self._found, *part) for part in self._parts()])

    def _parts(self) -> list[tuple[int, int]]:
        """Return ranges of the facts, for one thread at a time."""
        facts = self._end - self._first
        size = max(1, min(MOST_FACTS, facts // (PARTS * len(self._joiners))))
        return [(first, min(first + size, self._end)) for first in range(self._first, self._end, size)]

    def _share(self, view: View, work: Callable[[Joiner, int, int], int]) -> bool:
        """Let threads look at all facts, and note their requests. Return whether none has been stopped.

        Args:
            view: What joins see.
            work: Looks at a range of the facts. Returns DONE or STOPPED.
        """
        for joiner in self._joiners:
            joiner.start_deletion(view)
        parts, numbers, stopped = self._parts(), count(), list[int]()

        def share(joiner: Joiner) -> None:
            while not stopped and (number := next(numbers)) < len(parts):
                if work(joiner, *parts[number]) != DONE:
                    stopped.append(number)

        self._run([partial(share, joiner) for joiner in self._joiners])
        requests = {request for joiner in self._joiners for request in joiner.end_deletion()}
        self.requests = [Request(request >> 32, request & ROW) for request in sorted(requests)]
        return not stopped
