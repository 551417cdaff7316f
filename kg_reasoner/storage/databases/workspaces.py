"""Workspaces: the plans and joins of queries, which any number of threads run over one database at the same time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import DONE, Context
from kg_reasoner.storage.kernels.memory.struct_tables import Record
from kg_reasoner.storage.relations.indexes import IndexedRelations
from kg_reasoner.storage.relations.plan_memory import PlanMemory

if TYPE_CHECKING:
    from kg_reasoner.storage.databases.batching import BatchMemory

__all__ = ["REMEMBERED", "Prepared", "Workspace"]

REMEMBERED: Final = 256
"""The maximal number of queries whose plans are remembered."""

_OWN: Final = {"plans", "steps", "frames", "codes", "stop"}
"""The fields that the context of a workspace does not share."""
_SHARED_WORDS: Final = np.array([field[0] for name, field in Context.fields.items() if name not in _OWN])
"""The words of a workspace's context that are those of its database."""


class Workspace(PlanMemory):
    """The plans and joins of a query over the relations and indexes of a database that does not change meanwhile.

    Each thread that reads has one of its own, so that kernels join for several threads at once.
    """

    def __init__(self, database: IndexedRelations) -> None:
        super().__init__()
        self._database = database
        self._held: tuple[Any, ...] = ()
        self._looked: object = None
        self._batches: BatchMemory | None = None

    def batches(self, plan: int, slots: int) -> BatchMemory:
        """Return the memory for joins in batches by a plan, which is used again.

        Args:
            plan: The plan.
            slots: The number of its slots.
        """
        batches = self._batches
        if batches is None or batches.plan != plan:
            from kg_reasoner.storage.databases.batching import BatchMemory

            batches = self._batches = BatchMemory(plan, self.plans[plan].step_count, slots)
        return batches

    def relation(self, number: int) -> Record:
        """See `PlanMemory.relation`."""
        return self._database.relation(number)

    def index(self, relation: int, columns: tuple[int, ...], constant: int = -1, apart: int = 0) -> int:
        """See `PlanMemory.index`."""
        return self._database.index(relation, columns, constant, apart)

    def index_value_column(self, index: int) -> int:
        """See `PlanMemory.index_value_column`."""
        return self._database.index_value_column(index)

    def release(self) -> None:
        """Release the database's arrays, which are taken over again by `start` or `look`."""
        self._looked, self._held = None, ()

    def start(self, plan: int) -> None:
        """Prepare to fetch the matches of a plan, and build the indexes that it needs."""
        database = self._database
        self._look()
        while native.start_query(self.address, plan) != DONE:
            with database.mutex:
                if not database.indexes[self.context.wanted].built:
                    database.build(self.context.wanted)
            self._look()

    def look(self, reader: object) -> None:
        """Take over the database's relations and indexes, unless the same reader has done so, who has seen no change since."""
        if self._looked is not reader:
            self._look()
            self._looked = reader

    def _look(self) -> None:
        """Take over the database's current relations and indexes, and release the arrays of earlier ones."""
        self._looked = None
        database, words = self._database, self._contexts.words[0]
        with database.mutex:
            held = database.relations.words, database.sections.words, database.indexes.words
            words[_SHARED_WORDS] = database.context_words[_SHARED_WORDS]
        self._held = held


class Prepared:
    """A ``with`` block that takes a workspace with a plan from those that are remembered, or makes one, and gives it back.

    Args:
        database: The database.
        known: The workspaces that are not in use.
        key: The query.
        plan: Makes the plan in a workspace.
    """

    __slots__ = ("_database", "_key", "_known", "_plan", "_taken")

    def __init__(
        self,
        database: IndexedRelations,
        known: dict[Hashable, list[tuple[Workspace, int]]],
        key: Hashable,
        plan: Callable[[Workspace], int],
    ) -> None:
        self._database, self._known, self._key, self._plan = database, known, key, plan

    def __enter__(self) -> tuple[Workspace, int]:
        try:
            self._taken = self._known[self._key].pop()
        except (KeyError, IndexError):
            self._taken = self.made()
        return self._taken

    def made(self) -> tuple[Workspace, int]:
        """Make a workspace with the plan."""
        workspace = Workspace(self._database)
        with self._database.mutex:
            return workspace, self._plan(workspace)

    def __exit__(self, *_: object) -> None:
        known, key = self._known, self._key
        self._taken[0].release()
        if len(known) >= REMEMBERED and key not in known:
            known.clear()
        known.setdefault(key, []).append(self._taken)
