"""Marks: what the next update of a stream will delete, passed on to the heads of rule instances while this update is applied.

Source: Illich and Glimm, Backward/Forward with Marking for Update Streams. Under backward/forward only explicit marked facts mark
the heads of their rule instances, under delete/rederive all marked facts do.
"""

from kg_reasoner.storage.kernels.joins import insert_head
from kg_reasoner.storage.kernels.layout import ABSENT, COMPARE, DONE, EXPLICIT, FULL, GROW, MARKED, TRACED, Context, Frame, Plan
from kg_reasoner.storage.kernels.memory import Int32s, entry, kernel
from kg_reasoner.storage.kernels.relations import clear_flags, find, flags_of


@kernel
def is_passing(context: Context, fact: int) -> int:
    """Whether a body fact marks the heads of its rule instances: an explicit marked one, or (`marking` 2) any marked one."""
    if fact < 0:
        return 0
    flags = flags_of(context, fact)
    return 1 if flags & MARKED and (flags & EXPLICIT or context.marking == 2) else 0


@kernel
def has_marked_body(context: Context, frame: Frame, plan: Plan) -> int:
    """Whether a fact that the plan's steps have matched marks the head."""
    for position in range(plan.step_count):
        step = context.steps[plan.first_step + position]
        if step.kind < COMPARE and not step.negated:
            if is_passing(context, (step.relation << 32) | frame.levels[position].row):
                return 1
    return 0


@kernel
def passes_mark(context: Context, frame: Frame, plan: Plan) -> int:
    """Whether the frame's rule instance has a body fact that marks its head."""
    return 1 if is_passing(context, frame.fact) or has_marked_body(context, frame, plan) else 0


@kernel
def mark(context: Context, number: int, row: int) -> int:
    """Mark a fact; it waits for the next update. Returns GROW if the list is full, else DONE."""
    relation = context.relations[number]
    flags = relation.flags[row]
    if flags & MARKED:
        return DONE
    if context.marked_count >= context.marked_room:
        return GROW
    context.marked[context.marked_count] = (number << 32) | row
    context.marked_count = context.marked_count + 1
    relation.flags[row] = flags | MARKED
    return DONE


@kernel
def mark_head(context: Context, frame: Frame, plan: Plan) -> int:
    """Insert the head of the frame's match at once and mark it: DONE or GROW.

    Source: Illich and Glimm, Backward/Forward with Marking for Update Streams.
    """
    number = plan.head_relation
    relation = context.relations[number]
    if context.marked_count >= context.marked_room:
        return GROW
    count = relation.count
    row = insert_head(context, frame, plan)
    if row == FULL:
        return GROW
    if row == count and context.marking == 2:
        relation.flags[row] = relation.flags[row] | TRACED
    return mark(context, number, row)


@entry
def mark_explicit(context: Context, number: int, facts: Int32s, count: int) -> int:
    """Mark those of a relation's tuples that are explicit; returns how many. There is room for them.

    The new ones are TRACED: they are marked before their consequences are derived.
    """
    relation = context.relations[number]
    total = 0
    for fact in range(count):
        row = find(relation, facts + fact * relation.arity)
        if row >= 0 and relation.flags[row] & EXPLICIT and not relation.flags[row] & ABSENT:
            mark(context, number, row)
            total = total + 1
            if row >= context.settled[number]:
                relation.flags[row] = relation.flags[row] | TRACED
    return total


@entry
def use_marks(context: Context) -> int:
    """Take the marks away from the facts that wait for this update; it will set its own."""
    for place in range(context.foreseen_count):
        clear_flags(context, context.foreseen[place], MARKED)
    return 0


@entry
def forget_marks(context: Context) -> int:
    """The update that the marks were for is over."""
    for place in range(context.foreseen_count):
        clear_flags(context, context.foreseen[place], TRACED)
    context.foreseen_count = 0
    return 0
