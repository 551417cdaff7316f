"""Transitive closures, from the triples that are new.

A rule ``p[?x, ?z] :- p[?x, ?y], p[?y, ?z]`` takes as many iterations as the longest path has doublings, and derives a pair once for
each node between its ends. Here, the driver closes a few steps; tasks search graphs that one process holds; and larger graphs are
closed by steps of doubling length: the pairs at most 2k steps apart are those at most k steps apart, and those that begin with
exactly k steps, so that a pair is derived once for each node that far away (Ioannidis, On the Computation of the Transitive Closure
of Relational Operators, 1986). A path with something new begins with old steps, if any, and goes on with new ones, each followed by
old steps, if any: so only what is new is extended.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from kg_reasoner.spark_backend.exec.evaluation.closure_search import searched
from kg_reasoner.spark_backend.exec.facts.run_facts import FactFrames
from kg_reasoner.spark_backend.exec.facts.skew import salted_join
from kg_reasoner.spark_backend.io.columns import OBJECT, PREDICATE, SUBJECT, TRIPLE_COLUMNS, local_frame
from kg_reasoner.spark_backend.io.workspace import StoredStep, WorkDirectory, rows_of
from kg_reasoner.spark_backend.plan.graph_search import StepGraph
from kg_reasoner.spark_backend.plan.transitive_properties import few_closed
from kg_reasoner.terms import Term

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Closed", "close"]

FEW_STEPS: Final = 100_000
"""The maximum number of steps that are sent to the driver, and from there to all tasks."""

FEW_CLOSED: Final = 200_000
"""The driver closes them, as long as the closure has no more pairs."""


class Closed(NamedTuple):
    """Triples of a transitive closure."""

    rows: DataFrame
    are_new: bool
    """Whether each is there once, and was not known."""


def close(facts: FactFrames, properties: frozenset[Term], workspace: WorkDirectory, *, is_first: bool) -> Closed | None:
    """Return the transitive closure of properties, as far as it may be new, or None.

    Args:
        facts: The old ones are closed already.
        properties: The transitive properties.
        workspace: The folder for intermediate steps.
        is_first: Whether all facts are new.
    """
    new = facts.triples_of(properties, "all" if is_first else "delta")
    if new is None:
        return None
    old = None if is_first else facts.triples_of(properties, "old")
    one = workspace.step("steps", lambda: _united(new, None if old is None else _joined(new, old)))
    if not one.count:
        return None
    if one.count <= FEW_STEPS:
        further = _by_searching(one.rows)
    else:
        further = _by_doubling(workspace, one.rows, _Hubs(facts.heavy(properties, OBJECT), facts.heavy(properties, SUBJECT)))
    if old is None:
        return None if further is None else Closed(further, are_new=True)
    closed = one.rows if further is None else one.rows.unionByName(further)
    return Closed(_united(closed, _joined(old, closed)), are_new=False)


def _united(one: DataFrame, other: DataFrame | None) -> DataFrame:
    return (one if other is None else one.unionByName(other)).distinct()


class _Hubs(NamedTuple):
    """Nodes where many steps end, and where many begin."""

    ends: frozenset[str] = frozenset()
    begins: frozenset[str] = frozenset()


_NO_HUBS: Final = _Hubs()


def _joined(one: DataFrame, other: DataFrame, hubs: _Hubs = _NO_HUBS) -> DataFrame:
    """Return the pairs that a step of each connects."""
    from pyspark.sql import functions as F

    left = one.select(SUBJECT, PREDICATE, F.col(OBJECT).alias("middle"))
    right = other.select(F.col(SUBJECT).alias("middle"), PREDICATE, OBJECT)
    shared = ["middle", PREDICATE]
    if hubs.ends:
        joined = salted_join(left, right, shared, "middle", hubs.ends)
    elif hubs.begins:
        joined = salted_join(right, left, shared, "middle", hubs.begins)
    else:
        joined = left.join(right, shared)
    return joined.select(*TRIPLE_COLUMNS)


def _by_searching(rows: DataFrame) -> DataFrame | None:
    """Return the pairs of the closure of a few steps that are not steps."""
    steps = [(row[SUBJECT], row[PREDICATE], row[OBJECT]) for row in rows.collect()]
    found = few_closed(steps, FEW_CLOSED)
    if found is None:
        return searched(rows.sparkSession, StepGraph(steps))
    further = sorted(found.difference(steps))
    return local_frame(rows.sparkSession, further, ", ".join(f"{name} string" for name in TRIPLE_COLUMNS)) if further else None


def _by_doubling(workspace: WorkDirectory, rows: DataFrame, hubs: _Hubs) -> DataFrame | None:
    """Return the pairs of the closure of steps that are not steps."""
    found: list[StoredStep] = []
    length, total = rows, rows
    while True:
        number = len(found) + 1
        reached = workspace.step(f"doubling-{number}", partial(_further, length, total, hubs))
        if not reached.count:
            return rows_of(found) if found else None
        found.append(reached)
        length = workspace.step(f"length-{number}", partial(_twice, length, hubs)).rows
        total = rows.unionByName(rows_of(found))


def _further(length: DataFrame, total: DataFrame, hubs: _Hubs) -> DataFrame:
    return _joined(length, total, hubs).distinct().join(total, list(TRIPLE_COLUMNS), "left_anti")


def _twice(length: DataFrame, hubs: _Hubs) -> DataFrame:
    return _joined(length, length, hubs).distinct()
