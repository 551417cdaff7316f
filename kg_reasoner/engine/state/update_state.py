"""The pending work of the next update, and the progress of the current one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.evaluation.planned_rules import PlannedRule
from kg_reasoner.engine.facts.collector import Collector
from kg_reasoner.progress import Progress
from kg_reasoner.query.delta import Changes

if TYPE_CHECKING:
    from kg_reasoner.loaders.ontology.owl import RuleChanges

__all__ = ["UpdateState"]


@dataclass(slots=True)
class UpdateState:
    """The state of an update. Changes are noted here before it begins; after it has succeeded, the state is as before the
    changes.

    Attributes:
        is_due: Whether facts or rules have changed since the last update.
        rules_changed: Whether rules must be planned again.
        rule_changes: Which rules have changed, if that is known; otherwise all are compared.
        collector: Collects the changes.
        progress: Receives progress reports.
        is_first: Whether only users have changed rules so far; later rules change with axioms and representatives.
        new_rules: The plans of new rules, which have not been applied to older facts.
        before: All facts before a change of the layout of triples, if changes are collected.
    """

    is_due: bool = False
    rules_changed: bool = False
    rule_changes: RuleChanges | None = None
    collector: Collector | None = None
    progress: Progress | None = None
    is_first: bool = True
    new_rules: Sequence[PlannedRule] = ()
    before: Changes | None = None
