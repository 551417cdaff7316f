"""Pairs that a thread lists while others evaluate rules, too: one search of the hash table finds a pair or claims a slot for it."""

from kg_reasoner.storage.kernels.decorators import kernel
from kg_reasoner.storage.kernels.layout import EMPTY, FULL, PRESENT, Context, HeadList, Relation
from kg_reasoner.storage.kernels.listed_heads import claim_found, comes_before, head_in, list_in
from kg_reasoner.storage.kernels.primitives import pair, prefetch
from kg_reasoner.storage.kernels.relations import tag_of


@kernel
def request_claimed(context: Context, relation: Relation, count: int) -> int:
    """Request from memory the keys of the listed heads that have claimed the slots for the first of the context's hashes, unless
    few slots are claimed.
    """
    if 8 * context.lists[context.own_list - 1].count < relation.used:
        return 0
    slots, mask, hashes = relation.slots, relation.mask, context.hashes
    for place in range(count):
        found = slots[hashes[place] & mask]
        if found < EMPTY:
            prefetch(context.lists[list_in(found)].keys, head_in(found))
    return 0


@kernel
def write_listed_pair(heads: HeadList, stride: int, number: int, key: int) -> int:
    """Write a pair of a relation behind the heads of a list. Return 0."""
    entry = heads.count
    values = heads.values + entry * stride
    values[0] = key >> 32
    values[1] = key & 0x7FFFFFFF
    heads.keys[entry] = key
    heads.relations[entry] = number
    heads.tasks[entry] = heads.task
    return 0


@kernel
def list_pair(context: Context, number: int, hash: int, key: int) -> int:
    """Add a pair to the thread's own list and claim a slot for it, unless it is a row, or a single thread would have derived it
    before: PRESENT or FULL. Other threads do the same meanwhile.
    """
    relation, heads = context.relations[number], context.lists[context.own_list - 1]
    slots, mask, row_mask = relation.slots, relation.mask, relation.row_mask
    tag = tag_of(hash, row_mask)
    slot = hash & mask
    while True:
        found = slots[slot]
        if found > EMPTY and (found & ~row_mask) == tag and pair(relation.rows, 2 * (found & row_mask)) == key:
            return PRESENT
        if found > EMPTY or (found < EMPTY and context.lists[list_in(found)].keys[head_in(found)] != key):
            slot = (slot + 1) & mask
        elif found < EMPTY and comes_before(context, heads, found):
            return PRESENT
        elif heads.count == heads.room:
            return FULL
        else:
            write_listed_pair(heads, context.ring_stride, number, key)
            if claim_found(context, heads, heads.count, slots, slot, found):
                heads.count = heads.count + 1
                heads.claimed = heads.count
                context.looped = context.looped + 1
                return PRESENT
