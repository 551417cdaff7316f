"""Marking: what an update of a stream brings and the next one takes away again need not be followed a second time.

Source: Illich and Glimm, Backward/Forward with Marking for Update Streams. They mark whatever the next update deletes, and what is
derived from that. Only of facts that the present update brings all consequences are marked in this way; what follows from others
has to be looked for anyway, so that these are not marked here.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.engine.maintenance import Finder
from kg_reasoner.errors import ReasonerError
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory import address, allocate
from kg_reasoner.storage.relation import Database

ROOM: Final = 1 << 20
"""The most facts that are marked for an update. Room that is not used costs nothing."""


class Marking:
    """Marks facts of a database during one update for the next.

    Args:
        database: all its updates lie between `begin` and `finish` from now on.

    Attributes:
        explicit, implicit: how many facts have been marked, see `Counters`.
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
        """Use the marks for the update that begins, and set those for the next one, as far as it is known."""
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
        """Mark nothing more; the update is applied."""
        context = self.database.context
        if context.marking:
            self.implicit += context.marked_count - self._first
            context.marking = 0
