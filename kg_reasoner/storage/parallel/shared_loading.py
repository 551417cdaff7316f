"""Triples loaded into property tables by several threads, each of which has some of the relations: no row has two owners.

The rows of a relation come in the order of the triples, as with one thread.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from kg_reasoner.concurrency.tasks import run_together
from kg_reasoner.storage.arrays import Numbers
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import Context, Frame
from kg_reasoner.storage.kernels.memory.buffers import Argument, address, allocate, region
from kg_reasoner.storage.relations.indexes import IndexedRelations

__all__ = ["load_together", "shares_of"]

_WIDEST: Final = 2
"""The columns of a property's relation."""


def shares_of(sizes: Numbers, threads: int) -> Any:
    """Return the number of the share for each of some relations, such that the shares are about equal.

    >>> shares_of(np.array([5, 9, 0, 5]), 2).tolist()
    [1, 0, 0, 1]
    """
    shares = allocate(len(sizes), np.uint8, 0)
    load = [0] * threads
    for relation in np.argsort(-sizes, kind="stable").tolist():
        shares[relation] = least = load.index(min(load))
        load[least] += int(sizes[relation])
    return shares


def load_together(
    database: IndexedRelations, triples: Argument, count: int, sizes: Numbers, changed: Argument, threads: int
) -> None:
    """Insert explicit triples that rules have not seen; their relations are there.

    Args:
        database: The relations.
        triples: The address of the triples.
        count: Their number.
        sizes: How many of them belong to each relation.
        changed: The address of the array that says of each whether it was not explicit.
        threads: The number of threads.
    """
    shares = shares_of(sizes, threads)
    loaders = [_Loader(database, address(shares), share) for share in range(threads)]
    run_together([partial(loader.run, triples, count, changed) for loader in loaders], threads)
    for loader in loaders:
        while loader.done < count:
            database.grow(loader.wanted)
            loader.refresh(database)
            loader.run(triples, count, changed)
    native.count_rows(database.address)


class _Loader:
    """Loads a share, with a context of its own."""

    def __init__(self, database: IndexedRelations, shares: int, share: int) -> None:
        self._shares, self._share = shares, share
        self._words = allocate((1, len(Context.fields)), np.int64, 0)
        self._frames = allocate((1, len(Frame.fields)), np.int64, 0)
        self._scratch = region((1, _WIDEST), np.int32)
        self._frames[0, Frame.fields["scratch"][0]] = address(self._scratch)
        self.done = 0
        self.refresh(database)

    @property
    def wanted(self) -> int:
        """The relation that is full."""
        return int(self._words[0, Context.fields["wanted"][0]])

    def refresh(self, database: IndexedRelations) -> None:
        """Look at the tables as they are now."""
        self._words[0] = database.context_words
        self._words[0, Context.fields["frames"][0]] = address(self._frames)

    def run(self, triples: Argument, count: int, changed: Argument) -> None:
        """Load the triples of the share, until all are loaded or a relation is full."""
        self.done = native.load_share(address(self._words), triples, self.done, count, self._shares, self._share, changed)
