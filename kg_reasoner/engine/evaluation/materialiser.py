"""Semi-naive materialisation: kernels evaluate the rules of each stratum to its fixpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from kg_reasoner.concurrency.garbage import without_collection
from kg_reasoner.concurrency.limits import NOBODY, Watch, current_watch
from kg_reasoner.engine.evaluation.axioms_first import put_axioms_first
from kg_reasoner.engine.evaluation.planned_rules import PlannedRule, Stratum
from kg_reasoner.engine.evaluation.planned_strata import PlannedStrata
from kg_reasoner.engine.evaluation.recorder import Recorder
from kg_reasoner.planning.functions.function_relations import Functions
from kg_reasoner.progress import Progress
from kg_reasoner.storage import capacities
from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    BUILD_INDEX,
    DONE,
    FUNCTION_RESULTS,
    GROW,
    PAUSE,
    UNPLANNED,
    VALUES,
    WIDE,
    Relation,
)
from kg_reasoner.storage.preparation.expected_rows import least_rows, likely_rows, missing_rows
from kg_reasoner.storage.preparation.known_terms import discard_bits, give_bits
from kg_reasoner.storage.preparation.late_relations import choose_late_relations
from kg_reasoner.storage.preparation.triggered_steps import triggered_steps
from kg_reasoner.storage.values.value_table import ValueTable

if TYPE_CHECKING:
    from kg_reasoner.storage.parallel.worker_team import WorkerTeam

BLOCKS_BETWEEN_PROGRESS = 64

_REQUESTS = {
    GROW: "grow tables",
    BUILD_INDEX: "build indexes",
    VALUES: "read values",
    FUNCTION_RESULTS: "apply functions",
    UNPLANNED: "plan",
    WIDE: "share",
}
"""The names of kernels' requests in profiles."""

Inserter: TypeAlias = "Callable[[Stratum, Sequence[PlannedRule], Progress | None], None]"


class Materialiser(PlannedStrata):
    """Inserts the consequences of new rows and new rules, stratum by stratum.

    All rules have processed all rows except those beyond `Database.materialised`, which belong to the current update.
    """

    def __init__(
        self,
        database: Database,
        values: ValueTable,
        functions: Functions,
        exact: bool = False,
        watch: Watch = NOBODY,
        recorder: Recorder | None = None,
        threads: int = 1,
    ) -> None:
        super().__init__(database, functions, exact)
        self.threads = threads
        """The number of threads that evaluate rules together, if there is much to do."""
        self._team: WorkerTeam | None = None
        """The threads of the current update, once it needs them."""
        database.share(threads)
        self.recorder = recorder or Recorder()
        self.inserter: Inserter | None = None
        """Takes the place of `insert` while a profile is open."""
        self.watch = watch
        """The watch over operations without limits; those with limits have their own watches."""
        self.values = values

    def restart(self) -> None:
        """Delete all rows but explicit and stated ones, mark these as unprocessed, and discard pending changes."""
        database, context = self.database, self.database.context
        results = set(self.functions.relations)
        for relation in range(len(database.relations)):
            if relation not in results:
                database.keep_explicit(relation)
        context.phase = context.has_listed_grown = context.block_end = context.scans = context.interrupted = 0
        context.term_access = context.shared_to = context.is_large = context.has_reborn = 0
        context.hidden, context.checks_flags, context.old, context.ring_count, context.pair_count = ABSENT, 0, 0, 0, 0
        for name in ("gone", "removed", "claimed", "request", "marked"):
            setattr(context, f"{name}_count", 0)
        database.materialised[:] = 0
        database.is_fresh = True
        self._end_order()
        self.release_team()
        for aggregate in self._aggregates:
            aggregate.forget()

    def begin(self, stratum: Stratum) -> None:
        """Update the aggregates that a stratum uses, and enter it. Rows that are not materialised are new to it."""
        for aggregate in stratum.aggregates:
            with self.recorder.measure("aggregation", aggregate.source_rule):
                aggregate.refresh()
        self.enter(stratum)
        self.database.begin_stratum()

    def insert(self, stratum: Stratum, new_rules: Sequence[PlannedRule] = (), progress: Progress | None = None) -> None:
        """Derive, by the rules of the entered stratum, the consequences of unprocessed rows, of the absence of deleted facts, and
        of new rules.
        """
        context = self.database.context
        if self.database.is_fresh:
            put_axioms_first(self.database, stratum.rules.values())
            self._prepare_order()
        if self.inserter is not None and self.recorder.is_on:
            self.inserter(stratum, new_rules, progress)
            self._end_order()
            return
        if self.functions.calculation.is_used:
            self.functions.calculation.read_ahead(context.total - int(self.database.processed.sum()))
        if context.gone_count and stratum.has_blockers:
            context.place = 0
            self.call(native.derive_unblocked)
        if new_rules:
            self.plan_without_trigger(new_rules)
        for planned in new_rules:
            self.call(native.evaluate_rule, self.whole_plan(planned))
        done = self.by_columns.insert(stratum, self.check)
        if done:
            self.leave_out(stratum, done)
        context.pause = BLOCKS_BETWEEN_PROGRESS if progress or current_watch().limits.facts is not None else 0
        context.current = context.block_end = context.passed = context.following = context.turn_begin = 0
        while (status := self.run(native.run)) != DONE:
            self.fulfil(status)
            if status in (PAUSE, WIDE):
                self.database.claim(0)
            if progress:
                done = sum(self.database.processed[: len(self.database.relations)].tolist())
                progress("materialise", done, sum(record.count for record in self.database.relations.records))
        if self.database.is_fresh:
            self._end_order()
        self.release_team()

    def check(self) -> None:
        """End the operation if it exceeds its limits, or has been cancelled."""
        self.watch.check()
        current_watch().check()
        self.database.claim(0)

    def call(self, entry: Callable[..., int], *arguments: int) -> None:
        """Call a kernel until it is done, and fulfil its requests."""
        while (status := self.run(entry, *arguments)) != DONE:
            self.fulfil(status)

    def run(self, entry: Callable[..., int], *arguments: int) -> int:
        """Call a kernel that joins once. Return its status."""
        calculation = self.functions.calculation
        if calculation.is_used:
            return calculation.run(entry, self.database.address, *arguments)
        return entry(self.database.address, *arguments)

    def fulfil(self, status: int) -> None:
        """Fulfil the request of a kernel.

        Raises:
            LimitError, CancelledError: The operation has to end.
        """
        self.watch.check()
        current_watch().check()
        is_shared = status == WIDE
        with self.recorder.measure(_REQUESTS.get(status, "pause")):
            if is_shared:
                wanted = self.database.context.wanted
                status = self._share(wanted) if wanted >= 0 else self._share_deletion(wanted)
            if status == GROW:
                (self._team or self.database).grow()
            elif status == BUILD_INDEX:
                wanted = self.database.context.wanted
                if is_shared or not self.database.postpone(wanted):  # threads do not scan rows in its place
                    self._builder(wanted).build(wanted)
            elif status == UNPLANNED:
                with without_collection():  # plans are kept
                    self.plan_heads(self.database.context.wanted)
            elif status == VALUES:
                self.values.update()
            elif status == FUNCTION_RESULTS:
                if self.functions.answer():
                    self.values.update()
                self.values.expire()

    def _share(self, relation: int) -> int:
        """Let threads process the new rows of a relation. Return a status."""
        team, calculation = self._worker_team(), self.functions.calculation
        return calculation.run(team.process, relation) if calculation.is_used else team.process(relation)

    def _share_deletion(self, which: int) -> int:
        """Let threads work on a list of a deletion, and fulfil their requests."""
        deletion, calculation = self._worker_team().deletion(which), self.functions.calculation
        while calculation.run(deletion.step) if calculation.is_used else deletion.step():
            for status, wanted in deletion.requests:
                self.database.context.wanted = wanted
                if status == BUILD_INDEX:  # threads do not scan rows in its place
                    self._builder(wanted).build(wanted)
                elif status == UNPLANNED:  # threads search again when more is planned
                    with without_collection():
                        self.plan_heads(wanted, None)
                else:
                    self.fulfil(status)
        return DONE

    def _prepare_order(self) -> None:
        """Choose the order of relations in a first materialisation, make room for the rows that they will get at least, and give
        bits for terms to those to which several plans copy many rows.
        """
        database = self.database
        found = triggered_steps(database)
        least = least_rows(database, found)
        likely = likely_rows(database, found, least)
        choose_late_relations(database, found, likely)
        give_bits(database, found, likely, len(self.values.dictionary))
        for relation, count in missing_rows(database, least).items():
            database.reserve(relation, count)

    def _end_order(self) -> None:
        """Process relations in the usual order from now on, and look terms up in hash tables."""
        self.database.context.admitted = self.database.context.latest = 0
        discard_bits(self.database)

    def _builder(self, index: int) -> WorkerTeam | Database:
        """Return the builder of an index: threads if it has enough rows for them."""
        database = self.database
        rows = database.relations[database.indexes[index].relation].count
        return self._worker_team() if self.threads > 1 and rows >= capacities.current.shared_rows else database

    def _worker_team(self) -> WorkerTeam:
        """Return the threads that evaluate rules together."""
        from kg_reasoner.storage.parallel.worker_team import WorkerTeam

        if self._team is None:
            self._team = WorkerTeam(self.database, self.threads)
        return self._team

    def release_team(self) -> None:
        """Discard what threads need to evaluate rules together."""
        if self._team is not None:
            self._team = None
            self.database.relations.words[:, Relation.fields["is_alone"][0]] = 0

    def enter(self, stratum: Stratum) -> None:
        """Evaluate the plans of a stratum from now on."""
        if self._team is not None:
            self.release_team()
        self.enter_plans(stratum)
        self.values.expire()

    def compact(self) -> None:
        """Remove dead rows where there are many, and let relations grow ahead. All rows have been processed."""
        self.database.renew_tables()
