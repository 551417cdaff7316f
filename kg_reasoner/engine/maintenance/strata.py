"""The common part of strategies that delete first and then insert, stratum by stratum from the lowest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.planned_rules import PlannedRule, Stratum
from kg_reasoner.engine.maintenance import Finder, Work
from kg_reasoner.engine.maintenance.collect import collect
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import DONE, PAUSE

if TYPE_CHECKING:
    from kg_reasoner.engine.maintenance.marking import Marking


class StratumByStratum(ABC):
    """Updates a database with semi-naive insertion, and a deletion that subclasses define.

    In each stratum, the candidates for deletion are the facts that are no longer explicit, and the heads of rule instances that no
    longer hold, because a body fact was deleted, a negated fact was inserted, or the rule was removed. The instances are evaluated
    in the materialisation before the update. The subclass decides which candidates are deleted.

    Source for the treatment of strata: Motik, Nenov, Piro and Horrocks, Maintenance of Datalog Materialisations Revisited
    (Artificial Intelligence 269, 2019).
    """

    deletes_at_once: ClassVar = False
    """Whether `native.update_stratum` deletes as this strategy does."""

    def __init__(self, materialiser: Materialiser) -> None:
        self.materialiser = materialiser
        self.database = materialiser.database
        self.marking: Marking | None = None
        """The marking for streams, created on demand."""

    @abstractmethod
    def process_candidates(self) -> None:
        """Delete the candidates of the entered stratum that have no other derivation, and their consequences likewise."""

    def expect(self, find: Finder | None) -> None:
        """See `Maintenance.expect`."""
        if self.marking is None:
            from kg_reasoner.engine.maintenance.marking import Marking

            self.marking = Marking(self.database)
        self.marking.expect(find)

    def rederive(self, first: int) -> None:  # noqa: B027  not every strategy deletes too much
        """Insert overdeleted facts again, among the deleted facts from position `first` on."""

    def needs_restart(self) -> bool:
        """See `Maintenance.needs_restart`."""
        return False

    @property
    def counters(self) -> Counters:
        """Rule applications so far, by phase."""
        context, marking = self.database.context, self.marking
        marked = (0, 0) if marking is None else (marking.explicit, marking.implicit)
        phases = context.deletion_instances, context.backward_instances, context.forward_instances, context.instances
        return Counters(*phases, *marked)

    def apply(self, work: Work) -> None:
        """See `Maintenance.apply`."""
        marking = self.marking
        if marking is not None:
            marking.begin()
        self.update(work)
        if marking is not None:
            marking.finish()

    def update(self, work: Work) -> None:
        """Apply an update: in one call of a kernel if that is enough, or else stratum by stratum."""
        strata = self.materialiser.make_strata()
        if self._is_simple(work) and not self.materialiser.by_columns.is_wanted(strata[0]):
            self._update_at_once(strata[0], work)
        else:
            self._update_each(strata, work)

    def _is_simple(self, work: Work) -> bool:
        """Return whether only facts of a single stratum have changed, neither progress nor a profile is to be reported, and the
        kernel deletes as this strategy does, or has nothing to delete.
        """
        materialiser = self.materialiser
        is_followed = work.progress is not None or materialiser.inserter is not None
        if is_followed or work.new_rules or work.gone_rules or work.gone_aggregates:
            return False
        if not materialiser.is_simple or self.database.is_fresh:
            return False
        return self.deletes_at_once or not self.database.context.removed_count

    def _update_at_once(self, stratum: Stratum, work: Work) -> None:
        materialiser, database = self.materialiser, self.database
        materialiser.enter(stratum)
        if database.context.removed_count:
            self.prepare()
        while (status := materialiser.run(native.update_stratum, int(work.collects))) != DONE:
            if status == PAUSE:
                database.order_gone()
                collect(database, work)
            else:
                self.fulfil(status)
        materialiser.release_team()

    def fulfil(self, status: int) -> None:
        """Fulfil the request of a kernel that deletes and inserts."""
        self.materialiser.fulfil(status)

    def _update_each(self, strata: Sequence[Stratum], work: Work) -> None:
        materialiser, database, context = self.materialiser, self.database, self.database.context
        recorder = materialiser.recorder
        fresh = database.is_fresh
        removes = bool(context.removed_count or work.gone_rules or work.gone_aggregates)
        if removes:
            self.prepare()
            with recorder.measure("deletion"):
                delete_underived(materialiser, work)
        for stratum in strata:
            materialiser.begin(stratum)
            first = context.gone_count
            if not fresh and (removes or first or stratum.has_blockers):
                if not removes:
                    self.prepare()
                with recorder.measure("deletion"):
                    self._delete(stratum, of_level(database, work.gone_rules, stratum.level))
                if context.gone_count > first:
                    with recorder.measure("backward"):
                        self.rederive(first)
            late = [rule for rule in stratum.rules.values() if not rule.triggers] if fresh else work.new_rules
            materialiser.insert(stratum, of_level(database, late, stratum.level), work.progress)
        if work.collects:
            collect(database, work)
        if context.gone_count or context.removed_count or context.claimed_count:
            native.finish_update(database.address)
        database.mark_materialised()

    def prepare(self) -> None:
        """Allocate lists, and enter the plans that find rule instances from their heads."""
        self.materialiser.looked_up_results.renew()
        self.database.make_lists()
        self.materialiser.enter_derivers()

    def _delete(self, stratum: Stratum, gone_rules: list[PlannedRule]) -> None:
        """Delete the facts of a stratum without a derivation."""
        materialiser, context, here = self.materialiser, self.database.context, self.database.address
        materialiser.looked_up_results.renew()
        self.database.make_lists()
        if context.gone_count:
            context.place = 0
            materialiser.call(native.add_consequences_of_deleted)
        if stratum.has_blockers:
            context.place = 0
            materialiser.call(native.add_consequences_of_negation)
        for planned in gone_rules:
            materialiser.call(native.add_heads_of_rule, materialiser.whole_plan(planned))
        native.add_removed_facts(here)
        if context.candidates_count:
            self.process_candidates()
            first = context.gone_count
            native.finish_deletion(here)
            self.database.order_gone(first)


def of_level(database: Database, rules: Sequence[PlannedRule], level: int) -> list[PlannedRule]:
    """Return the rules whose heads belong to a stratum; with -1, those whose heads no rule derives now."""
    if not rules:
        return []
    return [planned for planned in rules if database.relations[planned.rule.head.relation].level == level]


def delete_underived(materialiser: Materialiser, work: Work) -> None:
    """Delete, in relations that no rule derives any more, facts that are no longer explicit or were derived by removed rules."""
    here = materialiser.database.address
    for aggregate in work.gone_aggregates:
        aggregate.clear()
    for planned in of_level(materialiser.database, work.gone_rules, -1):
        materialiser.call(native.add_heads_of_rule, materialiser.whole_plan(planned))
    native.delete_candidates(here)
    native.drop_removed(here)
