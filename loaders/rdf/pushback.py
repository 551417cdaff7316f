"""Streams to which bytes can be given back (pushback), or which keep what they return."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import BinaryIO

__all__ = ["KeptText", "PushbackStream"]


class PushbackStream:
    """A stream, and before it the bytes that were given back."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._pieces: deque[memoryview] = deque()
        self._error: Exception | None = None

    def push_back(self, pieces: Iterable[bytes], error: Exception | None = None) -> None:
        """Give back bytes, which are read next; an error is raised behind them."""
        self._pieces.extendleft(memoryview(piece) for piece in reversed(list(pieces)) if piece)
        self._error = self._error or error

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` further bytes."""
        if self._pieces:
            piece = self._pieces.popleft()
            if 0 <= size < len(piece):
                self._pieces.appendleft(piece[size:])
                piece = piece[:size]
            return bytes(piece)
        self._raise()
        return self._stream.read(size)

    def readinto(self, buffer: memoryview) -> int:
        """Read as many bytes as a buffer can hold; return their number, which is 0 at the end only."""
        filled = 0
        while self._pieces and filled < len(buffer):
            piece = self._pieces.popleft()
            length = min(len(piece), len(buffer) - filled)
            buffer[filled : filled + length] = piece[:length]
            filled += length
            if length < len(piece):
                self._pieces.appendleft(piece[length:])
        if filled == len(buffer) or (filled and self._error is not None):
            return filled
        self._raise()
        read: int = self._stream.readinto(buffer[filled:])  # type: ignore[attr-defined]
        return filled + read

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error


class KeptText:
    """A stream that keeps what is read from it until it is released."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._pieces: list[bytes] | None = []

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` further bytes."""
        data = self._stream.read(size)
        if self._pieces is not None:
            self._pieces.append(data)
        return data

    def release(self) -> bytes:
        """Return what has been read, and keep nothing from now on."""
        text, self._pieces = b"".join(self._pieces or ()), None
        return text
