"""Notification that kernels are being compiled, which takes seconds and happens once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kg_reasoner.storage.kernels import loader

__all__ = ["reporting_compilation"]


@contextmanager
def reporting_compilation(listener: Callable[[str], None]) -> Iterator[None]:
    """Call a listener with one line of text before kernels are compiled within the block."""
    before, loader.on_compile = loader.on_compile, listener
    try:
        yield
    finally:
        loader.on_compile = before
