"""Candidates for deletion: the facts that have lost a rule instance, or that are no longer explicit.

Where threads share the work, each lists the candidates that it finds (see `parallel_deletion`).
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.joins import fill_tuple, join_request, next_match
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    CANDIDATE,
    DEAD,
    DELETED,
    DONE,
    EXPIRING,
    GROW,
    IDLE,
    READY,
    REBORN,
    WIDE,
    Context,
    Frame,
    Plan,
)
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.readiness import open_first, open_plan
from kg_reasoner.storage.kernels.relations import find, flags_of, relation_of, section_of, set_flags, values_of


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
    return join_request(context)


@kernel
def add_triggered_candidates(context: Context, plans: Int32s, first: int, end: int, fact: int) -> int:
    """Add the heads of the instances that a fact triggers to the candidates for deletion: DONE, or a request to the caller."""
    relation = relation_of(context, fact)
    frame = context.frames[0]
    for position in range(first, end):
        number = plans[position]
        ready = open_first(context, frame, number, relation, fact)
        if ready > READY:
            return ready
        if ready == READY:
            status = add_candidate_heads(context, frame, context.plans[number])
            if status != DONE:
                return status
    return DONE


@kernel
def add_triggered_of(context: Context, number: int, fact: int) -> int:
    """Make the heads of the rule instances that a fact triggers, by the plans of a section, candidates for deletion: DONE, or a
    request to the caller.
    """
    section = context.sections[number]
    return add_triggered_candidates(context, context.triggers, section.first_trigger, section.end_trigger, fact)


@kernel
def add_blocked_of(context: Context, number: int, fact: int) -> int:
    """Make the heads of the rule instances that the absence of a fact allowed, by the plans of a section, candidates for deletion:
    DONE, or a request to the caller.
    """
    section = context.sections[number]
    return add_triggered_candidates(context, context.blockers, section.first_blocker, section.end_blocker, fact)


@kernel
def add_consequences(context: Context, fact: int) -> int:
    """Make the heads of the rule instances that a fact triggers candidates for deletion, unless they were MARKED for it: DONE, or a
    request to the caller.
    """
    if flags_of(context, fact) & EXPIRING:
        return DONE
    relation = relation_of(context, fact)
    status = add_triggered_of(context, relation.section, fact)
    own = section_of(relation, values_of(relation, fact))
    return add_triggered_of(context, own, fact) if status == DONE and own >= 0 else status


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
    """Make the facts of this stratum that are no longer explicit or stated, or were MARKED for this update, candidates for
    deletion.
    """
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
                status = add_blocked_of(context, relation.section, fact)
                own = section_of(relation, values_of(relation, fact))
                if status == DONE and own >= 0:
                    status = add_blocked_of(context, own, fact)
            row = row + 1
        if status == DONE:
            context.place = number + 1
    see_new(context)
    return status
