"""The order of relations in a first materialisation: those come late whose rows find what a rule joins at least cost.

The rows of a relation join those that have been processed before, so that the last relation of a rule's body does all the work. Of
``Student(?x) :- Person(?x), takes(?x, ?y), Course(?y)``, the rows of ``takes`` need two look-ups each. If they come before persons
or courses, each of these is looked for in an index of all rows of ``takes``. Where many rules join classes with ``takes``, they
share this index, which then costs less than a look-up of each row for each rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage.arrays import Numbers
from kg_reasoner.storage.indexes import IndexedRelations
from kg_reasoner.storage.kernels.layout import COMPARE, PROBE, Plan, Relation, Step
from kg_reasoner.storage.triggered_steps import field_of, triggered_steps

__all__ = ["choose_late_relations"]

_BUILDING: Final = 2
"""The time that it takes to add a row to an index, where that to look at a new row is one."""
_STEPS: Final = 8
"""The length of the chains of plans by which rows are estimated."""
_FACTOR: Final = 4
"""Relations are equally late if their gains differ by less than about this factor."""


def choose_late_relations(database: IndexedRelations, more: Mapping[int, int]) -> None:
    """Choose the lateness of all relations.

    Args:
        database: The database, which is fresh, with the plans of the stratum.
        more: The numbers of rows that relations will certainly get.
    """
    rows = field_of(database.relations, Relation, "count").copy()
    for relation, count in more.items():
        rows[relation] += count
    gain = _gains(database, rows)
    lateness = field_of(database.relations, Relation, "lateness")
    lateness[:] = 0
    late = np.flatnonzero(gain > 0)
    if len(late):
        steps = np.log(gain[late]) // np.log(_FACTOR)
        lateness[late] = 1 + np.unique(steps, return_inverse=True)[1]
    database.context.admitted, database.context.latest = 0, int(lateness.max(initial=0))


def _gains(database: IndexedRelations, rows: Numbers) -> npt.NDArray[np.float64]:
    """Return, for each relation, how much less time its rows need as the last ones of rules than those of other relations do, on
    average. The cost of an index is divided among the plans that use it; the rows of its own relation need it in any case.
    """
    found = triggered_steps(database)
    relation, kind, negated = (found.steps[:, Step.fields[name][0]] for name in ("relation", "kind", "negated"))
    own = found.owners[found.plan_of_step]
    joined = (kind < COMPARE) & (negated == 0) & (relation != own)
    joins = np.bincount(found.plan_of_step, joined, len(found.plans)) > 0
    rows = _estimated(found.plans, found.owners, rows, field_of(database.relations, Relation, "arity"))
    time = rows[found.owners].astype(np.float64)
    probes = np.flatnonzero(joined & (kind == PROBE))
    needed = found.steps[(kind == PROBE) & (relation == own), Step.fields["index"][0]]
    index = found.steps[probes, Step.fields["index"][0]]
    shares = _BUILDING / np.bincount(index)[index]
    shares[np.isin(index, needed)] = 0
    np.add.at(time, found.plan_of_step[probes], shares * rows[relation[probes]])
    time, owners, rules = time[joins], found.owners[joins], found.plans[joins, Plan.fields["rule"][0]]
    _, rule = np.unique(rules, return_inverse=True)
    mean = np.bincount(rule, time) / np.bincount(rule)
    return np.bincount(owners, mean[rule] - time, len(rows)).astype(np.float64)


def _estimated(plans: npt.NDArray[np.int64], owners: Numbers, rows: Numbers, arity: Numbers) -> Numbers:
    """Return about how many rows relations will have when others have been copied to them; half of the terms in a column differ."""
    copies, head = (plans[:, Plan.fields[name][0]] for name in ("copies", "head_relation"))
    source, head = owners[copies > 0], head[copies > 0]
    shift = (arity[head] < arity[source]).astype(np.int64)
    found = rows.copy()
    for _ in range(_STEPS):
        before = found.copy()
        np.maximum.at(found, head, found[source] >> shift)
        if (found == before).all():
            break
    return found
