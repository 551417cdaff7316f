"""Semi-naive materialisation: kernels evaluate the rules of each stratum to its fixpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kg_reasoner.concurrency.limits import NOBODY, Watch, current_watch
from kg_reasoner.planning.catalog import StoredAtom, StoredRule
from kg_reasoner.planning.function_relations import Functions
from kg_reasoner.planning.groups import AggregateRelation
from kg_reasoner.planning.planner import plan_backward, plan_rule, plan_trigger, section_constant
from kg_reasoner.progress import Progress
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    BUILD_INDEX,
    CALL,
    DONE,
    FUNCTION_RESULTS,
    GROW,
    PAUSE,
    VALUES,
    WIDE,
    Relation,
)
from kg_reasoner.storage.kernels.memory import allocate
from kg_reasoner.storage.parallel import Crew
from kg_reasoner.storage.relation import Database
from kg_reasoner.storage.value_table import ValueTable

BLOCKS_BETWEEN_PROGRESS = 64

Plans = list[tuple[StoredAtom, int]]
"""Plans, each with the atom that triggers it."""


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
    whole: int = -1
    """The plan without a trigger; -1 until it is needed."""
    backward: int = -1
    """The plan that the head triggers; -1 until it is needed."""


@dataclass
class Stratum:
    """Rules that are evaluated together, after the aggregates that they use."""

    level: int
    rules: list[PlannedRule] = field(default_factory=list)
    aggregates: list[AggregateRelation] = field(default_factory=list)
    triggers: Any = None
    trigger_ranges: Any = None
    blockers: Any = None
    blocker_ranges: Any = None
    has_blockers: bool = False
    """Whether some rule has a negation."""


class Materialiser:
    """Plans of rules by stratum, and insertion of the consequences of new rows and new rules.

    All rules have processed all rows except those beyond `Database.materialised`, which belong to the current update.
    """

    def __init__(
        self,
        database: Database,
        values: ValueTable,
        functions: Functions,
        exact: bool = False,
        watch: Watch = NOBODY,
        threads: int = 1,
    ) -> None:
        self.database = database
        self.threads = threads
        """The number of threads that evaluate rules together, if there is much to do."""
        self.crew: Crew | None = None
        """The threads of the current update, once it needs them."""
        self.watch = watch
        """The watch over operations without limits; those with limits have their own watches."""
        self.values = values
        self.functions = functions
        self.exact = exact
        """Whether plans find every instance, even where one is sufficient to derive the head."""
        self.rules: list[PlannedRule] = []
        self.strata: list[Stratum] = [Stratum(0)]
        self.is_mixed = False
        """Whether a relation is derived in several strata, so that a fact does not determine its stratum."""
        self.version = 0
        """A number that changes with the rules."""
        self._active: dict[int, PlannedRule] = {}
        self._aggregates: list[AggregateRelation] = []
        self._grouped = True
        self._entered: Any = None

    # --- rules ------------------------------------------------------------------------------------------------------

    def add_rules(self, level: int, rules: Iterable[StoredRule]) -> list[PlannedRule]:
        """Plan rules of a level (see `analysis.levels`)."""
        added = []
        for rule in rules:
            number = len(self.rules)
            plans: tuple[Plans, Plans] = [], []
            for position, atom in enumerate(rule.body):
                plans[atom.negated].append((atom, plan_trigger(self.database, rule, number, position, self.exact)))
            planned = PlannedRule(rule, number, level, *plans)
            added.append(planned)
            self.rules.append(planned)
            self._active[number] = planned
        if added:
            self._change()
        return added

    def add_aggregate(self, aggregate: AggregateRelation) -> None:
        """Update an aggregate from now on, whenever its solutions change."""
        self._aggregates.append(aggregate)
        self._change()

    def remove_rules(self, rules: Iterable[PlannedRule]) -> None:
        """Stop applying rules, without deleting the facts that they derived."""
        for planned in rules:
            if self._active.pop(planned.number, None) is not None:
                self._change()

    def remove_aggregates(self, aggregates: Iterable[AggregateRelation]) -> None:
        """Stop updating aggregates, without deleting their rows."""
        gone = list(aggregates)
        if gone:
            self._aggregates = [aggregate for aggregate in self._aggregates if aggregate not in gone]
            self._change()

    def set_level(self, item: PlannedRule | AggregateRelation, level: int) -> None:
        """Move a rule or aggregate to another level."""
        if level != item.level:
            item.level = level
            self._change()

    def active_rules(self) -> list[PlannedRule]:
        """Return the applied rules."""
        return list(self._active.values())

    def _change(self) -> None:
        self.version += 1
        self._grouped = False

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
        self.is_mixed = any(database.relations[relation].section_column >= 0 for relation in several)
        strata: dict[int, Stratum] = {}
        for planned in self._active.values():
            relation = planned.rule.head.relation
            level = planned.level if database.relations[relation].section_column >= 0 else level_of[relation]
            strata.setdefault(level, Stratum(level)).rules.append(planned)
        for aggregate in self._aggregates:
            strata.setdefault(aggregate.level, Stratum(aggregate.level)).aggregates.append(aggregate)
        self.strata = [strata[level] for level in sorted(strata)] or [Stratum(0)]
        for stratum in self.strata:
            stratum.has_blockers = any(planned.blockers for planned in stratum.rules)
        column = database.relations.words[:, Relation.fields["level"][0]]
        column[: len(database.relations)] = -1
        for relation, level in level_of.items():
            column[relation] = level
        self._grouped = True
        self._entered = None
        return self.strata

    def whole_plan(self, planned: PlannedRule) -> int:
        """Return the plan of a rule without a trigger, which finds all instances."""
        if planned.whole < 0:
            planned.whole = plan_rule(self.database, planned.rule, planned.number, self.exact)
        return planned.whole

    def backward_plans(self) -> Plans:
        """Return the plan of each rule that finds its instances from its head."""
        plans = []
        for planned in self._active.values():
            if planned.backward < 0:
                planned.backward = plan_backward(self.database, planned.rule, planned.number)
            plans.append((planned.rule.head, planned.backward))
        return plans

    # --- evaluation -------------------------------------------------------------------------------------------------

    def restart(self) -> None:
        """Delete all rows but explicit and stated ones, mark these as unprocessed, and discard pending changes."""
        database, context = self.database, self.database.context
        results = set(self.functions.relations)
        for relation in range(len(database.relations)):
            if relation not in results:
                database.keep_explicit(relation)
        context.phase = 0
        context.hidden, context.look, context.old, context.ring_count = ABSENT, 0, 0, 0
        for name in ("gone", "removed", "claimed", "request", "marked"):
            setattr(context, f"{name}_count", 0)
        database.materialised[:] = 0
        database.is_fresh = True
        for aggregate in self._aggregates:
            aggregate.forget()

    def begin(self, stratum: Stratum) -> None:
        """Update the aggregates that a stratum uses, and enter it. Rows that are not materialised are new to it."""
        for aggregate in stratum.aggregates:
            aggregate.refresh()
        self.enter(stratum)
        self.database.processed[:] = self.database.materialised

    def insert(self, stratum: Stratum, new_rules: Sequence[PlannedRule] = (), progress: Progress | None = None) -> None:
        """Derive, by the rules of the entered stratum, the consequences of unprocessed rows, of the absence of deleted facts, and
        of new rules.
        """
        context = self.database.context
        if context.gone_count and stratum.has_blockers:
            context.place = 0
            self.call(native.derive_unblocked)
        for planned in new_rules:
            self.call(native.evaluate_rule, self.whole_plan(planned))
        context.pause = BLOCKS_BETWEEN_PROGRESS if progress or current_watch().limits.facts is not None else 0
        context.current = context.block_end = 0
        while (status := native.run(self.database.address)) != DONE:
            self.help(status)
            if status in (PAUSE, WIDE):
                self.database.claim(0)
            if progress:
                done = sum(self.database.processed[: len(self.database.relations)].tolist())
                progress("materialise", done, sum(record.count for record in self.database.relations.records))
        self.rest()

    def call(self, entry: Callable[..., int], *arguments: int) -> None:
        """Call a kernel until it is done, and fulfil its requests."""
        while (status := entry(self.database.address, *arguments)) != DONE:
            self.help(status)

    def help(self, status: int) -> None:
        """Fulfil the request of a kernel.

        Raises:
            LimitError, CancelledError: The operation has to end.
        """
        self.watch.check()
        current_watch().check()
        if status == WIDE:
            status = self._together().process()
        if status == GROW:
            self.database.grow()
        elif status == BUILD_INDEX:
            if self.threads > 1:
                self._together().build()
            else:
                self.database.build(self.database.context.wanted)
        elif status == VALUES:
            self.values.update()
        elif status == FUNCTION_RESULTS:
            self.functions.answer()
            self.values.expire()

    def _together(self) -> Crew:
        """Return the threads that evaluate rules together."""
        if self.crew is None:
            self.crew = Crew(self.database, self.threads)
        return self.crew

    def rest(self) -> None:
        """Discard what threads need to evaluate rules together."""
        self.crew = None

    def enter(self, stratum: Stratum) -> None:
        """Set the plans of a stratum in the context."""
        database = self.database
        if stratum.triggers is None or len(stratum.trigger_ranges) < len(database.sections):
            stratum.triggers, stratum.trigger_ranges = by_section(database, (t for rule in stratum.rules for t in rule.triggers))
            stratum.blockers, stratum.blocker_ranges = by_section(database, (b for rule in stratum.rules for b in rule.blockers))
        if self._entered is not stratum.triggers:
            database.context.triggers, database.context.blockers = stratum.triggers, stratum.blockers
            if self.threads > 1:
                database.share(self._shared_relations(stratum))
            database.set_ranges("trigger", stratum.trigger_ranges)
            database.set_ranges("blocker", stratum.blocker_ranges)
            self._entered = stratum.triggers
        database.context.level = stratum.level
        self.values.expire()

    def _shared_relations(self, stratum: Stratum) -> list[int]:
        """Return the relations whose new rows threads may share: those that trigger no function, whose results Python computes."""
        plans, steps = self.database.plans, self.database.steps
        found: dict[int, bool] = {}
        for planned in stratum.rules:
            for atom, number in planned.triggers:
                plan = plans[number]
                calls = any(steps[plan.first_step + step].kind == CALL for step in range(plan.step_count))
                found[atom.relation] = found.get(atom.relation, True) and not calls
        return [relation for relation, shared in found.items() if shared]

    def compact(self) -> None:
        """Remove dead rows where there are many. All rows have been processed."""
        for relation in self.database.crowded():
            self.database.compact(relation)


def by_section(database: Database, plans: Iterable[tuple[StoredAtom, int]]) -> tuple[Any, Any]:
    """Return plans ordered by the sections of the atoms that trigger them, and the range (first, end) of each section."""
    members: dict[int, list[int]] = {}
    for atom, plan in plans:
        members.setdefault(database.section(atom.relation, section_constant(database, atom)), []).append(plan)
    ordered = allocate(sum(map(len, members.values())), np.int32)
    ranges = np.zeros((len(database.sections), 2), np.int64)
    position = 0
    for section, numbers in members.items():
        ordered[position : position + len(numbers)] = numbers
        ranges[section] = position, position + len(numbers)
        position += len(numbers)
    return ordered, ranges
