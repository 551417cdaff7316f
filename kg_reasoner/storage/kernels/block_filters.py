"""Filters for blocks: whether rows can match the first step of a plan, determined once for each distinct value of a column.

Rules over triples look up what an ontology says of the property: its domain, its inverse, whether it is transitive. A block has few
properties, and most plans match none of them, so rows are filtered by the number of their property, without a lookup for each row.
"""

from kg_reasoner.storage.kernels.decorators import kernel, shared_kernel
from kg_reasoner.storage.kernels.index_entries import key_slot
from kg_reasoner.storage.kernels.joins import fill_tuple, step_key
from kg_reasoner.storage.kernels.layout import (
    EMPTY,
    MOST_VALUES,
    PROBE,
    VALUE_SLOTS,
    Context,
    Frame,
    Plan,
    Relation,
    Section,
)
from kg_reasoner.storage.kernels.primitives import mix
from kg_reasoner.storage.kernels.relations import find


@kernel
def filtered_column(context: Context, section: Section, arity: int) -> int:
    """Return the column by which most plans of a section can be filtered, or -1 if it is not worthwhile."""
    best = -1
    most = context.filtered_plans - 1
    for column in range(arity):
        count = 0
        for position in range(section.first_trigger, section.end_trigger):
            if context.plans[context.triggers[position]].filter_column == column:
                count = count + 1
        if count > most:
            most = count
            best = column
    return best


@shared_kernel
def number_values(context: Context, relation: Relation, column: int, low: int, high: int) -> int:
    """Assign numbers to the distinct values of a column of a block. Return how many there are, or 0 if there are too many.

    `filter_numbers` receives the number of each row's value.
    """
    arity, rows = relation.arity, relation.rows
    slots, values, row_values = context.filter_slots, context.filter_values, context.filter_numbers
    for slot in range(VALUE_SLOTS):
        slots[slot] = EMPTY
    count = 0
    for row in range(low, high):
        value = rows[row * arity + column]
        slot = mix(value) & (VALUE_SLOTS - 1)
        number = slots[slot]
        while number != EMPTY and values[number] != value:
            slot = (slot + 1) & (VALUE_SLOTS - 1)
            number = slots[slot]
        if number == EMPTY:
            if count == MOST_VALUES:
                return 0
            number = count
            slots[slot] = number
            values[number] = value
            count = count + 1
        row_values[row - low] = number
    return count


@kernel
def begin_filters(context: Context, section: Section, relation: Relation, low: int, high: int) -> int:
    """Prepare to filter a block. Return the column by which plans can be filtered, or -1."""
    if high - low < context.filtered_rows or section.end_trigger - section.first_trigger < context.filtered_plans:
        return -1
    column = filtered_column(context, section, relation.arity)
    if column >= 0:
        context.filter_count = number_values(context, relation, column, low, high)
        if context.filter_count == 0:
            return -1
    return column


@shared_kernel
def match_values_of(context: Context, frame: Frame, plan: Plan) -> int:
    """Find out for which values of the block the first step of a plan can match. Return how many there are.

    Rows that are dead, or not visible to the step, count as matches: the join itself finds that out.
    """
    step = context.steps[plan.first_step]
    bindings = frame.bindings
    variable = -1 - context.codes[plan.trigger + plan.filter_column]
    relation = context.relations[step.relation]
    index = context.indexes[step.index]
    matching = 0
    for number in range(context.filter_count):
        bindings[variable] = context.filter_values[number]
        if step.kind == PROBE:
            matches = 1 if not index.built or index.keys[key_slot(index, step_key(context, frame, step))] != EMPTY else 0
        else:
            fill_tuple(frame, context.codes + step.key, relation.arity, frame.scratch)
            matches = 1 if find(relation, frame.scratch) >= 0 else 0
        context.filter_matches[number] = matches
        matching = matching + matches
    return matching
