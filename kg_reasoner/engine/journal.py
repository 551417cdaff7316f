"""The journal: how to take back what an operation has changed, written down before it is changed.

Facts are the only thing that cannot be computed again, so the journal is about explicit facts and about settings. Taking an entry
back twice does no harm: whatever interrupts that, it is begun anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from kg_reasoner.engine.knowledge_base import KnowledgeBase
    from kg_reasoner.storage.arrays import Changed, Ids

__all__ = ["Entry", "LoggedFacts", "LoggedSetting"]


@dataclass(slots=True, eq=False)
class LoggedFacts:
    """Facts of a predicate that become explicit, or cease to be.

    Attributes:
        ids: the facts, shape (n, arity).
        added: whether they become explicit.
        changed: which of them did not have that state before; None while the kernels are at it.
    """

    predicate: str
    ids: Ids
    added: bool
    changed: Changed | None = None

    def recover(self, base: KnowledgeBase) -> None:
        """Find out how far the kernels of a knowledge base have got, if they were interrupted."""
        if self.changed is None:
            self.changed = base.database.answers_to(self.ids)

    def keep_changed(self) -> None:
        """Keep those facts only that have changed."""
        assert self.changed is not None
        ids, changed = self.ids[self.changed], self.changed[self.changed]
        self.ids, self.changed = ids, changed

    def take_back(self, base: KnowledgeBase) -> None:
        """Give the facts the state that they had before."""
        if self.changed is not None and self.changed.any():
            (base.remove if self.added else base.insert)(self.predicate, self.ids[self.changed])


@dataclass(slots=True, eq=False)
class LoggedSetting:
    """An attribute of an object that gets another value."""

    owner: Any
    attribute: str
    before: Any

    def recover(self, base: KnowledgeBase) -> None:
        """Give the attribute the value that it had before."""
        setattr(self.owner, self.attribute, self.before)

    def take_back(self, base: KnowledgeBase) -> None:
        """Nothing of it is in a knowledge base."""


Entry: TypeAlias = LoggedFacts | LoggedSetting
