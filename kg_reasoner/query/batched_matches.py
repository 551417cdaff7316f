"""All matches of a plan, joined in batches by the kernels, as columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

import numpy as np

from kg_reasoner.concurrency.limits import NOBODY, current_watch
from kg_reasoner.planning.catalog import StoredAtom
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.databases.workspaces import Workspace
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate

__all__ = ["fetched_in_batches", "slots_of"]

FIRST_CHUNK: Final = 1 << 12
CHUNK: Final = 1 << 17
"""The numbers of matches that are fetched between two checks of the limits: initially, and afterwards."""

_NO_SEEDS: Final = allocate(0, np.int32)


def slots_of(atoms: Sequence[StoredAtom], seeds: Collection[str] = ()) -> int:
    """Return the number of slots of a query's plan: one for each variable."""
    return len({term for atom in atoms for term in atom.terms if isinstance(term, str)}.union(seeds))


def fetched_in_batches(
    workspace: Workspace,
    plan: int,
    slots: int,
    width: int,
    proper: Callable[[Ids], Ids] | None = None,
    seeds: Ids | None = None,
    *,
    once: bool = False,
    enough: int | None = None,
) -> Ids:
    """Return the answers of a plan, whose columns are consecutive in memory.

    Args:
        workspace: The workspace of the plan.
        plan: The plan.
        slots: The number of its slots.
        width: The number of its answer variables.
        proper: Returns the answers that count.
        seeds: The values of the first slots, shape (n, slots): the plan is run for each row.
        once: Whether only the first answer of each seed is wanted.
        enough: A sufficient number of answers.

    Returns:
        The answers, shape (n, width). With seeds there is a further column at the end, which has the numbers of their rows.
    """
    watch = current_watch()
    given, (count, seed_width), shown = _NO_SEEDS, (1, 0), width
    if seeds is not None:
        given, (count, seed_width), shown = allocate(seeds.size, np.int32), seeds.shape, width + 1
        given[: seeds.size] = seeds.reshape(-1)
    answers = _Answers()
    if watch is not NOBODY:
        watch.attach(workspace.context)
    try:
        workspace.start(plan)
        batches = workspace.batches(plan, slots)
        batches.begin(width + 1, seed_width, count, once=once)
        room = found = FIRST_CHUNK
        out = allocate((width + 1) * room, np.int32)
        total = 0
        while found == room and (enough is None or answers.size < enough):
            if total == FIRST_CHUNK:
                room = CHUNK
                out = allocate((width + 1) * room, np.int32)
            found = native.fetch_batches(workspace.address, batches.address, address(given), address(out), room)
            total += found
            watch.check(total, 4 * (width + 1) * total)
            rows: Ids = np.asarray(out[: (width + 1) * room]).reshape(width + 1, room)[:shown, :found].T
            answers.add(rows if proper is None else proper(rows))
    finally:
        if watch is not NOBODY:
            watch.detach(workspace.context)
    return answers.table()


class _Answers:
    """Answers in columns, which take at most twice their memory while they are collected."""

    def __init__(self) -> None:
        self.size = 0
        self._columns: Ids | None = None

    def add(self, rows: Ids) -> None:
        """Add answers, shape (n, width), whose memory is used again unless they are the first."""
        start, self.size = self.size, self.size + len(rows)
        if self._columns is None:
            self._columns = rows.T
            return
        if self.size > self._columns.shape[1]:
            larger = np.empty((len(self._columns), 2 * self.size), np.int32)  # memory counts where it is written
            larger[:, :start] = self._columns[:, :start]
            self._columns = larger
        self._columns[:, start : self.size] = rows.T

    def table(self) -> Ids:
        """Return all answers, shape (n, width)."""
        assert self._columns is not None
        return self._columns[:, : self.size].T
