"""What an operation or a transaction has changed, put together from the runs of maintenance on its way."""

from __future__ import annotations

from kg_reasoner.errors import TransactionError
from kg_reasoner.query.delta import Delta
from kg_reasoner.storage.dictionary import Dictionary

__all__ = ["Collector", "Committed"]


class Collector:
    """Collects the deltas of runs of maintenance."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._steps: list[Delta] = []
        self._was_interrupted = False

    def take(self, delta: Delta) -> None:
        """Add what one run of maintenance has changed."""
        self._steps.append(delta)

    def note_interruption(self) -> None:
        """Remember that an update was interrupted, so that its changes are not known."""
        self._was_interrupted = True

    def predicates(self) -> set[str]:
        """The predicates that have changed so far."""
        return {name for step in self._steps for part in (step.added, step.removed, step.restated) for name in part.tables}

    @property
    def delta(self) -> Delta:
        """The net change so far.

        Raises:
            TransactionError: it is not known, as an update was interrupted.
        """
        if self._was_interrupted:
            raise TransactionError("an update of this transaction was interrupted, and its changes are not known: roll it back")
        if len(self._steps) != 1:
            self._steps = [Delta.net(self._dictionary, self._steps)]
        return self._steps[0]


class Committed:
    """A delta that was committed, and the one before it. It is put in place together with the commit, in one step.

    Attributes:
        before: the one before; None once that has been passed on.
        delta: what was committed; None if that was not collected.
    """

    __slots__ = ("before", "delta")

    def __init__(self, before: Committed | None, delta: Delta | None) -> None:
        self.before = before
        self.delta = delta

    def since(self, last: Committed | None) -> list[Delta]:
        """The deltas that were committed after another one, up to this, in their order."""
        found: list[Delta] = []
        step: Committed | None = self
        while step is not None and step is not last:
            if step.delta is not None:
                found.append(step.delta)
            step = step.before
        return found[::-1]
