"""Joins of many matches at a time: what memory a step needs is requested for a batch of matches before it is read.

`joins` takes one match through all steps before the next one, which is best where few matches are wanted. Here each step has a
batch of matches of the steps before it, and the batch after it is filled before the next step begins. The matches and their order
are the same. The plans are those of queries, whose steps all match atoms.
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.joins import bound, is_hidden, key_under, match_values, row_limit, row_under
from kg_reasoner.storage.kernels.layout import CHECK, EMPTY, FINISHED, LOOKUP, PROBE, Context, Index, Plan, Relation, Step
from kg_reasoner.storage.kernels.memory.structs import Array, Int32s, Struct
from kg_reasoner.storage.kernels.primitives import is_stopped, mix, prefetch
from kg_reasoner.storage.kernels.relations import tuple_key
from kg_reasoner.storage.kernels.vectors import entry_place, prefetch_vector, row_at, value_at

BATCH = 128
"""The number of matches in a batch: the cache lines that are requested for them fit into the processor's first-level cache."""


class MatchBatch(Struct):
    """The matches before a step, and how far they have been extended."""

    count: int
    current: int
    """The match that is extended."""
    position: int
    """Where in what the step finds for it the next extension begins; in the last batch, whether it has been looked at."""


class BatchedJoin(Struct):
    """The state of a join in batches: one before each step, and one after the last.

    A match in a batch consists of the plan's slots, and the number of its seed.
    """

    batches: Array[MatchBatch]
    matches: Int32s
    """The matches of the batches, each with room for `BATCH`."""
    places: Int32s
    """For each match of a batch, where the step finds its entries."""
    stride: int
    """The number of ids of a match: that of the plan's slots, and one."""
    width: int
    """The number of ids of an answer: those of the plan's head, and one."""
    seed_width: int
    seed_count: int
    once: int
    """1: only the first match of each seed is wanted."""
    depth: int
    """The step that is taken next."""
    top: int
    """The first step that may still get matches."""
    next_seed: int
    answered: int
    """How many seeds, the first ones, need no more matches."""


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
def matches_of(join: BatchedJoin, depth: int) -> Int32s:
    """Return the matches before a step."""
    return join.matches + depth * BATCH * join.stride


@kernel
def request_step(context: Context, join: BatchedJoin, plan: Plan, depth: int) -> int:
    """Request from memory what a step of a plan, if there is one, needs for the batch before it."""
    if depth == plan.step_count:
        return 0
    step = context.steps[plan.first_step + depth]
    return request(context, step, matches_of(join, depth), join.stride, join.places + depth * BATCH, join.batches[depth].count)


@kernel
def note_place(found: MatchBatch, batch: MatchBatch, total: int, current: int, position: int) -> int:
    """Note how many matches a batch has, and how far the batch before it has been read."""
    found.count = total
    batch.current = current
    batch.position = position
    return 0


@kernel
def extend_by_index(context: Context, join: BatchedJoin, step: Step, depth: int) -> int:
    """Extend the matches of a batch by the entries of an index, until the batch after it is full."""
    batch = join.batches[depth]
    found = join.batches[depth + 1]
    stride = join.stride
    matches = matches_of(join, depth)
    out = matches_of(join, depth + 1)
    places = join.places + depth * BATCH
    answered = join.answered
    index = context.indexes[step.index]
    relation = context.relations[step.relation]
    limit = row_limit(context, step, 0, 0, -1)
    columns = context.codes + step.columns
    arity = relation.arity
    value_slot = step.value_slot
    total, current, position = found.count, batch.current, batch.position
    while current < batch.count:
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
def extend_by_lookup(context: Context, join: BatchedJoin, step: Step, depth: int) -> int:
    """Keep the matches of a batch for which a tuple exists, until the batch after it is full."""
    batch = join.batches[depth]
    found = join.batches[depth + 1]
    stride = join.stride
    matches = matches_of(join, depth)
    out = matches_of(join, depth + 1)
    scratch = context.frames[0].scratch
    limit = row_limit(context, step, 0, 0, -1)
    while batch.current < batch.count and found.count < BATCH:
        match = matches + batch.current * stride
        if match[stride - 1] >= join.answered and row_under(context, match, step, limit, scratch) >= 0:
            copy_ids(match, out + found.count * stride, stride)
            found.count = found.count + 1
        batch.current = batch.current + 1
    return 0


@kernel
def extend_by_scan(context: Context, join: BatchedJoin, step: Step, depth: int) -> int:
    """Extend the matches of a batch by the rows of a relation, until the batch after it is full."""
    batch = join.batches[depth]
    found = join.batches[depth + 1]
    stride = join.stride
    matches = matches_of(join, depth)
    out = matches_of(join, depth + 1)
    relation = context.relations[step.relation]
    limit = row_limit(context, step, 0, 0, -1)
    columns = context.codes + step.columns
    arity = relation.arity
    total = found.count
    while batch.current < batch.count:
        match = matches + batch.current * stride
        row = batch.position if match[stride - 1] >= join.answered else limit
        while row < limit:
            if total == BATCH:
                found.count = total
                batch.position = row
                return 0
            if not is_hidden(context, relation, row):
                target = out + total * stride
                copy_ids(match, target, stride)
                if match_values(target, columns, relation.rows + row * arity, arity):
                    total = total + 1
                    if step.once:
                        break
            row = row + 1
        batch.current = batch.current + 1
        batch.position = 0
    found.count = total
    return 0


@kernel
def extend_batch(context: Context, join: BatchedJoin, step: Step, depth: int) -> int:
    """Extend the matches of a batch by a step, until the batch after it is full."""
    if step.kind == PROBE:
        return extend_by_index(context, join, step, depth)
    if step.kind == LOOKUP:
        return extend_by_lookup(context, join, step, depth)
    return extend_by_scan(context, join, step, depth)


@kernel
def load_seeds(join: BatchedJoin, seeds: Int32s) -> int:
    """Fill the first batch with the next seeds. Return how many they are."""
    first = join.next_seed
    last = first + BATCH if first + BATCH < join.seed_count else join.seed_count
    width = join.seed_width
    stride = join.stride
    for seed in range(first, last):
        match = join.matches + (seed - first) * stride
        copy_ids(seeds + seed * width, match, width)
        match[stride - 1] = seed
    note_place(join.batches[0], join.batches[0], last - first, 0, 0)
    join.next_seed = last
    return last - first


@kernel
def keep_first(join: BatchedJoin, batch: MatchBatch, matches: Int32s) -> int:
    """Keep the first match of each seed."""
    stride = join.stride
    kept = batch.current
    for number in range(batch.current, batch.count):
        seed = matches[number * stride + stride - 1]
        if seed >= join.answered:
            join.answered = seed + 1
            copy_ids(matches + number * stride, matches + kept * stride, stride)
            kept = kept + 1
    batch.count = kept
    return kept


@kernel
def write_columns(
    join: BatchedJoin, codes: Int32s, batch: MatchBatch, matches: Int32s, out: Int32s, written: int, capacity: int
) -> int:
    """Write the answers of a batch's matches, column by column, as far as there is room; return how many are written then.

    The last column has the numbers of seeds.
    """
    stride = join.stride
    first = batch.current
    last = batch.count
    if last - first > capacity - written:
        last = first + capacity - written
    for column in range(join.width):
        code = codes[column] if column < join.width - 1 else -stride
        target = out + column * capacity + written
        for number in range(first, last):
            target[number - first] = bound(matches + number * stride, code)
    batch.current = last
    return written + last - first


@entry
def fetch_batches(context: Context, join: BatchedJoin, seeds: Int32s, out: Int32s, capacity: int) -> int:
    """Write up to `capacity` further matches of a plan, whose first slots hold one seed after the other.

    A match is the plan's head, then the number of its seed. Item n of column c is written to ``out[c * capacity + n]``. Fewer
    matches than `capacity` mean that none is left.
    """
    frame = context.frames[0]
    plan = context.plans[frame.plan]
    if frame.level == FINISHED:
        return 0
    codes, count = context.codes + plan.head, plan.step_count
    depth, written = join.depth, 0
    while not is_stopped(context):
        batch = join.batches[depth]
        is_full = 0
        if depth < count:
            extend_batch(context, join, context.steps[plan.first_step + depth], depth)
            is_full = join.batches[depth + 1].count == BATCH
        else:
            if join.once and not batch.position:  # the batch is new
                keep_first(join, batch, matches_of(join, depth))
                batch.position = 1
            written = write_columns(join, codes, batch, matches_of(join, depth), out, written, capacity)
            if batch.current < batch.count:
                break
        if not is_full:
            if depth > join.top:
                note_place(batch, batch, 0, 0, 0)
                depth = depth - 1
                continue
            if depth == 0 and load_seeds(join, seeds):
                request_step(context, join, plan, 0)
                continue
            if depth == count:
                break
            join.top = depth + 1
        depth = depth + 1
        request_step(context, join, plan, depth)
    join.depth = depth
    return written
