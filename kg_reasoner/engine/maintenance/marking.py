"""Marking: the consequences of facts that one update adds and the next one deletes are searched for only once.

Source: Illich and Glimm, Backward/Forward with Marking for Update Streams (CEUR Workshop Proceedings 4091, 2025). They mark all
facts that the next update deletes, and their consequences. Here, only facts that the current update adds are marked, with their
direct consequences, because the consequences of others must be searched for anyway.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.engine.maintenance import Finder
from kg_reasoner.errors import ReasonerError
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate

ROOM: Final = 1 << 20
"""The maximum number of facts marked for an update. Unused memory costs nothing."""


class Marking:
    """Marks facts of a database during one update for the next one.

    Args:
        database: All its updates lie between `begin` and `finish` from now on.

    Attributes:
        explicit, implicit: The numbers of marked facts, see `Counters`.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.explicit = self.implicit = 0
        self._find: Finder | None = None
        self._first = 0
        database.context.marked, database.context.marked_room = allocate(ROOM, np.int64), ROOM

    def expect(self, find: Finder | None) -> None:
        """See `Maintenance.expect`."""
        self._find = find

    def begin(self) -> None:
        """Use the marks for the current update, and set those for the next one, if it is known."""
        database, context = self.database, self.database.context
        if context.marked_count:
            database.reserve_list("removed", context.marked_count)
            native.use_marks(database.address)
        find, self._find = self._find, None
        try:
            facts = find() if find is not None else ()
        except (ReasonerError, ValueError):  # an update that cannot be read is reported when its turn comes
            return
        for relation, rows in facts:
            ids = allocate(rows.size, np.int32)
            ids[: rows.size] = rows.reshape(-1)
            self.explicit += native.mark_explicit(database.address, relation, address(ids), len(rows))
        self._first = context.marked_count

    def finish(self) -> None:
        """Stop marking, as the update is applied."""
        context = self.database.context
        if context.marking:
            self.implicit += context.marked_count - self._first
            context.marking = 0
