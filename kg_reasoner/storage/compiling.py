"""When kernels are compiled, which takes seconds and happens once: notification, and compiling them ahead of use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.kernel_groups import GROUPS
from kg_reasoner.storage.kernels.machine_code import loader

__all__ = ["load_kernels", "reporting_compilation"]


def load_kernels(*names: str) -> None:
    """Load groups of kernels now, so that what uses them first does not wait until they are compiled.

    Args:
        names: The groups, see `kg_reasoner.storage.kernels.kernel_groups.GROUPS`.
    """
    for group in GROUPS:
        if group.name in names:
            getattr(native, group.entries[0])


@contextmanager
def reporting_compilation(listener: Callable[[str], None]) -> Iterator[None]:
    """Call a listener with one line of text before kernels are compiled within the block."""
    before, loader.on_compile = loader.on_compile, listener
    try:
        yield
    finally:
        loader.on_compile = before
