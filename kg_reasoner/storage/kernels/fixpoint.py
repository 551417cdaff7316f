"""Semi-naive evaluation: blocks of new rows trigger plans, whose heads are inserted, until no relation has new rows."""

from kg_reasoner.storage.kernels.block_filters import begin_filters, match_values_of
from kg_reasoner.storage.kernels.blocking_rows import is_decided_before
from kg_reasoner.storage.kernels.index_entries import key_slot
from kg_reasoner.storage.kernels.joins import fill_tuple, is_hidden, match_columns, next_match, row_limit, value_of
from kg_reasoner.storage.kernels.layout import (
    BUILD_INDEX,
    CACHED,
    CHECK,
    COMPARE,
    DISTINCT,
    DONE,
    EMPTY,
    FEW,
    FRESH,
    FULL,
    FUNCTION_RESULTS,
    GROW,
    IDLE,
    PAUSE,
    PRESENT,
    PROBE,
    READY,
    RING,
    ROW,
    SPARSE,
    STOPPED,
    VALUES,
    WIDE,
    Context,
    Frame,
    Index,
    Plan,
    Relation,
    Section,
    Step,
)
from kg_reasoner.storage.kernels.listed_heads import accept
from kg_reasoner.storage.kernels.marks import derive_marking
from kg_reasoner.storage.kernels.memory import Int32s, Int64s, entry, is_stopped, kernel, mix, pair, prefetch, shared_kernel
from kg_reasoner.storage.kernels.relations import (
    growing,
    growing_count,
    has_key,
    has_row,
    has_values,
    is_present,
    key_of_columns,
    note_rows,
    relation_of,
    section_of,
    tag_of,
    tuple_key,
    values_of,
)
from kg_reasoner.storage.kernels.vectors import entry_place, page_end, row_at, value_at


@kernel
def is_last(context: Context, number: int, relation_number: int, values: Int32s) -> int:
    """Return whether the head that was put into the queue before the one with this number is this tuple."""
    place = (number - 1) & (RING - 1)
    if context.ring_relations[place] != relation_number:
        return 0
    return has_values(context.relations[relation_number], values, context.ring + place * context.ring_stride)


@kernel
def queue_head(context: Context, frame: Frame, plan: Plan) -> int:
    """Put the head of the frame's match into the queue, and prefetch the cache line of its lookup.

    The same head twice in a row is common (domains: all rows of one subject) and is dropped at once.
    """
    number = context.ring_next
    place = number & (RING - 1)
    values = context.ring + place * context.ring_stride
    relation = context.relations[plan.head_relation]
    fill_tuple(frame, context.codes + plan.head, relation.arity, values)
    key = tuple_key(values, relation.arity)
    if key == plan.last_key and (relation.arity < 3 or is_last(context, number, plan.head_relation, values)):
        return context.ring_count
    plan.last_key = key
    context.ring_relations[place] = plan.head_relation
    context.ring_keys[place] = key
    prefetch(relation.slots, mix(key) & relation.mask)
    context.ring_next = number + 1
    context.ring_count = context.ring_count + 1
    return context.ring_count


@kernel
def insert_oldest(context: Context) -> int:
    """Insert the oldest queued head; FULL leaves it in the queue."""
    count = context.ring_count
    place = (context.ring_next - count) & (RING - 1)
    number = context.ring_relations[place]
    key = context.ring_keys[place]
    result = PRESENT
    if not is_present(context.relations[number], key):
        result = accept(context, number, context.ring + place * context.ring_stride, key)
        if result == FULL:
            return FULL
    context.ring_count = count - 1
    return result


@kernel
def emit(context: Context, frame: Frame, plan: Plan) -> int:
    """Queue the head of the frame's match for insertion: DONE or GROW."""
    context.instances = context.instances + 1
    if queue_head(context, frame, plan) >= RING // 2 and insert_oldest(context) == FULL:
        return GROW
    return DONE


@kernel
def is_guarded_off(context: Context, step: Step) -> int:
    """Return whether no row has the constants of a body atom."""
    if step.guard < 0:
        return 0
    index = context.indexes[step.guard]
    if not index.built:
        return 0
    if step.guard_key == EMPTY:
        return 1 if index.used == 0 else 0
    return 1 if index.keys[key_slot(index, step.guard_key)] == EMPTY else 0


@kernel
def may_be_scanned(context: Context, index: Index) -> int:
    """Return whether rows may be scanned in place of an index."""
    return 1 if context.scans and index.patience > 0 else 0


@kernel
def need(context: Context, plan: Plan) -> int:
    """Return READY, or a request to the caller for a need of a plan. Guards come first, as they may show that it needs no more."""
    wanted = READY
    context.guarding = 0
    context.scanning = 0
    for number in range(plan.first_step, plan.first_step + plan.step_count):
        step = context.steps[number]
        if step.guard >= 0 and not context.indexes[step.guard].built:
            context.wanted = step.guard
            context.guarding = 1
            return BUILD_INDEX
        if wanted == READY and step.kind == PROBE and not context.indexes[step.index].built:
            context.scanning = 1
            if not may_be_scanned(context, context.indexes[step.index]):
                context.wanted = step.index
                wanted = BUILD_INDEX
        if wanted == READY and step.kind == COMPARE and step.operator != DISTINCT and not context.valued + context.term_access:
            wanted = VALUES
    return wanted


@shared_kernel
def readiness(context: Context, plan: Plan, low: int, high: int, current: int) -> int:
    """Return whether a plan can match in a block: IDLE (nothing matches a body atom), READY, or a request to the caller.

    For a few rows, it takes less time to run the plan than to look at its guards, unless it scans rows.
    """
    for number in range(plan.first_step, plan.first_step + plan.step_count):
        step = context.steps[number]
        if step.kind < COMPARE and not step.negated and row_limit(context, step, low, high, current) == 0:
            return IDLE
    wanted = need(context, plan)
    if wanted != READY or context.scanning or high - low > FEW:
        for number in range(plan.first_step, plan.first_step + plan.step_count):
            if is_guarded_off(context, context.steps[number]):
                return IDLE
    return wanted


@kernel
def open_plan(context: Context, frame: Frame, number: int) -> int:
    """Prepare a frame to join all rows by a plan: READY, IDLE (no matches), or a request to the caller."""
    ready = readiness(context, context.plans[number], 0, 0, -1)
    if ready == READY:
        frame.plan = number
        frame.level = FRESH
        frame.fact = -1
    return ready


@kernel
def is_ignored(plan: Plan, values: Int32s) -> int:
    """Return whether a row that matches the columns of a plan does not trigger it."""
    return 1 if plan.apart > 0 and values[0] == values[plan.apart] else 0


@kernel
def open_triggered(context: Context, frame: Frame, number: int, relation: Relation, fact: int) -> int:
    """Prepare a frame for a plan that a fact of a relation triggers: READY, IDLE, or a request to the caller."""
    plan = context.plans[number]
    values = values_of(relation, fact)
    if is_ignored(plan, values) or not match_columns(frame, context.codes + plan.trigger, values, relation.arity):
        return IDLE
    return open_plan(context, frame, number)


@kernel
def open_first(context: Context, frame: Frame, number: int, relation: Relation, fact: int) -> int:
    """Prepare a frame for a plan that a deleted or new fact triggers: READY, IDLE (also if the fact is one of a negated atom, and
    another one triggers the same instances), or a request to the caller.
    """
    ready = open_triggered(context, frame, number, relation, fact)
    plan = context.plans[number]
    if ready == READY and plan.negation >= 0 and is_decided_before(context, frame, plan, fact & ROW):
        return IDLE
    return ready


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
            for place in range(position, last):
                value = entries[place] & 0x7FFFFFFF
                if not has_pair(slots, mask, row_mask, rows, hashes[place - position], fixed + value * factor):
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


@kernel
def decided_key(plan: Plan, head: Relation, values: Int32s) -> int:
    """Return the hash key of the head that a triggering row determines."""
    return key_of_columns(head, values, plan.first_column, plan.second_column)


@kernel
def required_key(plan: Plan, looked_up: Relation, values: Int32s) -> int:
    """Return the hash key of the tuple that the first step looks up, which a triggering row determines."""
    return key_of_columns(looked_up, values, plan.first_required, plan.second_required)


@kernel
def request_lookups(context: Context, plan: Plan, relation: Relation, low: int, high: int) -> int:
    """Prefetch the memory of the first look-up when rows trigger a plan."""
    head = context.relations[plan.head_relation]
    if plan.decided:
        for row in range(low, high):
            prefetch(head.slots, mix(decided_key(plan, head, relation.rows + row * relation.arity)) & head.mask)
    if plan.probe_column >= 0:
        index = context.indexes[context.steps[plan.first_step].index]
        for row in range(low, high):
            prefetch(index.keys, mix(relation.rows[row * relation.arity + plan.probe_column]) & index.mask)
    if plan.first_required >= 0:
        looked_up = context.relations[context.steps[plan.first_step].relation]
        for row in range(low, high):
            prefetch(looked_up.slots, mix(required_key(plan, looked_up, relation.rows + row * relation.arity)) & looked_up.mask)
    return 0


@shared_kernel
def trigger(context: Context, number: int, row: int, low: int, high: int, current: int) -> int:
    """Run one plan on one new row: DONE or GROW."""
    plan = context.plans[number]
    relation = context.relations[current]
    frame = context.frames[0]
    if is_hidden(context, relation, row):
        return DONE
    values = relation.rows + row * relation.arity
    if plan.decided and not context.marking:
        head = context.relations[plan.head_relation]
        key = decided_key(plan, head, values)
        if key == plan.last_key or is_present(head, key):
            return DONE
    if plan.probe_column >= 0:  # most rows find nothing in the first index, and need no frame for that
        index = context.indexes[context.steps[plan.first_step].index]
        if index.keys[key_slot(index, values[plan.probe_column])] == EMPTY:
            return DONE
    if plan.first_required >= 0:  # nor for most tuples that are looked up
        looked_up = context.relations[context.steps[plan.first_step].relation]
        if not has_row(looked_up, required_key(plan, looked_up, values)):
            return DONE
    if not match_columns(frame, context.codes + plan.trigger, values, relation.arity):
        return DONE
    frame.plan = number
    frame.level = FRESH
    frame.fact = (current << 32) | row
    return derive(context, frame, plan, low, high, current)


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


@shared_kernel
def insert_queued(context: Context) -> int:
    """Insert all queued heads: DONE or GROW."""
    while context.ring_count > 0:
        if insert_oldest(context) == FULL:
            return GROW
    return DONE


@shared_kernel
def trigger_rows(context: Context, number: int, low: int, high: int, current: int) -> int:
    """Run one plan on a block of new rows: DONE or GROW."""
    plan = context.plans[number]
    if plan.copies and not context.marking:
        if insert_queued(context) == GROW:
            return GROW
        return copy_rows(context, plan, low, high, current)
    plan.last_key = EMPTY
    requested = low
    for row in range(low, high):
        if row == requested:
            requested = row + RING if row + RING < high else high
            request_lookups(context, plan, context.relations[current], row, requested)
        if trigger(context, number, row, low, high, current) == GROW:
            return GROW
    return DONE


@kernel
def trigger_matching(context: Context, number: int, low: int, high: int, current: int) -> int:
    """Run one plan on the rows of a block whose filter value its first step can match: DONE or GROW."""
    plan = context.plans[number]
    plan.last_key = EMPTY
    numbers, matches = context.filter_numbers, context.filter_matches
    for row in range(low, high):
        if matches[numbers[row - low]] and trigger(context, number, row, low, high, current) == GROW:
            return GROW
    return DONE


@kernel
def process_row(context: Context, section_number: int, current: int, row: int, low: int, high: int) -> int:
    """Run the plans that a row triggers through its section; their readiness is determined once per block."""
    section = context.sections[section_number]
    relation = context.relations[current]
    for position in range(section.first_trigger, section.end_trigger):
        number = context.triggers[position]
        plan = context.plans[number]
        if is_ignored(plan, relation.rows + row * relation.arity):
            continue
        if plan.checked_block != context.block:
            plan.active = readiness(context, plan, low, high, current)
            plan.checked_block = context.block
            plan.last_key = EMPTY
        if plan.active > READY:
            plan.checked_block = 0
            return plan.active
        if plan.active == READY and trigger(context, number, row, low, high, current) == GROW:
            return GROW
    return DONE


@shared_kernel
def process_block(context: Context, current: int, low: int, high: int) -> int:
    """Run every plan that the rows [low, high) of a relation trigger: DONE, or a request to the caller, who then repeats the
    block.
    """
    relation = context.relations[current]
    section = context.sections[relation.section]
    column = begin_filters(context, section, relation, low, high)
    for position in range(section.first_trigger, section.end_trigger):
        number = context.triggers[position]
        plan = context.plans[number]
        ready = readiness(context, plan, low, high, current)
        if ready > READY:
            return ready
        if ready == READY:
            if column < 0 or plan.filter_column != column:
                status = trigger_rows(context, number, low, high, current)
            elif match_values_of(context, context.frames[0], plan):
                status = trigger_matching(context, number, low, high, current)
            else:
                status = DONE
            if status == GROW:
                return GROW
    if relation.section_column < 0:
        return FUNCTION_RESULTS if context.request_count > 0 else DONE
    context.block = context.block + 1
    for row in range(low, high):
        own = section_of(relation, relation.rows + row * relation.arity)
        if own >= 0:
            status = process_row(context, own, current, row, low, high)
            if status != DONE:
                return status
    return FUNCTION_RESULTS if context.request_count > 0 else DONE


@kernel
def follow(context: Context, number: int) -> int:
    """Choose the next current relation among those with new rows whose rows rules derive from a relation. Return whether there is
    one.
    """
    section = context.sections[context.relations[number].section]
    for position in range(section.first_trigger, section.end_trigger):
        head = context.plans[context.triggers[position]].head_relation
        if context.processed[head] < context.relations[head].count:
            context.current = head
            return 1
    return 0


@kernel
def is_wide(context: Context, current: int, low: int) -> int:
    """Return whether threads should share the new rows of a relation from `low` on: they fill blocks, and there is much to do."""
    relation = context.relations[current]
    if context.wide == 0 or relation.is_alone or context.marking:
        return 0
    blocks = (relation.count - low) // context.block_rows
    if blocks < 2 or blocks * (context.block_rows + context.block_instances) < context.wide:
        return 0
    if relation.section_column >= 0:
        return 1
    section = context.sections[relation.section]
    for position in range(section.first_trigger, section.end_trigger):
        if readiness(context, context.plans[context.triggers[position]], low, relation.count, current) != IDLE:
            return 1
    return 0


@entry
def run(context: Context) -> int:
    """Process new rows until none is left: DONE, GROW, BUILD_INDEX (`wanted`), VALUES, FUNCTION_RESULTS, WIDE, PAUSE (after
    `pause` blocks) or STOPPED.

    After any result but DONE, the caller fulfils the request and calls again. An interrupted block is repeated; this is idempotent.
    The heads of a block are inserted before the next one begins, so that the order of rows depends on nothing else.
    """
    if insert_queued(context) == GROW:
        return GROW
    idle = 0
    blocks = context.pause
    while idle < growing_count(context):
        if context.current >= growing_count(context):
            context.current = 0
        current = growing(context, context.current)
        relation = context.relations[current]
        low = context.processed[current]
        if low >= relation.count:
            idle = idle + 1
            context.passed = context.passed + 1
            context.current = context.current + 1
            continue
        if context.passed > 0:
            context.following = 1 if context.passed > SPARSE and not context.has_listed_grown else 0
            context.passed = 0
        idle = 0
        high = context.block_end
        if high == 0:
            if not context.following and is_wide(context, current, low):
                context.wanted = current
                return WIDE
            high = relation.count
            if high > low + context.block_rows:
                high = low + context.block_rows
            context.block_end = high
        instances = context.instances
        status = process_block(context, current, low, high)
        if status == DONE:
            status = insert_queued(context)
        if status != DONE:
            return status
        context.processed[current] = high
        context.block_end = 0
        context.block_instances = context.instances - instances
        blocks = blocks - 1
        if is_stopped(context):
            return STOPPED
        if blocks == 0:
            return PAUSE
        if context.following and not context.has_listed_grown:
            follow(context, current)
    context.passed = 0
    context.following = 0
    return DONE


@entry
def evaluate_rule(context: Context, number: int) -> int:
    """Derive the heads of all matches of a plan without trigger: DONE, or as `run` (a repeated call starts again)."""
    if insert_queued(context) == GROW:
        return GROW
    plan = context.plans[number]
    frame = context.frames[0]
    ready = open_plan(context, frame, number)
    if ready != READY:
        return DONE if ready == IDLE else ready
    plan.last_key = EMPTY
    status = derive(context, frame, plan, 0, 0, -1)
    if status == DONE:
        status = insert_queued(context)
    return FUNCTION_RESULTS if status == DONE and context.request_count > 0 else status


@kernel
def derive_by_section(context: Context, section: Section, fact: int) -> int:
    """Derive what a fact of a negated atom blocked, for the rules of a section: DONE, or a request to the caller."""
    relation = relation_of(context, fact)
    frame = context.frames[0]
    for position in range(section.first_blocker, section.end_blocker):
        plan = context.plans[context.blockers[position]]
        ready = open_first(context, frame, context.blockers[position], relation, fact)
        if ready > READY:
            return ready
        if ready == READY:
            plan.last_key = EMPTY
            if derive(context, frame, plan, 0, 0, -1) == GROW:
                return GROW
    return FUNCTION_RESULTS if context.request_count > 0 else DONE


@entry
def derive_unblocked(context: Context) -> int:
    """Derive consequences of the absence of deleted facts, from `place` on: DONE, or a request to the caller, who then calls
    again.
    """
    while context.place < context.gone_count:
        fact = context.gone[context.place]
        relation = relation_of(context, fact)
        status = derive_by_section(context, context.sections[relation.section], fact)
        own = section_of(relation, values_of(relation, fact))
        if status == DONE and own >= 0:
            status = derive_by_section(context, context.sections[own], fact)
        if status != DONE:
            return status
        context.place = context.place + 1
    return insert_queued(context)
