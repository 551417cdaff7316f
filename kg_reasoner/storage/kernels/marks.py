"""Marks: facts that the next update of a stream will delete; the mark passes to the heads of rule instances during this update.

Source: Illich and Glimm, Backward/Forward with Marking for Update Streams. With backward/forward, only explicit marked facts mark
the heads of their rule instances; with delete/rederive, all marked facts do.
"""

from kg_reasoner.storage.kernels.joins import insert_head
from kg_reasoner.storage.kernels.layout import ABSENT, COMPARE, DONE, EXPLICIT, FULL, GROW, MARKED, TRACED, Context, Frame, Plan
from kg_reasoner.storage.kernels.memory import Int32s, entry, kernel
from kg_reasoner.storage.kernels.relations import clear_flags, find, flags_of


@kernel
def is_passing(context: Context, fact: int) -> int:
    """Return whether a body fact marks the heads of its rule instances: a marked explicit fact, or with `marking` 2 any marked
    fact.
    """
    if fact < 0:
        return 0
    flags = flags_of(context, fact)
    return 1 if flags & MARKED and (flags & EXPLICIT or context.marking == 2) else 0


@kernel
def has_marked_body(context: Context, frame: Frame, plan: Plan) -> int:
    """Return whether a fact matched by the plan's steps marks the head."""
    for position in range(plan.step_count):
        step = context.steps[plan.first_step + position]
        if step.kind < COMPARE and not step.negated:
            if is_passing(context, (step.relation << 32) | frame.levels[position].row):
                return 1
    return 0


@kernel
def passes_mark(context: Context, frame: Frame, plan: Plan) -> int:
    """Return whether the frame's rule instance has a body fact that marks its head."""
    return 1 if is_passing(context, frame.fact) or has_marked_body(context, frame, plan) else 0


@kernel
def mark(context: Context, number: int, row: int) -> int:
    """Mark a fact for the next update. Return GROW if the list is full, else DONE."""
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
    """Insert the head of the frame's match immediately and mark it: DONE or GROW.

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
    """Mark the explicit facts among tuples of a relation, and return their number. The list must have room.

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
    """Remove the marks of the facts that waited for this update, which sets its own marks."""
    for place in range(context.foreseen_count):
        clear_flags(context, context.foreseen[place], MARKED)
    return 0


@entry
def forget_marks(context: Context) -> int:
    """Discard the marks after the update that they were for."""
    for place in range(context.foreseen_count):
        clear_flags(context, context.foreseen[place], TRACED)
    context.foreseen_count = 0
    return 0
