"""One plan at a time, for profiles: the time and the results of a call belong to one rule."""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.joins import is_hidden
from kg_reasoner.storage.kernels.layout import DONE, FUNCTION_RESULTS, GROW, IDLE, READY, STOPPED, Context, Relation
from kg_reasoner.storage.kernels.pair_queue import begin_plan, insert_queued
from kg_reasoner.storage.kernels.primitives import is_stopped
from kg_reasoner.storage.kernels.readiness import is_ignored, readiness
from kg_reasoner.storage.kernels.relations import section_of
from kg_reasoner.storage.kernels.triggering import trigger, trigger_rows


@kernel
def visible_rows(context: Context, relation: Relation, low: int, high: int) -> int:
    """Return the number of rows of a block that joins see."""
    if relation.dead + context.checks_flags == 0:
        return high - low
    count = 0
    for row in range(low, high):
        if not is_hidden(context, relation, row):
            count = count + 1
    return count


@kernel
def trigger_section(context: Context, number: int, section: int, current: int, low: int, high: int) -> int:
    """Run one plan on the rows of a section in a block: DONE, or a request to the caller."""
    relation = context.relations[current]
    plan = context.plans[number]
    begin_plan(context, plan)
    ready = IDLE
    for row in range(low, high):
        values = relation.rows + row * relation.arity
        if section_of(relation, values) == section and not is_ignored(plan, values):
            if ready == IDLE:
                ready = readiness(context, plan, low, high, current)
            if ready == IDLE:
                return DONE
            if ready != READY:
                return ready
            if trigger(context, number, row, low, high, current) != DONE:
                return GROW
    return DONE


@entry
def run_plan(context: Context, number: int, section: int, current: int, low: int, high: int) -> int:
    """Run one plan on the rows [low, high) of a relation, or on those of one of its sections, and insert its heads: DONE, or a
    request to the caller, who fulfils it and calls again. This is idempotent.

    `instances` grows by the number of matches of this call.
    """
    plan = context.plans[number]
    relation = context.relations[current]
    before = context.instances
    if section == relation.section:
        ready = readiness(context, plan, low, high, current)
        if ready != READY:
            return DONE if ready == IDLE else ready
        status = trigger_rows(context, number, low, high, current)
        if plan.copies and not context.marking:
            context.instances = before + visible_rows(context, relation, low, high)
    else:
        status = trigger_section(context, number, section, current, low, high)
    if is_stopped(context):
        return STOPPED
    if status == DONE:
        status = insert_queued(context)
    return FUNCTION_RESULTS if status == DONE and context.request_count > 0 else status
