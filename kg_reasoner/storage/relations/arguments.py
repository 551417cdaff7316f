"""The arguments of kernels that take facts, and their answers: one for each fact."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from kg_reasoner.storage.arrays import Changed, Rows
from kg_reasoner.storage.kernels.memory.buffers import Argument, address, allocate, argument, lend

__all__ = ["RETAINED", "ProbedFacts"]

RETAINED: Final = 1 << 12
"""The maximal size of the reusable arrays for ids that are passed to kernels, and for their answers."""

_YES, _NO = np.array([True]), np.array([False])
"""The answers about single facts."""
for _answer in (_YES, _NO):
    _answer.flags.writeable = False


class ProbedFacts:
    """Facts in memory that kernels may read, and room for an answer about each, one call after the other."""

    __slots__ = ("_addresses", "_answers", "_facts", "_ids", "_last", "_room", "_triple")

    _addresses: tuple[Argument, Argument]
    _answers: Changed
    _ids: Any
    _room: int
    _triple: Any

    def __init__(self) -> None:
        self._facts: Any = None
        self._allocate(RETAINED)
        self._last: tuple[Rows | None, Changed] = None, self._answers

    def take(self, facts: Rows) -> tuple[Argument, Argument]:
        """Return the addresses of the facts (few or scattered ones are copied), and of an array for one answer per fact."""
        if facts.shape == (1, 3) and self._room:
            self._triple[...] = facts
            self._answers[0] = False
        elif facts.size > RETAINED and facts.flags.c_contiguous and facts.dtype == np.int32:
            answers = allocate(len(facts), np.uint8, 0)
            self._room, self._facts, self._answers = 0, lend(facts), answers.view(np.bool_)
            self._last = facts, self._answers
            return address(self._facts), address(answers)
        else:
            count, arity = facts.shape
            if count * max(arity, 1) > self._room:
                self._allocate(count * max(arity, 1))
            self._ids[: facts.size] = facts.reshape(-1)
            self._answers[:count] = False
        self._last = facts, self._answers
        return self._addresses

    def answers(self, count: int) -> Changed:
        """Return a copy of the answers, and release large arrays."""
        answers: Changed
        if count == 1:
            answers = _YES if self._answers[0] else _NO
        else:
            answers = np.array(self._answers[:count])
        self._last = self._last[0], answers
        if self._room > RETAINED or not self._room:
            self._facts = None
            self._allocate(RETAINED)
        return answers

    def last_answers(self, facts: Rows) -> Changed:
        """Return the answers of the last call so far, if it was for these facts; otherwise all are false."""
        last, answers = self._last
        return np.array(answers[: len(facts)]) if last is facts else np.zeros(len(facts), np.bool_)

    def _allocate(self, room: int) -> None:
        room = max(room, 3)
        answers, ids = allocate(room, np.uint8), allocate(room, np.int32)
        addresses, triple = (argument(address(ids)), argument(address(answers))), ids[:3].reshape(1, 3)
        self._ids, self._triple, self._room = ids, triple, room
        self._answers, self._addresses = answers.view(np.bool_), addresses
