"""Backward chaining with forward proving: the search for proofs of candidates for deletion.

Source: Motik, Nenov, Piro and Horrocks, Incremental Update of Datalog Materialisation: the Backward/Forward Algorithm (AAAI 2015).
Forward chaining uses watched facts, as SAT solvers use watched literals: when backward chaining meets a rule instance, the instance
waits at one unproved body fact. When that fact is proved, the instance moves to another one, or proves its head.

No body fact of an instance becomes a goal while another one has been checked and is without a proof, as the goals on the stack are:
until that one is proved, the instance proves nothing. If it is proved, and those left without a proof have not been checked, the
instance is *unsettled*: when the stack is empty, the first of them becomes a goal, unless the head has been proved.
"""

from kg_reasoner.storage.kernels.decorators import kernel
from kg_reasoner.storage.kernels.index_entries import key_slot
from kg_reasoner.storage.kernels.joins import join_request, next_match
from kg_reasoner.storage.kernels.layout import (
    CHECKED,
    COMPARE,
    DISPROVED,
    DONE,
    EMPTY,
    EXPLICIT,
    FEW,
    FRESH,
    GROW,
    IDLE,
    PROVED,
    READY,
    ROW,
    STATED,
    UNPLANNED,
    WATCHED,
    Context,
    Frame,
    Goal,
    Plan,
    Step,
)
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.readiness import open_triggered
from kg_reasoner.storage.kernels.relations import flags_of, relation_of, section_of, set_flags, values_of

CERTAIN = EXPLICIT | STATED | PROVED


@kernel
def is_certain(context: Context, fact: int) -> int:
    """Return whether a fact needs no proof: it is explicit or stated, is proved, or belongs to a lower stratum."""
    relation = relation_of(context, fact)
    return 1 if relation.flags[fact & ROW] & CERTAIN or relation.level < context.level else 0


@kernel
def note_proof(context: Context, fact: int) -> int:
    """Mark a fact as proved; `propagate_proofs` processes the instances that wait for it."""
    set_flags(context, fact, PROVED)
    context.proved[context.proved_count] = fact
    context.proved_count = context.proved_count + 1
    return 0


@kernel
def wait_at(context: Context, fact: int, instance: int) -> int:
    """Make a rule instance wait for the proof of a fact."""
    relation = relation_of(context, fact)
    row = fact & ROW
    context.pool[instance] = relation.watches[row] if relation.flags[row] & WATCHED else -1
    relation.watches[row] = instance
    set_flags(context, fact, WATCHED)
    return 0


@kernel
def settle(context: Context, instance: int) -> int:
    """Make a rule instance wait for a body fact without proof that has been checked: -1. If there is none, return the first one
    that has not been checked, or prove the head if all have proofs: -1.
    """
    pool = context.pool
    unchecked = -1
    for place in range(instance + 3, instance + 3 + pool[instance + 2]):
        body = pool[place]
        if not is_certain(context, body):
            if flags_of(context, body) & CHECKED:
                wait_at(context, body, instance)
                return -1
            if unchecked < 0:
                unchecked = body
    if unchecked < 0 and not flags_of(context, pool[instance + 1]) & PROVED:
        note_proof(context, pool[instance + 1])
    return unchecked


@kernel
def propagate_proofs(context: Context) -> int:
    """Propagate new proofs to the rule instances that waited for them, and to their heads."""
    pool = context.pool
    while context.proved_done < context.proved_count:
        fact = context.proved[context.proved_done]
        context.proved_done = context.proved_done + 1
        relation = relation_of(context, fact)
        row = fact & ROW
        if relation.flags[row] & WATCHED:
            instance = relation.watches[row]
            relation.flags[row] = relation.flags[row] - WATCHED
            while instance >= 0:
                following = pool[instance]
                context.forward_instances = context.forward_instances + 1
                if not flags_of(context, pool[instance + 1]) & PROVED and settle(context, instance) >= 0:
                    pool[instance] = context.unsettled
                    context.unsettled = instance
                instance = following
    return 0


@kernel
def body_fact(frame: Frame, step: Step, position: int) -> int:
    """Return the fact matched by a step, or -1 for a step that matches no fact."""
    if step.kind >= COMPARE or step.negated:
        return -1
    return (step.relation << 32) | frame.levels[position].row


@kernel
def first_uncertain(context: Context, frame: Frame, plan: Plan, step: int) -> int:
    """Return the first step, from one on, whose fact in a frame's rule instance needs a proof, or the number of steps."""
    for position in range(step, plan.step_count):
        body = body_fact(frame, context.steps[plan.first_step + position], position)
        if body >= 0 and not is_certain(context, body):
            return position
    return plan.step_count


@kernel
def next_uncertain(context: Context, goal: Goal, frame: Frame) -> int:
    """Return the next body fact of a goal's instance that needs a proof, or -1."""
    plan = context.plans[frame.plan]
    position = first_uncertain(context, frame, plan, goal.step)
    goal.step = position + 1
    return body_fact(frame, context.steps[plan.first_step + position], position) if position < plan.step_count else -1


@kernel
def record_instance(context: Context, depth: int) -> int:
    """Write the rule instance that a goal has found to the pool: DONE or GROW."""
    goal = context.goals[depth]
    frame = context.frames[depth + 1]
    plan = context.plans[frame.plan]
    instance = context.pool_count
    if instance + 3 + plan.step_count > context.pool_room:
        return GROW
    pool = context.pool
    count = 0
    for position in range(plan.step_count):
        body = body_fact(frame, context.steps[plan.first_step + position], position)
        if body >= 0:
            pool[instance + 3 + count] = body
            count = count + 1
    pool[instance + 1] = goal.fact
    pool[instance + 2] = count
    context.pool_count = instance + 3 + count
    goal.instance = instance
    goal.step = -1
    return DONE


@kernel
def push_goal(context: Context, fact: int) -> int:
    """Push a fact onto the stack of goals, which has room."""
    depth = context.depth + 1
    context.depth = depth
    goal = context.goals[depth]
    goal.fact = fact
    goal.own_section = 0
    goal.next_deriver = context.sections[relation_of(context, fact).section].first_deriver
    goal.open = 0
    goal.step = -1
    goal.instance = -1
    return 0


@kernel
def enter_goal(context: Context) -> int:
    """Make the pending fact a goal: DONE or GROW."""
    if context.depth + 1 >= context.goal_room:
        return GROW
    fact = context.pending
    context.pending = -1
    push_goal(context, fact)
    context.checked[context.checked_count] = fact
    context.checked_count = context.checked_count + 1
    certain = flags_of(context, fact) & (EXPLICIT | STATED)
    set_flags(context, fact, CHECKED)
    if certain:
        note_proof(context, fact)
        propagate_proofs(context)
    return DONE


@kernel
def goal_section(context: Context, depth: int) -> int:
    """Return the number of the section whose rules a goal is trying."""
    goal = context.goals[depth]
    relation = relation_of(context, goal.fact)
    if goal.own_section:
        return section_of(relation, values_of(relation, goal.fact))
    return relation.section


@kernel
def first_rows(context: Context, plan: Plan, values: Int32s) -> int:
    """Return how many rows the first step of a plan looks at, which begins with a probe by a column of the triggering row; as long
    as its index is not built, a part of all.
    """
    step = context.steps[plan.first_step]
    index = context.indexes[step.index]
    if not index.built:
        return context.relations[step.relation].count >> 6
    slot = key_slot(index, values[plan.probe_column])
    return 0 if index.keys[slot] == EMPTY else index.lengths[slot]


@kernel
def better_deriver(context: Context, number: int, values: Int32s) -> int:
    """Return the plan, of one or two that find the same instances of a rule, that looks at fewer rows first."""
    plan = context.plans[number]
    if plan.other:
        rows = first_rows(context, plan, values)
        if rows > FEW and first_rows(context, context.plans[number + 1], values) < rows:
            return number + 1
    return number


@kernel
def open_deriver(context: Context, depth: int) -> int:
    """Open the next rule that may derive a goal's fact: READY, IDLE if there is none left, or a request to the caller."""
    goal = context.goals[depth]
    relation = relation_of(context, goal.fact)
    frame = context.frames[depth + 1]
    while True:
        section = goal_section(context, depth)
        end = context.sections[section].end_deriver
        while goal.next_deriver < end:
            number = context.derivers[goal.next_deriver]
            if number < 0:
                context.wanted = section
                return UNPLANNED
            number = better_deriver(context, number, values_of(relation, goal.fact))
            ready = open_triggered(context, frame, number, relation, goal.fact)
            if ready > READY:
                return ready
            goal.next_deriver = goal.next_deriver + 1
            if ready == READY:
                goal.open = 1
                return READY
        own = section_of(relation, values_of(relation, goal.fact))
        if goal.own_section or own < 0:
            return IDLE
        goal.own_section = 1
        goal.next_deriver = context.sections[own].first_deriver


@kernel
def next_instance(context: Context, depth: int) -> int:
    """Move a goal to its next rule instance: READY, IDLE if there is none left, or a request to the caller."""
    goal = context.goals[depth]
    frame = context.frames[depth + 1]
    while True:
        if not goal.open:
            status = open_deriver(context, depth)
            if status != READY:
                return status
        found = next_match(context, frame, 0, 0, -1)
        status = join_request(context)
        if status != DONE:  # matches may have been missed: try the rule again
            frame.level = FRESH
            return status
        if found:
            plan = context.plans[frame.plan]
            plan.found = plan.found + 1
            context.backward_instances = context.backward_instances + 1
            goal.step = 0
            return READY
        goal.open = 0


@kernel
def settle_current(context: Context, goal: Goal) -> int:
    """Settle a goal's current rule instance, or make an unchecked fact of its body pending."""
    context.pending = settle(context, goal.instance)
    if context.pending < 0:
        goal.instance = -1
        propagate_proofs(context)
    return 0


@kernel
def settle_listed(context: Context) -> int:
    """Settle the first of the unsettled rule instances, or make an unchecked fact of its body pending."""
    instance = context.unsettled
    following = context.pool[instance]
    if not flags_of(context, context.pool[instance + 1]) & PROVED:
        context.pending = settle(context, instance)
    if context.pending < 0:
        context.unsettled = following
        propagate_proofs(context)
    return 0


@kernel
def prove(context: Context) -> int:
    """Process the stack of goals, and unsettled rule instances: DONE, or a request to the caller, who then calls again."""
    while True:
        if context.pending >= 0 and enter_goal(context) == GROW:
            return GROW
        depth = context.depth
        if depth < 0:
            if context.unsettled < 0:
                return DONE
            settle_listed(context)
            continue
        goal = context.goals[depth]
        if flags_of(context, goal.fact) & PROVED:
            context.depth = depth - 1
            continue
        if goal.instance < 0:
            if goal.step < 0:
                status = next_instance(context, depth)
                if status == IDLE:
                    context.depth = depth - 1
                    continue
                if status != READY:
                    return status
            if record_instance(context, depth) == GROW:
                return GROW
        settle_current(context, goal)


@kernel
def disprove_checked(context: Context) -> int:
    """Mark, after a search, the checked facts without a proof as disproved."""
    while context.checked_done < context.checked_count:
        fact = context.checked[context.checked_done]
        context.checked_done = context.checked_done + 1
        if not flags_of(context, fact) & PROVED:
            set_flags(context, fact, DISPROVED)
    return 0
