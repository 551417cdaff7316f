"""The indexes that semi-naive evaluation will need soon, so that they can be built at the same time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kg_reasoner.storage.arrays import Numbers
from kg_reasoner.storage.kernels.layout import COMPARE, EMPTY, PROBE, Relation, Step
from kg_reasoner.storage.kernels.primitives import mix
from kg_reasoner.storage.preparation.triggered_steps import field_of, triggered_steps
from kg_reasoner.storage.relations.indexes import IndexedRelations

__all__ = ["soon_wanted"]


def soon_wanted(database: IndexedRelations, rows: Numbers | None = None, done: Sequence[int] = ()) -> list[int]:
    """Return unbuilt indexes that the entered plans need when the new rows of all relations are processed in turn.

    A plan needs its indexes if every other atom of its body has rows that are processed before those that trigger it, and no guard
    is without entries (see `kernels.readiness`). New facts may ask for further indexes.

    Args:
        database: The database.
        rows: The expected number of rows of each relation; None: as many as there are.
        done: The relations that will have been processed before, in order.
    """
    count, context = len(database.relations), database.context
    processed = np.array(database.processed[:count])
    rows = field_of(database.relations, Relation, "count") if rows is None else rows
    before = np.array(done, np.int64)
    processed[before] = rows[before]
    turn = (np.arange(count) - (done[-1] if done else context.current)) % count
    if context.latest:
        lateness = field_of(database.relations, Relation, "lateness")
        turn = turn + count * np.where(lateness > context.admitted, lateness, 0)
    _, owners, steps, plan_of_step = triggered_steps(database, rows > processed)
    kind, relation, index, newest, negated, guard, guard_key = (
        steps[:, Step.fields[name][0]] for name in ("kind", "relation", "index", "newest", "negated", "guard", "guard_key")
    )
    own = owners[plan_of_step]
    has_own_rows = (newest > 0) | (rows[own] > context.block_rows)
    has_rows = (processed[relation] > 0) | ((rows[relation] > 0) & (turn[relation] < turn[own]))
    is_met = (kind >= COMPARE) | (negated > 0) | np.where(relation == own, has_own_rows, has_rows)
    is_ready = np.bincount(plan_of_step, ~is_met, len(owners)) == 0
    guarded = np.flatnonzero(is_ready[plan_of_step] & (guard >= 0))
    wanted = set(guard[guarded].tolist())
    is_passed = {
        pair: _is_passed(database, *pair) for pair in set(zip(guard[guarded].tolist(), guard_key[guarded].tolist(), strict=True))
    }
    stopped = [step for step in guarded.tolist() if not is_passed[int(guard[step]), int(guard_key[step])]]
    is_ready[plan_of_step[stopped]] = False
    wanted.update(index[is_ready[plan_of_step] & (kind == PROBE)].tolist())
    return sorted(number for number in wanted if not database.indexes[number].built)


def _is_passed(database: IndexedRelations, guard: int, key: int) -> bool:
    """Return whether an index that is a guard is built, and has entries of a key, or any entries if it is EMPTY."""
    index = database.indexes[guard]
    if not index.built or key == EMPTY:
        return bool(index.built and index.used)
    slot = mix(key) & index.mask
    while index.keys[slot] not in (key, EMPTY):
        slot = (slot + 1) & index.mask
    return bool(index.keys[slot] == key)
