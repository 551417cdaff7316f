"""Counters of maintenance work: rule applications by phase, and marked facts."""

from __future__ import annotations

from dataclasses import astuple

from kg_reasoner.data_classes import dataclass

__all__ = ["Counters"]


@dataclass(frozen=True, slots=True)
class Counters:
    """Rule applications (evaluated rule instances) by phase, and facts marked for the next update of a stream.

    The phases and the marks are those that Illich and Glimm count ("Backward/Forward with Marking for Update Streams").

    Attributes:
        deletion: From deleted facts and candidates for deletion to the facts that they may have derived.
        backward: From a candidate for deletion to the rule instances that may prove it.
        forward: From proved facts to the facts that they prove in turn.
        insertion: From new facts to their consequences.
        marked_explicit: Explicit facts that one update added and the next one was known to delete.
        marked_implicit: Facts that were marked by a rule instance with such a fact in its body.

    >>> after, before = Counters(deletion=7, insertion=5), Counters(deletion=2)
    >>> (after - before).deletion, after.applications
    (5, 12)
    """

    deletion: int = 0
    backward: int = 0
    forward: int = 0
    insertion: int = 0
    marked_explicit: int = 0
    marked_implicit: int = 0

    @property
    def applications(self) -> int:
        """Rule applications in all phases."""
        return self.deletion + self.backward + self.forward + self.insertion

    def __add__(self, other: Counters) -> Counters:
        """Return the sums of both counters."""
        return Counters(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, earlier: Counters) -> Counters:
        """Return the differences from earlier counters."""
        return Counters(*(now - then for now, then in zip(astuple(self), astuple(earlier), strict=True)))
