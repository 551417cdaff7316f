"""Limits on the operations of an engine."""

from __future__ import annotations

from kg_reasoner.concurrency.limits import NOBODY, UNLIMITED, Watch, current_watch
from kg_reasoner.engine.state.knowledge_base import KnowledgeBase
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["Limited"]


class Limited:
    """Facts and terms under limits, and operations on them under limits.

    Attributes:
        limits: The limits of each operation, unless other limits are set in the current context.
        running: The watches of running operations and queries.
    """

    base: KnowledgeBase
    dictionary: Dictionary

    def __init__(self) -> None:
        self.limits = UNLIMITED
        self.running: set[Watch] = set()
        self._watch = Watch()
        """The watch over operations without limits."""

    def count_facts(self) -> int:
        """Return the number of facts, explicit and inferred, except for internal ones."""
        catalog, database = self.base.catalog, self.base.database
        hidden = [number for name, number in catalog.predicates.items() if name.startswith(INTERNAL)]
        return database.count() - database.count((*hidden, *catalog.functions.relations))

    @property
    def nbytes(self) -> int:
        """The size in bytes of all tables of facts, indexes and terms."""
        return self.base.database.allocated + self.dictionary.nbytes

    def claim(self, nbytes: int) -> None:
        """Permit a table to grow by this number of bytes.

        Raises:
            LimitError: A limit would be exceeded.
        """
        watch = current_watch()
        limits = watch.limits
        if limits.memory is not None:
            watch.check(0, self.nbytes + nbytes)
        elif limits.facts is not None and self.base.database.context.total > limits.facts:
            watch.check(self.count_facts())

    def check_limits(self) -> None:
        """Check the limits of the current operation.

        Raises:
            LimitError, CancelledError: The operation has to end.
        """
        watch = current_watch()
        if watch is not NOBODY:
            watch.check(self.count_facts() if watch.limits.facts is not None else 0)
        elif self._watch.why is not None:
            self._watch.check()
