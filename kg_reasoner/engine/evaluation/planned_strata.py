"""The plans of the rules that are applied, and the strata in which they are evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from kg_reasoner.concurrency.garbage import without_collection
from kg_reasoner.engine.evaluation.column_insertion import ColumnInsertion
from kg_reasoner.engine.evaluation.looked_up_results import LookedUpResults
from kg_reasoner.engine.evaluation.planned_rules import NewRule, PlannedRule, Plans, Stratum
from kg_reasoner.engine.evaluation.section_plans import SectionPlans
from kg_reasoner.planning.catalog import StoredAtom, StoredRule
from kg_reasoner.planning.functions.function_relations import Functions
from kg_reasoner.planning.planner import plan_backward, plan_rule, plan_trigger
from kg_reasoner.planning.rule_shapes import ShapedPlans
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import Relation
from kg_reasoner.storage.relations.plan_memory import PlanMemory

if TYPE_CHECKING:
    from kg_reasoner.planning.aggregates.aggregate_relations import ComputedRelation

__all__ = ["PlannedStrata"]

_PlanChange: TypeAlias = Callable[[SectionPlans, StoredAtom, int], int]

_FEW: Final = 64
"""If there are more new rules than this, the strata of all rules are computed again."""

_PLANNED_TOGETHER: Final = 8
"""The most rules of a section that are planned from their heads together. Often one of them derives the fact, and further ones are
not needed; but planning a few together takes hardly longer than planning one.
"""

_MANY: Final = 256
"""With more rules than this, the rules that derive each section are recorded when strata are computed, so that the first deletion
need not do so.
"""


def _deriver(planned: PlannedRule) -> tuple[StoredAtom, int]:
    """Return the head of a rule with the plan that it triggers, or with a number below 0, made of that of the rule."""
    return planned.rule.head, planned.backward if planned.backward >= 0 else -1 - planned.number


class PlannedStrata:
    """The rules that are applied, with their plans, by stratum; and the plans of the stratum that kernels evaluate.

    Args:
        database: The rows.
        functions: The functions of the rules.
        exact: Whether plans find every instance, even where one is sufficient to derive the head.
    """

    def __init__(self, database: Database, functions: Functions, exact: bool = False) -> None:
        self.database = database
        self.functions = functions
        self.exact = exact
        self._triggered = ShapedPlans(database, self._plan_triggers)
        self._untriggered = ShapedPlans(database, lambda memory, rule, number: plan_rule(memory, rule, number, self.exact))
        decides = functions.decides_columns
        self._backward = ShapedPlans(database, lambda memory, rule, number: plan_backward(memory, rule, number, decides))
        self.looked_up_results = LookedUpResults(functions, database)
        self.by_columns = ColumnInsertion(database, functions)
        """Inserts the heads of some rules for many new rows at once."""
        self._next_number = 0
        """The number of the next rule."""
        self.strata: list[Stratum] = [Stratum(0)]
        self.is_mixed = False
        """Whether a relation is derived in several strata, or read below the one in which it is derived, so that a fact does not
        determine its stratum.
        """
        self.version = 0
        """A number that changes with the rules."""
        self._active: dict[int, PlannedRule] = {}
        self._aggregates: list[ComputedRelation] = []
        self._grouped = True
        self._derivations: Counter[int] = Counter()
        """The number of rules that derive each relation, while the strata are up to date."""
        self._several: set[int] = set()
        """The relations that rules of several levels derive."""
        self._tables: dict[int, int] = {}
        """The relations with sections that rules derive, with the highest level of these rules."""
        self._entered: tuple[SectionPlans, SectionPlans] | None = None
        """The plans in the context."""
        self._derivers: SectionPlans | None = None
        """The plans that find the instances of all rules from their heads."""
        self._derivers_are_entered = False

    # --- rules ------------------------------------------------------------------------------------------------------

    def add_rules(self, rules: Iterable[NewRule]) -> list[PlannedRule]:
        """Plan rules. Those of one shape are planned together."""
        new = [(rule, number) for number, rule in enumerate(rules, self._next_number)]
        first = self._triggered.write([(each.rule, number) for each, number in new])
        added = []
        for (each, number), plan in zip(new, first, strict=True):
            plans: tuple[Plans, Plans] = [], []
            for position, atom in enumerate(each.rule.body, plan):
                plans[atom.negated].append((atom, position))
            added.append(PlannedRule(each.rule, number, each.level, *plans, each.source or each.rule.rule))
        self._next_number += len(added)
        if len(added) > _FEW + len(self._active) // 16:
            self._grouped = False  # computing the strata again takes less time
            self._derivers, self._derivers_are_entered = None, False
        for planned in added:
            self._active[planned.number] = planned
            self.by_columns.add(planned)
            self.version += 1
            self._grouped = self._grouped and self._place(planned)
            if self._derivers is not None:
                self._change_plan("deriver", self._derivers, SectionPlans.add, _deriver(planned), self._derivers_are_entered)
        return added

    def _plan_triggers(self, memory: PlanMemory, rule: StoredRule, number: int) -> None:
        """Write the plans of a rule to a memory, one for each body atom."""
        for position in range(len(rule.body)):
            plan_trigger(memory, rule, number, position, self.exact)

    def add_aggregate(self, aggregate: ComputedRelation) -> None:
        """Update an aggregate from now on, whenever its solutions change."""
        self._aggregates.append(aggregate)
        self._change()

    def remove_rules(self, rules: Iterable[PlannedRule]) -> None:
        """Stop applying rules, without deleting the facts that they derived."""
        for planned in rules:
            if self._active.pop(planned.number, None) is not None:
                self.by_columns.remove(planned)
                self.version += 1
                self._grouped = self._grouped and self._displace(planned)
                if self._derivers is not None:
                    entry = _deriver(planned)
                    self._change_plan("deriver", self._derivers, SectionPlans.remove, entry, self._derivers_are_entered)

    def release_rules(self, rules: Iterable[PlannedRule]) -> None:
        """Let further rules take the place of the plans of removed rules, whose consequences have been deleted."""
        for planned in rules:
            if planned.rule.body:
                self._triggered.release(planned.rule, min(plan for _, plan in (*planned.triggers, *planned.blockers)))
            if planned.whole >= 0:
                self._untriggered.release(planned.rule, planned.whole)
            if planned.backward >= 0:
                self._backward.release(planned.rule, planned.backward)

    def remove_aggregates(self, aggregates: Iterable[ComputedRelation]) -> None:
        """Stop updating aggregates, without deleting their rows."""
        gone = list(aggregates)
        if gone:
            self._aggregates = [aggregate for aggregate in self._aggregates if aggregate not in gone]
            self._change()

    def set_level(self, item: PlannedRule | ComputedRelation, level: int) -> None:
        """Move a rule or aggregate to another level."""
        if level != item.level:
            item.level = level
            self._change()

    @property
    def is_simple(self) -> bool:
        """Whether there is one stratum, without negation and aggregates."""
        return len(self.strata) == 1 and not (self.strata[0].has_blockers or self.strata[0].aggregates)

    def active_rules(self) -> list[PlannedRule]:
        """Return the applied rules."""
        return list(self._active.values())

    def _change(self) -> None:
        self.version += 1
        self._grouped = False

    # --- strata -----------------------------------------------------------------------------------------------------

    def make_strata(self) -> list[Stratum]:
        """Return the strata from the lowest. All rules of a relation are in one stratum, the highest that one of them needs."""
        if self._grouped:
            return self.strata
        database = self.database
        level_of: dict[int, int] = {}
        several: set[int] = set()
        for planned in self._active.values():
            relation = planned.rule.head.relation
            if level_of.setdefault(relation, planned.level) != planned.level:
                several.add(relation)
                level_of[relation] = max(level_of[relation], planned.level)
        self._several = several
        relations = database.relations
        self._tables = {relation: level for relation, level in level_of.items() if relations[relation].section_column >= 0}
        strata: dict[int, Stratum] = {}
        for planned in self._active.values():
            relation = planned.rule.head.relation
            level = planned.level if relation in self._tables else level_of[relation]
            strata.setdefault(level, Stratum(level)).rules[planned.number] = planned
        for aggregate in self._aggregates:
            strata.setdefault(aggregate.level, Stratum(aggregate.level)).aggregates.append(aggregate)
        self.strata = [strata[level] for level in sorted(strata)] or [Stratum(0)]
        for stratum in self.strata:
            stratum.has_blockers = any(planned.blockers for planned in stratum.rules.values())
        column = relations.words[:, Relation.fields["level"][0]]
        column[: len(relations)] = -1
        for relation, level in level_of.items():
            column[relation] = level
        self.is_mixed = bool(self._tables) and len(self.strata) > 1 and any(map(self._mixes, self._active.values()))
        self._derivations = Counter(planned.rule.head.relation for planned in self._active.values())
        self._grouped = True
        self._entered = None
        if self._derivers is None and len(self._active) > _MANY:
            self._derivers = self._all_derivers()
        return self.strata

    def _mixes(self, planned: PlannedRule) -> bool:
        """Return whether a rule derives or reads facts of a relation that is derived in a higher stratum."""
        tables, atoms = self._tables, (planned.rule.head, *planned.rule.body)
        return any(tables.get(atom.relation, -1) > planned.level for atom in atoms)

    def _place(self, planned: PlannedRule) -> bool:
        """Add a new rule to its stratum. Return False if that changes the strata otherwise, so that all must be made again."""
        relation = planned.rule.head.relation
        record = self.database.relations[relation]
        stratum = next((stratum for stratum in self.strata if stratum.level == planned.level), None)
        if stratum is None or relation in self._several or record.level not in (-1, planned.level):
            return False
        if self._mixes(planned) or (record.section_column >= 0 and relation not in self._tables):
            return False
        record.level = planned.level
        self._derivations[relation] += 1
        stratum.rules[planned.number] = planned
        stratum.has_blockers = stratum.has_blockers or bool(planned.blockers)
        self._change_plans(stratum, planned, SectionPlans.add)
        return True

    def _displace(self, planned: PlannedRule) -> bool:
        """Remove a rule from its stratum. Return False if that changes the strata otherwise, so that all must be made again."""
        relation = planned.rule.head.relation
        record = self.database.relations[relation]
        stratum = next((stratum for stratum in self.strata if stratum.level == planned.level), None)
        if stratum is None or self.is_mixed or relation in self._several or record.level != planned.level:
            return False
        if len(self.strata) > 1 and len(stratum.rules) == 1 and not stratum.aggregates:
            return False
        self._derivations[relation] -= 1
        if not self._derivations[relation]:
            del self._derivations[relation]
            record.level = -1
        del stratum.rules[planned.number]
        self._change_plans(stratum, planned, SectionPlans.remove)
        return True

    def _is_entered(self, stratum: Stratum) -> bool:
        return self._entered is not None and self._entered[0] is stratum.triggers

    def _change_plans(self, stratum: Stratum, planned: PlannedRule, change: _PlanChange) -> None:
        """Add the plans of a rule to those of its stratum, or remove them, if they have been collected."""
        if stratum.triggers is not None and stratum.blockers is not None:
            is_entered = self._is_entered(stratum)
            for entry in planned.triggers:
                self._change_plan("trigger", stratum.triggers, change, entry, is_entered)
            for entry in planned.blockers:
                self._change_plan("blocker", stratum.blockers, change, entry, is_entered)

    def _change_plan(
        self, kind: str, plans: SectionPlans, change: _PlanChange, entry: tuple[StoredAtom, int], is_entered: bool
    ) -> None:
        """Add or remove a plan, and tell the kernels if they read these plans."""
        before = plans.plans
        section = change(plans, *entry)
        if not is_entered:
            return
        if plans.plans is before:
            self.database.set_range(kind, section, *plans.ranges[section].tolist())
        else:
            self._set_plans(kind, plans)

    def _set_plans(self, kind: str, plans: SectionPlans) -> None:
        """Set the plans of a kind in the context."""
        plans.fit()
        setattr(self.database.context, f"{kind}s", plans.plans)
        self.database.set_ranges(kind, plans.ranges)

    # --- plans made when they are needed ----------------------------------------------------------------------------

    def whole_plan(self, planned: PlannedRule) -> int:
        """Return the plan of a rule without a trigger, which finds all instances."""
        if planned.whole < 0:
            self.plan_without_trigger([planned])
        return planned.whole

    def plan_without_trigger(self, rules: Iterable[PlannedRule]) -> None:
        """Plan some rules without a trigger."""
        missing = [planned for planned in rules if planned.whole < 0]
        plans = self._untriggered.write([(planned.rule, planned.number) for planned in missing])
        for planned, plan in zip(missing, plans, strict=True):
            planned.whole = plan

    def plan_heads(self, section: int, most: int | None = _PLANNED_TOGETHER) -> None:
        """Plan how some of the rules of a section that have no such plan are found from their heads; `None`: all of them."""
        assert self._derivers is not None
        first, end = self._derivers.ranges[section].tolist()
        entries = self._derivers.plans[first:end]
        places = np.flatnonzero(entries < 0)[:most].tolist()
        missing = [self._active[-1 - entry] for entry in entries[places].tolist()]
        plans = self._backward.write([(planned.rule, planned.number) for planned in missing])
        for place, planned, plan in zip(places, missing, plans, strict=True):
            entries[place] = planned.backward = plan
        self.looked_up_results.add(planned.rule for planned in missing if planned.rule.checks)

    def _all_derivers(self) -> SectionPlans:
        """Return the plans that find the instances of all rules from their heads, or numbers below 0 in their places.

        Rules with fewer atoms come first: they have fewer instances, which explicit facts prove more often.
        """
        with without_collection():  # an ontology has many rules
            rules = sorted(self._active.values(), key=lambda planned: len(planned.rule.body))
            return SectionPlans(self.database, map(_deriver, rules))

    def enter_derivers(self) -> None:
        """Set the plans that find the instances of rules from their heads in the context. They are made once kernels need them."""
        if self._derivers is None:
            self._derivers = self._all_derivers()
        if not self._derivers_are_entered:
            self._set_plans("deriver", self._derivers)
            self._derivers_are_entered = True

    # --- the plans that kernels evaluate ----------------------------------------------------------------------------

    def enter_plans(self, stratum: Stratum) -> None:
        """Set the plans of a stratum in the context."""
        database = self.database
        if stratum.triggers is None or stratum.blockers is None:
            stratum.triggers = SectionPlans(database, (plan for rule in stratum.rules.values() for plan in rule.triggers))
            stratum.blockers = SectionPlans(database, (plan for rule in stratum.rules.values() for plan in rule.blockers))
        if self._entered is None or self._entered[0] is not stratum.triggers:
            self._set_plans("trigger", stratum.triggers)
            self._set_plans("blocker", stratum.blockers)
            database.context.level = stratum.level
            self._entered = stratum.triggers, stratum.blockers

    def leave_out(self, stratum: Stratum, done: Collection[int]) -> None:
        """Enter a stratum without some of its plans, which new rows need not trigger."""
        rest = (entry for rule in stratum.rules.values() for entry in rule.triggers if entry[1] not in done)
        self._entered = None  # for the next stratum, also after an interrupt
        self._set_plans("trigger", SectionPlans(self.database, rest))
