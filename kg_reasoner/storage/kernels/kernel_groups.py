"""The groups of kernels: each is compiled as a whole, when one of its entry points is used for the first time.

Kernels call those of other groups: entry points and shared kernels at their places there; others are compiled with the caller once
more, so that they can become part of its loops.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import Final, NamedTuple

from kg_reasoner.storage.kernels import decorators

__all__ = ["GROUPS", "KernelGroup", "needed_by"]


class KernelGroup(NamedTuple):
    """Kernels that are compiled together: those of some modules."""

    name: str
    modules: tuple[str, ...]
    speed_level: int = 1
    """How much is done for speed. Level 2 takes two fifths more time to compile kernels, and makes most of them no faster."""

    @property
    def entries(self) -> list[str]:
        """The names of the entry points, in alphabetical order."""
        return [name for name in self.exports if decorators.kernels[name].is_entry]

    @property
    def exports(self) -> list[str]:
        """The names of the kernels that are called from outside, in alphabetical order."""
        modules = {import_module(f"{__package__}.{module}").__name__ for module in self.modules}
        found = decorators.kernels.items()
        return sorted(name for name, kernel in found if kernel.is_exported and kernel.function.__module__ in modules)

    @property
    def imports(self) -> dict[str, KernelGroup]:
        """The kernels of other groups that this one calls, with their groups."""
        self.exports  # noqa: B018  imports the modules, and those of the kernels that they call
        elsewhere = {
            name: group
            for name, kernel in decorators.kernels.items()
            if kernel.is_exported and (group := _group_of(kernel)) is not None and group.name != self.name
        }
        called = needed_by(self.exports, elsewhere)
        return {name: group for name, group in elsewhere.items() if name in called}


GROUPS: Final = (
    KernelGroup(
        "evaluation",
        (
            "block_filters",
            "blocking_rows",
            "calculation",
            "claimed_pairs",
            "column_copies",
            "deriving",
            "fixpoint",
            "head_queue",
            "index_entries",
            "interning",
            "joins",
            "listed_heads",
            "loading",
            "marks",
            "pair_queue",
            "probing",
            "readers.line_statements",
            "readiness",
            "relations",
            "row_labels",
            "token_ends",
            "triggering",
            "vectors",
        ),
        speed_level=2,
    ),
    KernelGroup(
        "queries",
        ("queries.answering", "queries.around", "queries.batches", "queries.searching", "queries.small_queries", "queries.sorting"),
    ),
    KernelGroup("writing", ("triple_texts",)),
    KernelGroup("turtle", ("readers.reader_results", "readers.scanner", "readers.turtle_statements", "readers.turtle_terms")),
    KernelGroup(
        "maintenance",
        (
            "maintenance.changes",
            "maintenance.deletion",
            "maintenance.deletion_candidates",
            "maintenance.overdeletion",
            "maintenance.proving",
            "maintenance.single_stratum",
            "maintenance.tracing",
            "parallel_deletion",
            "renewing",
        ),
    ),
    KernelGroup("threads", ("bulk_insertion", "few_keys", "parallel_blocks", "rehashed_rows")),
    KernelGroup("values", ("list_texts", "literal_values")),
    KernelGroup("xml", ("elements",)),
    KernelGroup("rdfxml", ("readers.rdfxml_terms", "readers.rdfxml_triples", "readers.xml_markup", "readers.xml_names")),
    KernelGroup("graphs", ("graphs.depth_first", "graphs.reaching", "graphs.shortest_paths")),
    KernelGroup("counting", ("maintenance.derivation_counts", "profiling")),
)
"""All groups. Those come first that most processes use."""


def needed_by(names: Collection[str], elsewhere: Collection[str]) -> set[str]:
    """Return the given kernels and those that they call, directly or indirectly, but nothing that only those elsewhere call."""
    needed: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in decorators.kernels and name not in needed:
            needed.add(name)
            if name not in elsewhere:
                function = decorators.kernels[name].function
                waiting += [called for called in function.__code__.co_names if called in function.__globals__]  # not fields
    return needed


_BY_MODULE: Final = {f"{__package__}.{module}": group for group in GROUPS for module in group.modules}


def _group_of(kernel: decorators.Kernel) -> KernelGroup | None:
    return _BY_MODULE.get(kernel.function.__module__)
