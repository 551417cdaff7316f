"""The entry points of all kernels: those of the modules that are imported here."""

from __future__ import annotations

from kg_reasoner.storage.kernels import (  # noqa: F401  # each has entry points
    around,
    batches,
    building,
    changes,
    collections,
    counting,
    deletion,
    elements,
    few,
    fixpoint,
    grouping,
    literals,
    loading,
    marks,
    memory,
    overdeletion,
    parallel,
    paths,
    profiling,
    queries,
    reaching,
    relations,
    renewing,
    scanning,
    searching,
    sorting,
    texts,
    tracing,
    turtle,
    update,
    writing,
)

__all__ = ["names"]


def names() -> list[str]:
    """Return the names of the entry points, in alphabetical order."""
    kernels = memory.kernels.items()
    return sorted(name for name, kernel in kernels if kernel.is_entry and kernel.function.__module__.startswith(f"{__package__}."))
