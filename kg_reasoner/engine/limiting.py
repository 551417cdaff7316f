"""What the operations of an engine may take."""

from __future__ import annotations

from kg_reasoner.concurrency.limits import NOBODY, UNLIMITED, Watch, current_watch
from kg_reasoner.engine.knowledge_base import KnowledgeBase
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.storage.dictionary import Dictionary

__all__ = ["Limited"]


class Limited:
    """Facts and terms that may take so much, and operations on them that may.

    Attributes:
        limits: what each operation may take, unless others are set for what is done now.
        running: the watches over operations and queries under way.
    """

    base: KnowledgeBase
    dictionary: Dictionary

    def __init__(self) -> None:
        self.limits = UNLIMITED
        self.running: set[Watch] = set()
        self._watch = Watch()
        """The watch over operations without limits."""

    def count_facts(self) -> int:
        """How many facts there are, explicit and inferred ones, those for internal use left out."""
        catalog, database = self.base.catalog, self.base.database
        hidden = [number for name, number in catalog.predicates.items() if name.startswith(INTERNAL)]
        return database.count() - sum(map(database.size, (*hidden, *catalog.functions.relations)))

    @property
    def nbytes(self) -> int:
        """The bytes of all tables of facts, indexes and terms."""
        return self.base.database.allocated + self.dictionary.nbytes

    def claim(self, nbytes: int) -> None:
        """Let a table grow by so many bytes, as far as limits allow that.

        Raises:
            LimitError: they do not.
        """
        watch = current_watch()
        limits = watch.limits
        if limits.memory is not None:
            watch.check(0, self.nbytes + nbytes)
        elif limits.facts is not None and self.base.database.context.total > limits.facts:
            watch.check(self.count_facts())

    def check_limits(self) -> None:
        """End the operation if it has to end.

        Raises:
            LimitError, CancelledError: it has.
        """
        watch = current_watch()
        if watch is not NOBODY:
            watch.check(self.count_facts() if watch.limits.facts is not None else 0)
        elif self._watch.is_over:
            self._watch.check()
