"""Rematerialisation from the explicit facts, the baseline for the other strategies."""

from __future__ import annotations

import numpy as np

from kg_reasoner.engine.evaluation.counters import Counters
from kg_reasoner.engine.evaluation.materialiser import Materialiser
from kg_reasoner.engine.maintenance import ChangedFacts, Finder, Maintenance, Work
from kg_reasoner.progress import Progress
from kg_reasoner.storage.arrays import Flags, Rows, contains, selected_rows
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT


class Rematerialise:
    """Rematerialises everything after each change.

    Args:
        materialiser: The materialiser of the database.
        other: A strategy that needs to start over, which then derives everything; it finds no materialised rows.
    """

    def __init__(self, materialiser: Materialiser, other: Maintenance | None = None) -> None:
        self.materialiser = materialiser
        self.database = materialiser.database
        self.other = other

    def needs_restart(self) -> bool:
        """See `Maintenance.needs_restart`."""
        return False

    @property
    def counters(self) -> Counters:
        """Rule applications so far; all of them are insertions."""
        return Counters(insertion=self.database.context.instances)

    def expect(self, find: Finder | None) -> None:
        """See `Maintenance.expect`; what comes next makes no difference here."""

    def apply(self, work: Work) -> None:
        """See `Maintenance.apply`."""
        materialiser = self.materialiser
        relations = range(len(self.database.relations)) if work.collects else ()
        before = {relation: self.database.materialised_facts(relation) for relation in relations}
        if not self.database.is_fresh:
            materialiser.restart()
        if self.other is not None:
            self.other.apply(Work(progress=work.progress))
        else:
            self._derive(work.progress)
        if work.collects:
            self._compare(before, work)

    def _derive(self, progress: Progress | None) -> None:
        materialiser, context = self.materialiser, self.database.context
        for stratum in materialiser.make_strata():
            materialiser.begin(stratum)
            materialiser.insert(stratum, [rule for rule in stratum.rules.values() if not rule.triggers], progress)
        self.database.mark_materialised()
        context.removed_count = context.claimed_count = 0

    def _compare(self, before: dict[int, tuple[Rows, Flags]], work: Work) -> None:
        for relation in range(len(self.database.relations)):
            after, flags = self.database.rows(relation), self.database.flags(relation)
            explicit = (flags[(flags & ABSENT) == 0] & EXPLICIT) > 0
            earlier, was_explicit = before.get(relation, (after[:0], explicit[:0]))
            is_old, stays = contains(earlier, after), contains(after, earlier)
            work.added.append(ChangedFacts(relation, selected_rows(after, ~is_old), explicit[~is_old]))
            work.removed.append(ChangedFacts(relation, selected_rows(earlier, ~stays), was_explicit[~stays]))
            for value in (True, False):
                now = selected_rows(after, is_old & (explicit == value))
                changed = contains(selected_rows(earlier, was_explicit != value), now)
                work.restated.append(ChangedFacts(relation, now[changed], np.full(int(changed.sum()), value)))
