"""Counting: the number of derivations of each fact, by iteration (algorithm and sources: `derivation_counts`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.evaluation.planned_rules import PlannedRule
from kg_reasoner.engine.maintenance import Finder, Work
from kg_reasoner.engine.maintenance.collect import collect
from kg_reasoner.engine.maintenance.rematerialise import Rematerialise
from kg_reasoner.engine.maintenance.strata import delete_underived, of_level
from kg_reasoner.storage.arrays import Numbers
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import DONE, GROW, Relation
from kg_reasoner.storage.kernels.memory.buffers import allocate

ROOMS = {"pool_of_tallies": "tally_room", "events": "event_room", "adjusted": "adjusted_room", "touched": "touched_room"}
"""The pools of the context, and the fields with their capacities."""
_LEVEL: Final = Relation.fields["level"][0]
_RANKED: Final = Relation.fields["ranked"][0]


class Counting:
    """Counts derivations. It evaluates only changed rule instances, each once, and needs memory for the counts.

    When a change of rules moves relations to other strata, it counts all derivations again. As ranks are for one stratum of a
    relation, nothing is counted where triples of one table are derived in several strata, and each update starts over.
    """

    def __init__(self, materialiser: Materialiser) -> None:
        self.materialiser = materialiser
        self.database = materialiser.database
        materialiser.exact = True
        self.database.rank()
        self._levels: Numbers = np.empty(0, np.int64)
        """The level of each relation, see `Stratum`, or -1."""
        self._noted: tuple[int, int] | None = None
        """The version of the rules, and the number of relations, that these are the levels for."""
        self._has_counts = False
        """Whether the derivations of the materialisation are counted."""
        self._pools: dict[str, int] = {}
        context = self.database.context
        for name in ROOMS:
            self._resize(name, 64)
        context.agenda, context.agenda_room = allocate(64, np.int64, -1), 64
        context.tally_free = -1

    @property
    def counters(self) -> Counters:
        """Rule instances that were added, removed or moved to another iteration; all count as insertions."""
        return Counters(insertion=self.database.context.instances)

    def expect(self, find: Finder | None) -> None:
        """See `Maintenance.expect`; what comes next makes no difference here."""

    def apply(self, work: Work) -> None:
        """See `Maintenance.apply`."""
        materialiser, database, context = self.materialiser, self.database, self.database.context
        strata = materialiser.make_strata()
        self._has_counts = not materialiser.is_mixed
        if not self._has_counts:
            Rematerialise(materialiser).apply(work)
            return
        fresh = self.database.is_fresh
        if fresh:
            context.tally_count, context.tally_free = 0, -1
            context.event_count = context.touched_count = context.time = context.last_time = 0
            context.agenda[:] = -1
        else:
            database.make_lists()
            delete_underived(materialiser, work)
        state = materialiser.version, len(database.relations)
        has_levels = state == self._noted and not fresh
        if not has_levels:
            self._note_levels(fresh)
        for stratum in strata:
            materialiser.begin(stratum)
            database.make_lists()
            self._call(native.begin_counting)
            for planned in of_level(database, work.gone_rules, stratum.level):
                self._count(planned, removes=True)
            late = [rule for rule in stratum.rules.values() if not rule.triggers] if fresh else work.new_rules
            for planned in of_level(database, late, stratum.level):
                self._count(planned, removes=False)
            with materialiser.recorder.measure("counting"):
                self._call(native.count_changes)
            database.make_lists()
            native.finish_counting(database.address)
        if work.collects:
            collect(database, work)
        native.finish_update(database.address)
        if not has_levels:
            words = database.relations.words[: len(self._levels)]
            words[self._levels < 0, _RANKED] = -1
            self._noted = state
        database.mark_materialised()

    def _note_levels(self, fresh: bool) -> None:
        """Update ranks and counts for the strata: relations that rules derive for the first time get ranks, and those that no rule
        derives any more lose their counts.
        """
        database, known = self.database, self._levels
        words = database.relations.words[: len(database.relations)]
        levels = words[:, _LEVEL].copy()
        derived = levels >= 0
        if not fresh:
            first = derived.copy()
            first[: len(known)] &= known < 0
            for relation in np.flatnonzero(first).tolist():
                native.rank_explicit(database.address, relation)
            for relation in np.flatnonzero((known >= 0) & ~derived[: len(known)]).tolist():
                native.forget_counts(database.address, relation)
        words[derived, _RANKED] = levels[derived]
        self._levels = levels

    def needs_restart(self) -> bool:
        """Return whether relations with counts have moved to other strata, or derivations are to be counted that were not."""
        if not self._has_counts:
            return True
        relations, known = self.database.relations, self._levels
        if self._noted == (self.materialiser.version, len(relations)):
            return False
        levels = relations.words[: len(known), _LEVEL]
        return bool(((known >= 0) & (levels >= 0) & (levels != known)).any())

    def _count(self, planned: PlannedRule, *, removes: bool) -> None:
        """Count all instances of a new rule, or discount those of a removed one."""
        with self.materialiser.recorder.measure("counting", planned.source_rule):
            self._call(native.count_rule, self.materialiser.whole_plan(planned), int(removes))

    def _call(self, entry: Callable[..., int], *arguments: int) -> None:
        while (status := self.materialiser.run(entry, *arguments)) != DONE:
            if status != GROW or not self._grow():
                self.materialiser.fulfil(status)

    def _grow(self) -> bool:
        """Allocate room in full pools. Return False if none is full, so a relation must be."""
        context = self.database.context
        grown = False
        changed = context.gone_count + context.removed_count + context.claimed_count + self.database.new_row_count()
        adjusted = context.adjusted_count
        wanted = {
            "pool_of_tallies": context.tally_count + 3 * adjusted,
            "events": context.event_count + 4 * adjusted + 4 + 2 * changed,
            "adjusted": 3 * adjusted + 3,
            "touched": context.touched_count + 1 + changed,
        }
        for name, need in wanted.items():
            if need > self._pools[name]:
                self._resize(name, 2 * need)
                grown = True
        last = int(np.max(np.asarray(context.adjusted)[: 3 * adjusted].reshape(-1, 3)[:, 1:], initial=0))
        if last >= context.agenda_room:
            room = 2 * last + 2
            agenda = allocate(room, np.int64, -1)
            agenda[: context.agenda_room] = context.agenda[: context.agenda_room]
            context.agenda, context.agenda_room = agenda, room
            grown = True
        return grown

    def _resize(self, name: str, room: int) -> None:
        context = self.database.context
        grown = allocate(room, np.int64)
        used = self._pools.get(name, 0)
        if used:
            grown[:used] = getattr(context, name)[:used]
        setattr(context, name, grown)
        setattr(context, ROOMS[name], room)
        self._pools[name] = room
