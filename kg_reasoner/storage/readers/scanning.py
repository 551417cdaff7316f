"""The compiled scanner of documents for loaders: an automaton over bytes that counts depth, lengths and lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, borrow
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.kernels.readers.scanner import CLOSES, FINE, FOUND, INSIDE, OPENS, REFUSED, STATES, TOO_DEEP, ScanState

__all__ = ["CLOSES", "FINE", "FOUND", "INSIDE", "OPENS", "REFUSED", "STATES", "TOO_DEEP", "Scan", "table_for"]


def table_for(states: int) -> Any:
    """Return an empty automaton with a number of states: uint8, 256 entries per state, each with the next state and the actions."""
    return allocate(256 * states, np.uint8)


class Scan:
    """The progress of an automaton over one document."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self._state = StructTable(ScanState, capacity=1).add()

    @property
    def lines(self) -> int:
        """The number of completed lines."""
        lines: int = self._state.lines
        return lines

    @property
    def state(self) -> int:
        """The number of the state."""
        state: int = self._state.state
        return state

    def scan(self, data: bytes, deepest: int, longest: int) -> int:
        """Scan the next part: `FINE`, or why the document is rejected."""
        text = borrow(data)
        return native.scan_document(address(self._table), address(text), len(data), self._state.address, deepest, longest)
