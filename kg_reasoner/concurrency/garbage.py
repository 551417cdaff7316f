"""Work without the garbage collector, where many objects are made and all of them are kept.

CPython's collector looks at all objects again and again while their number grows, and finds nothing to collect. That takes a third
of the time in which a large ontology is translated.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collection"]


@contextmanager
def without_collection() -> Iterator[None]:
    """Let no garbage be collected in the block, in all threads. Objects without cycles are freed as usual."""
    collects = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if collects:
            gc.enable()
