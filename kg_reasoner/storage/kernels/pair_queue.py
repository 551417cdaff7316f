"""Pairs that the inner loop over an index vector derives: those that may be new are collected, looked up together, and inserted.

Pairs that one plan derives with the same other term are a *group*. In dense joins, most pairs of a group have just been derived,
and successive rows often continue the same group. A table by the last bits of values says which of them have been derived in the
current group. Unlike the hash table of all pairs, it fits into the processor's cache.
"""

from kg_reasoner.storage.kernels.claimed_pairs import list_pair, request_claimed
from kg_reasoner.storage.kernels.decorators import kernel, rare_kernel, shared_kernel
from kg_reasoner.storage.kernels.head_queue import insert_oldest
from kg_reasoner.storage.kernels.layout import DONE, EMPTY, FULL, GROW, PRESENT, RECENT_VALUES, RING, Context, Plan, Relation
from kg_reasoner.storage.kernels.listed_heads import accept, may_claim
from kg_reasoner.storage.kernels.memory.structs import Int64s
from kg_reasoner.storage.kernels.primitives import mix, pair, prefetch
from kg_reasoner.storage.kernels.relations import tag_of

MOST_GROUPS = (1 << 31) - 1


@kernel
def begin_plan(context: Context, plan: Plan) -> int:
    """Begin to derive by a plan in a block. What it has derived before may have been lost by an interrupt."""
    plan.last_key = EMPTY
    context.group_plan = EMPTY
    return 0


@rare_kernel
def forget_values(context: Context) -> int:
    """Empty the table of recent values, because numbers of groups are used again."""
    for place in range(RECENT_VALUES):
        context.recent_values[place] = 0
    context.group = 0
    return 0


@kernel
def enter_group(context: Context, plan: int, fixed: int) -> int:
    """Continue the group of a plan's pairs that have a fixed part of the key, or begin it. Return its entry for the value 0."""
    if context.group_plan != plan or context.group_key != fixed:
        if context.group == MOST_GROUPS:
            forget_values(context)
        context.group = context.group + 1
        context.group_plan = plan
        context.group_key = fixed
    return context.group << 32


@kernel
def collect_pairs(context: Context, entries: Int64s, first: int, end: int, group: int, factor: int) -> int:
    """Collect the pairs of the current group that have not been derived, until there are `RING`. Return the first entry that has
    not been looked at. The key of a pair is the group's, plus a multiple of the entry's value.
    """
    recent, keys, fixed = context.recent_values, context.pair_keys, context.group_key
    count = context.pair_count
    place = first
    while place < end and count < RING:
        value = entries[place] & 0x7FFFFFFF
        slot = value & (RECENT_VALUES - 1)
        keys[count] = fixed + value * factor
        count = count + (recent[slot] != group | value)
        recent[slot] = group | value
        place = place + 1
    context.pair_count = count
    return place


@kernel
def has_pair(relation: Relation, hash: int, key: int) -> int:
    """Return whether a hash table has a tuple of two columns, given its hash and key."""
    slots, mask, row_mask = relation.slots, relation.mask, relation.row_mask
    tag = tag_of(hash, row_mask)
    slot = hash & mask
    found = slots[slot]
    while found != EMPTY:
        if (found & ~row_mask) == tag and pair(relation.rows, 2 * (found & row_mask)) == key:
            return 1
        slot = (slot + 1) & mask
        found = slots[slot]
    return 0


@kernel
def request_pairs(context: Context, relation: Relation) -> int:
    """Compute the hashes of the collected pairs, and request from memory their slots, and the rows in the slots."""
    slots, mask, row_mask = relation.slots, relation.mask, relation.row_mask
    keys, hashes, count = context.pair_keys, context.hashes, context.pair_count
    for place in range(count):
        hash = mix(keys[place])
        hashes[place] = hash
        prefetch(slots, hash & mask)
    for place in range(count):
        prefetch(relation.rows, 2 * (slots[hashes[place] & mask] & row_mask))
    return 0


@kernel
def insert_first(context: Context) -> int:
    """Insert all heads in the queue, which have been derived before the collected pairs: DONE or GROW."""
    while context.ring_count > 0:
        if insert_oldest(context) == FULL:
            return GROW
    return DONE


@rare_kernel
def leave_pairs(context: Context, first: int) -> int:
    """Remove the first of the collected pairs, which have been inserted, because there is no room for the next one. Return GROW."""
    for place in range(first, context.pair_count):
        context.pair_keys[place - first] = context.pair_keys[place]
    context.pair_count = context.pair_count - first
    return GROW


@shared_kernel
def insert_pairs(context: Context) -> int:
    """Insert the collected pairs that are not present: DONE or GROW."""
    if insert_first(context) == GROW:
        return GROW
    number = context.pair_relation
    relation = context.relations[number]
    keys, hashes, values = context.pair_keys, context.hashes, context.pair
    request_pairs(context, relation)
    claims = context.own_list and may_claim(context, relation)
    if claims:
        request_claimed(context, relation, context.pair_count)
    for place in range(context.pair_count):
        status, hash, key = PRESENT, hashes[place], keys[place]
        if claims:
            status = list_pair(context, number, hash, key)
        elif not has_pair(relation, hash, key):
            context.looped = context.looped + 1
            values[0] = key >> 32
            values[1] = key & 0x7FFFFFFF
            status = accept(context, number, values, key)
        if status == FULL:
            return leave_pairs(context, place)
    context.pair_count = 0
    return DONE


@shared_kernel
def insert_queued(context: Context) -> int:
    """Insert all derived heads: DONE or GROW."""
    if context.pair_count > 0 and insert_pairs(context) == GROW:
        return GROW
    return insert_first(context)
