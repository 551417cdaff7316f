"""What the strategies have in common that delete first and insert then, stratum by stratum from below."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from kg_reasoner.engine.counters import Counters
from kg_reasoner.engine.maintenance import Work
from kg_reasoner.engine.maintenance.collect import collect
from kg_reasoner.engine.materialise import Materialiser, PlannedRule, Stratum, by_section
from kg_reasoner.storage.arrays import Rows
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.relation import Database


class StratumByStratum(ABC):
    """Updates a database with semi-naive insertion, and a deletion that subclasses define.

    In each stratum, a fact comes into doubt when it is no longer explicit, or when some rule instance that derived it does not hold
    any more: one of its facts is gone, a fact that it negates is there, or its rule is gone. The instances are looked for in the
    materialisation as it was. What the subclass then finds to be without a derivation is deleted.

    Source for the treatment of strata: Motik, Nenov, Piro and Horrocks, Maintenance of Datalog Materialisations Revisited
    (Artificial Intelligence 269, 2019).
    """

    marks_pass_on = 1
    """Which marked facts mark the heads of their rule instances: 1: the explicit ones; 2: all."""

    def __init__(self, materialiser: Materialiser) -> None:
        self.materialiser = materialiser
        self.database = materialiser.database
        self._derivers_of = -1, -1
        self._marked_explicit = self._marked_implicit = self._newly_marked = 0
        self._has_marks = False
        """Whether facts may be marked, for this update or for the next one."""

    @abstractmethod
    def settle(self) -> None:
        """Decide which of the doubted facts of the stratum that is entered are gone, and with them what follows from them."""

    def expect(self, facts: Sequence[tuple[int, Rows]]) -> None:
        """Get ready to apply an update, knowing which facts (of a relation each) the next one will delete."""
        if not facts and not self._has_marks:
            return
        self._has_marks = True
        self.database.expect_marked()
        self._newly_marked = sum(self.database.mark(relation, rows) for relation, rows in facts)
        self._marked_explicit += self._newly_marked
        self.database.context.marking = self.marks_pass_on if self._newly_marked else 0

    def rederive(self, first: int) -> None:  # noqa: B027  not every strategy deletes too much
        """Insert again what has been deleted too much, of the facts that are gone from the `first` of the list on."""

    def needs_restart(self) -> bool:
        """See `Maintenance.needs_restart`."""
        return False

    @property
    def counters(self) -> Counters:
        """Rule applications so far, by phase."""
        context = self.database.context
        return Counters(
            context.deletion_instances,
            context.backward_instances,
            context.forward_instances,
            context.instances,
            self._marked_explicit,
            self._marked_implicit,
        )

    def apply(self, work: Work) -> None:
        """See `Maintenance.apply`."""
        materialiser, database, context = self.materialiser, self.database, self.database.context
        fresh = self.database.is_fresh
        removes = bool(context.removed_count or work.gone_rules or work.gone_groups or context.foreseen_count)
        strata = materialiser.make_strata()
        if removes:
            self.prepare()
            delete_underived(materialiser, work)
        for stratum in strata:
            materialiser.begin(stratum)
            first = context.gone_count
            if not fresh and (removes or first or stratum.has_blockers):
                if not removes:
                    self.prepare()
                self._delete(stratum, of_level(database, work.gone_rules, stratum.level))
                if context.gone_count > first:
                    self.rederive(first)
            late = [rule for rule in stratum.rules if not rule.triggers] if fresh else work.new_rules
            materialiser.insert(stratum, of_level(database, late, stratum.level), work.progress)
        if work.collects:
            collect(database, work)
        if context.gone_count or context.removed_count or context.claimed_count:
            native.finish_update(database.address)
        self.finish_marking()
        database.settle()

    def finish_marking(self) -> None:
        """The update that facts were marked for is over, and so is the marking for the next one."""
        if not self._has_marks:
            return
        context = self.database.context
        if context.foreseen_count:
            native.forget_marks(self.database.address)
        if context.marking:
            self._marked_implicit += context.marked_count - self._newly_marked
            context.marking = 0
        self._has_marks = context.marked_count > 0

    def prepare(self) -> None:
        """Make room, and enter the plans that find rule instances from their heads."""
        materialiser, database = self.materialiser, self.database
        database.make_lists()
        wanted = materialiser.version, len(database.sections)
        if self._derivers_of != wanted:
            database.context.derivers, ranges = by_section(database, materialiser.backward_plans())
            database.set_ranges("deriver", ranges)
            self._derivers_of = materialiser.version, len(database.sections)

    def _delete(self, stratum: Stratum, gone_rules: list[PlannedRule]) -> None:
        """Delete what has no derivation any more in a stratum."""
        materialiser, context, here = self.materialiser, self.database.context, self.database.address
        self.database.make_lists()
        if context.gone_count:
            context.place = 0
            materialiser.call(native.doubt_lost)
        if stratum.has_blockers:
            context.place = 0
            materialiser.call(native.doubt_blocked)
        for planned in gone_rules:
            materialiser.call(native.doubt_rule, materialiser.whole_plan(planned))
        native.doubt_removed(here)
        if context.doubted_count:
            self.settle()
            native.finish_deletion(here)


def of_level(database: Database, rules: Sequence[PlannedRule], level: int) -> list[PlannedRule]:
    """The rules whose heads belong to a stratum (-1: to none, for there are no such rules any more)."""
    return [planned for planned in rules if database.relations[planned.rule.head.relation].level == level]


def delete_underived(materialiser: Materialiser, work: Work) -> None:
    """Delete what is not explicit any more, or was derived by rules that are gone, in relations that no rule derives."""
    here = materialiser.database.address
    for group in work.gone_groups:
        group.clear()
    for planned in of_level(materialiser.database, work.gone_rules, -1):
        materialiser.call(native.doubt_rule, materialiser.whole_plan(planned))
    native.drop_doubted(here)
    native.drop_removed(here)
