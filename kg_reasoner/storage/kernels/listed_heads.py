"""Heads that a thread keeps in a list of its own while others evaluate rules, too (see `parallel_blocks`).

A slot of a hash table that a listed head has claimed holds a number below EMPTY in place of a row (see `holder`).
"""

from kg_reasoner.storage.kernels.decorators import kernel
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    EMPTY,
    FULL,
    LIST_BITS,
    NOT_NEW,
    PRESENT,
    RECENT,
    ROW,
    UNCLAIMED,
    Context,
    HeadList,
    Relation,
)
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.primitives import compare_and_swap, mix
from kg_reasoner.storage.kernels.relations import has_values, insert, same_tuple, tag_of, tuple_slot


@kernel
def holder(list_number: int, number: int) -> int:
    """Return the negative number that a slot holds instead of a row while a listed head claims it."""
    return -2 - (number << LIST_BITS | list_number)


@kernel
def list_in(held: int) -> int:
    """Return the list of the head that has claimed a slot, given what the slot holds."""
    return (-2 - held) & ((1 << LIST_BITS) - 1)


@kernel
def head_in(held: int) -> int:
    """Return the number, in its list, of the head that has claimed a slot, given what the slot holds."""
    return (-2 - held) >> LIST_BITS


@kernel
def is_same(context: Context, relation: Relation, found: int, tag: int, heads: HeadList, number: int) -> int:
    """Return whether the tuple of a slot's row, or the listed head that has claimed it, is this listed head."""
    values = heads.values + number * context.ring_stride
    if found >= 0:
        return 1 if (found & ~relation.row_mask) == tag and same_tuple(relation, found & relation.row_mask, values) else 0
    other, place = context.lists[list_in(found)], head_in(found)
    if other.keys[place] != heads.keys[number]:
        return 0
    return 1 if relation.arity < 3 else has_values(relation, values, other.values + place * context.ring_stride)


@kernel
def comes_before(context: Context, heads: HeadList, found: int) -> int:
    """Return whether a single thread would have derived a slot's row, or the listed head that has claimed it, before the next head
    of the thread's own list.
    """
    if found >= 0:
        return 1
    other = list_in(found)
    return 1 if other == context.own_list - 1 or context.lists[other].tasks[head_in(found)] < heads.task else 0


@kernel
def may_claim(context: Context, relation: Relation) -> int:
    """Return whether heads of a relation claim slots while threads join. The answer is the same until all have joined."""
    if relation.dead > 0 or context.claim_room == 0 or relation.count + context.claim_room > relation.row_mask:
        return 0
    return 1 if 5 * (relation.used + context.claim_room) <= 4 * relation.mask else 0


@kernel
def claim_found(context: Context, heads: HeadList, number: int, slots: Int32s, slot: int, found: int) -> int:
    """Claim a slot for a listed head, if the slot still holds what was found in it: EMPTY, or a claim of the same tuple for a head
    that comes later, which then is not new. Return 0 if it holds something else, and is to be looked at again.
    """
    heads.places[number] = slot
    if compare_and_swap(slots, slot, found, holder(context.own_list - 1, number)) != found:
        return 0
    if found != EMPTY:
        context.lists[list_in(found)].places[head_in(found)] = NOT_NEW
        heads.repeated = heads.repeated + 1
    return 1


@kernel
def claim_early(context: Context, heads: HeadList, number: int, hash: int) -> int:
    """Claim a slot for a tuple that is written behind the heads of the thread's own list, while other threads do the same: return
    the slot, or NOT_NEW if the tuple holds, or another head is this tuple and comes before it in the order of one thread.
    """
    relation = context.relations[heads.relations[number]]
    slots, mask = relation.slots, relation.mask
    tag = tag_of(hash, relation.row_mask)
    slot = hash & mask
    while True:
        found = slots[slot]
        if found != EMPTY and not is_same(context, relation, found, tag, heads, number):
            slot = (slot + 1) & mask
        elif found != EMPTY and comes_before(context, heads, found):
            heads.repeated = heads.repeated + (found < 0)
            return NOT_NEW
        elif claim_found(context, heads, number, slots, slot, found):
            return slot


@kernel
def is_recent(context: Context, heads: HeadList, entry: int, number: int, values: Int32s, key: int) -> int:
    """Return whether a listed head is this tuple."""
    if entry >= heads.count or heads.keys[entry] != key or heads.relations[entry] != number:
        return 0
    relation = context.relations[number]
    return 1 if relation.arity < 3 else has_values(relation, heads.values + entry * context.ring_stride, values)


@kernel
def keep(context: Context, number: int, values: Int32s, key: int) -> int:
    """Add a tuple that does not certainly hold (see `is_present`) to the thread's own list, unless it is there or holds: PRESENT or
    FULL.
    """
    relation = context.relations[number]
    claims = may_claim(context, relation)
    if not claims and (relation.arity > 2 or relation.dead > 0):
        found = relation.slots[tuple_slot(relation, values, key)]
        if found != EMPTY and not relation.flags[found & relation.row_mask] & ABSENT:
            return PRESENT
    heads = context.lists[context.own_list - 1]
    hash = mix(key)
    place = hash & (RECENT - 1)
    tag = (hash >> 14) & 0x7FFFFFFF
    found = heads.recent[place]
    if found >> 32 == tag and is_recent(context, heads, found & ROW, number, values, key):
        return PRESENT
    entry = heads.count
    if entry == heads.room:
        return FULL
    stored = heads.values + entry * context.ring_stride
    for column in range(relation.arity):
        stored[column] = values[column]
    heads.keys[entry] = key
    heads.relations[entry] = number
    heads.places[entry] = UNCLAIMED
    if claims:
        heads.tasks[entry] = heads.task
        if claim_early(context, heads, entry, hash) == NOT_NEW:
            return PRESENT
        heads.claimed = entry + 1
    else:
        heads.has_unclaimed = 1
    heads.recent[place] = (tag << 32) | entry
    heads.count = entry + 1
    return PRESENT


@kernel
def accept(context: Context, number: int, values: Int32s, key: int) -> int:
    """Insert a derived tuple, or keep it, if threads share the work. See `insert`."""
    if context.own_list:
        return keep(context, number, values, key)
    return insert(context, number, values, key)
