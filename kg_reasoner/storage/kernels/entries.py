"""The entry points of all kernels."""

from __future__ import annotations

from kg_reasoner.storage.kernels import (
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

_MODULES = (
    *(
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
        overdeletion,
    ),
    *(
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
    ),
)


def names() -> list[str]:
    """Return the names of the entry points, in alphabetical order."""
    homes = {module.__name__ for module in _MODULES}
    return sorted(name for name, kernel in memory.kernels.items() if kernel.is_entry and kernel.function.__module__ in homes)
