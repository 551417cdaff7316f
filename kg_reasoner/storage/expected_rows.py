"""A lower bound of the rows that copying plans will derive, so that the tables of their heads are allocated once."""

from __future__ import annotations

from typing import Final

import numpy as np

from kg_reasoner.storage.arrays import ranges
from kg_reasoner.storage.indexes import IndexedRelations
from kg_reasoner.storage.kernels.layout import Plan, Relation, Section

__all__ = ["expected_copies"]

_LEAST: Final = 256
"""Fewer rows than this are left to the growth of tables."""
_STEPS: Final = 8
"""The length of the chains of such plans that are followed."""


def expected_copies(database: IndexedRelations) -> dict[int, int]:
    """Return how many further rows relations get at least from plans that copy whole rows (subclasses, subproperties, inverses).

    Each row of such a plan yields a head of its own, so the head's relation gets at least as many rows as the one that is copied.
    """
    count = len(database.relations)
    words = database.relations.words[:count]
    rows, dead, arity, sections = (words[:, Relation.fields[name][0]] for name in ("count", "dead", "arity", "section"))
    bounds = database.sections.words[sections]
    first, end = (bounds[:, Section.fields[f"{which}_trigger"][0]] for which in ("first", "end"))
    sizes = end - first
    source = np.repeat(np.arange(count), sizes)
    plans = database.plans.words[np.asarray(database.context.triggers)[ranges(first, sizes)]]
    copies, head, left, right = (
        plans[:, Plan.fields[name][0]] for name in ("copies", "head_relation", "first_column", "second_column")
    )
    is_whole = (copies > 0) & (arity[head] == arity[source]) & ((arity[source] == 1) | (left != right))
    source, head = source[is_whole], head[is_whole]
    expected = rows - dead
    for _ in range(_STEPS):
        before = expected.copy()
        np.maximum.at(expected, head, expected[source])
        if (expected == before).all():
            break
    more = expected - rows
    return {number: int(more[number]) for number in np.flatnonzero((expected >= _LEAST) & (more > 0)).tolist()}
