"""Switches the cyclic garbage collector off for work in which it would find nothing, or must not run.

While the number of objects grows, CPython's collector traverses them repeatedly. Where all new objects are kept, it finds no
garbage: during the translation of a large ontology, it would take a third of the time. Afterwards, it would traverse the new
objects once or twice more while they are in its young generations, which takes a tenth of the time. Therefore they are moved to the
oldest generation, which only full collections traverse.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import Final

__all__ = ["without_collection"]

_mutex = RLock()
_blocks: Final[dict[object, int]] = {}
"""The blocks without collection, each with its thread."""

_is_to_return = False
"""Whether the collector is to be switched on again after the last of the blocks."""

_MANY: Final = 2_000
"""The least number of new objects that are moved to the oldest generation."""
_MOST_UNSEEN: Final = 1_000_000
"""After this many, no more objects are moved until the next full collection, because there may be garbage among them."""
_OLDEST: Final = 2

_unseen = 0
"""The number of objects that were moved to the oldest generation since the last full collection."""
_full_collections = 0
"""The number of full collections so far."""


@contextmanager
def without_collection() -> Iterator[None]:
    """Return a ``with`` block in which no thread collects cyclic garbage. Reference counting frees other objects as usual.

    Garbage is collected again when no thread is in such a block.
    """
    global _is_to_return
    block = object()
    try:
        with _mutex:
            _is_to_return = _is_to_return or gc.isenabled()
            _blocks[block] = get_ident()
            gc.disable()
        yield
    finally:
        with _mutex:
            _blocks.pop(block, None)
            _collect_again()


def _collect_again() -> None:
    """Switch the collector on if it was, unless some block still needs it to be off."""
    global _is_to_return
    if _is_to_return and not _blocks:
        _make_old()
        gc.enable()
        _is_to_return = False


def _make_old() -> None:
    """Move all young objects to the oldest generation without traversing them, if there are many. If a program has frozen objects,
    do nothing.
    """
    global _unseen, _full_collections
    young, full_collections = gc.get_count()[0], gc.get_stats()[_OLDEST]["collections"]
    if full_collections != _full_collections:
        _unseen, _full_collections = 0, full_collections
    if young < _MANY or _unseen > _MOST_UNSEEN:
        return
    if gc.get_freeze_count():  # counting them takes time: not again before the next full collection
        _unseen = _MOST_UNSEEN + 1
        return
    _unseen += young
    try:
        gc.freeze()  # unfreezing puts objects into the oldest generation
    finally:
        gc.unfreeze()


def _in_child() -> None:
    """Forget the blocks of threads that a forked process does not have."""
    global _mutex
    _mutex = RLock()
    for block, thread in list(_blocks.items()):
        if thread != get_ident():
            del _blocks[block]
    _collect_again()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
