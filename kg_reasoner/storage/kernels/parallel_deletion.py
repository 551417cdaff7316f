"""Deletion by several threads: what can be told of many candidates for deletion, or deleted facts, from one rule instance each.

Threads look for proofs of one step: an instance whose body facts are all certain proves a candidate, and a candidate without any
instance is disproved. The others are left to backward chaining by one thread (see `deletion`), which goes on from what has been
found. Then threads list the heads of the instances that disproved, or deleted, facts trigger.

Nothing here locks: while threads look for instances, nobody writes to relations or indexes, and what is found of a fact is kept in
a list of outcomes. Then threads set the flags, each those of its own facts.
"""

from kg_reasoner.storage.kernels.deletion import (
    add_candidate,
    add_consequences,
    better_deriver,
    is_certain_instance,
)
from kg_reasoner.storage.kernels.fixpoint import open_triggered
from kg_reasoner.storage.kernels.joins import next_match
from kg_reasoner.storage.kernels.layout import (
    CHECKED,
    DISPROVED,
    DONE,
    EXPLICIT,
    FEW,
    FUNCTION_RESULTS,
    GROW,
    PROCESSED,
    PROVED,
    READY,
    REQUESTS,
    RING,
    ROW,
    STATED,
    STOPPED,
    UNPLANNED,
    Context,
)
from kg_reasoner.storage.kernels.memory import Bytes, Int64s, entry, is_stopped, kernel, prefetch
from kg_reasoner.storage.kernels.relations import flags_of, relation_of, section_of, set_flags, values_of

UNKNOWN = 0
"""The outcome for a fact of which nothing has been found; that of others are the flags that it gets."""


@kernel
def note_request(context: Context, status: int) -> int:
    """List a request of the thread, once. Function results are requested by the thread that continues alone."""
    context.interrupted = 0
    context.request_count = 0
    heads = context.lists[context.own_list - 1]
    request = (status << 32) | context.wanted
    count = heads.request_count
    for place in range(count):
        if heads.requests[place] == request:
            return 0
    if status != FUNCTION_RESULTS and count < REQUESTS:
        heads.requests[count] = request
        heads.request_count = count + 1
    return 0


@kernel
def try_section(context: Context, number: int, fact: int, outcomes: Bytes, place: int) -> int:
    """Look for a proof of one step by the rules of a section: DONE or a request. The outcome, which was that of a disproved fact,
    changes if an instance is found.
    """
    relation = relation_of(context, fact)
    frame = context.frames[0]
    section = context.sections[number]
    uncertain = 0
    for position in range(section.first_deriver, section.end_deriver):
        if context.derivers[position] < 0:
            context.wanted = number
            return UNPLANNED
        deriver = better_deriver(context, context.derivers[position], values_of(relation, fact))
        ready = open_triggered(context, frame, deriver, relation, fact)
        if ready > READY:
            return ready
        plan = context.plans[deriver]
        while ready == READY and uncertain < FEW and next_match(context, frame, 0, 0, -1):
            context.backward_instances = context.backward_instances + 1
            plan.found = plan.found + 1
            if is_certain_instance(context, frame, plan):
                outcomes[place] = CHECKED | PROVED
                return DONE
            outcomes[place] = UNKNOWN
            uncertain = uncertain + 1
        if context.request_count > 0:
            return FUNCTION_RESULTS
    return DONE


@kernel
def try_fact(context: Context, fact: int, outcomes: Bytes, place: int) -> int:
    """Look for a proof of one step: DONE or a request, without an outcome."""
    if flags_of(context, fact) & (EXPLICIT | STATED):
        outcomes[place] = CHECKED | PROVED
        return DONE
    relation = relation_of(context, fact)
    outcomes[place] = CHECKED | DISPROVED
    status = try_section(context, relation.section, fact, outcomes, place)
    own = section_of(relation, values_of(relation, fact))
    if status == DONE and own >= 0 and not outcomes[place] & PROVED:
        status = try_section(context, own, fact, outcomes, place)
    if status != DONE and not outcomes[place] & PROVED:
        outcomes[place] = UNKNOWN
    return status


@kernel
def prefetch_flags(context: Context, fact: int) -> int:
    """Request the flags and the tuple of a fact from memory."""
    relation = relation_of(context, fact)
    prefetch(relation.flags, fact & ROW)
    prefetch(relation.rows, relation.arity * (fact & ROW))
    return 0


@entry
def try_facts(context: Context, facts: Int64s, outcomes: Bytes, first: int, end: int) -> int:
    """Look for proofs of one step for those of the facts [first, end) that have not been checked: DONE or STOPPED.

    `context` is that of a thread.
    """
    for place in range(first, end):
        if place + RING < end:
            prefetch_flags(context, facts[place + RING])
        fact = facts[place]
        outcomes[place] = UNKNOWN
        if not flags_of(context, fact) & CHECKED:
            status = try_fact(context, fact, outcomes, place)
            if status != DONE:
                note_request(context, status)
        if is_stopped(context):
            return STOPPED
    return DONE


@entry
def trace_facts(context: Context, facts: Int64s, outcomes: Bytes, first: int, end: int, wanted: int, unwanted: int) -> int:
    """List the heads of the instances that the facts [first, end) trigger, of those with the wanted flags and without unwanted
    ones: DONE, STOPPED, or GROW, and the caller calls again for the facts from `place` on. `context` is that of a thread.
    """
    heads = context.lists[context.own_list - 1]
    for place in range(first, end):
        if place + RING < end:
            prefetch_flags(context, facts[place + RING])
        fact = facts[place]
        flags = flags_of(context, fact)
        if outcomes[place] == PROCESSED:
            continue
        outcomes[place] = UNKNOWN
        if flags & wanted == wanted and not flags & unwanted:
            count = heads.count
            status = add_consequences(context, fact)
            if status == GROW:
                heads.count = count
                context.place = place
                return GROW
            if status == DONE:
                outcomes[place] = PROCESSED
            else:
                heads.count = count
                note_request(context, status)
        if is_stopped(context):
            return STOPPED
    return DONE


@entry
def settle_facts(context: Context, facts: Int64s, outcomes: Bytes, first: int, end: int) -> int:
    """Set the flags that are the outcomes for the facts [first, end). Return how many are UNKNOWN."""
    unknown = 0
    for place in range(first, end):
        if place + RING < end:
            prefetch(relation_of(context, facts[place + RING]).flags, facts[place + RING] & ROW)
        if outcomes[place] == UNKNOWN:
            unknown = unknown + 1
        else:
            set_flags(context, facts[place], outcomes[place])
    return unknown


@entry
def add_listed_candidates(context: Context, segments: Int64s, count: int) -> int:
    """Add the listed facts to the candidates for deletion, in the order of the segments (see `parallel_blocks`). Return 0."""
    for segment in range(count):
        listed = context.lists[segments[3 * segment]].keys
        end = segments[3 * segment + 2]
        for number in range(segments[3 * segment + 1], end):
            if number + RING < end:
                prefetch(relation_of(context, listed[number + RING]).flags, listed[number + RING] & ROW)
            add_candidate(context, listed[number])
    return 0
