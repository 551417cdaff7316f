"""A window on a document: a buffer with a part of it, which a compiled reader reads and which moves on over the document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.kernels.memory.struct_tables import Record
from kg_reasoner.storage.kernels.readers.reader_results import ALL_READ, NO_ROOM
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.texts import concatenated

__all__ = ["SLACK", "TextWindow"]

SLACK: Final = 16
"""Bytes behind the text that kernels may look at."""


class TextWindow(ABC):
    """A window on a document.

    Args:
        dictionary: Assigns the ids.
        scope: Returns what the labels of blank nodes begin with; called before the first of them is read.
        document: The record by which kernels know the document: its `text` up to `end`, to be read from `position` on.
        text: The buffer, with `SLACK` further bytes.
    """

    def __init__(self, dictionary: Dictionary, scope: Callable[[], str], document: Record, text: Any) -> None:
        self._dictionary = dictionary
        self._scope = scope
        self._document = document
        self._text = text
        self._buffer = memoryview(text)

    @property
    def fresh_nodes(self) -> int:
        """The number of blank nodes without a label so far. The label of the next one has this number, which may be set."""
        count: int = self._document.fresh_before
        return count

    @fresh_nodes.setter
    def fresh_nodes(self, count: int) -> None:
        self._document.fresh_before = count

    @property
    def rest(self) -> memoryview:
        """The unread part of the window; valid until the window changes."""
        document = self._document
        return self._buffer[document.position : document.end]

    @property
    def passed(self) -> memoryview:
        """The part of the window before the unread one; valid until the window changes."""
        return self._buffer[: self._document.position]

    @property
    def whole(self) -> memoryview:
        """The bytes in the window; valid until the window changes."""
        return self._buffer[: self._document.end]

    @property
    def is_full(self) -> bool:
        """Whether the unread part fills the whole window."""
        return self._document.position == 0 and self._document.end == len(self._text) - SLACK

    def fill(self, read_into: Callable[[memoryview], int]) -> int:
        """Move the window to the unread part, and read more bytes behind it; return the number of these bytes.

        Args:
            read_into: Fills a buffer as far as possible, and returns the number of bytes; 0 at the end of the document.
        """
        document, text = self._document, self._text
        kept = document.end - document.position
        text[:kept] = text[document.position : document.end].copy()
        document.publish(position=0, end=kept)
        read = read_into(self._buffer[kept : len(text) - SLACK])
        end = kept + read
        text[end : end + SLACK] = ord("\n")
        document.end = end
        self.check_encoding()
        return read

    def widen(self, most: int) -> bool:
        """Double the size of the window, unless it would exceed `most` bytes; return whether it has been doubled."""
        size = 2 * (len(self._text) - SLACK)
        if size > most:
            return False
        text = allocate(size + SLACK, np.uint8)
        text[: len(self._text)] = self._text
        self._document.text = self._text = text
        self._buffer = memoryview(text)
        return True

    def clear(self) -> None:
        """Empty the window."""
        self._document.publish(position=0, end=0)

    def skip(self, length: int) -> None:
        """Skip bytes."""
        self._document.position += length

    @abstractmethod
    def check_encoding(self) -> None:
        """Find out whether the text in the window is UTF-8; if not, only its ASCII part is read."""

    @abstractmethod
    def _make_room(self, room: int) -> None:
        """Allocate larger arrays of rows and the arrays that belong to them, and keep their contents."""

    def _read_by(self, kernel: Callable[..., int]) -> bool:
        """Let a kernel read, and make the room that it asks for; return whether the whole window has been read."""
        document, dictionary = self._document, self._dictionary
        while True:
            with dictionary.mutex:
                status = kernel(dictionary.address, document.address)
                if status == NO_ROOM and document.need > 0:
                    dictionary.make_room(document.need)
            if status != NO_ROOM:
                return status == ALL_READ
            if document.need < 0:
                scope = self._scope().encode()
                document.publish(scope=concatenated([scope])[0], scope_length=len(scope))
            elif document.need == 0:
                self._make_room(2 * document.row_room)

    def _end_by(self, kernel: Callable[..., int], least: int) -> int:
        """Return the length of the complete text that a kernel finds: at least `least` bytes if possible, 0 if there is none."""
        document = self._document
        end = kernel(document.address, document.position, least)
        return end - document.position if end else 0
