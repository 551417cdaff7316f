"""Lookup of rows by the values of columns, with the kernels, in one relation or index or in each of a list."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from kg_reasoner.storage.arrays import Rows
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, argument
from kg_reasoner.storage.relations.indexes import IndexedRelations

Which = Literal["all", "explicit", "inferred"]

FLAGS: dict[Which, tuple[int, int]] = {
    "all": (ABSENT, 0),
    "explicit": (ABSENT | EXPLICIT, EXPLICIT),
    "inferred": (ABSENT | EXPLICIT, 0),
}
"""The flags to examine, and the values that they must have."""


class Buffer:
    """Ids in memory that kernels may read and write, with their address."""

    __slots__ = ("address", "array", "size")

    def __init__(self, size: int) -> None:
        self.array: Rows = allocate(size, np.int32)
        self.address = argument(address(self.array))
        self.size = size

    @classmethod
    def of(cls, numbers: Collection[int]) -> Buffer:
        """Return a buffer that contains some numbers."""
        buffer = cls(len(numbers))
        buffer.array[: len(numbers)] = list(numbers)
        return buffer


class Lookups:
    """Looks up tuples and keys in the current state of a database. Several threads may use it."""

    def __init__(self, database: IndexedRelations) -> None:
        self._database = database
        self._out = Buffer(3 * 64)
        self._tuple = Buffer(3)
        self._one = Buffer(1)

    def holds(self, relation: int, values: Sequence[int], which: Which) -> bool:
        """Return whether a relation has a tuple of at most three ids."""
        return len(self.find(relation, 1, values, which)) > 0

    def find(self, relations: Buffer | int, count: int, values: Sequence[int], which: Which) -> Rows:
        """Return the positions, in a list of relations, of those with a tuple of at most three ids."""
        if count == 0:
            return np.empty(0, np.int32)
        mask, flags = FLAGS[which]
        with self._database.mutex:
            if 3 * count > self._out.size:
                self._out = Buffer(3 * count)
            self._tuple.array[: len(values)] = values
            listed = self._listed(relations)
            found = native.find_each(
                self._database.address, listed.address, count, self._tuple.address, mask, flags, self._out.address
            )
            return np.array(self._out.array[:found])

    def probe(self, indexes: Buffer | int, key: int, which: Which) -> Rows:
        """Return the entries of a key in some indexes, which are built if necessary: (position, row, value), shape (n, 3)."""
        mask, flags = FLAGS[which]
        with self._database.mutex:
            listed = self._listed(indexes)
            count = listed.size
            while count:
                out = self._out
                found = native.probe_each(
                    self._database.address, listed.address, count, key, mask, flags, out.address, out.size // 3
                )
                if found < 0:
                    self._database.build(int(listed.array[-1 - found]))
                elif 3 * found > out.size:
                    self._out = Buffer(3 * (found + found // 2))
                else:
                    return np.array(out.array[: 3 * found]).reshape(-1, 3)
        return np.empty((0, 3), np.int32)

    def _listed(self, numbers: Buffer | int) -> Buffer:
        """Return numbers in a buffer for kernels. A single number is overwritten by the next one."""
        if isinstance(numbers, Buffer):
            return numbers
        self._one.array[0] = numbers
        return self._one
