"""What the next update has to do, and while it is under way, how far it has got."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kg_reasoner.engine.collector import Collector
from kg_reasoner.engine.materialise import PlannedRule
from kg_reasoner.progress import Progress
from kg_reasoner.query.delta import Changes

__all__ = ["UpdateState"]


@dataclass(slots=True)
class UpdateState:
    """The state of an update. Changes are noted here before it begins; it looks as before the changes when it has succeeded.

    Attributes:
        is_due: whether facts or rules have changed since the last one.
        rules_changed: whether the rules are to be looked at.
        collector: wants to know what it changes.
        progress: wants to know how far it has got.
        is_first: whether only users have changed rules so far; later rules change as axioms and names do.
        new_rules: the plans of new rules, which have not been applied to older facts.
        before: all facts as they were before it changed the layout of triples, if that is collected.
    """

    is_due: bool = False
    rules_changed: bool = False
    collector: Collector | None = None
    progress: Progress | None = None
    is_first: bool = True
    new_rules: Sequence[PlannedRule] = ()
    before: Changes | None = None
