"""The inner loops of joins: the heads of all matches of a plan."""

from kg_reasoner.storage.kernels.decorators import kernel, shared_kernel
from kg_reasoner.storage.kernels.head_queue import emit, insert_oldest, queue_head
from kg_reasoner.storage.kernels.joins import next_match, row_limit, value_of
from kg_reasoner.storage.kernels.layout import CHECK, DONE, EMPTY, FULL, GROW, PROBE, RING, Context, Frame, Plan, Relation, Step
from kg_reasoner.storage.kernels.listed_heads import is_claimed, request_claimed
from kg_reasoner.storage.kernels.marks import derive_marking
from kg_reasoner.storage.kernels.memory.structs import Int32s, Int64s
from kg_reasoner.storage.kernels.primitives import is_stopped, mix, pair, prefetch
from kg_reasoner.storage.kernels.relations import tag_of
from kg_reasoner.storage.kernels.vectors import entry_place, page_end, row_at, value_at


@kernel
def derive_rest(context: Context, frame: Frame, plan: Plan, step: Step, low: int, high: int, current: int) -> int:
    """Derive from the remaining entries of the index vector at the last step: DONE or GROW. This is the inner loop of all joins."""
    level = frame.levels[plan.step_count - 1]
    index = context.indexes[step.index]
    relation = context.relations[step.relation]
    length = index.lengths[level.slot]
    limit = row_limit(context, step, low, high, current)
    value_slot = step.value_slot
    position = level.position
    while position < length:
        place = entry_place(index, index.starts[level.slot], position)  # a head that is inserted can move the vector
        row = row_at(index, place)
        if row >= limit:
            break
        if value_slot >= 0:
            frame.bindings[value_slot] = value_at(index, relation, place, row)
        position = position + 1
        if emit(context, frame, plan) == GROW:
            return GROW
    level.position = length
    return DONE


@kernel
def first_beyond(entries: Int64s, first: int, last: int, limit: int) -> int:
    """Return the first of some entries whose row is at least `limit`, as that of the last one is."""
    while first < last:
        middle = (first + last) >> 1
        if entries[middle] >> 32 >= limit:
            last = middle
        else:
            first = middle + 1
    return first


@kernel
def request_pairs(entries: Int64s, first: int, end: int, fixed: int, factor: int, relation: Relation, hashes: Int64s) -> int:
    """Compute the hashes of the heads of some entries (see `derive_pairs`), and request from memory the slots of these heads, and
    the rows in the slots.
    """
    slots = relation.slots
    mask = relation.mask
    for place in range(first, end):
        hash = mix(fixed + (entries[place] & 0x7FFFFFFF) * factor)
        hashes[place - first] = hash
        prefetch(slots, hash & mask)
    row_mask = relation.row_mask
    for place in range(first, end):
        prefetch(relation.rows, 2 * (slots[hashes[place - first] & mask] & row_mask))
    return 0


@kernel
def has_pair(slots: Int32s, mask: int, row_mask: int, rows: Int32s, hash: int, key: int) -> int:
    """Return whether a hash table has a tuple of two columns, given its hash and key."""
    tag = tag_of(hash, row_mask)
    slot = hash & mask
    found = slots[slot]
    while found != EMPTY:
        if (found & ~row_mask) == tag and pair(rows, 2 * (found & row_mask)) == key:
            return 1
        slot = (slot + 1) & mask
        found = slots[slot]
    return 0


@kernel
def derive_pairs(context: Context, frame: Frame, plan: Plan, step: Step, low: int, high: int, current: int) -> int:
    """Derive heads of two columns, without dead rows, most of which are already known: DONE or GROW.

    Dense joins spend their time here. A pair is its own key, so that a known head need not be made. The key is a multiple of the
    entry's value, and a fixed part.
    """
    level = frame.levels[plan.step_count - 1]
    index = context.indexes[step.index]
    length = index.lengths[level.slot]
    limit = row_limit(context, step, low, high, current)
    head = context.relations[plan.head_relation]
    slots, mask, row_mask, rows, hashes = head.slots, head.mask, head.row_mask, head.rows, context.hashes
    first, second, bound = context.codes[plan.head], context.codes[plan.head + 1], -1 - step.value_slot
    factor = (1 << 32 if first == bound else 0) | (1 if second == bound else 0)
    fixed = (0 if first == bound else value_of(frame, first) << 32) | (0 if second == bound else value_of(frame, second))
    start = level.position
    position = start
    while position < length:
        vector = index.starts[level.slot]
        entries = index.arena + (entry_place(index, vector, position) - position)
        end = page_end(index, vector, position, length)
        if entries[end - 1] >> 32 >= limit:
            end = length = first_beyond(entries, position, end - 1, limit)
        while position < end:
            last = position + RING if position + RING < end else end
            request_pairs(entries, position, last, fixed, factor, head, hashes)
            request_claimed(context, head, last - position)
            for place in range(position, last):
                value = entries[place] & 0x7FFFFFFF
                hash = hashes[place - position]
                key = fixed + value * factor
                if not has_pair(slots, mask, row_mask, rows, hash, key) and not is_claimed(context, head, hash, key):
                    frame.bindings[step.value_slot] = value
                    if queue_head(context, frame, plan) >= RING // 2 and insert_oldest(context) == FULL:
                        return GROW
                    # the head that was inserted can have moved the vector
                    entries = index.arena + (entry_place(index, index.starts[level.slot], place) - place)
            position = last
    context.instances = context.instances + position - start
    level.position = position
    return DONE


@kernel
def is_plain_probe(context: Context, step: Step) -> int:
    """Return whether every entry of the step's index vector is a match."""
    if step.kind != PROBE or step.negated or step.once or step.value_slot == CHECK:
        return 0
    return 1 if context.relations[step.relation].dead + context.checks_flags == 0 else 0


@shared_kernel
def derive(context: Context, frame: Frame, plan: Plan, low: int, high: int, current: int) -> int:
    """Derive from all matches that are left in a frame: DONE or GROW."""
    if context.marking:
        return derive_marking(context, frame, plan, low, high, current)
    if plan.step_count == 0 or (plan.decided and next_match(context, frame, low, high, current)):
        return emit(context, frame, plan)
    if plan.decided:
        return DONE
    last = context.steps[plan.first_step + plan.step_count - 1]
    plain = is_plain_probe(context, last)
    head = context.relations[plan.head_relation]
    pairs = plain and last.value_slot >= 0 and head.arity == 2 and head.dead == 0 and context.indexes[last.index].has_values
    while next_match(context, frame, low, high, current) and not is_stopped(context):
        if emit(context, frame, plan) == GROW:
            return GROW
        if pairs:
            if derive_pairs(context, frame, plan, last, low, high, current) == GROW:
                return GROW
        elif plain and derive_rest(context, frame, plan, last, low, high, current) == GROW:
            return GROW
    return DONE
