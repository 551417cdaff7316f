"""A larger hash table of a relation's rows, made by several threads, each of which adds a range of the rows.

A slot is set by one atomic operation. Which slot a tuple gets depends on which thread is first; searches find it in any case. If a
tuple has a row that is live and others that are dead, the last one gets the slot, whatever the order.
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.layout import DONE, EMPTY, RING, Relation
from kg_reasoner.storage.kernels.memory.structs import Int32s, Int64s
from kg_reasoner.storage.kernels.primitives import compare_and_swap, mix, prefetch
from kg_reasoner.storage.kernels.relations import same_tuple, tag_of, tuple_key


@kernel
def is_row_of(relation: Relation, found: int, tag: int, row_mask: int, row: int) -> int:
    """Return whether a slot has a row with the tuple of this row, which is possible only where rows are dead."""
    if relation.dead == 0 or (found & ~row_mask) != tag:
        return 0
    return same_tuple(relation, found & row_mask, relation.rows + row * relation.arity)


@kernel
def place_row(relation: Relation, slots: Int32s, mask: int, row_mask: int, hash: int, row: int) -> int:
    """Set the slot of a row, unless a later row of the same tuple has it. Other threads do the same meanwhile. Return DONE."""
    tag = tag_of(hash, row_mask)
    slot = hash & mask
    while True:
        found = slots[slot]
        if found != EMPTY and not is_row_of(relation, found, tag, row_mask, row):
            slot = (slot + 1) & mask
        elif (found != EMPTY and (found & row_mask) > row) or compare_and_swap(slots, slot, found, tag | row) == found:
            return DONE


@entry
def rehash_rows(relation: Relation, slots: Int32s, mask: int, row_mask: int, first: int, end: int, hashes: Int64s) -> int:
    """Add the rows [first, end) to a hash table. `hashes` has room for `RING` hashes. Return DONE."""
    while first < end:
        count = end - first if end - first < RING else RING
        for place in range(count):
            hash = mix(tuple_key(relation.rows + (first + place) * relation.arity, relation.arity))
            hashes[place] = hash
            prefetch(slots, hash & mask)
        for place in range(count):
            place_row(relation, slots, mask, row_mask, hashes[place], first + place)
        first = first + count
    return DONE
