"""What the next update has to do, and while it is under way, how far it has got."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kg_reasoner.engine.collector import Collector
from kg_reasoner.engine.materialise import PlannedRule, Progress
from kg_reasoner.query.delta import Changes
from kg_reasoner.storage.dictionary import Ids

__all__ = ["Foreseen", "UpdateState"]

Foreseen: TypeAlias = Callable[[], "list[tuple[int, Ids]]"]
"""Finds facts that the next update will delete, by relation, as far as they are known when it is asked."""


@dataclass(slots=True)
class UpdateState:
    """The state of an update. Changes are noted here before it begins; it looks as before the changes when it has succeeded.

    Attributes:
        is_due: whether facts or rules have changed since the last one.
        rules_changed: whether the rules are to be looked at.
        foreseen: finds what the update after this one will delete, if that is known.
        collector: wants to know what it changes.
        progress: wants to know how far it has got.
        is_first: whether only users have changed rules so far; later rules change as axioms and names do.
        new_rules: the plans of new rules, which have not been applied to older facts.
        before: all facts as they were before it changed the layout of triples, if that is collected.
    """

    is_due: bool = False
    rules_changed: bool = False
    foreseen: Foreseen | None = None
    collector: Collector | None = None
    progress: Progress | None = None
    is_first: bool = True
    new_rules: Sequence[PlannedRule] = ()
    before: Changes | None = None
