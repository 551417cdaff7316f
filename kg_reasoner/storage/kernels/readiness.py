"""Whether a plan can match at all, what it still needs, and frames that begin with a plan."""

from kg_reasoner.storage.kernels.blocking_rows import is_decided_before
from kg_reasoner.storage.kernels.decorators import kernel, shared_kernel
from kg_reasoner.storage.kernels.index_entries import key_slot
from kg_reasoner.storage.kernels.joins import match_columns, row_limit
from kg_reasoner.storage.kernels.layout import (
    BUILD_INDEX,
    COMPARE,
    DISTINCT,
    EMPTY,
    FEW,
    FRESH,
    IDLE,
    PROBE,
    READY,
    ROW,
    VALUES,
    Context,
    Frame,
    Index,
    Plan,
    Relation,
    Step,
)
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.relations import values_of


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
