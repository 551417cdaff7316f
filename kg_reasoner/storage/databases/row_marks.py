"""Which rows of a relation are there and which are explicit, remembered in two bits a row, to find later changes."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import numpy.typing as npt

from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels.layout import ABSENT, EXPLICIT

__all__ = ["ChangedRows", "RowMarks"]

_Bits = npt.NDArray[np.uint8]
_Numbers = npt.NDArray[np.int64]


class ChangedRows(NamedTuple):
    """The numbers of rows that have changed.

    Attributes:
        gone: Those that are there no longer.
        new: Those that are there now.
        explicit: Those that have become explicit, or no longer are.
    """

    gone: _Numbers
    new: _Numbers
    explicit: _Numbers


class RowMarks:
    """The state of the rows of a relation, as long as they keep their numbers.

    Args:
        database: The database.
        relation: The number of the relation.
    """

    def __init__(self, database: Database, relation: int) -> None:
        flags = database.flags(relation)
        there = (flags & ABSENT) == 0
        self._there = np.packbits(there)
        self._explicit = np.packbits(((flags & EXPLICIT) != 0) & there)
        self._database, self._numbering = ref(database), database.renumbered[relation]

    def until(self, later: RowMarks) -> ChangedRows | None:
        """Return the changes until later; None if rows have got other numbers.

        Args:
            later: Marks of the same relation.
        """
        if self._database() is not later._database() or self._numbering != later._numbering:
            return None
        differing = _differing(self._there, later._there)
        is_new = _bits_at(later._there, differing)
        return ChangedRows(differing[~is_new], differing[is_new], _differing(self._explicit, later._explicit))


def _differing(old: _Bits, new: _Bits) -> _Numbers:
    """Return where the bits of two rows of bytes differ, of which the first may be shorter."""
    common = len(old)
    places = np.flatnonzero(old != new[:common])
    head = _numbers(places, old[places] ^ new[places])
    added = np.flatnonzero(new[common:])
    return np.concatenate([head, _numbers(common + added, new[common:][added])])


def _numbers(places: npt.NDArray[Any], found: _Bits) -> _Numbers:
    """Return the numbers of the bits that are set in bytes at some places."""
    rows, bits = np.nonzero(np.unpackbits(found.reshape(-1, 1), axis=1))
    numbers: _Numbers = 8 * places[rows] + bits
    return numbers


def _bits_at(bits: _Bits, numbers: _Numbers) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (bits[numbers // 8] >> (7 - numbers % 8) & 1).astype(bool)
    return found
