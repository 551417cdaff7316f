"""Room for the terms that the rest of a document is expected to bring, made before they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kg_reasoner.storage.terms.dictionary import Dictionary

__all__ = ["TermForecast"]

_MANY: Final = 1 << 14
"""The number of terms below which growing takes little time, and too little of the document may be known."""

_BYTES_OF_A_TERM: Final = 1 << 8
"""The least number of a document's bytes for each term that is expected: room for one takes sixteen bytes."""


class TermForecast:
    """Makes room in a dictionary ahead of need, on the assumption that a document has new terms at a constant rate.

    A table that is doubled whenever it is full copies all terms each time, and threads that parse the document wait meanwhile.

    At the end of a `with` block, whatever ends it, room that is not needed is given back.

    Args:
        dictionary: The dictionary.
        size: The number of bytes of the document, if it is known.
    """

    def __init__(self, dictionary: Dictionary, size: int | None) -> None:
        self._dictionary, self._size = dictionary, size
        self._before = self._terms_and_bytes()
        self._first: tuple[int, tuple[int, int]] | None = None
        """A position, and what the dictionary had there."""
        self._has_made_room = False

    def look(self, position: int) -> None:
        """Make room, if the dictionary is half full and is expected to be full before the document ends.

        Args:
            position: How many bytes of the document have been read, some of which may have been read ahead.
        """
        now = count, _ = self._terms_and_bytes()
        if self._size is None or position >= self._size or count < max(_MANY, self._dictionary.room // 2):
            return
        if self._first is None:
            self._first = position, now
        elif position > self._first[0]:
            first, then = self._first
            terms, text_bytes = (
                before + (more - less) * self._size // (position - first)
                for before, less, more in zip(self._before, then, now, strict=True)
            )
            terms = min(terms, count + self._size // _BYTES_OF_A_TERM)
            if terms > self._dictionary.room:
                self._has_made_room |= self._dictionary.expect(terms, text_bytes + text_bytes // 4)

    def __enter__(self) -> TermForecast:
        """Return this."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give back the room that was made for terms that have not come."""
        if self._has_made_room:
            self._dictionary.fit()

    def _terms_and_bytes(self) -> tuple[int, int]:
        return len(self._dictionary), self._dictionary.text_bytes
