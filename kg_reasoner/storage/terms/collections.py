"""Lists, sets and tuples of many terms: their sizes and members, the parts of strings, and lists of groups, with the kernels.

What is in an unusual form (see `kernels.list_texts`) is left to the caller.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from kg_reasoner.expressions.structures import NAMESPACE
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.list_texts import PER_BYTE, PER_MEMBER, UNDECIDED
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.texts import concatenated
from kg_reasoner.terms import XSD

__all__ = ["LONGEST", "UNDECIDED", "Collections"]

_KINDS: Final = ("set", "list", "tuple")
_ORDERED: Final = 0
_ENDS: Final = {kind: f'"^^<{NAMESPACE}{kind}>'.encode() for kind in _KINDS}
_INTEGER_END: Final = f'"^^<{XSD.integer.value}>'.encode()
_LIST_END: Final = _ENDS["list"]
_TUPLE_END: Final = _ENDS["tuple"]
_MAP_END: Final = f'"^^<{NAMESPACE}map>'.encode()
LONGEST: Final = 1 << 24
"""The maximum number of characters of a computed text. Longer ones are left to the caller, which refuses them."""

_PART: Final = 1 << 21
"""The bytes of texts that are split, or made lists, together: the lists may be several times as long."""
_AROUND: Final = 64


class Collections:
    """The collections of a dictionary.

    Args:
        dictionary: The terms.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._ends, self._bounds = concatenated([_ENDS[kind] for kind in _KINDS])
        self._integer, _ = concatenated([_INTEGER_END])
        self._list, _ = concatenated([_LIST_END])
        self._map, _ = concatenated([_MAP_END])
        self._tuple, _ = concatenated([_TUPLE_END])

    def sizes(self, ids: Ids) -> Numbers:
        """Return the number of members of each term, or `UNDECIDED`."""
        return self._measured(_given(ids), len(ids))[0]

    def members(self, ids: Ids, only: int = -1) -> tuple[Numbers, Ids]:
        """Return the number of members of each term, or `UNDECIDED`, and the members of all of them, one after the other.

        Args:
            ids: The terms.
            only: The place of the only members that are wanted, where there are any; -1 for all of them.
        """
        given, count = _given(ids), len(ids)
        sizes, length = self._measured(given, count)
        counts = allocate(count, np.int64)
        counts[:count] = np.maximum(sizes, 0)
        total = int(counts[:count].sum()) if only < 0 else int((sizes > only).sum())
        bounds, out = allocate(total + 1, np.int64, 0), allocate(length + total * len(_INTEGER_END) + _AROUND, np.uint8)
        where = address(self._integer), len(_INTEGER_END), address(out), address(bounds)
        self._dictionary.read_with(native.copy_members, address(given), count, address(counts), only, *where)
        return sizes, self._dictionary.encode_buffers(out[: int(bounds[total])], bounds[: total + 1])

    def numbers_of_entries(self, ids: Ids) -> Numbers:
        """Return the number of entries of each map, or `UNDECIDED`."""
        return self._measured_maps(_given(ids), len(ids))[0]

    def entries(self, ids: Ids) -> tuple[Numbers, Ids]:
        """Return the number of entries of each map, or `UNDECIDED`, and the entries of all of them as tuples.

        Args:
            ids: The maps; any other terms are undecided.
        """
        given, count = _given(ids), len(ids)
        sizes, length = self._measured_maps(given, count)
        counts = allocate(max(count, 1), np.int64)
        counts[:count] = np.maximum(sizes, 0)
        total = int(counts[:count].sum())
        bounds, out = allocate(total + 1, np.int64, 0), allocate(length + total * (len(_TUPLE_END) + 1) + _AROUND, np.uint8)
        where = address(self._tuple), len(_TUPLE_END), address(out), address(bounds)
        self._dictionary.read_with(native.copy_entries, address(given), count, address(counts), *where)
        return sizes, self._dictionary.encode_buffers(out[: int(bounds[total])], bounds[: total + 1])

    def _measured_maps(self, given: Ids, count: int) -> tuple[Numbers, int]:
        sizes = allocate(max(count, 1), np.int64)
        where = address(self._map), len(_MAP_END), address(sizes)
        length = self._dictionary.read_with(native.count_entries, address(given), count, *where)
        return np.asarray(sizes[:count]), length

    def split(self, ids: Ids, separator: str) -> Ids:
        """Return the lists of the parts of strings, or `UNDECIDED`.

        Args:
            ids: The strings.
            separator: The text between the parts; if it is empty, the parts are the characters.
        """
        starts = self._dictionary.buffers()[0]
        lengths = starts[ids.astype(np.int64) + 1] - starts[ids]
        borders = np.flatnonzero(np.diff(np.cumsum(lengths) // _PART)) + 1
        parts = zip(np.split(ids, borders), np.split(lengths, borders), strict=True)
        return np.concatenate([self._split(part, int(sizes.sum()), separator.encode()) for part, sizes in parts])

    def lists(self, ids: Ids, starts: Numbers) -> Ids:
        """Return the lists of the terms of groups, or `UNDECIDED`.

        Args:
            ids: The terms, one group after the other.
            starts: Where each group begins.
        """
        offsets = self._dictionary.buffers()[0]
        numbers = ids.astype(np.int64)
        room = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(offsets[numbers + 1] - offsets[numbers] + PER_MEMBER, out=room[1:])
        ends = np.append(starts, len(ids))
        borders = np.flatnonzero(np.diff(room[ends] // _PART)) + 1
        parts = zip([0, *borders.tolist()], [*borders.tolist(), len(starts)], strict=True)
        found = [self._lists(ids, ends[first : last + 1], int(room[ends[last]] - room[ends[first]])) for first, last in parts]
        return np.concatenate([np.empty(0, np.int32), *found])

    def _lists(self, ids: Ids, ends: Numbers, room: int) -> Ids:
        groups = len(ends) - 1
        given, starts = _given(ids[ends[0] : ends[-1]]), allocate(groups + 1, np.int64)
        starts[: groups + 1] = ends - ends[0]
        bounds, out = allocate(groups + 1, np.int64, 0), allocate(room + groups * (len(_LIST_END) + 1) + _AROUND, np.uint8)
        where = address(self._integer), len(_INTEGER_END), address(self._list), len(_LIST_END), address(out), address(bounds)
        self._dictionary.read_with(native.write_lists, address(given), address(starts), groups, *where)
        return self._encoded(out, np.asarray(bounds[: groups + 1]))

    def _split(self, ids: Ids, length: int, wanted: bytes) -> Ids:
        given, count = _given(ids), len(ids)
        between, _ = concatenated([wanted or b"-"])
        bounds = allocate(count + 1, np.int64, 0)
        out = allocate(PER_BYTE * length + count * len(_LIST_END) + _AROUND, np.uint8)
        where = address(between), len(wanted), address(self._list), len(_LIST_END), address(out), address(bounds)
        self._dictionary.read_with(native.split_values, address(given), count, *where)
        return self._encoded(out, np.asarray(bounds[: count + 1]))

    def _encoded(self, out: Any, ends: Numbers) -> Ids:
        """Return the terms of the texts that end at some places, the first of which is 0; `UNDECIDED` for none."""
        is_known = ends[1:] > ends[:-1]
        found: Ids = np.full(len(is_known), UNDECIDED, np.int32)
        if np.diff(ends).max(initial=0) > LONGEST:
            return found
        kept = allocate(int(is_known.sum()) + 1, np.int64)
        kept[: len(kept)] = np.append(ends[:-1][is_known], ends[-1])
        found[is_known] = self._dictionary.encode_buffers(out[: int(ends[-1])], kept)
        return found

    def _measured(self, given: Ids, count: int) -> tuple[Numbers, int]:
        sizes = allocate(count, np.int64)
        where = address(self._ends), address(self._bounds), len(_KINDS), _ORDERED
        length = self._dictionary.read_with(native.count_members, address(given), count, *where, address(sizes))
        return np.asarray(sizes[:count]), length


def _given(ids: Ids) -> Ids:
    """Return ids in memory that kernels can read."""
    block: Ids = allocate(max(len(ids), 1), np.int32)
    block[: len(ids)] = ids
    return block
