"""Maintenance: how the materialisation follows when facts and rules go away. One module a strategy.

Additions are semi-naive for every strategy (`materialise`); what a strategy does is deletion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kg_reasoner.materialise import PlannedRule

Fact = tuple[int, int]
"""A relation and a row."""


class Maintenance(Protocol):
    """A way to take back what no longer follows."""

    def delete(self, facts: Sequence[Fact], rules: Sequence[PlannedRule]) -> int:
        """Delete what follows only from facts that are no longer explicit, or by rules that are no longer there.

        The facts have lost their flags, the rules are still planned. Returns the number of facts that are gone.
        """
        ...
