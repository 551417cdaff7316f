"""Plans that only copy columns of the rows that trigger them, perhaps of some of them (semijoins).

Most rules of ontologies are of this kind: subclasses, domains and inverses copy all rows. An intersection of two classes copies the
members of one that the other one has, and an existential restriction the subjects of a property with a value in a class.
"""

from kg_reasoner.storage.kernels.decorators import kernel, shared_kernel
from kg_reasoner.storage.kernels.joins import is_hidden, row_limit
from kg_reasoner.storage.kernels.layout import CACHED, DONE, EMPTY, FULL, GROW, RING, Context, Plan, Relation, Step
from kg_reasoner.storage.kernels.listed_heads import accept
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.primitives import mix, prefetch
from kg_reasoner.storage.kernels.relations import has_key, is_present, key_of_columns, note_rows, row_with_key, tag_of


@kernel
def required_key(step: Step, looked_up: Relation, values: Int32s) -> int:
    """Return the hash key of the tuple that a step looks up, which a triggering row determines."""
    return key_of_columns(looked_up, values, step.first_column, step.second_column)


@kernel
def is_semijoin(context: Context, plan: Plan) -> int:
    """Return whether a plan is a semijoin, and its look-ups find tuples by their keys alone, as no row is dead or hidden."""
    if not plan.semijoin or context.checks_flags:
        return 0
    for number in range(plan.first_step, plan.first_step + plan.step_count):
        if context.relations[context.steps[number].relation].dead > 0:
            return 0
    return 1


@kernel
def request_copies(context: Context, plan: Plan, first: int, high: int, current: int) -> int:
    """Collect the next heads of a plan that only copies columns, with their hashes, and request from memory what is looked up for
    them. Return the row after them; their number is in the context.

    The same head twice in a row is common (domains: all rows of one subject) and is dropped at once, unless the look-ups of a
    semijoin may fail for the first one. Heads that are known to be present are dropped, too.
    """
    relation = context.relations[current]
    head = context.relations[plan.head_relation]
    slots, mask, keys, hashes, copied = head.slots, head.mask, context.ring_keys, context.hashes, context.copied
    arity, rows, first_column, second_column = relation.arity, relation.rows, plan.first_column, plan.second_column
    hides = relation.dead + context.checks_flags
    pairs = head.arity == 2
    joins = plan.step_count
    known, room = head.known, head.known_room
    last = plan.last_key
    waiting = skipped = 0
    row = first
    while row < high and waiting < RING:
        key = rows[row * arity + first_column]
        if pairs:
            key = (key << 32) | rows[row * arity + second_column]
        if (joins or key != last) and not (hides and is_hidden(context, relation, row)):
            last = key
            if key < room and known[key >> 3] >> (key & 7) & 1:
                skipped = skipped + 1
            else:
                hash = mix(key)
                keys[waiting] = key
                hashes[waiting] = hash
                copied[waiting] = row
                prefetch(slots, hash & mask)
                waiting = waiting + 1
        row = row + 1
    plan.last_key = last
    context.copies = waiting
    context.instances = context.instances + (0 if joins else skipped)
    if mask >= CACHED:
        row_mask, head_rows, width = head.row_mask, head.rows, head.arity
        for place in range(waiting):
            found = slots[hashes[place] & mask]
            if found != EMPTY:
                prefetch(head_rows, width * (found & row_mask))
    return row


@kernel
def keep_found(context: Context, plan: Plan, low: int, high: int, current: int) -> int:
    """Keep those of the collected heads for which all steps find what they look up. Return their number."""
    relation = context.relations[current]
    rows, arity = relation.rows, relation.arity
    keys, hashes, copied = context.ring_keys, context.hashes, context.copied
    for number in range(plan.first_step, plan.first_step + plan.step_count):
        step = context.steps[number]
        looked_up = context.relations[step.relation]
        limit = row_limit(context, step, low, high, current)
        for place in range(context.copies):
            values = rows + copied[place] * arity
            prefetch(looked_up.slots, mix(required_key(step, looked_up, values)) & looked_up.mask)
        kept = 0
        for place in range(context.copies):
            found = row_with_key(looked_up, required_key(step, looked_up, rows + copied[place] * arity))
            if found >= 0 and found < limit:
                keys[kept] = keys[place]
                hashes[kept] = hashes[place]
                copied[kept] = copied[place]
                kept = kept + 1
        context.copies = kept
    return context.copies


@kernel
def know(head: Relation, key: int) -> int:
    """Note that a relation has a head. If threads set bits of one byte at the same time, some remain unset, which does no harm."""
    if key < head.known_room:
        head.known[key >> 3] = head.known[key >> 3] | 1 << (key & 7)
    return key


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
        know(head, key)
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
        if not context.own_list:
            know(head, key)
    return DONE


@kernel
def derived_count(context: Context, head: Relation) -> int:
    """Return the number of a relation's rows, or of the heads in the thread's list."""
    return context.lists[context.own_list - 1].count if context.own_list else head.count


@shared_kernel
def copy_rows(context: Context, plan: Plan, low: int, high: int, current: int) -> int:
    """Derive the heads of a plan that only copies columns, or of a semijoin: DONE or GROW. Known heads of a semijoin do not count
    as instances, because nothing would be looked up for them.

    Keys are computed in batches, so that their cache lines are on their way when they are looked up.
    """
    head = context.relations[plan.head_relation]
    is_plain = head.dead == 0 and head.section_column < 0 and context.own_list == 0
    is_plain = is_plain and context.sections[head.section].first_index < 0
    plan.last_key = EMPTY
    row = low
    while row < high:
        row = request_copies(context, plan, row, high, current)
        if plan.step_count:
            keep_found(context, plan, low, high, current)
        known = derived_count(context, head)
        status = insert_copies(context, plan) if is_plain else accept_copies(context, plan)
        found = derived_count(context, head) - known if plan.step_count else context.copies
        context.instances = context.instances + found
        if status == GROW:
            return GROW
    return DONE
