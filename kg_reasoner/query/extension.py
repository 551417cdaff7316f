"""Solutions extended by patterns: for each of some solutions, the matches of a basic graph pattern that agree with it.

The kernels follow the indexes from each solution. This is how OPTIONAL, EXISTS and MINUS are evaluated where the patterns can be
planned together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from kg_reasoner.concurrency.limits import NOBODY, current_watch
from kg_reasoner.planning.catalog import StoredAtom
from kg_reasoner.query.patterns import CHUNK, FIRST_CHUNK, AnyPattern, Queries
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory import address, allocate

__all__ = ["extend"]


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
    rows: list[Ids] = [np.empty((0, 1 + len(new)), np.int32)]
    atoms = queries.atoms_of(patterns)
    if atoms is not None and len(numbered):
        stops_early = once and not any(name not in names for name in queries.needed(patterns, ()))
        rows += _matches(queries, atoms, numbered[:, 1:], names, new, exact=not once, stops_early=stops_early)
    found = queries.proper(patterns, ["", *new], np.concatenate(rows))
    return numbered[found[:, 0], 0].astype(np.int64), new, found[:, 1:]


def _matches(
    queries: Queries,
    atoms: Sequence[StoredAtom],
    seeds: Ids,
    names: Sequence[str],
    new: Sequence[str],
    *,
    exact: bool,
    stops_early: bool,
) -> Iterator[Ids]:
    """Yield blocks of matches: the number of a seed, and the values of new variables."""
    watch = current_watch()
    given, state = allocate(seeds.size, np.int32), allocate(2, np.int64, 0)
    given[: seeds.size] = seeds.reshape(-1)
    width = 1 + len(new)
    with queries.planned(atoms, new, names, exact=exact)() as (workspace, plan):
        if watch is not NOBODY:
            watch.attach(workspace.context)
        try:
            workspace.start(plan)
            capacity = count = min(CHUNK, max(FIRST_CHUNK, len(seeds)))
            total = 0
            while count == capacity:
                capacity = capacity if total == 0 else CHUNK
                out = allocate(capacity * width, np.int32)
                count = native.extend(
                    workspace.address,
                    address(given),
                    len(names),
                    len(seeds),
                    int(stops_early),
                    address(state),
                    len(new),
                    address(out),
                    capacity,
                )
                total += count
                watch.check(total, 4 * width * total)
                yield np.asarray(out[: count * width]).reshape(count, width)
        finally:
            if watch is not NOBODY:
                watch.detach(workspace.context)
