"""The capacities of tables: at first, when they are full, and at most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from kg_reasoner.data_classes import dataclass
from kg_reasoner.storage.kernels.layout import BLOCK
from kg_reasoner.storage.kernels.memory.buffers import allocate

__all__ = [
    "FILL",
    "Capacities",
    "Copier",
    "copy_items",
    "current",
    "fill_of",
    "limit_of",
    "resized",
    "row_mask_for",
    "slots_for",
    "table_size",
]

Copier: TypeAlias = "Callable[[Any, Any, int, int], None]"
"""Copies items as `copy_items` does."""

FILL: Final = 0.62
"""The maximal load factor of a hash table, at which it doubles."""

WIDE_FILL: Final = 0.75
"""The same for tuples of more than two columns: dense joins, which look up most, have heads of two."""


@dataclass(frozen=True, slots=True)
class Capacities:
    """Initial capacities of tables, and minimal capacities after growth."""

    rows: int = 16
    slots: int = 32
    arena: int = 64
    grown_rows: int = 1024
    grown_slots: int = 2048
    grown_arena: int = 4096
    page_bits: int = 10
    """Vectors of indexes with more than 2**page_bits entries consist of pages of this size (see `kernels.vectors`)."""
    dead: int = 256
    """Fewer dead rows than this are left where they are."""
    large: int = 1 << 16
    """The number of rows above which relations grow and are compacted in steps."""
    doubled: int = 1 << 18
    """Tables of fewer rows or entries than this get room for as many again when they grow: untouched memory costs nothing."""
    shared_triples: int = 1 << 17
    """Fewer facts than this are loaded or retracted by one thread."""
    block: int = BLOCK
    """Rows that are processed together. The order of derived rows depends on it."""
    ordered_rows: int = 1 << 12
    """Fewer triples than this keep their order before the first materialisation (see `engine.evaluation.axioms_first`)."""
    rare: int = 1 << 6
    """A constant is rare in a column if at most one row of this many has it."""
    filtered_rows: int = 1 << 8
    """Blocks of fewer rows than this are not filtered (see `kernels.block_filters`)."""
    filtered_plans: int = 2
    """The least number of plans for which blocks are filtered by a column."""
    heads: int = 1 << 18
    """The heads that a thread can keep at first, unless more would be inserted at once (see `storage.parallel.worker`)."""
    shared_instances: int = 1 << 16
    """Fewer rule instances than this are found by one thread: this takes a millisecond or two, and sharing the work costs as much.
    """
    shared_heads: int = 1 << 12
    """Fewer heads than this are inserted by one thread."""
    inserted_heads: int = 1 << 19
    """More heads than this are inserted in parts: hash tables get room for all heads of a part, and most may be the same."""
    shared_facts: int = 1 << 14
    """Fewer facts than this are deleted by one thread, in some milliseconds."""
    shared_rows: int = 1 << 17
    """An index of fewer rows than this is built by one thread, in a few milliseconds."""
    few_keys: int = 1 << 12
    """With no more keys than about this, each thread that builds an index takes a range of rows; with more, a part of the keys."""


current = Capacities()
"""The capacities of new databases; tests make them tiny, so that every kernel meets every boundary."""


def table_size(keys: int) -> int:
    """Return the size of a hash table, a power of two, that some keys fill.

    >>> table_size(3), table_size(17)
    (16, 32)
    """
    return 1 << max(4, (keys - 1).bit_length())


def fill_of(arity: int) -> float:
    """Return how full a hash table of tuples gets."""
    return FILL if arity <= 2 else WIDE_FILL


def slots_for(keys: int, fill: float = FILL) -> int:
    """Return the size of a hash table with room for some keys."""
    return table_size(int(keys / fill) + 1)


def limit_of(slots: int, fill: float = FILL) -> int:
    """Return the number of keys with which a hash table is full."""
    return int(slots * fill)


def row_mask_for(rows: int, slots: int) -> int:
    """Return the mask of the bits of a slot that are the number of a row, in a hash table of `slots` slots for `rows` rows.

    There are bits for more rows than there are slots, because dead rows wait for compaction.
    """
    return (1 << min(max(rows, 2 * slots).bit_length(), 31)) - 1


def copy_items(target: Any, source: Any, first: int, end: int) -> None:
    """Copy the items [first, end) of an array to another one."""
    target[first:end] = source[first:end]


def resized(array: Any, size: int, used: int, fill: int | None = None, copy: Copier = copy_items) -> Any:
    """Return a copy of an array with another size.

    Args:
        array: The array.
        size: The new size.
        used: The number of items that are copied.
        fill: The value of the others; None: any.
        copy: Copies the items.
    """
    grown = allocate(size, array.dtype, fill)
    copy(grown, array, 0, used)
    return grown
