"""How much of a document a parser gets at a time, where a compiled reader reads the rest of it."""

from __future__ import annotations

from typing import Final

from kg_reasoner.data_classes import dataclass

__all__ = ["LEAST", "MOST", "ROWS", "WINDOW", "ParserShare", "window_size"]

WINDOW: Final = 1 << 22
"""The most bytes in memory; a longer statement is left to the parser."""
LEAST: Final = 1 << 12
MOST: Final = 1 << 20
"""The least and the most bytes that the parser gets at a time."""
ROWS: Final = 50_000
"""The most triples in a block, and those that the parser's output has at a time."""
_BYTES_OF_A_TRIPLE: Final = 64
_FEW: Final = 1 << 16


def window_size(window: int | None, block: int, size: int | None) -> int:
    """Return how many bytes of a document are in memory.

    Args:
        window: The number, if it is given.
        block: The number of triples in a block.
        size: The number of bytes of the document, if it is known: a small one has a small window.

    Returns:
        The number.
    """
    return window or max(LEAST, min(_BYTES_OF_A_TRIPLE * block, WINDOW, WINDOW if size is None else size + 1))


@dataclass(slots=True)
class ParserShare:
    """The number of bytes that the parser gets next: few initially, and more if the compiled reader reads little in between.

    Attributes:
        least: The number of bytes; the parser gets the whole statements that have at least as many.
        since: How many bytes the compiled reader has read since the parser's last ones.
    """

    least: int = LEAST
    since: int = 0

    def is_there(self, size: int) -> bool:
        """Return whether `size` bytes are enough to find the end of a statement behind the share, mostly."""
        return size >= 2 * self.least

    def take(self) -> None:
        """Note that the parser has got its share."""
        self.least = min(2 * self.least, MOST) if self.since < _FEW else LEAST
        self.since = 0
