"""Plans that new rows of a relation trigger, one row or one block of rows at a time."""

from kg_reasoner.storage.kernels.column_copies import copy_rows, is_semijoin, required_key
from kg_reasoner.storage.kernels.decorators import kernel, shared_kernel
from kg_reasoner.storage.kernels.deriving import derive
from kg_reasoner.storage.kernels.index_entries import key_slot
from kg_reasoner.storage.kernels.joins import is_hidden, match_columns
from kg_reasoner.storage.kernels.layout import DONE, EMPTY, FRESH, GROW, RING, Context, Plan, Relation
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.pair_queue import begin_plan, insert_queued
from kg_reasoner.storage.kernels.primitives import mix, prefetch
from kg_reasoner.storage.kernels.relations import has_row, is_present, key_of_columns


@kernel
def decided_key(plan: Plan, head: Relation, values: Int32s) -> int:
    """Return the hash key of the head that a triggering row determines."""
    return key_of_columns(head, values, plan.first_column, plan.second_column)


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
    if plan.required:
        step = context.steps[plan.first_step]
        looked_up = context.relations[step.relation]
        for row in range(low, high):
            prefetch(looked_up.slots, mix(required_key(step, looked_up, relation.rows + row * relation.arity)) & looked_up.mask)
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
        if index.built and index.keys[key_slot(index, values[plan.probe_column])] == EMPTY:
            return DONE
    for place in range(plan.first_step, plan.first_step + plan.required):  # nor for most tuples that are looked up
        step = context.steps[place]
        looked_up = context.relations[step.relation]
        if not has_row(looked_up, required_key(step, looked_up, values)):
            return DONE
    if not match_columns(frame, context.codes + plan.trigger, values, relation.arity):
        return DONE
    frame.plan = number
    frame.level = FRESH
    frame.fact = (current << 32) | row
    return derive(context, frame, plan, low, high, current)


@shared_kernel
def trigger_rows(context: Context, number: int, low: int, high: int, current: int) -> int:
    """Run one plan on a block of new rows: DONE or GROW."""
    plan = context.plans[number]
    if not context.marking and (plan.copies or is_semijoin(context, plan)):
        if insert_queued(context) == GROW:
            return GROW
        return copy_rows(context, plan, low, high, current)
    begin_plan(context, plan)
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
    begin_plan(context, plan)
    numbers, matches = context.filter_numbers, context.filter_matches
    for row in range(low, high):
        if matches[numbers[row - low]] and trigger(context, number, row, low, high, current) == GROW:
            return GROW
    return DONE
