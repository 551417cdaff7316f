"""The functions that kernels call apart from kernels, as Python. `intrinsics` has the machine instructions for each."""

from __future__ import annotations

import threading
from typing import Any

from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Pointer

__all__ = ["compare_and_swap", "is_stopped", "mix", "pair", "prefetch", "set_word", "word"]

_MASK = (1 << 64) - 1
_swapping = threading.Lock()


def mix(key: int) -> int:
    """Hash a 64-bit key to 62 nonnegative bits (two rounds of multiply and fold)."""
    value = (key * 0x9E3779B97F4A7C15) & _MASK
    value ^= value >> 32
    value = (value * 0xC2B2AE3D27D4EB4F) & _MASK
    return (value ^ (value >> 29)) >> 2


def word(items: Bytes, index: int) -> int:
    """Return the eight bytes from an index on as one integer."""
    return int.from_bytes([items[index + place] for place in range(8)], "little", signed=True)


def set_word(items: Bytes, index: int, value: int) -> None:
    """Set the eight bytes from an index on to those of one integer."""
    for place, byte in enumerate(value.to_bytes(8, "little", signed=True)):
        items[index + place] = byte


def pair(items: Int32s, index: int) -> int:
    """Return two nonnegative items from an index on as one integer, the first in its upper half."""
    return int(items[index]) << 32 | int(items[index + 1])


def prefetch(items: Pointer, index: int) -> None:
    """Request the cache line of ``items[index]``; a hint without effect on results."""


def compare_and_swap(items: Int32s, index: int, expected: int, new: int) -> int:
    """Set an item to a new value if it is as expected, and return what it was: one operation, which no other thread interrupts."""
    with _swapping:
        found = items[index]
        if found == expected:
            items[index] = new
        return found


def is_stopped(context: Any) -> int:
    """Return whether `Context.stop` is set, which another thread may do at any time; a compiler must not cache it."""
    stop: int = context.stop
    return stop
