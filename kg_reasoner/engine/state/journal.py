"""The undo journal of operations, written before each change.

Only explicit facts and settings are logged; everything else can be computed again. Undoing an entry is idempotent, so that an
interrupted undo can be repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kg_reasoner.data_classes import dataclass

if TYPE_CHECKING:
    from kg_reasoner.engine.state.knowledge_base import KnowledgeBase
    from kg_reasoner.storage.arrays import Changed, Ids

__all__ = ["Entry", "LoggedFacts", "LoggedLoad", "LoggedSetting"]


@dataclass(slots=True, eq=False)
class LoggedFacts:
    """Facts of a predicate that become explicit, or no longer explicit.

    Attributes:
        ids: The facts, shape (n, arity).
        added: Whether they become explicit.
        changed: Which facts have changed; None while the kernels run.
    """

    predicate: str
    ids: Ids
    added: bool
    changed: Changed | None = None

    def recover(self, base: KnowledgeBase) -> None:
        """Find out which facts the kernels of a knowledge base have changed, if they were interrupted."""
        if self.changed is None:
            self.changed = base.database.answers_to(self.ids)

    def keep_changed(self) -> None:
        """Discard the facts that have not changed."""
        assert self.changed is not None
        ids, changed = self.ids[self.changed], self.changed[self.changed]
        self.ids, self.changed = ids, changed

    def forget(self) -> None:
        """Discard all facts, because another entry restores them."""
        nothing = np.empty((0, self.ids.shape[1]), np.int32), np.empty(0, np.bool_)
        self.ids, self.changed = nothing

    def take_back(self, base: KnowledgeBase) -> None:
        """Restore the former state of the facts."""
        if self.changed is not None and self.changed.any():
            (base.remove if self.added else base.insert)(self.predicate, self.ids[self.changed])


@dataclass(slots=True, eq=False)
class LoggedLoad:
    """A load of many facts of a predicate. The few facts that were explicit before suffice to undo it.

    Attributes:
        before: The facts, shape (n, arity).
    """

    predicate: str
    before: Ids

    def recover(self, base: KnowledgeBase) -> None:
        """Do nothing: whatever is explicit is taken back."""

    def take_back(self, base: KnowledgeBase) -> None:
        """Restore the former state of the facts."""
        base.remove(self.predicate, base.explicit_facts()[self.predicate])
        base.insert(self.predicate, self.before)


@dataclass(slots=True, eq=False)
class LoggedSetting:
    """An attribute of an object that is set to another value."""

    owner: Any
    attribute: str
    before: Any

    def recover(self, base: KnowledgeBase) -> None:
        """Restore the former value of the attribute."""
        setattr(self.owner, self.attribute, self.before)

    def take_back(self, base: KnowledgeBase) -> None:
        """Do nothing, as no knowledge base contains the setting."""


Entry: TypeAlias = LoggedFacts | LoggedLoad | LoggedSetting
