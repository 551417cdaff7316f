"""Deletion by several threads (see `kernels.parallel_deletion` for how it works).

What is deleted is what one thread deletes. Candidates are found in another order, so `order_gone` brings what is deleted into an
order that does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Final, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kg_reasoner.concurrency.tasks import Task
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
from kg_reasoner.storage.kernels.memory.buffers import Argument, address, allocate, lend
from kg_reasoner.storage.kernels.memory.struct_tables import Record
from kg_reasoner.storage.kernels.thread_results import UNTRIED
from kg_reasoner.storage.relations.indexes import IndexedRelations

__all__ = ["Request", "SharedDeletion", "ThreadContext"]

Facts: TypeAlias = npt.NDArray[np.int64]
"""Facts as kernels have them: ``relation << 32 | row``."""

MOST_FACTS: Final = 1 << 12
"""The most facts that a thread takes at once."""

PARTS: Final = 16
"""The number of parts per thread into which fewer facts are divided."""

STRIDE: Final = 64
"""One in this many facts is tried first, until nothing is requested, because a search starts again when its request has been
fulfilled.
"""


class Request(NamedTuple):
    """A request that must be fulfilled before a deletion can go on: a kernel's status, and the number that is wanted."""

    status: int
    wanted: int


class Visible(NamedTuple):
    """The facts that joins see: rows without the `hidden` flags. Two further fields say whether joins check flags in relations
    without dead rows, too, and whether they see the materialisation before the update.
    """

    hidden: int
    checks_flags: int
    old: int


class ConsequenceSearch(NamedTuple):
    """How the consequences of facts are found: what joins see, and the flags of facts that have none."""

    view: Visible
    unwanted: int


PROVING: Final = Visible(ABSENT | DISPROVED, 1, 0)
CONSEQUENCE_SEARCHES: Final = {
    CANDIDATES: ConsequenceSearch(Visible(ABSENT | PROCESSED, 1, 0), 0),
    OVERDELETED: ConsequenceSearch(Visible(ABSENT | PROCESSED, 1, 0), EXPLICIT | STATED | PROCESSED),
    DELETED: ConsequenceSearch(Visible(DEAD, 0, 1), 0),
}


class ThreadContext(Protocol):
    """The context of a thread, and its list of facts (see `storage.parallel.worker`)."""

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
        threads: The threads' contexts.
        run: Runs tasks at the same time.
        which: CANDIDATES, OVERDELETED or DELETED: the kernel that wants the work to be shared (see
            `kernels.maintenance.deletion_candidates`).
    """

    def __init__(
        self, database: IndexedRelations, threads: Sequence[ThreadContext], run: Callable[[Sequence[Task]], None], which: int
    ) -> None:
        self._database, self._threads, self._run, self._which = database, threads, run, which
        context = database.context
        if which == DELETED:
            listed, first, end = context.gone, context.place, context.gone_count
        else:
            listed, first, end = context.candidates, context.candidates_done, context.candidates_count
        facts: Facts = np.asarray(listed)[first:end].copy()
        self._end, self._few = end, context.shared_facts
        """The end of the list, and the least number of facts that are shared."""
        self._untried, self._without_consequences = (facts, facts[:0]) if which == CANDIDATES else (facts[:0], facts)
        """The facts for which no proof has been searched, and those whose consequences are to be listed."""
        self.requests: list[Request] = []
        """The requests to be fulfilled before the next step."""

    def step(self) -> int:
        """Decide as many facts as possible without further requests.

        Returns:
            The number of requests. Without any, the work is done, or has been stopped. Facts of which nothing has been found, and
            few that wait for requests, are left to one thread.
        """
        self.requests = []
        if self._prove() and self._list_consequences():
            self._database.context.shared_to = self._end
            if self._which == DELETED and not len(self._without_consequences):
                self._database.context.place = self._end
        return len(self.requests)

    def _prove(self) -> bool:
        """Search for proofs. Return whether there are no requests."""
        if not len(self._untried):
            return True
        if len(self._search_proofs(self._untried[::STRIDE])) == 0 or self.requests:
            return False
        facts, outcomes = self._untried, self._search_proofs(self._untried)
        if len(outcomes) == 0:
            return False
        self._without_consequences = np.concatenate([self._without_consequences, facts[outcomes == (CHECKED | DISPROVED)]])
        self._untried = facts[outcomes == UNTRIED]
        if len(self._untried) < self._few:
            self.requests = []
        return not self.requests

    def _search_proofs(self, chosen: Facts) -> npt.NDArray[np.uint8]:
        """Search for proofs of facts. Return the outcomes; none if a thread has been stopped."""
        facts, outcomes = lend(np.ascontiguousarray(chosen)), allocate(len(chosen), np.uint8, 0)
        where = address(facts), address(outcomes)

        def search(thread: ThreadContext, first: int, end: int) -> int:
            return native.try_facts(thread.address, *where, first, end)

        if not self._share(PROVING, len(facts), search):
            return outcomes[:0]
        self._set_flags(where, len(facts))
        return outcomes

    def _list_consequences(self) -> bool:
        """List the consequences of facts as candidates for deletion. Return whether there are no requests."""
        if not len(self._without_consequences):
            return True
        facts, outcomes = lend(self._without_consequences), allocate(len(self._without_consequences), np.uint8, 0)
        where = address(facts), address(outcomes)
        view, unwanted = CONSEQUENCE_SEARCHES[self._which]
        segments = list[tuple[int, int, int, int]]()

        def list_heads(thread: ThreadContext, first: int, end: int) -> int:
            place, begin = first, thread.kept.count
            while (status := native.list_consequences(thread.address, *where, place, end, unwanted)) == GROW:
                place = thread.context.place
                thread.lengthen()
            segments.append((first, thread.number, begin, thread.kept.count))
            return status

        if not self._share(view, len(facts), list_heads):
            return False
        numbers = allocate((len(segments), 3), np.int64)
        numbers[: len(segments)] = [segment[1:] for segment in sorted(segments)]
        native.add_listed_candidates(self._database.address, address(numbers), len(segments))
        if self._which != DELETED:
            self._set_flags(where, len(facts))
        self._without_consequences = facts[outcomes != PROCESSED]
        if self._which != DELETED and len(self._without_consequences) < self._few:
            self.requests = []
        return not self.requests

    def _set_flags(self, where: tuple[int, int], facts: int) -> None:
        """Set the flags that have been found for a number of facts."""
        self._run([partial(native.set_outcome_flags, self._database.address, *where, *part) for part in self._parts(facts)])

    def _parts(self, facts: int) -> list[tuple[int, int]]:
        """Return ranges of a number of facts, each for one thread at a time."""
        size = max(1, min(MOST_FACTS, facts // (PARTS * len(self._threads))))
        return [(first, min(first + size, facts)) for first in range(0, facts, size)]

    def _share(self, view: Visible, facts: int, work: Callable[[ThreadContext, int, int], int]) -> bool:
        """Let threads look at a number of facts, and note their requests. Return whether none has been stopped; otherwise, nothing
        is requested, so that the operation can end.

        Args:
            view: What joins see.
            facts: The number of facts.
            work: Looks at a range of the facts. Returns DONE or STOPPED.
        """
        for thread in self._threads:
            thread.start_deletion(view)
        parts, numbers, stopped = self._parts(facts), count(), list[int]()

        def share(thread: ThreadContext) -> None:
            while not stopped and (number := next(numbers)) < len(parts):
                if work(thread, *parts[number]) != DONE:
                    stopped.append(number)

        self._run([partial(share, thread) for thread in self._threads])
        requests = {request for thread in self._threads for request in thread.end_deletion()}
        self.requests = [] if stopped else [Request(request >> 32, request & ROW) for request in sorted(requests)]
        return not stopped
