"""Joins with set semantics: patterns that only have to have a match are checked once for each different answer.

A join enumerates the matches of all patterns. Where the last patterns of the join order share only wanted variables with those
before, the first ones are joined, equal answers are dropped, and the kernels look for matches of the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from kg_reasoner.query.extension import extend
from kg_reasoner.query.patterns import AnyPattern, Queries, Solutions, variables_of
from kg_reasoner.storage.grouping import group_rows

__all__ = ["Parts", "parts_of", "solved_as_set"]


class Parts(NamedTuple):
    """The patterns of a join: those that bind the wanted variables, and those whose matches only have to exist."""

    first: Sequence[AnyPattern]
    rest: Sequence[AnyPattern]
    shared: Sequence[str]
    """The variables that both have."""


def parts_of(queries: Queries, patterns: Sequence[AnyPattern], wanted: Collection[str]) -> Parts | None:
    """Return the parts of a join in its order; None if it has no such parts, or repeated answers are unlikely.

    Args:
        queries: The queries of a reasoner, within a reading.
        patterns: The patterns.
        wanted: The variables of the answers, which are wanted once each.
    """
    if len(patterns) < 2 or queries.expands or set(variables_of(patterns)) <= set(wanted):
        return None
    if not queries.are_planned(patterns, "all"):
        return None
    order = [patterns[number] for number in queries.join_order(patterns, "all")]
    for count in range(1, len(order)):
        first, rest = order[:count], order[count:]
        mine, others = set(variables_of(first)), variables_of(rest)
        shared = [name for name in others if name in mine]
        if shared and mine.issuperset(wanted) and set(shared) <= set(wanted) < mine:
            return Parts(first, rest, shared)
    return None


def solved_as_set(queries: Queries, parts: Parts, wanted: Sequence[str]) -> Solutions:
    """Return the different values of variables in the matches of a join.

    Args:
        queries: The queries of a reasoner, within a reading.
        parts: The parts of the join.
        wanted: The variables.
    """
    inner = parts_of(queries, parts.first, wanted)
    if inner is None:
        rows = queries.solve(parts.first, "all", None, wanted).columns(wanted)
        rows = rows.take(group_rows(rows)[1], axis=0)
    else:
        rows = solved_as_set(queries, inner, wanted).rows
    found, _, _ = extend(queries, parts.rest, rows[:, [wanted.index(name) for name in parts.shared]], parts.shared, (), once=True)
    return Solutions(wanted, rows.take(np.unique(found), axis=0))
