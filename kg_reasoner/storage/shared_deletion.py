"""Deletion by several threads (see `kernels.parallel_deletion` for how it works).

What is deleted is what one thread deletes; candidates are found in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Final, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.tasks import Task
from kg_reasoner.storage.indexes import IndexedRelations
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    CANDIDATES,
    CHECKED,
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
from kg_reasoner.storage.kernels.memory import Argument, Record, address, allocate, lend
from kg_reasoner.storage.kernels.parallel_deletion import UNTRIED

__all__ = ["Joiner", "Request", "SharedDeletion"]

Facts: TypeAlias = npt.NDArray[np.int64]
"""Facts as kernels have them: ``relation << 32 | row``."""

MOST_FACTS: Final = 1 << 12
"""The most facts that a thread takes at once."""

PARTS: Final = 16
"""A thread takes about so many parts of the facts, if there are fewer."""

STRIDE: Final = 64
"""One of so many facts is tried first, until nothing is requested: a search begins anew when its request has been fulfilled."""


class Request(NamedTuple):
    """What a deletion needs before it can go on: a kernel's status, and the number that is wanted."""

    status: int
    wanted: int


class Visible(NamedTuple):
    """What joins see: rows without the `hidden` flags; whether flags count in relations without dead rows; and whether they see the
    materialisation before the update.
    """

    hidden: int
    look: int
    old: int


class Tracing(NamedTuple):
    """How the consequences of facts are found: what joins see, and the flags of facts that have none."""

    view: Visible
    unwanted: int


PROVING: Final = Visible(ABSENT | DISPROVED, 1, 0)
TRACINGS: Final = {
    CANDIDATES: Tracing(Visible(ABSENT | PROCESSED, 1, 0), 0),
    OVERDELETED: Tracing(Visible(ABSENT | PROCESSED, 1, 0), EXPLICIT | STATED | PROCESSED),
    DELETED: Tracing(Visible(DEAD, 0, 1), 0),
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

    def start_deletion(self, view: Visible) -> None:
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
            listed, first, end = context.gone, context.place, context.gone_count
        else:
            listed, first, end = context.candidates, context.candidates_done, context.candidates_count
        facts: Facts = np.asarray(listed)[first:end].copy()
        self._end, self._few = end, context.shared_facts
        """Where the list ends, and the number of facts from which on they are shared."""
        self._untried, self._untraced = (facts, facts[:0]) if which == CANDIDATES else (facts[:0], facts)
        """The facts for which no proof has been searched, and those whose consequences are to be listed."""
        self.requests: list[Request] = []
        """What must be fulfilled before the next step."""

    def step(self) -> int:
        """Find out what can be told without further requests.

        Returns:
            The number of requests. Without any, the work is done, or has been stopped. Facts of which nothing has been found, and
            few that wait for requests, are left to one thread.
        """
        self.requests = []
        if self._prove() and self._trace():
            self._database.context.shared_to = self._end
            if self._which == DELETED and not len(self._untraced):
                self._database.context.place = self._end
        return len(self.requests)

    def _prove(self) -> bool:
        """Search for proofs. Return whether there are no requests."""
        if not len(self._untried):
            return True
        if len(self._try(self._untried[::STRIDE])) == 0 or self.requests:
            return False
        facts, outcomes = self._untried, self._try(self._untried)
        if len(outcomes) == 0:
            return False
        self._untraced = np.concatenate([self._untraced, facts[outcomes == CHECKED | DISPROVED]])
        self._untried = facts[outcomes == UNTRIED]
        if len(self._untried) < self._few:
            self.requests = []
        return not self.requests

    def _try(self, chosen: Facts) -> npt.NDArray[np.uint8]:
        """Search for proofs of facts. Return the outcomes; none if a thread has been stopped."""
        facts, outcomes = lend(np.ascontiguousarray(chosen)), allocate(len(chosen), np.uint8, 0)
        where = address(facts), address(outcomes)

        def search(joiner: Joiner, first: int, end: int) -> int:
            return native.try_facts(joiner.address, *where, first, end)

        if not self._share(PROVING, len(facts), search):
            return outcomes[:0]
        self._settle(where, len(facts))
        return outcomes

    def _trace(self) -> bool:
        """List the consequences of facts as candidates for deletion. Return whether there are no requests."""
        if not len(self._untraced):
            return True
        facts, outcomes = lend(self._untraced), allocate(len(self._untraced), np.uint8, 0)
        where = address(facts), address(outcomes)
        view, unwanted = TRACINGS[self._which]
        segments = list[tuple[int, int, int, int]]()

        def trace(joiner: Joiner, first: int, end: int) -> int:
            place, begin = first, joiner.kept.count
            while (status := native.trace_facts(joiner.address, *where, place, end, unwanted)) == GROW:
                place = joiner.context.place
                joiner.lengthen()
            segments.append((first, joiner.number, begin, joiner.kept.count))
            return status

        if not self._share(view, len(facts), trace):
            return False
        numbers = allocate((len(segments), 3), np.int64)
        numbers[: len(segments)] = [segment[1:] for segment in sorted(segments)]
        native.add_listed_candidates(self._database.address, address(numbers), len(segments))
        if self._which != DELETED:
            self._settle(where, len(facts))
        self._untraced = facts[outcomes != PROCESSED]
        if self._which != DELETED and len(self._untraced) < self._few:
            self.requests = []
        return not self.requests

    def _settle(self, where: tuple[int, int], facts: int) -> None:
        """Set the flags that have been found for a number of facts."""
        self._run([partial(native.settle_facts, self._database.address, *where, *part) for part in self._parts(facts)])

    def _parts(self, facts: int) -> list[tuple[int, int]]:
        """Return ranges of a number of facts, each for one thread at a time."""
        size = max(1, min(MOST_FACTS, facts // (PARTS * len(self._joiners))))
        return [(first, min(first + size, facts)) for first in range(0, facts, size)]

    def _share(self, view: Visible, facts: int, work: Callable[[Joiner, int, int], int]) -> bool:
        """Let threads look at a number of facts, and note their requests. Return whether none has been stopped; otherwise, nothing
        is requested, so that the operation can end.

        Args:
            view: What joins see.
            facts: The number of facts.
            work: Looks at a range of the facts. Returns DONE or STOPPED.
        """
        for joiner in self._joiners:
            joiner.start_deletion(view)
        parts, numbers, stopped = self._parts(facts), count(), list[int]()

        def share(joiner: Joiner) -> None:
            while not stopped and (number := next(numbers)) < len(parts):
                if work(joiner, *parts[number]) != DONE:
                    stopped.append(number)

        self._run([partial(share, joiner) for joiner in self._joiners])
        requests = {request for joiner in self._joiners for request in joiner.end_deletion()}
        self.requests = [] if stopped else [Request(request >> 32, request & ROW) for request in sorted(requests)]
        return not stopped
