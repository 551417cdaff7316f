"""The backward/forward algorithm: candidates for deletion are rederived or deleted, and only deletions yield further candidates.

Source: Motik, Nenov, Piro and Horrocks, Incremental Update of Datalog Materialisation: the Backward/Forward Algorithm (AAAI 2015).
Forward chaining uses watched facts, as SAT solvers use watched literals: when backward chaining meets a rule instance, the instance
waits at one unproved body fact. When that fact is proved, the instance moves to another one, or proves its head.

Strata are maintained from the lowest upwards; changes of lower strata are complete. All state is in the context, so a kernel can
stop for room, an index or a function's results and be called again.
"""

from kg_reasoner.storage.kernels.fixpoint import open_plan, open_triggered
from kg_reasoner.storage.kernels.joins import fill_tuple, next_match
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    BUILD_INDEX,
    CANDIDATE,
    CANDIDATES,
    CHECKED,
    CLAIMED,
    COMPARE,
    DEAD,
    DELETED,
    DISPROVED,
    DONE,
    EMPTY,
    EXPIRING,
    EXPLICIT,
    FEW,
    FRESH,
    FUNCTION_RESULTS,
    GONE,
    GROW,
    IDLE,
    PROCESSED,
    PROVED,
    READY,
    REBORN,
    RETRACTED,
    ROW,
    STATED,
    UNPLANNED,
    WATCHED,
    WIDE,
    Context,
    Frame,
    Plan,
    Step,
)
from kg_reasoner.storage.kernels.memory import Int32s, entry, kernel
from kg_reasoner.storage.kernels.relations import (
    clear_flags,
    count_dead,
    find,
    flags_of,
    key_slot,
    relation_of,
    section_of,
    set_flags,
    values_of,
)

CERTAIN = EXPLICIT | STATED | PROVED
TEMPORARY = CHECKED | PROVED | DISPROVED | CANDIDATE | PROCESSED | WATCHED


@kernel
def is_certain(context: Context, fact: int) -> int:
    """Return whether a fact needs no proof: it is explicit or stated, is proved, or belongs to a lower stratum."""
    relation = relation_of(context, fact)
    return 1 if relation.flags[fact & ROW] & CERTAIN or relation.level < context.level else 0


@kernel
def add_candidate(context: Context, fact: int) -> int:
    """Add a fact that holds to the candidates for deletion, once."""
    if not flags_of(context, fact) & (CANDIDATE | ABSENT):
        set_flags(context, fact, CANDIDATE)
        context.candidates[context.candidates_count] = fact
        context.candidates_count = context.candidates_count + 1
    return 0


@kernel
def list_candidate(context: Context, fact: int) -> int:
    """Add a fact that holds, and is not yet a candidate for deletion, to the thread's own list: DONE or GROW."""
    heads = context.lists[context.own_list - 1]
    count = heads.count
    if flags_of(context, fact) & (CANDIDATE | ABSENT) or (count > 0 and heads.keys[count - 1] == fact):
        return DONE
    if count == heads.room:
        return GROW
    heads.keys[count] = fact
    heads.count = count + 1
    return DONE


@kernel
def accept_candidate(context: Context, fact: int) -> int:
    """Add a fact to the candidates for deletion, or to the thread's list of them, if threads share the work: DONE or GROW."""
    if context.own_list:
        return list_candidate(context, fact)
    add_candidate(context, fact)
    return DONE


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
def prove_or_wait(context: Context, frame: Frame, plan: Plan, head: int) -> int:
    """Prove the head of a frame's rule instance, or make the instance wait for its first unproved body fact: DONE or GROW."""
    missing = -1
    for position in range(plan.step_count):
        body = body_fact(frame, context.steps[plan.first_step + position], position)
        if body >= 0 and missing < 0 and not is_certain(context, body):
            missing = body
    if missing < 0:
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
    wait_at(context, missing, instance)
    return DONE


@kernel
def is_certain_instance(context: Context, frame: Frame, plan: Plan) -> int:
    """Return whether all body facts of a frame's rule instance are explicit or proved, so none needs to be checked."""
    for position in range(plan.step_count):
        body = body_fact(frame, context.steps[plan.first_step + position], position)
        if body >= 0 and not is_certain(context, body):
            return 0
    return 1


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
    plan = context.plans[frame.plan]
    while goal.step < plan.step_count:
        body = body_fact(frame, context.steps[plan.first_step + goal.step], goal.step)
        goal.step = goal.step + 1
        if body >= 0 and not flags_of(context, body) & CHECKED and not is_certain(context, body):
            context.pending = body
            return DONE
    status = prove_or_wait(context, frame, plan, goal.fact)
    if status == DONE:
        goal.step = -1
    return status


@kernel
def missing(context: Context) -> int:
    """Return DONE, or a request to the caller for what a join needs to find all of its matches."""
    if context.interrupted:
        context.interrupted = 0
        return BUILD_INDEX
    return FUNCTION_RESULTS if context.request_count > 0 else DONE


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
        status = missing(context)
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
                if is_certain_instance(context, frame, context.plans[frame.plan]):
                    note_proof(context, goal.fact)
                    propagate_proofs(context)


@kernel
def add_candidate_heads(context: Context, frame: Frame, plan: Plan) -> int:
    """Add the heads of all matches of a frame to the candidates for deletion."""
    relation = context.relations[plan.head_relation]
    before = context.deletion_instances
    while next_match(context, frame, 0, 0, -1):
        context.deletion_instances = context.deletion_instances + 1
        fill_tuple(frame, context.codes + plan.head, relation.arity, frame.scratch)
        row = find(relation, frame.scratch)
        if row >= 0 and accept_candidate(context, (plan.head_relation << 32) | row) == GROW:
            return GROW
    plan.found = plan.found + context.deletion_instances - before
    return missing(context)


@kernel
def add_triggered_candidates(context: Context, plans: Int32s, first: int, end: int, fact: int) -> int:
    """Add the heads of the instances that a fact triggers to the candidates for deletion: DONE, or a request to the caller."""
    relation = relation_of(context, fact)
    frame = context.frames[0]
    for position in range(first, end):
        number = plans[position]
        ready = open_triggered(context, frame, number, relation, fact)
        if ready > READY:
            return ready
        if ready == READY:
            status = add_candidate_heads(context, frame, context.plans[number])
            if status != DONE:
                return status
    return DONE


@kernel
def add_consequences(context: Context, fact: int) -> int:
    """Make the heads of the rule instances that a fact triggers candidates for deletion, unless they were MARKED for it: DONE, or a
    request to the caller.
    """
    if flags_of(context, fact) & EXPIRING:
        return DONE
    relation = relation_of(context, fact)
    section = context.sections[relation.section]
    status = add_triggered_candidates(context, context.triggers, section.first_trigger, section.end_trigger, fact)
    own = section_of(relation, values_of(relation, fact))
    if status == DONE and own >= 0:
        section = context.sections[own]
        status = add_triggered_candidates(context, context.triggers, section.first_trigger, section.end_trigger, fact)
    return status


@kernel
def note_size(context: Context, facts: int) -> int:
    """Note whether a deletion of this many facts is large: the order of deleted facts depends on it (see `order_gone`), also where
    there is only one thread.
    """
    if facts >= context.shared_facts:
        context.is_large = 1
    return 0


@kernel
def request_threads(context: Context, which: int, first: int, end: int) -> int:
    """Request threads, if there are several, to share the work on the facts [first, end) of a list: WIDE, or DONE if there is
    nothing to share.
    """
    if first < context.shared_to:
        return DONE
    note_size(context, end - first)
    if context.wide == 0 or end - first < context.shared_facts:
        return DONE
    context.wanted = which
    return WIDE


@kernel
def see_old(context: Context) -> int:
    """Make joins see the materialisation before this update."""
    context.hidden = DEAD
    context.old = 1
    return 0


@kernel
def see_new(context: Context) -> int:
    """Make joins see the current materialisation."""
    context.hidden = ABSENT
    context.checks_flags = 0
    context.old = 0
    return 0


@kernel
def disprove_checked(context: Context) -> int:
    """Mark, after a search, the checked facts without a proof as disproved."""
    while context.checked_done < context.checked_count:
        fact = context.checked[context.checked_done]
        context.checked_done = context.checked_done + 1
        if not flags_of(context, fact) & PROVED:
            set_flags(context, fact, DISPROVED)
    return 0


@kernel
def delete_fact(context: Context, fact: int) -> int:
    """Delete a fact."""
    relation = relation_of(context, fact)
    row = fact & ROW
    relation.flags[row] = (relation.flags[row] & (RETRACTED | EXPIRING)) | GONE
    count_dead(context, relation)
    context.gone[context.gone_count] = fact
    context.gone_count = context.gone_count + 1
    return 0


@entry
def drop_removed(context: Context) -> int:
    """Delete the removed facts that no rule derives and that are no longer explicit or stated."""
    for place in range(context.removed_count):
        fact = context.removed[place]
        relation = relation_of(context, fact)
        if relation.level < 0 and not flags_of(context, fact) & (EXPLICIT | STATED | ABSENT):
            delete_fact(context, fact)
    return 0


@entry
def add_heads_of_rule(context: Context, number: int) -> int:
    """Add all facts derived by a rule to the candidates for deletion: DONE, or a request to the caller, who then calls again."""
    see_old(context)
    frame = context.frames[0]
    status = open_plan(context, frame, number)
    if status == READY:
        status = add_candidate_heads(context, frame, context.plans[number])
    see_new(context)
    return DONE if status == IDLE else status


@entry
def add_removed_facts(context: Context) -> int:
    """Make the facts of this stratum candidates for deletion that are no longer explicit or stated, or were MARKED for this update."""
    for place in range(context.removed_count):
        fact = context.removed[place]
        if relation_of(context, fact).level == context.level:
            add_candidate(context, fact)
    return 0


@entry
def add_consequences_of_deleted(context: Context) -> int:
    """Add consequences of deleted facts of lower strata to the candidates for deletion: DONE, or a request to the caller."""
    see_old(context)
    status = request_threads(context, DELETED, context.place, context.gone_count)
    while status == DONE and context.place < context.gone_count:
        fact = context.gone[context.place]
        status = add_consequences(context, fact)
        if status == DONE:
            context.place = context.place + 1
    see_new(context)
    if status == DONE:
        context.shared_to = 0
    return status


@entry
def add_consequences_of_negation(context: Context) -> int:
    """Add consequences of the absence of facts that now hold to the candidates for deletion: DONE, or a request to the caller."""
    see_old(context)
    status = DONE
    while status == DONE and context.place < context.relation_count:
        number = context.place
        relation = context.relations[number]
        section = context.sections[relation.section]
        row = context.materialised[number]
        if relation.section_column < 0 and section.first_blocker == section.end_blocker:
            row = relation.count
        while status == DONE and row < relation.count:
            fact = (number << 32) | row
            if not relation.flags[row] & (ABSENT | REBORN):
                status = add_triggered_candidates(context, context.blockers, section.first_blocker, section.end_blocker, fact)
                number_of_own = section_of(relation, values_of(relation, fact))
                if status == DONE and number_of_own >= 0:
                    own = context.sections[number_of_own]
                    status = add_triggered_candidates(context, context.blockers, own.first_blocker, own.end_blocker, fact)
            row = row + 1
        if status == DONE:
            context.place = number + 1
    see_new(context)
    return status


@entry
def process_candidates(context: Context) -> int:
    """Rederive the candidates for deletion, and process the consequences of those without proof: DONE, or a request to the
    caller.
    """
    status = DONE
    context.checks_flags = 1
    while status == DONE and context.candidates_done < context.candidates_count:
        fact = context.candidates[context.candidates_done]
        if context.depth < 0 and context.pending < 0:
            status = request_threads(context, CANDIDATES, context.candidates_done, context.candidates_count)
            if status != DONE:
                break
            if flags_of(context, fact) & (PROCESSED | PROVED):
                context.candidates_done = context.candidates_done + 1
                continue
            if not flags_of(context, fact) & CHECKED:
                context.pending = fact
        context.hidden = ABSENT | DISPROVED
        status = prove(context)
        if status == DONE:
            disprove_checked(context)
            if not flags_of(context, fact) & PROVED:
                context.hidden = ABSENT | PROCESSED
                status = add_consequences(context, fact)
                if status == DONE:
                    set_flags(context, fact, PROCESSED)
            if status == DONE:
                context.candidates_done = context.candidates_done + 1
    see_new(context)
    return status


@entry
def finish_deletion(context: Context) -> int:
    """Delete the disproved facts, and reset the state of a stratum."""
    for place in range(context.candidates_count):
        fact = context.candidates[place]
        if flags_of(context, fact) & PROCESSED:
            delete_fact(context, fact)
        else:
            clear_flags(context, fact, TEMPORARY)
    for place in range(context.checked_count):
        clear_flags(context, context.checked[place], TEMPORARY)
    context.candidates_count = 0
    context.candidates_done = 0
    context.shared_to = 0
    context.checked_count = 0
    context.checked_done = 0
    context.proved_count = 0
    context.proved_done = 0
    context.pool_count = 0
    return 0


@entry
def finish_update(context: Context) -> int:
    """Discard the state of an update; deleted facts become dead rows."""
    for place in range(context.gone_count):
        fact = context.gone[place]
        relation = relation_of(context, fact)
        relation.flags[fact & ROW] = DEAD
        if context.has_reborn:
            newest = find(relation, values_of(relation, fact))
            relation.flags[newest] = relation.flags[newest] & ~REBORN
    for place in range(context.removed_count):
        clear_flags(context, context.removed[place], RETRACTED | EXPIRING)
    for place in range(context.claimed_count):
        clear_flags(context, context.claimed[place], CLAIMED)
    context.gone_count = 0
    context.removed_count = 0
    context.claimed_count = 0
    context.has_reborn = 0
    context.is_large = 0
    return 0


@entry
def delete_row(context: Context, number: int, row: int) -> int:
    """Delete a fact that no rule derives, such as a group whose result has changed."""
    return delete_fact(context, (number << 32) | row)


@entry
def delete_facts(context: Context, number: int, facts: Int32s, count: int) -> int:
    """Delete existing facts of one relation, given as `arity` ids each."""
    relation = context.relations[number]
    for fact in range(count):
        row = find(relation, facts + fact * relation.arity)
        if row >= 0 and not relation.flags[row] & ABSENT:
            delete_fact(context, (number << 32) | row)
    return 0


@entry
def delete_candidates(context: Context) -> int:
    """Delete the candidates that are neither explicit nor stated, because no rule derives them any more."""
    for place in range(context.candidates_count):
        fact = context.candidates[place]
        clear_flags(context, fact, CANDIDATE)
        if not flags_of(context, fact) & (EXPLICIT | STATED):
            delete_fact(context, fact)
    context.candidates_count = 0
    return 0
