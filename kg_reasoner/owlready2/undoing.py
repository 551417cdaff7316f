"""Takes back what an interrupted call has written into a World and changed of its Python objects."""

from __future__ import annotations

import sqlite3
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.owlready2.following import owlready

if TYPE_CHECKING:
    from kg_reasoner.owlready2.following import Attached

__all__ = ["Undo"]

_SAVEPOINT: Final = "kg_reasoner_sync"


class Undo:
    """The state of a World before a call writes to it: a savepoint of the quad store, and the changed objects as they were.

    Args:
        attached: The World and the record of it.
    """

    def __init__(self, attached: Attached) -> None:
        self._attached = attached
        self._db: Any = attached.world.graph.db
        self._recorded = (
            dict(attached.written),
            dict(attached.written_values),
            (dict(attached.taken_back[0]), dict(attached.taken_back[1])),
            dict(attached.store.stored_as),
        )
        self._parents: list[tuple[Any, list[Any]]] = []
        self._equivalents: list[tuple[Any, list[Any]]] = []

    def begin(self) -> None:
        """Set the savepoint. It is inside a transaction, so that its end saves nothing: that is what `World.save` does."""
        if not self._db.in_transaction:
            self._db.execute("BEGIN")
        self._db.execute(f"SAVEPOINT {_SAVEPOINT}")

    def end(self) -> None:
        """Keep the written triples."""
        self._db.execute(f"RELEASE {_SAVEPOINT}")

    def note_parents(self, entity: Any) -> None:
        """Record the parents of an object before they change."""
        self._parents.append((entity, list(entity.is_a)))

    def note_equivalents(self, entity: Any) -> None:
        """Record the equivalents of an object before they change."""
        self._equivalents.append((entity, list(entity.equivalent_to)))

    def roll_back(self) -> None:
        """Restore the state before `begin`; nothing happens before that, or after `end`.

        Every step may be repeated, and the savepoint goes last: a second call finishes one that was interrupted.
        """
        try:
            self._db.execute(f"ROLLBACK TO {_SAVEPOINT}")
        except sqlite3.OperationalError:  # there is no such savepoint
            return
        copy_context().run(self._restore_objects)
        self._db.execute(f"RELEASE {_SAVEPOINT}")

    def _restore_objects(self) -> None:
        """Restore the record of the World, and its Python objects.

        Run it in a copy of the context: if it is interrupted where it ends, owlready2's state LOADING ends all the same.
        """
        attached = self._attached
        attached.written, attached.written_values, attached.taken_back, attached.store.stored_as = self._recorded
        with owlready().base.LOADING:
            for entity, before in reversed(self._parents):
                entity.is_a.reinit(before)  # also if the list is as before: the bases of the Python class may not be
            for entity, before in reversed(self._equivalents):
                for each in [each for each in entity.equivalent_to if each not in before]:
                    entity.equivalent_to._remove(each)
                for each in [each for each in before if each not in entity.equivalent_to]:
                    entity.equivalent_to._append(each)
                entity.equivalent_to._indirect = None
