"""Plans that only copy columns (subclasses, domains, inverses ...), which are most rules of ontologies."""

from kg_reasoner.storage.kernels.decorators import kernel, shared_kernel
from kg_reasoner.storage.kernels.joins import is_hidden
from kg_reasoner.storage.kernels.layout import CACHED, DONE, EMPTY, FULL, GROW, RING, Context, Plan
from kg_reasoner.storage.kernels.listed_heads import accept
from kg_reasoner.storage.kernels.primitives import mix, prefetch
from kg_reasoner.storage.kernels.relations import has_key, is_present, note_rows, tag_of


@kernel
def request_copies(context: Context, plan: Plan, first: int, high: int, current: int) -> int:
    """Collect the next heads of a plan that only copies columns, with their hashes, and request from memory what is looked up for
    them. Return the row after them; their number is in the context.

    The same head twice in a row is common (domains: all rows of one subject) and is dropped at once.
    """
    relation = context.relations[current]
    head = context.relations[plan.head_relation]
    slots, mask, keys, hashes = head.slots, head.mask, context.ring_keys, context.hashes
    arity, rows, first_column, second_column = relation.arity, relation.rows, plan.first_column, plan.second_column
    hides = relation.dead + context.checks_flags
    pairs = head.arity == 2
    last = plan.last_key
    waiting = 0
    row = first
    while row < high and waiting < RING:
        key = rows[row * arity + first_column]
        if pairs:
            key = (key << 32) | rows[row * arity + second_column]
        if key != last and not (hides and is_hidden(context, relation, row)):
            last = key
            hash = mix(key)
            keys[waiting] = key
            hashes[waiting] = hash
            prefetch(slots, hash & mask)
            waiting = waiting + 1
        row = row + 1
    plan.last_key = last
    context.copies = waiting
    if mask >= CACHED:
        row_mask, head_rows, width = head.row_mask, head.rows, head.arity
        for place in range(waiting):
            found = slots[hashes[place] & mask]
            if found != EMPTY:
                prefetch(head_rows, width * (found & row_mask))
    return row


@kernel
def insert_copies(context: Context, plan: Plan) -> int:
    """Insert the collected heads into a relation without indexes, sections and dead rows: DONE or GROW."""
    number = plan.head_relation
    head = context.relations[number]
    slots, mask, row_mask, rows, flags = head.slots, head.mask, head.row_mask, head.rows, head.flags
    keys, hashes = context.ring_keys, context.hashes
    pairs = head.arity == 2
    for place in range(context.copies):
        key = keys[place]
        hash = hashes[place]
        tag = tag_of(hash, row_mask)
        slot = hash & mask
        found = slots[slot]
        while found != EMPTY:
            if (found & ~row_mask) == tag and has_key(head, found & row_mask, key):
                break
            slot = (slot + 1) & mask
            found = slots[slot]
        if found == EMPTY:
            row = head.count
            if row >= head.capacity or head.used >= head.limit:
                context.wanted = number
                return GROW
            if pairs:
                rows[2 * row] = key >> 32
                rows[2 * row + 1] = key & 0x7FFFFFFF
            else:
                rows[row] = key
            flags[row] = 0
            slots[slot] = tag | row
            head.used = head.used + 1
            head.count = row + 1
            note_rows(context, number, row, 1)
    return DONE


@kernel
def accept_copies(context: Context, plan: Plan) -> int:
    """Insert the collected heads, or keep them, if threads share the work: DONE or GROW."""
    head = context.relations[plan.head_relation]
    for place in range(context.copies):
        key = context.ring_keys[place]
        if not is_present(head, key):
            if head.arity == 2:
                context.ring[0] = key >> 32
                context.ring[1] = key & 0x7FFFFFFF
            else:
                context.ring[0] = key
            if accept(context, plan.head_relation, context.ring, key) == FULL:
                return GROW
    return DONE


@shared_kernel
def copy_rows(context: Context, plan: Plan, low: int, high: int, current: int) -> int:
    """Derive the heads of a plan that only copies columns (subclasses, domains, inverses ...): DONE or GROW.

    Most rules of ontologies are of this kind. Keys are computed in batches, so that their cache lines are on their way when
    they are looked up.
    """
    head = context.relations[plan.head_relation]
    is_plain = head.dead == 0 and head.section_column < 0 and context.own_list == 0
    is_plain = is_plain and context.sections[head.section].first_index < 0
    plan.last_key = EMPTY
    row = low
    while row < high:
        row = request_copies(context, plan, row, high, current)
        context.instances = context.instances + context.copies
        status = insert_copies(context, plan) if is_plain else accept_copies(context, plan)
        if status == GROW:
            return GROW
    return DONE
