"""The integers that joins calculate with: the tables of `kernels.calculation`, and when joins may use the dictionary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from kg_reasoner.storage.databases.database import Database
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.calculation import AFTER, BEFORE, HEADER, INTEGER_END, MAY_INTERN, STACK
from kg_reasoner.storage.kernels.layout import EMPTY
from kg_reasoner.storage.kernels.memory.buffers import address, allocate
from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["NumberTable"]

FEW_ROWS: Final = 1 << 12
"""For fewer rows, values are read when they are needed."""

FEW_TERMS: Final = 4
"""The maximal number of terms per row that are read ahead."""

FEWEST: Final = 1 << 12
MOST_AHEAD: Final = 1 << 20
"""The fewest and the most numbers for which room is made at once."""

_SLOTS: Final = 64
"""The first size of the hash table of numbers (a power of two)."""


class NumberTable:
    """The numbers of a database's joins, and the programs of its functions.

    Args:
        dictionary: The terms.
        database: The relations.
    """

    def __init__(self, dictionary: Dictionary, database: Database) -> None:
        self._dictionary, self._database = dictionary, database
        self.is_used = False
        """Whether joins compare terms or apply programs."""
        self._read = 0
        """The number of terms that have been read ahead, or left out."""
        self._ends = 0
        """The end of the programs."""
        self._programs = 0
        """The number of functions."""

    def use(self) -> None:
        """Make the tables, before the first rule that compares or calculates is applied."""
        if not self.is_used:
            text = allocate(BEFORE + AFTER, np.uint8)
            text[BEFORE:] = np.frombuffer(INTEGER_END, np.uint8)
            room = self._dictionary.room
            self._database.context.publish(
                terms=self._dictionary.words,
                number_text=text,
                numbers=allocate(room, np.int64, 0),
                number_room=room,
                number_slots=allocate(_SLOTS, np.int32, EMPTY),
                number_mask=_SLOTS - 1,
                number_used=0,
                number_limit=_SLOTS // 2,
                stack=allocate(STACK, np.int64),
            )
            self.is_used = True

    def add_program(self, codes: Sequence[int] | None, is_filter: bool) -> None:
        """Add the program of the next function, or None if it has none.

        Args:
            codes: The instructions, two numbers each.
            is_filter: Whether the function is a filter.
        """
        context, number, start = self._database.context, self._programs, self._ends
        if not number or number == len(context.program_starts):
            starts = allocate(max(16, 2 * number), np.int64)
            starts[:number] = context.program_starts[:number] if number else ()
            context.program_starts = starts
        if codes is not None:
            end = start + HEADER + len(codes)
            if not start or end > len(context.programs):
                programs = allocate(2 * end + 64, np.int64)
                programs[:start] = context.programs[:start] if start else ()
                context.programs = programs
            context.programs[start:end] = [len(codes) // 2, int(is_filter), *codes]
            self._ends = end
            self.use()
        context.program_starts[number] = -1 if codes is None else start
        self._programs = number + 1

    def run(self, entry: Callable[..., int], *arguments: object) -> int:
        """Call a kernel that joins, and let it read terms and intern numbers."""
        context = self._database.context
        with self._dictionary.mutex:
            if context.number_room < self._dictionary.room:
                self._fit()
            context.term_access = MAY_INTERN
            try:
                return entry(*arguments)
            finally:
                context.term_access = 0

    def read_ahead(self, rows: int) -> None:
        """Read the values of all terms that are new since the last call, if there are not many more of them than rows to process.

        Args:
            rows: The number of rows.
        """
        if rows < FEW_ROWS or FEW_TERMS * rows < len(self._dictionary) - self._read:
            return
        with self._dictionary.mutex:
            self._fit()
            count = len(self._dictionary)
            native.read_numbers(self._database.address, self._read, count)
            self._read = count

    def make_room(self) -> None:
        """Make room for more numbers, where kernels found none: for more, the more there are already."""
        context, dictionary, length = self._database.context, self._dictionary, BEFORE + AFTER
        used = context.number_used
        ahead = min(FEWEST + 2 * used, MOST_AHEAD)
        if used >= context.number_limit:
            self._rehash(used + ahead)
        with dictionary.mutex:
            if not dictionary.has_room(length):  # many numbers may be terms already
                dictionary.make_room(ahead * length, ahead)
            self._fit()

    def _fit(self) -> None:
        """Make room for the values of all terms of the dictionary."""
        context, room = self._database.context, self._dictionary.room
        known = context.number_room
        if known < room:
            self._database.claim(8 * room)
            numbers = allocate(room, np.int64, 0)
            numbers[:known] = context.numbers[:known]
            context.publish(numbers=numbers, number_room=room)

    def _rehash(self, count: int) -> None:
        """Let the hash table of numbers have room for a count of them."""
        context = self._database.context
        size = context.number_mask + 1
        while size < 2 * count:
            size *= 2
        if size > context.number_mask + 1:
            self._database.claim(4 * size)
            slots = allocate(size, np.int32, EMPTY)
            native.rehash_numbers(self._database.address, address(slots), size - 1)
            context.publish(number_slots=slots, number_mask=size - 1, number_limit=size // 2)
