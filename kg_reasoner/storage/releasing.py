"""Memory that was needed for one operation, and that the C library keeps when it is freed."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Final

__all__ = ["LARGE", "release_memory"]

LARGE: Final = 100_000
"""The number of facts of an operation above which unused memory is released afterwards."""


def release_memory(facts: int) -> None:
    """Give freed memory back to the operating system after an operation on a number of facts.

    The C library of GNU keeps what is freed between blocks that are in use, and, once a program has freed a large block, most large
    blocks, too. After a document has been loaded, that is a fifth of all memory. Giving it back takes milliseconds; other libraries
    do it themselves.
    """
    if facts >= LARGE:
        _trim()(0)


@cache
def _trim() -> Callable[[int], int]:
    if sys.platform == "linux":
        try:
            trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
        except (AttributeError, OSError):  # another C library
            pass
        else:
            return trim
    return lambda padding: 0
