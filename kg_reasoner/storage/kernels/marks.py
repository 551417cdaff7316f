"""Marks: facts that one update of a stream adds and the next one deletes, and their direct consequences.

Facts that are explicit, new, and deleted by the next update are EXPIRING. The heads of all rule instances with such a fact are
MARKED and listed while the update derives them, and the next update makes them candidates for deletion without a search (see
`add_removed_facts`).
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.joins import insert_head, next_match
from kg_reasoner.storage.kernels.layout import ABSENT, COMPARE, DONE, EXPIRING, EXPLICIT, FULL, GROW, MARKED, Context, Frame, Plan
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.primitives import is_stopped
from kg_reasoner.storage.kernels.relations import clear_flags, find, flags_of, set_flags


@kernel
def forget_marks(context: Context) -> int:
    """Forget the marks, because there are too many."""
    for place in range(context.marked_count):
        clear_flags(context, context.marked[place], MARKED | EXPIRING)
    context.marked_count = 0
    context.marking = 0
    return 0


@kernel
def mark(context: Context, fact: int, flags: int) -> int:
    """Give a fact flags, and list it once; if the list is full, all marks are forgotten."""
    if not flags_of(context, fact) & MARKED:
        if context.marked_count == context.marked_room:
            return forget_marks(context)
        context.marked[context.marked_count] = fact
        context.marked_count = context.marked_count + 1
    return set_flags(context, fact, flags)


@kernel
def has_expiring_body(context: Context, frame: Frame, plan: Plan) -> int:
    """Return whether the frame's rule instance has a body fact that is EXPIRING."""
    if frame.fact >= 0 and flags_of(context, frame.fact) & EXPIRING:
        return 1
    for position in range(plan.step_count):
        step = context.steps[plan.first_step + position]
        if step.kind < COMPARE and not step.negated:
            if flags_of(context, (step.relation << 32) | frame.levels[position].row) & EXPIRING:
                return 1
    return 0


@kernel
def derive_marking(context: Context, frame: Frame, plan: Plan, low: int, high: int, current: int) -> int:
    """Derive from all matches that are left in a frame, and mark what follows from EXPIRING facts: DONE or GROW."""
    found = 1
    if plan.step_count > 0:
        found = next_match(context, frame, low, high, current)
    while found and not is_stopped(context):
        context.instances = context.instances + 1
        row = insert_head(context, frame, plan)
        if row == FULL:
            return GROW
        if context.marking and has_expiring_body(context, frame, plan):
            mark(context, (plan.head_relation << 32) | row, MARKED)
        found = 0
        if plan.step_count > 0:
            found = next_match(context, frame, low, high, current)
    return DONE


@entry
def mark_explicit(context: Context, number: int, facts: Int32s, count: int) -> int:
    """Mark those of a relation's tuples that are explicit and new in this update; returns how many."""
    relation = context.relations[number]
    total = 0
    for fact in range(count):
        row = find(relation, facts + fact * relation.arity)
        if row >= context.materialised[number] and relation.flags[row] & EXPLICIT and not relation.flags[row] & ABSENT:
            mark(context, (number << 32) | row, MARKED | EXPIRING)
            total = total + 1
    context.marking = 1 if context.marked_count > 0 else 0
    return total


@entry
def use_marks(context: Context) -> int:
    """Add the facts that were marked for this update to the removed ones, among which there is room for them."""
    for place in range(context.marked_count):
        fact = context.marked[place]
        clear_flags(context, fact, MARKED)
        context.removed[context.removed_count] = fact
        context.removed_count = context.removed_count + 1
    context.marked_count = 0
    return 0


@entry
def renumber_marks(context: Context, number: int) -> int:
    """List the marked facts of a relation again, after its rows were renumbered."""
    count = 0
    for place in range(context.marked_count):
        fact = context.marked[place]
        if fact >> 32 != number:
            context.marked[count] = fact
            count = count + 1
    relation = context.relations[number]
    for row in range(relation.count):
        if relation.flags[row] & MARKED:
            context.marked[count] = (number << 32) | row
            count = count + 1
    context.marked_count = count
    return 0
