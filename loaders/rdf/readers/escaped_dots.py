"""Names of Turtle that end in an escaped dot, before the dot that ends the statement: pyoxigraph leaves out the escaped one."""

from __future__ import annotations

from typing import Final, Protocol

from kg_reasoner.lazy_regex import regular_expression

__all__ = ["DotsApart"]

_BEFORE_DOT: Final = regular_expression(rb"(?<!\\)\\\.(?=\.+(?![\w:%\\.\x80-\xff-]))")
"""An escaped dot, and dots that nothing of a name follows. A backslash before the backslash means a string."""


class _Stream(Protocol):
    def read(self, size: int = -1, /) -> bytes:
        """Return further bytes."""


class DotsApart:
    """Turtle, TriG or N3 with a space between a name that ends in an escaped dot and the dot after it.

    >>> import io
    >>> DotsApart(io.BytesIO(b":s :p :a\\\\.. :s :p :a\\\\..b .")).read()
    b':s :p :a\\\\. . :s :p :a\\\\..b .'
    """

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream
        self._kept = b""
        """Bytes that have been read, but whose meaning depends on the next ones."""
        self._ready = b""

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` further bytes."""
        while not self._ready:
            data = self._stream.read(size)
            has_ended = size < 0 or not data
            data, self._kept = self._kept + data, b""
            if not data:
                return b""
            if not has_ended:
                decided = _decided(data)
                data, self._kept = data[:decided], data[decided:]
            self._ready = _BEFORE_DOT.sub(rb"\\. ", data) if b"\\" in data else data
        if size < 0 or len(self._ready) <= size:
            found, self._ready = self._ready, b""
        else:
            found, self._ready = self._ready[:size], self._ready[size:]
        return found


def _decided(data: bytes) -> int:
    """Return where the backslashes and dots begin at the end of some bytes, if there are both."""
    before_dots = data.rstrip(b".")
    before = before_dots.rstrip(b"\\")
    return len(data) if before == before_dots else len(before)
