"""Rules with their plans, and the strata in which they are evaluated."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.engine.evaluation.section_plans import SectionPlans
from kg_reasoner.planning.catalog import StoredAtom, StoredRule
from kg_reasoner.program import Rule

if TYPE_CHECKING:
    from kg_reasoner.planning.aggregates.aggregate_relations import ComputedRelation

__all__ = ["NewRule", "PlannedRule", "Plans", "Stratum"]

Plans: TypeAlias = list[tuple[StoredAtom, int]]
"""Plans, each with the atom that triggers it."""


class NewRule(NamedTuple):
    """A rule to be planned."""

    level: int
    """See `analysis.levels`."""
    rule: StoredRule
    source: Rule | None = None
    """The rule that it comes from, if that is another one."""


@dataclass
class PlannedRule:
    """A stored rule with its plans, and its level in the stratification."""

    rule: StoredRule
    number: int
    level: int
    triggers: Plans
    """One for each positive body atom."""
    blockers: Plans
    """One for each negated body atom."""
    source_rule: Rule
    """The rule as its author wrote it, before its aggregates were split off and its variables for properties were replaced."""
    whole: int = -1
    """The plan without a trigger; -1 until it is needed."""
    backward: int = -1
    """The plan that the head triggers; -1 until it is needed."""


@dataclass
class Stratum:
    """Rules that are evaluated together, after the aggregates that they use."""

    level: int
    rules: dict[int, PlannedRule] = field(default_factory=dict)
    """The rules by their numbers."""
    aggregates: list[ComputedRelation] = field(default_factory=list)
    triggers: SectionPlans | None = None
    blockers: SectionPlans | None = None
    has_blockers: bool = False
    """Whether some rule has a negation."""
