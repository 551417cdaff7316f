"""Collect the changes of an update."""

from __future__ import annotations

from itertools import pairwise

from kg_reasoner.engine.maintenance import ChangedFacts, Work
from kg_reasoner.storage.kernels.layout import ROW
from kg_reasoner.storage.relation import Database


def collect(database: Database, work: Work) -> None:
    """Collect the facts that an update has added, removed, and made explicit or no longer explicit. Their flags still exist."""
    facts, kinds = database.changes()
    if len(facts) == 0:
        return
    groups = (facts >> 32 << 2) + (kinds >> 1)
    order = groups.argsort(kind="stable")
    facts, groups, explicit = facts[order], groups[order], kinds[order] & 1 > 0
    starts = ((groups[1:] != groups[:-1]).nonzero()[0] + 1).tolist()
    for first, end in pairwise([0, *starts, len(facts)]):
        relation, kind = divmod(int(groups[first]), 4)
        rows = database.rows_at(relation, facts[first:end] & ROW)
        (work.added, work.removed, work.restated)[kind].append(ChangedFacts(relation, rows, explicit[first:end]))
