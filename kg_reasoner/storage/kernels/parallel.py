"""Semi-naive evaluation by several threads: blocks of many new rows are joined at once, then their heads are inserted at once.

The joins of a block see no row that came after it (see `joins.row_limit`), so blocks of one relation can be joined in any order.
Each thread has a context of its own over the same relations, and keeps the heads that are not present in a list of its own. Then
threads claim slots of the hash tables for these heads, each thread in its own part of every table, and one thread appends the new
rows in the order in which a single thread would have derived them. Indexes are extended last, each by one thread.

Nothing here locks: while threads join, nobody writes to relations; while they claim, each writes to its own slots.
"""

from kg_reasoner.storage.kernels.fixpoint import insert_queued, process_block
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    DONE,
    EMPTY,
    GONE,
    LIST_BITS,
    NOT_NEW,
    REBORN,
    RING,
    STOPPED,
    UNDECIDED,
    Context,
    Kept,
    Relation,
)
from kg_reasoner.storage.kernels.memory import Int64s, entry, is_stopped, kernel, mix, prefetch
from kg_reasoner.storage.kernels.relations import has_values, same_tuple


@entry
def join_rows(context: Context, current: int, low: int, high: int) -> int:
    """Keep the heads of the rows [low, high) of a relation that are not present: DONE, STOPPED, or a request to the caller, who
    then repeats the call. `context` is that of a thread.
    """
    context.ring_count = 0
    while low < high:
        end = low + context.block_rows
        if end > high:
            end = high
        status = process_block(context, current, low, end)
        if status == DONE:
            status = insert_queued(context)
        if status != DONE:
            return status
        if is_stopped(context):
            return STOPPED
        low = end
    return DONE


@kernel
def holder(list_number: int, number: int) -> int:
    """Return what a slot has in place of a row while a kept head claims it: a negative number."""
    return -2 - (number << LIST_BITS | list_number)


@kernel
def is_same(context: Context, relation: Relation, slot: int, kept: Kept, number: int) -> int:
    """Return whether the tuple of a slot, which may be a kept head, is this kept head. Their keys are equal."""
    if relation.arity < 3:
        return 1
    values = kept.values + number * context.ring_stride
    row = relation.key_rows[slot]
    if row >= 0:
        return same_tuple(relation, row, values)
    code = -2 - row
    other = context.lists[code & ((1 << LIST_BITS) - 1)]
    return has_values(relation, values, other.values + (code >> LIST_BITS) * context.ring_stride)


@kernel
def claim(context: Context, list_number: int, number: int, bound: int, parts: int) -> int:
    """Claim a slot for a kept head before the slot `bound / parts`: return the slot, NOT_NEW, or UNDECIDED."""
    kept = context.lists[list_number]
    relation = context.relations[kept.relations[number]]
    keys = relation.keys
    key = kept.keys[number]
    slot = mix(key) & relation.mask
    while slot * parts < bound:
        found = keys[slot]
        if found == EMPTY:
            keys[slot] = key
            if relation.arity > 2 or relation.dead > 0:
                relation.key_rows[slot] = holder(list_number, number)
            return slot
        if found == key and is_same(context, relation, slot, kept, number):
            row = relation.key_rows[slot] if relation.dead > 0 else -1
            return UNDECIDED if row >= 0 and relation.flags[row] & ABSENT else NOT_NEW
        slot = slot + 1
    return UNDECIDED


@entry
def claim_slots(context: Context, segments: Int64s, count: int, part: int, parts: int) -> int:
    """Claim slots in one part of every hash table for the kept heads, in the order of the segments. Return 0.

    A segment is three numbers: a list, and the first and end of its heads. A head whose search leaves the part stays UNDECIDED.
    `context` is that of a thread.
    """
    waiting = context.ring_keys
    for segment in range(count):
        list_number = segments[3 * segment]
        number = segments[3 * segment + 1]
        end = segments[3 * segment + 2]
        kept = context.lists[list_number]
        while number < end:
            found = 0
            while number < end and found < RING:
                relation = context.relations[kept.relations[number]]
                size = relation.mask + 1
                home = mix(kept.keys[number]) & relation.mask
                if home * parts >= part * size and home * parts < (part + 1) * size:
                    prefetch(relation.keys, home)
                    waiting[found] = number
                    found = found + 1
                number = number + 1
            for place in range(found):
                chosen = waiting[place]
                size = context.relations[kept.relations[chosen]].mask + 1
                kept.places[chosen] = claim(context, list_number, chosen, (part + 1) * size, parts)
    return 0


@kernel
def decide(context: Context, relation: Relation, kept: Kept, number: int) -> int:
    """Claim a slot for an UNDECIDED head: return the slot, or NOT_NEW."""
    key = kept.keys[number]
    slot = mix(key) & relation.mask
    while True:
        found = relation.keys[slot]
        if found == EMPTY:
            relation.keys[slot] = key
            relation.key_rows[slot] = -1
            relation.used = relation.used + 1
            return slot
        if found == key and is_same(context, relation, slot, kept, number):
            return slot if relation.dead > 0 and relation.flags[relation.key_rows[slot]] & ABSENT else NOT_NEW
        slot = (slot + 1) & relation.mask


@kernel
def append_head(context: Context, relation: Relation, kept: Kept, number: int) -> int:
    """Append a kept head as a new row, unless it is not new."""
    slot = kept.places[number]
    flags = 0
    if slot == UNDECIDED:
        slot = decide(context, relation, kept, number)
        if slot >= 0 and relation.key_rows[slot] >= 0 and relation.flags[relation.key_rows[slot]] & GONE:
            flags = REBORN
    elif slot >= 0:
        relation.used = relation.used + 1
    if slot < 0:
        return 0
    row = relation.count
    values = kept.values + number * context.ring_stride
    stored = relation.rows + row * relation.arity
    for column in range(relation.arity):
        stored[column] = values[column]
    relation.flags[row] = flags
    relation.key_rows[slot] = row
    relation.count = row + 1
    context.total = context.total + 1
    if row == 0:
        context.fresh = context.fresh + 1
    return 1


@entry
def append_claimed(context: Context, segments: Int64s, count: int) -> int:
    """Append the kept heads that are new, in the order of the segments, to relations that have room. Return 0.

    Indexes are left as they are.
    """
    for segment in range(count):
        kept = context.lists[segments[3 * segment]]
        end = segments[3 * segment + 2]
        for number in range(segments[3 * segment + 1], end):
            ahead = number + RING // 2
            if ahead < end and kept.places[ahead] >= 0:
                prefetch(context.relations[kept.relations[ahead]].key_rows, kept.places[ahead])
            append_head(context, context.relations[kept.relations[number]], kept, number)
    return 0
