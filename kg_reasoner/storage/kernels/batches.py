"""Joins of many matches at a time: what memory a step needs is requested for a batch of matches before it is read.

`joins` takes one match through all steps before the next one, which is best where few matches are wanted. Here each step has a
batch of matches of the steps before it, and the batch after it is filled before the next step begins. The matches and their order
are the same. The plans are those of queries, whose steps all match atoms.
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.joins import bound, is_hidden, key_under, match_values, row_limit, row_under
from kg_reasoner.storage.kernels.layout import CHECK, EMPTY, FINISHED, LOOKUP, PROBE, Context, Index, Plan, Relation, Step
from kg_reasoner.storage.kernels.memory.structs import Int32s, Int64s
from kg_reasoner.storage.kernels.primitives import is_stopped, mix, prefetch
from kg_reasoner.storage.kernels.relations import tuple_key
from kg_reasoner.storage.kernels.vectors import entry_place, prefetch_vector, row_at, value_at

BATCH = 128
"""The number of matches in a batch: the cache lines that are requested for them fit into the processor's first-level cache."""

# what the state of a join has: before the batches, and for each of them
DEPTH, TOP, NEXT_SEED, ANSWERED, FIRST_BATCH = 0, 1, 2, 3, 4
"""The step that is taken next; the first that may still get matches; the next seed; how many seeds need no more matches; where the
batches begin."""
COUNT, CURRENT, POSITION, BATCH_STATE = 0, 1, 2, 3
"""The number of matches; the one that is extended; how far; and the number of such numbers."""


@kernel
def copy_ids(source: Int32s, target: Int32s, count: int) -> int:
    """Copy ids."""
    for place in range(count):
        target[place] = source[place]
    return 0


@kernel
def request_entries(context: Context, step: Step, index: Index, matches: Int32s, stride: int, places: Int32s, count: int) -> int:
    """Write the slots of a step's keys, or EMPTY, and request their entries from memory."""
    keys = index.keys
    mask = index.mask
    for number in range(count):
        slot = mix(key_under(context, matches + number * stride, step)) & mask
        places[number] = slot
        prefetch(keys, slot)
    for number in range(count):
        key = key_under(context, matches + number * stride, step)
        slot = places[number]
        while keys[slot] != key and keys[slot] != EMPTY:
            slot = (slot + 1) & mask
        if keys[slot] == EMPTY:
            places[number] = EMPTY
        else:
            places[number] = slot
            prefetch(index.starts, slot)
            prefetch(index.lengths, slot)
    for number in range(count):
        if places[number] != EMPTY:
            prefetch_vector(index, index.starts[places[number]])
    if step.value_slot == CHECK or not index.has_values:
        relation = context.relations[index.relation]
        for number in range(count):
            if places[number] != EMPTY:
                row = row_at(index, entry_place(index, index.starts[places[number]], 0))
                prefetch(relation.rows, row * relation.arity)
    return 0


@kernel
def request_tuples(context: Context, step: Step, relation: Relation, matches: Int32s, stride: int, count: int) -> int:
    """Request the places of a step's tuples from memory."""
    codes = context.codes + step.key
    values = context.frames[0].scratch
    for number in range(count):
        bindings = matches + number * stride
        for column in range(relation.arity):
            values[column] = bound(bindings, codes[column])
        prefetch(relation.slots, mix(tuple_key(values, relation.arity)) & relation.mask)
    return 0


@kernel
def request(context: Context, step: Step, matches: Int32s, stride: int, places: Int32s, count: int) -> int:
    """Request from memory what a step needs for a batch."""
    if step.kind == PROBE:
        return request_entries(context, step, context.indexes[step.index], matches, stride, places, count)
    if step.kind == LOOKUP:
        return request_tuples(context, step, context.relations[step.relation], matches, stride, count)
    return 0


@kernel
def request_step(context: Context, plan: Plan, depth: int, matches: Int32s, stride: int, places: Int32s, batch: Int64s) -> int:
    """Request from memory what a step of a plan, if there is one, needs for the batch before it."""
    if depth == plan.step_count:
        return 0
    return request(context, context.steps[plan.first_step + depth], matches, stride, places + depth * BATCH, batch[COUNT])


@kernel
def note_place(found: Int64s, batch: Int64s, total: int, current: int, position: int) -> int:
    """Note how many matches a batch has, and how far the batch before it has been read."""
    found[COUNT] = total
    batch[CURRENT] = current
    batch[POSITION] = position
    return 0


@kernel
def extend_by_index(
    context: Context,
    step: Step,
    batch: Int64s,
    matches: Int32s,
    stride: int,
    places: Int32s,
    found: Int64s,
    out: Int32s,
    answered: int,
) -> int:
    """Extend the matches of a batch by the entries of an index, until the batch after it is full."""
    index = context.indexes[step.index]
    relation = context.relations[step.relation]
    limit = row_limit(context, step, 0, 0, -1)
    columns = context.codes + step.columns
    arity = relation.arity
    value_slot = step.value_slot
    total, current, position = found[COUNT], batch[CURRENT], batch[POSITION]
    while current < batch[COUNT]:
        slot = places[current]
        if slot != EMPTY and matches[current * stride + stride - 1] >= answered:
            vector = index.starts[slot]
            length = index.lengths[slot]
            match = matches + current * stride
            while position < length:
                if total == BATCH:
                    return note_place(found, batch, total, current, position)
                place = entry_place(index, vector, position)
                position = position + 1
                row = row_at(index, place)
                if row >= limit:
                    break
                if is_hidden(context, relation, row):
                    continue
                target = out + total * stride
                copy_ids(match, target, stride)
                if value_slot >= 0:
                    target[value_slot] = value_at(index, relation, place, row)
                elif value_slot == CHECK:
                    if not match_values(target, columns, relation.rows + row * arity, arity):
                        continue
                total = total + 1
                if step.once:
                    break
        current = current + 1
        position = 0
    return note_place(found, batch, total, current, 0)


@kernel
def extend_by_lookup(
    context: Context,
    step: Step,
    batch: Int64s,
    matches: Int32s,
    stride: int,
    found: Int64s,
    out: Int32s,
    answered: int,
) -> int:
    """Keep the matches of a batch for which a tuple exists, until the batch after it is full."""
    scratch = context.frames[0].scratch
    limit = row_limit(context, step, 0, 0, -1)
    while batch[CURRENT] < batch[COUNT] and found[COUNT] < BATCH:
        match = matches + batch[CURRENT] * stride
        if match[stride - 1] >= answered and row_under(context, match, step, limit, scratch) >= 0:
            copy_ids(match, out + found[COUNT] * stride, stride)
            found[COUNT] = found[COUNT] + 1
        batch[CURRENT] = batch[CURRENT] + 1
    return 0


@kernel
def extend_by_scan(
    context: Context,
    step: Step,
    batch: Int64s,
    matches: Int32s,
    stride: int,
    found: Int64s,
    out: Int32s,
    answered: int,
) -> int:
    """Extend the matches of a batch by the rows of a relation, until the batch after it is full."""
    relation = context.relations[step.relation]
    limit = row_limit(context, step, 0, 0, -1)
    columns = context.codes + step.columns
    arity = relation.arity
    total = found[COUNT]
    while batch[CURRENT] < batch[COUNT]:
        match = matches + batch[CURRENT] * stride
        row = batch[POSITION] if match[stride - 1] >= answered else limit
        while row < limit:
            if total == BATCH:
                found[COUNT] = total
                batch[POSITION] = row
                return 0
            if not is_hidden(context, relation, row):
                target = out + total * stride
                copy_ids(match, target, stride)
                if match_values(target, columns, relation.rows + row * arity, arity):
                    total = total + 1
                    if step.once:
                        break
            row = row + 1
        batch[CURRENT] = batch[CURRENT] + 1
        batch[POSITION] = 0
    found[COUNT] = total
    return 0


@kernel
def extend_batch(
    context: Context,
    step: Step,
    batch: Int64s,
    matches: Int32s,
    stride: int,
    places: Int32s,
    found: Int64s,
    out: Int32s,
    answered: int,
) -> int:
    """Extend the matches of a batch by a step, until the batch after it is full."""
    if step.kind == PROBE:
        return extend_by_index(context, step, batch, matches, stride, places, found, out, answered)
    if step.kind == LOOKUP:
        return extend_by_lookup(context, step, batch, matches, stride, found, out, answered)
    return extend_by_scan(context, step, batch, matches, stride, found, out, answered)


@kernel
def load_seeds(state: Int64s, batch: Int64s, matches: Int32s, stride: int, seeds: Int32s, width: int, seed_count: int) -> int:
    """Fill the first batch with the next seeds, whose numbers are in the last slot. Return how many they are."""
    first = state[NEXT_SEED]
    last = first + BATCH if first + BATCH < seed_count else seed_count
    for seed in range(first, last):
        match = matches + (seed - first) * stride
        copy_ids(seeds + seed * width, match, width)
        match[stride - 1] = seed
    batch[COUNT] = last - first
    batch[CURRENT] = 0
    batch[POSITION] = 0
    state[NEXT_SEED] = last
    return last - first


@kernel
def keep_first(state: Int64s, batch: Int64s, matches: Int32s, stride: int) -> int:
    """Keep the first match of each seed."""
    kept = batch[CURRENT]
    for number in range(batch[CURRENT], batch[COUNT]):
        seed = matches[number * stride + stride - 1]
        if seed >= state[ANSWERED]:
            state[ANSWERED] = seed + 1
            copy_ids(matches + number * stride, matches + kept * stride, stride)
            kept = kept + 1
    batch[COUNT] = kept
    return kept


@kernel
def write_columns(
    codes: Int32s, width: int, batch: Int64s, matches: Int32s, stride: int, out: Int32s, written: int, capacity: int
) -> int:
    """Write the answers of a batch's matches, column by column, as far as there is room; return how many are written then.

    The last column has the numbers of seeds.
    """
    first = batch[CURRENT]
    last = batch[COUNT]
    if last - first > capacity - written:
        last = first + capacity - written
    for column in range(width):
        code = codes[column] if column < width - 1 else -stride
        target = out + column * capacity + written
        for number in range(first, last):
            target[number - first] = bound(matches + number * stride, code)
    batch[CURRENT] = last
    return written + last - first


@entry
def fetch_batches(
    context: Context,
    seeds: Int32s,
    seed_width: int,
    seed_count: int,
    once: int,
    state: Int64s,
    matches: Int32s,
    stride: int,
    places: Int32s,
    width: int,
    out: Int32s,
    capacity: int,
) -> int:
    """Write up to `capacity` further matches of a plan, whose first slots hold one seed after the other.

    A match is the plan's head, then the number of its seed: `width` ids. Item n of column c is written to
    ``out[c * capacity + n]``. With `once`, only the first match of each seed. Fewer matches than `capacity` mean that none is left.
    `stride` is the number of slots of the plan, and one more; `matches` and `places` have room for a batch before each step, and
    one after the last.
    """
    frame = context.frames[0]
    plan = context.plans[frame.plan]
    if frame.level == FINISHED:
        return 0
    codes, count = context.codes + plan.head, plan.step_count
    depth, written = state[DEPTH], 0
    while not is_stopped(context):
        batch, mine = state + FIRST_BATCH + depth * BATCH_STATE, matches + depth * BATCH * stride
        is_full = 0
        if depth < count:
            found, out_of_step = batch + BATCH_STATE, mine + BATCH * stride
            step = context.steps[plan.first_step + depth]
            extend_batch(context, step, batch, mine, stride, places + depth * BATCH, found, out_of_step, state[ANSWERED])
            is_full = found[COUNT] == BATCH
        else:
            if once and not batch[POSITION]:  # the batch is new
                keep_first(state, batch, mine, stride)
                batch[POSITION] = 1
            written = write_columns(codes, width, batch, mine, stride, out, written, capacity)
            if batch[CURRENT] < batch[COUNT]:
                break
        if not is_full:
            if depth > state[TOP]:
                note_place(batch, batch, 0, 0, 0)
                depth = depth - 1
                continue
            if depth == 0 and load_seeds(state, batch, mine, stride, seeds, seed_width, seed_count):
                request_step(context, plan, 0, mine, stride, places, batch)
                continue
            if depth == count:
                break
            state[TOP] = depth + 1
        depth = depth + 1
        request_step(context, plan, depth, mine + BATCH * stride, stride, places, batch + BATCH_STATE)
    state[DEPTH] = depth
    return written
