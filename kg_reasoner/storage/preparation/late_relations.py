"""The order of relations in a first materialisation: those whose rows find the other atoms of rules at the least cost come late.

The rows of a relation join those that have been processed before, so that the last relation of a rule's body does all the work. Of
``Student(?x) :- Person(?x), takes(?x, ?y), Course(?y)``, the rows of ``takes`` need two look-ups each. If they come before persons
or courses, each of these is looked for in an index of all rows of ``takes``. Where many rules join classes with ``takes``, they
share this index, which then costs less than a look-up of each row for each rule.

Where an atom shares no variable with the others, all its rows are scanned for each row. So a relation whose rows are compared
before the scan comes later: few of them remain.

Small relations that are joined, or copied to themselves, wait for those that are only copied to others, which threads share best
without others between them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage.arrays import Numbers
from kg_reasoner.storage.kernels.layout import COMPARE, PROBE, SCAN, Plan, Relation, Step
from kg_reasoner.storage.preparation.triggered_steps import TriggeredSteps, field_of
from kg_reasoner.storage.relations.indexes import IndexedRelations

__all__ = ["choose_late_relations"]

_BUILDING: Final = 2
"""The cost of adding a row to an index, as a multiple of the cost of processing a new row."""
_CHECKED: Final = 0.1
"""The share of the rows that are assumed to pass the checks before a scan."""
_FACTOR: Final = 4
"""Relations are equally late if their gains differ by less than about this factor."""


def choose_late_relations(database: IndexedRelations, found: TriggeredSteps, rows: Numbers) -> None:
    """Choose the lateness of all relations. A table of all triples is processed in its turn, as it joins above all itself.

    Args:
        database: The database, which is fresh.
        found: The plans of the stratum.
        rows: About how many rows relations will have.
    """
    gain, few = _gains(found, rows), database.context.block_rows
    copies, head = (found.plans[:, Plan.fields[name][0]] for name in ("copies", "head_relation"))
    joined = np.bincount(found.owners, (copies == 0) | (head == found.owners), len(rows)) > 0
    steps = np.where(joined & (rows <= few) & (gain > -few), 1, 0)
    late = np.flatnonzero(gain > 0)
    steps[late] = 2 + np.log(np.maximum(gain[late], 1)) // np.log(_FACTOR)
    ranks = np.cumsum(np.bincount(steps) > 0) - 1
    lateness, columns = (field_of(database.relations, Relation, name) for name in ("lateness", "section_column"))
    lateness[:] = 0 if (columns >= 0).any() else ranks[steps]
    database.context.admitted, database.context.latest = 0, int(lateness.max(initial=0))


def _gains(found: TriggeredSteps, rows: Numbers) -> npt.NDArray[np.float64]:
    """Return the gain of processing each relation last: for all its rules, the mean cost over the relations that can come last,
    less the cost if it does itself.

    The cost of an index is divided among the plans that use it. It is none if plans for rows of the same relation need the index.
    """
    relation, kind, negated = (found.steps[:, Step.fields[name][0]] for name in ("relation", "kind", "negated"))
    own = found.owners[found.plan_of_step]
    joined = (kind < COMPARE) & (negated == 0) & (relation != own)
    joins = np.bincount(found.plan_of_step, joined, len(found.plans)) > 0
    time = rows[found.owners].astype(np.float64)
    probes = np.flatnonzero(joined & (kind == PROBE))
    needed = found.steps[(kind == PROBE) & (relation == own), Step.fields["index"][0]]
    index = found.steps[probes, Step.fields["index"][0]]
    shares = _BUILDING / np.bincount(index)[index]
    shares[np.isin(index, needed)] = 0
    np.add.at(time, found.plan_of_step[probes], shares * rows[relation[probes]])
    scans = np.flatnonzero(joined & (kind == SCAN))
    checks = np.cumsum(kind >= COMPARE)
    first = np.searchsorted(found.plan_of_step, found.plan_of_step[scans])
    share = np.where(checks[scans] > checks[first] - (kind[first] >= COMPARE), _CHECKED, 1)
    np.add.at(time, found.plan_of_step[scans], share * rows[own[scans]] * rows[relation[scans]])
    time, owners, rule = time[joins], found.owners[joins], found.plans[joins, Plan.fields["rule"][0]]
    mean = np.bincount(rule, time) / np.maximum(np.bincount(rule), 1)
    return np.bincount(owners, mean[rule] - time, len(rows)).astype(np.float64)
