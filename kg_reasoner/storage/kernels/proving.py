"""Backward chaining with forward proving: the search for proofs of candidates for deletion.

Source: Motik, Nenov, Piro and Horrocks, Incremental Update of Datalog Materialisation: the Backward/Forward Algorithm (AAAI 2015).
Forward chaining uses watched facts, as SAT solvers use watched literals: when backward chaining meets a rule instance, the instance
waits at one unproved body fact. When that fact is proved, the instance moves to another one, or proves its head.
"""

from kg_reasoner.storage.kernels.fixpoint import open_triggered
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
from kg_reasoner.storage.kernels.memory import Int32s, kernel
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
                head = pool[instance + 1]
                context.forward_instances = context.forward_instances + 1
                if not flags_of(context, head) & PROVED:
                    missing = -1
                    for place in range(pool[instance + 2]):
                        body = pool[instance + 3 + place]
                        if missing < 0 and not is_certain(context, body):
                            missing = body
                    if missing >= 0:
                        wait_at(context, missing, instance)
                    else:
                        note_proof(context, head)
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
def prove_or_wait(context: Context, frame: Frame, plan: Plan, head: int) -> int:
    """Prove the head of a frame's rule instance, or make the instance wait for its first unproved body fact: DONE or GROW."""
    first = first_uncertain(context, frame, plan, 0)
    if first == plan.step_count:
        note_proof(context, head)
        propagate_proofs(context)
        return DONE
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
    pool[instance + 1] = head
    pool[instance + 2] = count
    context.pool_count = instance + 3 + count
    wait_at(context, body_fact(frame, context.steps[plan.first_step + first], first), instance)
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
def look_at_body(context: Context, depth: int) -> int:
    """Check the body facts of a goal's current instance: the first unchecked one becomes pending; without one, prove the
    head or wait.
    """
    goal = context.goals[depth]
    frame = context.frames[depth + 1]
    body = next_uncertain(context, goal, frame)
    while body >= 0 and flags_of(context, body) & CHECKED:
        body = next_uncertain(context, goal, frame)
    if body >= 0:
        context.pending = body
        return DONE
    status = prove_or_wait(context, frame, context.plans[frame.plan], goal.fact)
    if status == DONE:
        goal.step = -1
    return status


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
def prove(context: Context) -> int:
    """Process the stack of goals: DONE, or a request to the caller, who then calls again."""
    while True:
        if context.pending >= 0 and enter_goal(context) == GROW:
            return GROW
        depth = context.depth
        if depth < 0:
            return DONE
        goal = context.goals[depth]
        if flags_of(context, goal.fact) & PROVED:
            context.depth = depth - 1
        elif goal.step >= 0:
            status = look_at_body(context, depth)
            if status != DONE:
                return status
        else:
            status = next_instance(context, depth)
            if status == IDLE:
                context.depth = depth - 1
            elif status != READY:
                return status
            else:
                frame = context.frames[depth + 1]
                plan = context.plans[frame.plan]
                if first_uncertain(context, frame, plan, 0) == plan.step_count:
                    note_proof(context, goal.fact)
                    propagate_proofs(context)


@kernel
def disprove_checked(context: Context) -> int:
    """Mark, after a search, the checked facts without a proof as disproved."""
    while context.checked_done < context.checked_count:
        fact = context.checked[context.checked_done]
        context.checked_done = context.checked_done + 1
        if not flags_of(context, fact) & PROVED:
            set_flags(context, fact, DISPROVED)
    return 0
