"""Work without the garbage collector, where it would find nothing, or must not run.

CPython's collector looks at all objects again and again while their number grows. It finds nothing where many are made and all of
them are kept, and takes a third of the time in which a large ontology is translated. Afterwards it would look at all of them once
or twice, while they are young, which is a tenth of the time. So they become old at once, and are seen when it looks at all objects.
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
"""Whether garbage is to be collected again after the last of the blocks."""

_MANY: Final = 2_000
"""From so many new objects on, they are made old."""
_MOST_UNSEEN: Final = 1_000_000
"""After so many, no more are made old until the collector has looked at all objects: garbage may be among them."""
_OLDEST: Final = 2

_unseen = 0
"""The number of objects that were made old since then."""
_full_collections = 0
"""The number of times that the collector had looked at all objects."""


@contextmanager
def without_collection() -> Iterator[None]:
    """Let no garbage be collected in the block, in all threads. Objects without cycles are freed as usual.

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
    """Make all young objects old without a look at them, if there are many. Those that a program has frozen stay as they are."""
    global _unseen, _full_collections
    young, full_collections = gc.get_count()[0], gc.get_stats()[_OLDEST]["collections"]
    if full_collections != _full_collections:
        _unseen, _full_collections = 0, full_collections
    if young < _MANY or _unseen > _MOST_UNSEEN:
        return
    if gc.get_freeze_count():  # it counts them one by one: not again before the collector has looked at all objects
        _unseen = _MOST_UNSEEN + 1
        return
    _unseen += young
    try:
        gc.freeze()  # an object that is frozen and thawed is old
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
