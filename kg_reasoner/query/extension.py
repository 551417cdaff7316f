"""Solutions extended by patterns: for each of some solutions, the matches of a basic graph pattern that agree with it.

The kernels follow the indexes from each solution. This is how OPTIONAL, EXISTS and MINUS are evaluated where the patterns can be
planned together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from kg_reasoner.concurrency.limits import NOBODY, current_watch
from kg_reasoner.query.batched_matches import fetched_in_batches, slots_of
from kg_reasoner.query.patterns import AnyPattern, Queries
from kg_reasoner.query.quads import GRAPH_COLUMN
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate

__all__ = ["extend", "reached"]


def extend(
    queries: Queries,
    patterns: Sequence[AnyPattern],
    seeds: Ids,
    names: Sequence[str],
    wanted: Collection[str] | None = None,
    *,
    once: bool = False,
) -> tuple[Numbers, list[str], Ids]:
    """Return the matches of patterns that agree with solutions.

    Args:
        queries: The queries of a reasoner, within a reading.
        patterns: Patterns that `Queries.are_planned` together.
        seeds: The solutions, as ids of terms in the dictionary, shape (n, names).
        names: The variables of their columns, all of which occur in the patterns.
        wanted: The other variables whose values are wanted; by default, all.
        once: Whether one match of each solution is sufficient.

    Returns:
        For each match, the number of its solution, in order; the names of the other variables; their values, shape (m, names).
    """
    new = [name for name in queries.needed(patterns, wanted) if name not in names]
    numbered = np.concatenate([np.arange(len(seeds), dtype=np.int32)[:, None], seeds], axis=1)
    numbered = queries.proper(patterns, ["", *names], numbered)
    atoms = queries.atoms_of(patterns)
    if atoms is None or not len(numbered):
        return np.empty(0, np.int64), new, np.empty((0, len(new)), np.int32)
    seeds = numbered[:, 1:]
    first = once and not any(name not in names for name in queries.needed(patterns, ()))
    with queries.planned(atoms, new, names, exact=not once)() as (workspace, plan):
        found = fetched_in_batches(workspace, plan, slots_of(atoms, names), len(new), seeds=seeds, once=first)
    found = queries.proper(patterns, [*new, ""], found)
    return numbered[found[:, -1], 0].astype(np.int64), new, found[:, :-1]


def reached(queries: Queries, pattern: AnyPattern, start: int) -> Ids:
    """Return the nodes to which a pattern leads from a node, from those to which it leads from there, and so on, in order.

    Args:
        queries: The queries of a reasoner, within a reading.
        pattern: A pattern that can be planned, with the variables ``from`` and ``to``.
        start: The node.
    """
    atoms = queries.atoms_of([pattern])
    if atoms is None:
        return np.empty(0, np.int32)
    watch, first_bytes = current_watch(), queries.catalog.dictionary.first_bytes()
    nodes, marks = allocate(len(first_bytes) + 1, np.int32), allocate(len(first_bytes), np.uint8, 0)
    nodes[0] = start
    is_checked = len(pattern) == GRAPH_COLUMN and not queries.matcher.generalised
    with queries.planned(atoms, ["to"], ["from"], exact=False)() as (workspace, plan):
        if watch is not NOBODY:
            watch.attach(workspace.context)
        try:
            workspace.start(plan)
            subject = pattern[0] if is_checked else None
            count = native.follow_plan(
                workspace.address,
                address(nodes),
                1,
                address(marks),
                address(first_bytes),
                int(subject == "from"),
                int(subject == "to"),
            )
            watch.check(count, 4 * count)
        finally:
            if watch is not NOBODY:
                watch.detach(workspace.context)
    return np.sort(np.asarray(nodes[1:count]))
