"""The inner loops of joins: the heads of all matches of a plan."""

from kg_reasoner.storage.kernels.decorators import kernel, shared_kernel
from kg_reasoner.storage.kernels.head_queue import emit
from kg_reasoner.storage.kernels.index_entries import key_slot
from kg_reasoner.storage.kernels.joins import next_match, row_limit, step_key, value_of
from kg_reasoner.storage.kernels.layout import CHECK, DONE, EMPTY, GROW, PROBE, RING, Context, Frame, Plan, Step
from kg_reasoner.storage.kernels.marks import derive_marking
from kg_reasoner.storage.kernels.memory.structs import Int64s
from kg_reasoner.storage.kernels.pair_queue import collect_pairs, enter_group, insert_pairs
from kg_reasoner.storage.kernels.primitives import is_stopped
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
def derive_pairs(context: Context, frame: Frame, plan: Plan, step: Step, low: int, high: int, current: int) -> int:
    """Derive heads of two columns, without dead rows, most of which are already known: DONE or GROW.

    Dense joins spend their time here. A pair is its own key, so that a known head need not be made. The key is a multiple of the
    entry's value, and a fixed part.
    """
    level = frame.levels[plan.step_count - 1]
    index = context.indexes[step.index]
    length = index.lengths[level.slot]
    limit = row_limit(context, step, low, high, current)
    first, second, bound = context.codes[plan.head], context.codes[plan.head + 1], -1 - step.value_slot
    factor = (1 << 32 if first == bound else 0) | (1 if second == bound else 0)
    fixed = (0 if first == bound else value_of(frame, first) << 32) | (0 if second == bound else value_of(frame, second))
    if context.pair_relation != plan.head_relation:
        if insert_pairs(context) == GROW:
            return GROW
        context.pair_relation = plan.head_relation
    group = enter_group(context, frame.plan, fixed)
    start = level.position
    position = start
    while position < length:
        vector = index.starts[level.slot]  # a head that is inserted can move the vector
        entries = index.arena + (entry_place(index, vector, position) - position)
        end = page_end(index, vector, position, length)
        if entries[end - 1] >> 32 >= limit:
            end = length = first_beyond(entries, position, end - 1, limit)
        position = collect_pairs(context, entries, position, end, group, factor)
        if context.pair_count == RING and insert_pairs(context) == GROW:
            return GROW
    context.instances = context.instances + position - start
    level.position = position
    return DONE


@kernel
def find_vector(context: Context, frame: Frame, step: Step) -> int:
    """Move the only step of a frame's plan before the first entry of its index vector: 1, or 0 if there is none."""
    index = context.indexes[step.index]
    level = frame.levels[0]
    level.slot = key_slot(index, step_key(context, frame, step))
    level.position = 0
    return 0 if index.keys[level.slot] == EMPTY else 1


@kernel
def is_plain_probe(context: Context, step: Step) -> int:
    """Return whether a step has an index vector, every entry of which is a match."""
    if step.kind != PROBE or step.negated or step.once or step.value_slot == CHECK:
        return 0
    return 1 if context.relations[step.relation].dead + context.checks_flags == 0 and context.indexes[step.index].built else 0


@kernel
def derive_all_pairs(context: Context, frame: Frame, plan: Plan, step: Step, low: int, high: int, current: int) -> int:
    """Derive heads of two columns from all matches (see `derive_pairs`): DONE or GROW."""
    level = frame.levels[plan.step_count - 1]
    if plan.step_count == 1:
        return derive_pairs(context, frame, plan, step, low, high, current) if find_vector(context, frame, step) else DONE
    while next_match(context, frame, low, high, current) and not is_stopped(context):
        level.position = level.position - 1  # the first match is one of the pairs
        if derive_pairs(context, frame, plan, step, low, high, current) == GROW:
            return GROW
    return DONE


@shared_kernel
def derive(context: Context, frame: Frame, plan: Plan, low: int, high: int, current: int) -> int:
    """Derive from all matches that are left in a frame: DONE or GROW."""
    if context.marking:
        return derive_marking(context, frame, plan, low, high, current)
    if plan.step_count == 0 or plan.decided:
        if context.pair_count > 0 and insert_pairs(context) == GROW:
            return GROW
        return emit(context, frame, plan) if plan.step_count == 0 or next_match(context, frame, low, high, current) else DONE
    last = context.steps[plan.first_step + plan.step_count - 1]
    plain = is_plain_probe(context, last)
    head = context.relations[plan.head_relation]
    if plain and last.value_slot >= 0 and head.arity == 2 and head.dead == 0 and context.indexes[last.index].has_values:
        return derive_all_pairs(context, frame, plan, last, low, high, current)
    if context.pair_count > 0 and insert_pairs(context) == GROW:
        return GROW
    while next_match(context, frame, low, high, current) and not is_stopped(context):
        if emit(context, frame, plan) == GROW:
            return GROW
        if plain and derive_rest(context, frame, plan, last, low, high, current) == GROW:
            return GROW
    return DONE
