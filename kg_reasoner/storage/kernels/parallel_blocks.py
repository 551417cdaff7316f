"""Semi-naive evaluation by several threads: blocks of many new rows are joined at once, then their heads are inserted at once.

The joins of a block see no row that came after it (see `joins.row_limit`), so blocks of one relation can be joined in any order.
Each thread has a context of its own over the same relations, and keeps the heads that are not present in a list of its own. The
heads that get a slot of the hash table are the new rows. They are numbered in the order in which a single thread would have
derived them, and threads append them.

Where a hash table has room for all heads that the lists can hold, threads claim slots while they join, each by one atomic operation
(see `listed_heads`). Such a slot holds a number below EMPTY, which joins take for another tuple, except in inner loops over pairs,
where most heads are derived many times. Of two heads that are the same tuple, the one that a single thread would have derived first
gets the slot. Heads of other relations claim slots when all threads have joined, each thread in its own part of every table.
Nothing locks: while threads append, each writes to its own rows.

Where rows are only copied to other relations, each thread inserts into relations of its own instead (see `shared_copies`).
"""

from kg_reasoner.storage.kernels.bulk_insertion import is_inside
from kg_reasoner.storage.kernels.column_copies import copy_rows, know
from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.fixpoint import process_block
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    DONE,
    EMPTY,
    GONE,
    GROW,
    NOT_NEW,
    POSTPONED,
    REBORN,
    RING,
    ROW,
    STOPPED,
    UNCLAIMED,
    Context,
)
from kg_reasoner.storage.kernels.listed_heads import holder, is_same
from kg_reasoner.storage.kernels.memory.structs import Int64s
from kg_reasoner.storage.kernels.pair_queue import insert_queued
from kg_reasoner.storage.kernels.primitives import is_stopped, mix, prefetch
from kg_reasoner.storage.kernels.relations import note_rows, set_slot, tag_of


@entry
def join_rows(context: Context, current: int, low: int, high: int) -> int:
    """Keep the heads of the rows [low, high) of a relation that are not present: DONE, STOPPED, or a request to the caller, who
    then calls again for the rows from `place` on; GROW: the list of heads is full. `context` is that of a thread.
    """
    heads = context.lists[context.own_list - 1]
    context.ring_count = context.pair_count = 0
    while low < high:
        count = heads.count
        end = low + context.block_rows
        if end > high:
            end = high
        status = process_block(context, current, low, end)
        if status == DONE:
            status = insert_queued(context)
        if status != DONE:
            heads.count = count
            context.place = low
            context.ring_count = context.pair_count = 0
            return status
        if is_stopped(context):
            return STOPPED
        low = end
    return DONE


@entry
def copy_to(context: Context, head: int, current: int, low: int, high: int) -> int:
    """Insert the copies of the rows [low, high) of a relation that plans without further atoms make in another one: DONE, STOPPED,
    or GROW, and the caller then calls again for the rows from `place` on. `context` is that of a thread without a list.
    """
    section = context.sections[context.relations[current].section]
    while low < high:
        end = low + context.block_rows
        if end > high:
            end = high
        for position in range(section.first_trigger, section.end_trigger):
            plan = context.plans[context.triggers[position]]
            if plan.copies and plan.head_relation == head:
                if copy_rows(context, plan, low, end, current) == GROW:
                    context.place = low
                    return GROW
        if is_stopped(context):
            return STOPPED
        low = end
    return DONE


@kernel
def claim(context: Context, list_number: int, number: int, hash: int, bound: int, parts: int) -> int:
    """Claim a slot for a listed head before the slot `bound / parts`: return the slot, NOT_NEW, or POSTPONED."""
    heads = context.lists[list_number]
    relation = context.relations[heads.relations[number]]
    tag = tag_of(hash, relation.row_mask)
    slot = hash & relation.mask
    while slot * parts < bound:
        found = relation.slots[slot]
        if found == EMPTY:
            relation.slots[slot] = holder(list_number, number)
            return slot
        if is_same(context, relation, found, tag, heads, number):
            is_row = found >= 0 and relation.dead > 0
            return POSTPONED if is_row and relation.flags[found & relation.row_mask] & ABSENT else NOT_NEW
        slot = slot + 1
    return POSTPONED


@entry
def claim_slots(context: Context, segments: Int64s, count: int, part: int, parts: int) -> int:
    """Claim slots in one part of every hash table for the listed heads that are UNCLAIMED, in the order of the segments. Return how
    many heads are POSTPONED, because their search leaves the part, or their tuple has a dead row.

    A segment is three numbers: a list, and the first and end of its heads. `context` is that of a thread.
    """
    waiting, hashes = context.ring_keys, context.hashes
    undecided = 0
    for segment in range(count):
        list_number = segments[3 * segment]
        number = segments[3 * segment + 1]
        end = segments[3 * segment + 2]
        heads = context.lists[list_number]
        while number < end:
            found = 0
            while number < end and found < RING:
                relation = context.relations[heads.relations[number]]
                size = relation.mask + 1
                hash = mix(heads.keys[number])
                waiting[found] = number
                hashes[found] = hash
                is_mine = is_inside(part * size, (part + 1) * size, (hash & relation.mask) * parts)
                found = found + (is_mine if heads.places[number] == UNCLAIMED else 0)
                number = number + 1
            for place in range(found):
                relation = context.relations[heads.relations[waiting[place]]]
                prefetch(relation.slots, hashes[place] & relation.mask)
            for place in range(found):
                chosen = waiting[place]
                size = context.relations[heads.relations[chosen]].mask + 1
                claimed = claim(context, list_number, chosen, hashes[place], (part + 1) * size, parts)
                heads.places[chosen] = claimed
                if claimed == POSTPONED:
                    undecided = undecided + 1
    return undecided


@kernel
def decide(context: Context, list_number: int, number: int) -> int:
    """Claim a slot for a POSTPONED head: return its place, or NOT_NEW."""
    heads = context.lists[list_number]
    relation = context.relations[heads.relations[number]]
    hash = mix(heads.keys[number])
    tag = tag_of(hash, relation.row_mask)
    slot = hash & relation.mask
    while True:
        found = relation.slots[slot]
        if found == EMPTY:
            relation.slots[slot] = holder(list_number, number)
            return slot
        if is_same(context, relation, found, tag, heads, number):
            row = found & relation.row_mask if found >= 0 and relation.dead > 0 else -1
            if row < 0 or not relation.flags[row] & ABSENT:
                return NOT_NEW
            relation.slots[slot] = holder(list_number, number)
            relation.used = relation.used - 1
            return ((row + 1) << 32) | slot
        slot = (slot + 1) & relation.mask


@entry
def decide_rest(context: Context, segments: Int64s, count: int) -> int:
    """Claim slots for the heads that are POSTPONED, in the order of the segments. Return 0."""
    for segment in range(count):
        list_number = segments[3 * segment]
        heads = context.lists[list_number]
        for number in range(segments[3 * segment + 1], segments[3 * segment + 2]):
            if heads.places[number] == POSTPONED:
                heads.places[number] = decide(context, list_number, number)
    return 0


@entry
def count_new(context: Context, segments: Int64s, first: int, end: int, counts: Int64s) -> int:
    """Count the heads in the segments [first, end) that have a slot, by their relations. Return 0."""
    for segment in range(first, end):
        heads = context.lists[segments[3 * segment]]
        for number in range(segments[3 * segment + 1], segments[3 * segment + 2]):
            if heads.places[number] >= 0:
                relation = heads.relations[number]
                counts[relation] = counts[relation] + 1
    return 0


@entry
def append_heads(context: Context, segments: Int64s, first: int, end: int, rows: Int64s) -> int:
    """Write the rows of the heads in the segments [first, end) that have a slot, but leave the counts to `add_rows`. Return 0.

    `rows` has the number of the next row for each relation. Relations have room. Indexes are left as they are.
    """
    for segment in range(first, end):
        heads = context.lists[segments[3 * segment]]
        last = segments[3 * segment + 2]
        for number in range(segments[3 * segment + 1], last):
            ahead = number + RING // 2
            if ahead < last and heads.places[ahead] >= 0:
                prefetch(context.relations[heads.relations[ahead]].slots, heads.places[ahead] & ROW)
            place = heads.places[number]
            if place >= 0:
                relation = context.relations[heads.relations[number]]
                row = rows[heads.relations[number]]
                values = heads.values + number * context.ring_stride
                stored = relation.rows + row * relation.arity
                for column in range(relation.arity):
                    stored[column] = values[column]
                before = place >> 32
                relation.flags[row] = 0
                if before > 0 and relation.flags[before - 1] & GONE:
                    relation.flags[row] = REBORN
                    context.has_reborn = 1
                set_slot(relation, place & ROW, heads.keys[number], row)
                know(relation, heads.keys[number])
                rows[heads.relations[number]] = row + 1
    return 0


@kernel
def add_rows_of(context: Context, number: int, count: int) -> int:
    """Add the rows that have been written to a relation."""
    relation = context.relations[number]
    row = relation.count
    relation.count = row + count
    relation.used = relation.used + count
    return note_rows(context, number, row, count)


@kernel
def grows(context: Context, number: int, counts: Int64s) -> int:
    """Return whether a relation gets its first rows beyond the materialised ones."""
    return 1 if counts[number] > 0 and context.relations[number].count == context.materialised[number] else 0


@kernel
def add_rows_of_grown(context: Context, segments: Int64s, count: int, counts: Int64s) -> int:
    """Add rows to relations that are to be listed as grown, in the order of their first rows, and set their counts to zero, as long
    as there are several.
    """
    grown = 0
    for number in range(context.relation_count):
        grown = grown + grows(context, number, counts)
    segment = 0
    while segment < count and grown > 1:
        heads = context.lists[segments[3 * segment]]
        number = segments[3 * segment + 1]
        while number < segments[3 * segment + 2] and grown > 1:
            relation = heads.relations[number]
            if heads.places[number] >= 0 and grows(context, relation, counts):
                add_rows_of(context, relation, counts[relation])
                counts[relation] = 0
                grown = grown - 1
            number = number + 1
        segment = segment + 1
    return 0


@entry
def add_rows(context: Context, segments: Int64s, count: int, counts: Int64s) -> int:
    """Add the rows that have been written to the relations, a number of rows to each; set the numbers to zero. Return 0."""
    if context.has_listed_grown:
        add_rows_of_grown(context, segments, count, counts)
    for number in range(context.relation_count):
        if counts[number] > 0:
            add_rows_of(context, number, counts[number])
            counts[number] = 0
    context.claiming = 0
    return 0


@entry
def undo_claims(context: Context, segments: Int64s, count: int) -> int:
    """Make the hash tables as they were before slots were claimed, unless the rows have been added. Return 0."""
    if not context.claiming:
        return 0
    for segment in range(count):
        heads = context.lists[segments[3 * segment]]
        for number in range(segments[3 * segment + 1], segments[3 * segment + 2]):
            place = heads.places[number]
            if place >= 0:
                relation = context.relations[heads.relations[number]]
                before = place >> 32
                if before > 0:
                    set_slot(relation, place & ROW, heads.keys[number], before - 1)
                    relation.used = relation.used + 1
                else:
                    relation.slots[place] = EMPTY
            heads.places[number] = UNCLAIMED
    context.claiming = 0
    return 0
