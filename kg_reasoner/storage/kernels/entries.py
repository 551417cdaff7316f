"""The entry points of all kernels: those of the modules that are imported here."""

from __future__ import annotations

from kg_reasoner.storage.kernels import (  # noqa: F401  # each has entry points
    answering,
    around,
    batches,
    bulk_insertion,
    calculation,
    changes,
    deletion,
    depth_first,
    derivation_counts,
    elements,
    few_keys,
    fixpoint,
    interning,
    list_texts,
    literal_values,
    loading,
    marks,
    memory,
    overdeletion,
    parallel_blocks,
    profiling,
    reaching,
    relations,
    renewing,
    row_labels,
    scanner,
    searching,
    shortest_paths,
    single_stratum,
    small_queries,
    sorting,
    tracing,
    triple_texts,
    turtle_statements,
)

__all__ = ["names"]


def names() -> list[str]:
    """Return the names of the entry points, in alphabetical order."""
    kernels = memory.kernels.items()
    return sorted(name for name, kernel in kernels if kernel.is_entry and kernel.function.__module__.startswith(f"{__package__}."))
