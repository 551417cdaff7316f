"""The net change of an operation or a transaction, collected from its maintenance runs."""

from __future__ import annotations

from kg_reasoner.errors import TransactionError
from kg_reasoner.query.delta import Delta
from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["Collector", "Committed"]


class Collector:
    """Collects the deltas of maintenance runs.

    Attributes:
        was_interrupted: Whether an update was interrupted, so that its changes are unknown.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._steps: list[Delta] = []
        self.was_interrupted = False

    def take(self, delta: Delta) -> None:
        """Add the delta of a maintenance run."""
        self._steps.append(delta)

    def note_interruption(self) -> None:
        """Note that an update was interrupted, so its changes are unknown."""
        self.was_interrupted = True

    def predicates(self) -> set[str]:
        """Return the predicates with changes so far."""
        return {name for step in self._steps for part in (step.added, step.removed, step.restated) for name in part.tables}

    @property
    def delta(self) -> Delta:
        """The net change so far.

        Raises:
            TransactionError: It is not known, as an update was interrupted.
        """
        if self.was_interrupted:
            raise TransactionError("an update of this transaction was interrupted, and its changes are not known: roll it back")
        if not self._steps:
            return Delta.nothing(self._dictionary)
        if len(self._steps) > 1:
            self._steps = [Delta.net(self._dictionary, self._steps)]
        return self._steps[0]


class Committed:
    """A committed delta, linked to the previous one. It is published together with the commit, in one step.

    Attributes:
        before: The previous one; None after it has been delivered.
        delta: The committed delta; None if it was not collected.
    """

    __slots__ = ("before", "delta")

    def __init__(self, before: Committed | None, delta: Delta | None) -> None:
        self.before = before
        self.delta = delta

    def since(self, last: Committed | None) -> list[Delta]:
        """Return the deltas committed after another one, up to this one, in order."""
        found: list[Delta] = []
        step: Committed | None = self
        while step is not None and step is not last:
            if step.delta is not None:
                found.append(step.delta)
            step = step.before
        return found[::-1]
