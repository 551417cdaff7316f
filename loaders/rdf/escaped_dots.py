"""Names of Turtle that end in an escaped dot, before the dot that ends the statement: pyoxigraph leaves out the escaped one."""

from __future__ import annotations

import re
from typing import Final, Protocol

__all__ = ["DotsApart"]

_BEFORE_DOT: Final = re.compile(rb"(?<!\\)\\\.(?=\.+(?![\w:%\\.\x80-\xff-]))")
"""An escaped dot, and dots that nothing of a name follows. A backslash before the backslash means a string."""
_UNDECIDED: Final = re.compile(rb"\\+\.*\Z")


class _Stream(Protocol):
    def read(self, size: int = -1, /) -> bytes:
        """Return further bytes."""


class DotsApart:
    """Turtle or TriG with a space between a name that ends in an escaped dot and the dot after it.

    >>> import io
    >>> DotsApart(io.BytesIO(b":s :p :a\\\\.. :s :p :a\\\\..b .")).read()
    b':s :p :a\\\\. . :s :p :a\\\\..b .'
    """

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream
        self._kept = b""
        """What has been read, but depends on what follows."""
        self._ready = b""

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` further bytes."""
        while not self._ready and (data := self._stream.read(size) or self._kept):
            has_ended = data is self._kept
            data = data if has_ended else self._kept + data
            undecided = None if has_ended else _UNDECIDED.search(data)
            end = len(data) if undecided is None else undecided.start()
            self._ready, self._kept = _BEFORE_DOT.sub(rb"\\. ", data[:end]) if b"\\" in data else data[:end], data[end:]
        if size < 0 or len(self._ready) <= size:
            found, self._ready = self._ready, b""
        else:
            found, self._ready = self._ready[:size], self._ready[size:]
        return found
