"""The sizes that relations will have when others have been copied to them, before a first materialisation begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage.arrays import Numbers
from kg_reasoner.storage.kernels.layout import Plan, Relation
from kg_reasoner.storage.preparation.triggered_steps import TriggeredSteps, field_of
from kg_reasoner.storage.relations.indexes import IndexedRelations

__all__ = ["least_rows", "likely_rows", "missing_rows"]

_LEAST: Final = 256
"""Fewer rows than this are left to the growth of tables."""
_STEPS: Final = 8
"""The length of the chains of plans that are followed."""


def least_rows(database: IndexedRelations, found: TriggeredSteps) -> Numbers:
    """Return how many rows each relation has at least after plans that copy whole rows (subclasses, subproperties, inverses).

    Each row of such a plan yields a head of its own, so the head's relation gets at least as many rows as the one that is copied.

    Args:
        database: The database.
        found: The plans.
    """
    count, dead, arity = (field_of(database.relations, Relation, name) for name in ("count", "dead", "arity"))
    copies, head, left, right = _fields(found, "copies", "head_relation", "first_column", "second_column")
    source = found.owners
    is_whole = (copies > 0) & (arity[head] == arity[source]) & ((arity[source] == 1) | (left != right))
    return _copied(count - dead, source[is_whole], head[is_whole])


def likely_rows(database: IndexedRelations, found: TriggeredSteps, least: Numbers) -> Numbers:
    """Return about how many rows each relation has after all plans that copy columns, half of whose terms differ.

    Args:
        database: The database.
        found: The plans.
        least: See `least_rows`.
    """
    arity = field_of(database.relations, Relation, "arity")
    copies, head = _fields(found, "copies", "head_relation")
    source, head = found.owners[copies > 0], head[copies > 0]
    return _copied(least, source, head, (arity[head] < arity[source]).astype(np.int64))


def missing_rows(database: IndexedRelations, least: Numbers) -> Mapping[int, int]:
    """Return for how many further rows relations need room, where these are not few.

    Args:
        database: The database.
        least: See `least_rows`.
    """
    more = least - field_of(database.relations, Relation, "count")
    return {number: int(more[number]) for number in np.flatnonzero((least >= _LEAST) & (more > 0)).tolist()}


def _fields(found: TriggeredSteps, *names: str) -> list[npt.NDArray[np.int64]]:
    return [found.plans[:, Plan.fields[name][0]] for name in names]


def _copied(rows: Numbers, source: Numbers, head: Numbers, halvings: Numbers | int = 0) -> Numbers:
    """Return the numbers of rows when relations have been copied to others, each halved some times."""
    found = rows.copy()
    for _ in range(_STEPS):
        before = found.copy()
        np.maximum.at(found, head, found[source] >> halvings)
        if (found == before).all():
            break
    return found
