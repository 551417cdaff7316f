"""Texts one after the other, in arrays that kernels can read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

import numpy as np

from kg_reasoner.storage.kernels.memory.buffers import allocate

__all__ = ["concatenated", "count_lines", "is_utf8"]

_FEED: Final = ord("\n")
_COUNTED: Final = 1 << 16
"""The bytes that are looked at together: what is found out about each of them then stays in a cache."""


def concatenated(pieces: Sequence[bytes]) -> tuple[Any, Any]:
    """Return the bytes of texts, and where each begins (and the last ends)."""
    data = b"".join(pieces)
    texts, offsets = allocate(len(data), np.uint8), allocate(len(pieces) + 1, np.int64, 0)
    texts[: len(data)] = np.frombuffer(data, np.uint8)
    offsets[1:] = list(accumulate(map(len, pieces)))
    return texts, offsets


def count_lines(data: Any) -> int:
    """Return the number of line breaks in some bytes: line feeds, and carriage returns without one behind them.

    >>> count_lines(b"one\\ntwo\\r\\nthree\\rfour")
    3
    """
    array = np.frombuffer(data, np.uint8)
    parts = (array[first : first + _COUNTED] for first in range(0, len(array), _COUNTED))
    count = sum(int(np.count_nonzero(part == _FEED)) for part in parts)
    text = array.tobytes()
    if b"\r" in text:
        count += text.count(b"\r") - text.count(b"\r\n")
    return count


def is_utf8(data: Any) -> bool:
    """Return whether bytes are UTF-8, except for a truncated last character."""
    if len(data) == 0 or int(np.frombuffer(data, np.uint8).max()) < 128:
        return True
    try:
        str(data, "utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True
