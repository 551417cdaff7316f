"""Semi-naive evaluation: blocks of new rows trigger plans, whose heads are inserted, until no relation has new rows."""

from kg_reasoner.storage.kernels.block_filters import begin_filters, match_values_of
from kg_reasoner.storage.kernels.decorators import entry, kernel, shared_kernel
from kg_reasoner.storage.kernels.deriving import derive
from kg_reasoner.storage.kernels.joins import join_request
from kg_reasoner.storage.kernels.layout import (
    DONE,
    FUNCTION_RESULTS,
    GROW,
    IDLE,
    PAUSE,
    READY,
    SPARSE,
    STOPPED,
    WIDE,
    Context,
    Relation,
    Section,
)
from kg_reasoner.storage.kernels.pair_queue import begin_plan, insert_queued
from kg_reasoner.storage.kernels.primitives import is_stopped
from kg_reasoner.storage.kernels.readiness import is_ignored, open_first, open_plan, readiness
from kg_reasoner.storage.kernels.relations import growing, growing_count, relation_of, section_of, values_of
from kg_reasoner.storage.kernels.triggering import trigger, trigger_matching, trigger_rows


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
            begin_plan(context, plan)
        if plan.active > READY:
            plan.checked_block = 0
            return plan.active
        if plan.active == READY and trigger(context, number, row, low, high, current) == GROW:
            return GROW
        if context.interrupted:
            return join_request(context)
    return DONE


@shared_kernel
def process_block(context: Context, current: int, low: int, high: int) -> int:
    """Run every plan that the rows [low, high) of a relation trigger: DONE, or a request to the caller, who then repeats the
    block.
    """
    context.interrupted = 0
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
            if context.interrupted:  # the heads of other plans come after all of this one
                return join_request(context)
    if relation.section_column < 0:
        return join_request(context)
    context.block = context.block + 1
    for row in range(low, high):
        own = section_of(relation, relation.rows + row * relation.arity)
        if own >= 0:
            status = process_row(context, own, current, row, low, high)
            if status != DONE:
                return status
    return join_request(context)


@kernel
def waits(context: Context, relation: Relation) -> int:
    """Return whether the new rows of a relation are not processed while others have new rows."""
    return 1 if relation.lateness > context.admitted and context.latest > 0 else 0


@kernel
def end_turn(context: Context, number: int) -> int:
    """Let late relations wait again when all rows of one of them have been processed. To look at all others takes some time, which
    that number of rows must be worth.
    """
    turn = context.processed[number] - context.turn_begin
    if context.relations[number].lateness > 0 and 2 * turn >= growing_count(context):
        context.admitted = 0
    return turn


@kernel
def follow(context: Context, number: int) -> int:
    """Choose the next current relation among those with new rows whose rows rules derive from a relation. Return whether there is
    one.
    """
    section = context.sections[context.relations[number].section]
    for position in range(section.first_trigger, section.end_trigger):
        head = context.plans[context.triggers[position]].head_relation
        if context.processed[head] < context.relations[head].count and not waits(context, context.relations[head]):
            context.current = head
            context.turn_begin = context.processed[head]
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
        if low >= relation.count or waits(context, relation):
            if context.passed == 0:
                end_turn(context, current)
            idle = idle + 1
            context.passed = context.passed + 1
            context.current = context.current + 1
            if idle == growing_count(context) and context.admitted < context.latest:
                context.admitted = context.admitted + 1
                idle = 0
            continue
        if context.passed > 0:
            context.following = 1 if context.passed > SPARSE and not context.has_listed_grown else 0
            context.passed = 0
            context.turn_begin = low
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
            if high >= relation.count:
                end_turn(context, current)
            follow(context, current)
    context.passed = 0
    context.following = 0
    return DONE


@entry
def evaluate_rule(context: Context, number: int) -> int:
    """Derive the heads of the matches of a plan without trigger in the rows that have been processed: DONE, or as `run`.

    A repeated call starts again. It does not see the heads of the calls before, so that the order of rows depends on nothing else.
    """
    if insert_queued(context) == GROW:
        return GROW
    plan = context.plans[number]
    frame = context.frames[0]
    ready = open_plan(context, frame, number)
    if ready != READY:
        return DONE if ready == IDLE else ready
    begin_plan(context, plan)
    status = derive(context, frame, plan, 0, 0, context.relation_count)
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
            begin_plan(context, plan)
            if derive(context, frame, plan, 0, 0, -1) == GROW:
                return GROW
    return join_request(context)


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
