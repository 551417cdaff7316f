"""Semi-naive materialisation: strata from below, each to its fixpoint, by the kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kg_reasoner.catalog import StoredAtom, StoredRule
from kg_reasoner.kernels import native
from kg_reasoner.kernels.layout import BUILD_INDEX, DEAD, DONE, GROW, VALUES
from kg_reasoner.kernels.memory import allocate
from kg_reasoner.planner import plan_rule, plan_trigger, section_constant
from kg_reasoner.relation import Database
from kg_reasoner.value_table import ValueTable

Progress = Callable[[str, int, "int | None"], None]
"""Called with a stage's name, how much is done, and of how much (None if that is not known)."""

BLOCKS_BETWEEN_PROGRESS = 64


@dataclass
class PlannedRule:
    """A stored rule with its plans: one per positive body atom, and one without a trigger (made when it is needed)."""

    rule: StoredRule
    number: int
    triggers: list[tuple[StoredAtom, int]]
    whole: int = -1


@dataclass
class Stratum:
    """Rules that are evaluated together, and how far each relation's rows have been processed for them."""

    rules: list[PlannedRule] = field(default_factory=list)
    processed: Any = None
    triggers: Any = None
    ranges: Any = None


class Materialiser:
    """Holds planned rules by stratum and brings the derived facts of a database up to date.

    Facts and rules may be added between runs as long as nothing is negated; everything else starts over (`restart`).
    """

    def __init__(self, database: Database, values: ValueTable) -> None:
        self.database = database
        self.values = values
        self.strata: list[Stratum] = [_empty_stratum()]
        self.rules: list[PlannedRule] = []
        self.version = 0
        """Changes whenever the rules do."""
        self._entered: Any = None

    def add_rules(self, level: int, rules: Iterable[StoredRule]) -> list[PlannedRule]:
        """Plan rules and add them to a stratum."""
        while len(self.strata) <= level:
            self.strata.append(_empty_stratum())
        added = []
        for rule in rules:
            number = len(self.rules)
            triggers = [
                (atom, plan_trigger(self.database, rule, number, position))
                for position, atom in enumerate(rule.body)
                if not atom.negated
            ]
            added.append(PlannedRule(rule, number, triggers))
            self.rules.append(added[-1])
        if added:
            self.strata[level].rules += added
            self.strata[level].triggers = None
            self.version += 1
        return added

    def remove_rules(self, rules: Iterable[PlannedRule]) -> None:
        """Take rules away; what they have derived stays."""
        gone = {planned.number for planned in rules}
        if gone:
            self.version += 1
            for stratum in self.strata:
                stratum.rules = [planned for planned in stratum.rules if planned.number not in gone]
                stratum.triggers = None

    def whole_plan(self, planned: PlannedRule) -> int:
        """The plan of a rule that no row triggers: it finds all instances."""
        if planned.whole < 0:
            planned.whole = plan_rule(self.database, planned.rule, planned.number)
        return planned.whole

    def evaluate_whole(self, planned: PlannedRule) -> None:
        """Derive what a rule derives from all rows there are (for a rule that came after them, or has no positive atom)."""
        plan = self.whole_plan(planned)
        while (status := native.evaluate_rule(self.database.address, plan)) != DONE:
            self._help(status)

    @property
    def is_fresh(self) -> bool:
        """Whether no row has been processed, so that new rules will see all rows anyway."""
        return not any(stratum.processed.any() for stratum in self.strata)

    def restart(self) -> None:
        """Forget what has been processed, and what an interrupted deletion has left."""
        self.database.context.hidden, self.database.context.look = DEAD, 0
        for stratum in self.strata:
            stratum.processed[:] = 0

    def compact(self) -> None:
        """Forget dead rows where they are many. Everything has been processed."""
        for relation in self.database.crowded():
            self.database.compact(relation)
            for stratum in self.strata:
                stratum.processed[relation] = self.database.relations[relation].count

    def run(self, new_rules: Sequence[PlannedRule] = (), progress: Progress | None = None) -> None:
        """Derive everything that follows from rows not yet processed and from new rules."""
        self.values.expire()
        late = {planned.number for planned in new_rules}
        for stratum in self.strata:
            for planned in stratum.rules:
                if planned.number in late or not planned.triggers:
                    self.evaluate_whole(planned)
            self.enter(stratum)
            self._fixpoint(progress)

    def _fixpoint(self, progress: Progress | None) -> None:
        context = self.database.context
        context.pause = BLOCKS_BETWEEN_PROGRESS if progress else 0
        context.current = 0
        while (status := native.run(self.database.address)) != DONE:
            self._help(status)
            if progress:
                done = sum(self.database.context.processed[: len(self.database.relations)].tolist())
                progress("materialise", done, sum(record.count for record in self.database.relations.records))

    def _help(self, status: int) -> None:
        """Do what a kernel asked for."""
        if status == GROW:
            self.database.grow()
        elif status == BUILD_INDEX:
            self.database.build(self.database.context.wanted)
        elif status == VALUES:
            self.values.update()

    def enter(self, stratum: Stratum) -> None:
        """Make a stratum's triggers and counts of processed rows those of the context."""
        database = self.database
        relations = len(database.relations)
        if stratum.triggers is None or len(stratum.ranges) < len(database.sections):
            triggers = [trigger for planned in stratum.rules for trigger in planned.triggers]
            stratum.triggers, stratum.ranges = by_section(database, triggers)
        if len(stratum.processed) < relations:
            processed = allocate(2 * relations, np.int64, 0)
            processed[: len(stratum.processed)] = stratum.processed
            stratum.processed = processed
        if self._entered is not stratum.triggers:
            database.context.triggers = stratum.triggers
            for record, (first, end) in zip(database.sections.records, stratum.ranges.tolist(), strict=True):
                record.first_trigger, record.end_trigger = first, end
            self._entered = stratum.triggers
        database.context.processed = stratum.processed


def _empty_stratum() -> Stratum:
    return Stratum(processed=allocate(16, np.int64, 0))


def by_section(database: Database, plans: Iterable[tuple[StoredAtom, int]]) -> tuple[Any, Any]:
    """Plans in the order of the sections of the atoms that trigger them, and each section's range (first, end)."""
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
