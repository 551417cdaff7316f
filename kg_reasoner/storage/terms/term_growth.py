"""Growth of a dictionary in steps: large tables that are nearly full get successors, which are filled a part with each new term.

A full dictionary would make one update wait until the texts of all terms have been hashed again. Terms are only appended, so what a
successor has got remains valid. One that is not complete in time is discarded, and the tables grow at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from kg_reasoner.errors import LimitError
from kg_reasoner.storage import capacities
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.layout import EMPTY, MOST
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.storage.kernels.memory.struct_tables import Record

__all__ = ["BYTES_A_TERM", "TermGrowth", "term_tables"]

BYTES_A_TERM: Final = 24
"""The size of the tables for each term that they have room for, without its text."""

NEARLY_FULL: Final = 7 / 8
"""The part of its room that a table fills when its successor is begun."""

WORK: Final = 32
"""Terms, or bytes of texts, that are copied for each new one. With half of that, a successor would just be complete in time."""

SLICE: Final = 1 << 10
"""Fewer terms than this are not copied in one step: single new terms take a step only now and then."""

TEXT_SLICE: Final = 1 << 15
"""The same in bytes of texts."""


class TermGrowth:
    """The successors of a dictionary's tables. All methods are called by the thread that holds the dictionary's mutex.

    Args:
        terms: The dictionary's tables.
    """

    def __init__(self, terms: Record) -> None:
        self._terms = terms
        self._tables: Iterator[None] | None = None
        self._texts: Iterator[None] | None = None

    def advance(self, claim: Callable[[int], None]) -> None:
        """Fill the successors further, as far as the terms that are new since the last call require, or begin them.

        Args:
            claim: Called with a number of bytes before they are allocated; raises an error if that is too much.
        """
        terms = self._terms
        count = terms.count
        if count < capacities.current.large:
            return
        if self._tables is None and count >= NEARLY_FULL * terms.room and terms.room < MOST:
            self._tables = _renew_tables(terms, claim)
        if self._texts is None and terms.offsets[count] >= NEARLY_FULL * terms.text_capacity:
            self._texts = _renew_texts(terms, claim)
        if self._tables is not None and next(self._tables, self) is self:
            self._tables = None
        if self._texts is not None and next(self._texts, self) is self:
            self._texts = None

    def discard(self) -> None:
        """Give back the successors, because the tables are going to be replaced or emptied."""
        self._tables = self._texts = None


def _renew_tables(terms: Record, claim: Callable[[int], None]) -> Iterator[None]:
    """Replace the tables by larger ones, step by step."""
    room = 2 * terms.room
    try:
        claim(BYTES_A_TERM * room)
        fields = term_tables(room)
    except (LimitError, MemoryError):  # they grow when they must
        return
    offsets, slots, hashes = fields["offsets"], fields["slots"], fields["hashes"]
    share = len(slots) // terms.room

    def count() -> int:
        return terms.count

    for first, end in _parts(lambda: terms.room, count, SLICE):
        part = slice(share * first, share * end)
        slots[part] = EMPTY
        hashes[part] = 0  # so that no later step touches all of its pages for the first time
        yield
    for first, end in _parts(count, count, SLICE):
        offsets[first : end + 1] = terms.offsets[first : end + 1]
        native.rehash_texts(terms.address, address(slots), address(hashes), fields["mask"], first, end)
        if end < terms.count:
            yield
    terms.publish(**fields)


def _renew_texts(terms: Record, claim: Callable[[int], None]) -> Iterator[None]:
    """Replace the buffer of the texts by a larger one, step by step."""
    capacity = 2 * terms.text_capacity
    try:
        claim(capacity)
        texts = allocate(capacity, np.uint8)
    except (LimitError, MemoryError):
        return

    def used() -> int:
        return int(terms.offsets[terms.count])

    for first, end in _parts(used, used, TEXT_SLICE):
        texts[first:end] = terms.texts[first:end]
        if end < used():
            yield
    terms.publish(texts=texts, text_capacity=capacity)


def _parts(size: Callable[[], int], number: Callable[[], int], least: int) -> Iterator[tuple[int, int]]:
    """Yield the next part of a table that is due each time, empty ones included, until there have been all items.

    Args:
        size: Returns the number of items, which may grow.
        number: Returns a number that grows with each new term. For each of its steps, `WORK` items are due.
        least: Fewer items than this are not due yet, unless they are the last.
    """
    done, known = 0, number()
    while done < size():
        due, rest = WORK * (number() - known), size() - done
        first = done
        if due >= min(least, rest):
            done, known = done + min(due, rest), number()
        yield first, done


def term_tables(room: int) -> dict[str, Any]:
    """Return the fields of tables for a number of terms (a power of two). The slots of the hash table are not initialised."""
    return {
        "offsets": allocate(room + 1, np.int64, 0),
        "room": min(room, MOST),
        "slots": allocate(2 * room, np.int32),
        "hashes": allocate(2 * room, np.int32),
        "mask": 2 * room - 1,
    }
