"""Deletion by several threads: what a few rule instances each show about candidates for deletion, or about deleted facts.

Threads search for proofs of candidates, depth first, without marks and not far. A fact is disproved if all its instances have been
looked at, and each needs a fact that is disproved or is a goal already. Where a few instances are not enough, one thread decides
(see `proving`), which goes on from what has been found. Then threads list the heads of the instances that disproved, or deleted,
facts trigger.

Nothing here locks: while threads look for instances, none writes to relations or indexes, and what is found of a fact is kept in
a list of outcomes. Then threads set the flags, each those of its own facts.
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.layout import (
    CHECKED,
    DISPROVED,
    DONE,
    EXPLICIT,
    FUNCTION_RESULTS,
    GROW,
    IDLE,
    PROCESSED,
    PROVED,
    READY,
    REQUESTS,
    RING,
    ROW,
    STATED,
    STOPPED,
    Context,
)
from kg_reasoner.storage.kernels.maintenance.deletion_candidates import add_candidate, add_consequences
from kg_reasoner.storage.kernels.maintenance.proving import next_instance, next_uncertain, push_goal
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int64s
from kg_reasoner.storage.kernels.primitives import is_stopped, prefetch
from kg_reasoner.storage.kernels.relations import flags_of, relation_of, set_flags
from kg_reasoner.storage.kernels.thread_results import DEEPEST, LEFT_TO_ONE_THREAD, PATIENCE, UNTRIED


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
def is_goal(context: Context, fact: int) -> int:
    """Return whether a fact is one of the goals of a search: a proof of it does not need itself."""
    for depth in range(context.depth + 1):
        if context.goals[depth].fact == fact:
            return 1
    return 0


@kernel
def search(context: Context, fact: int) -> int:
    """Search for a proof by a few instances, without marks: PROVED, DISPROVED, LEFT_TO_ONE_THREAD if these are not enough, or
    -1 minus a request.
    """
    context.depth = -1
    push_goal(context, fact)
    patience = PATIENCE
    while True:
        goal = context.goals[context.depth]
        if goal.step < 0:
            status = next_instance(context, context.depth)
            if status == IDLE:  # so the instance of the goal before fails, too
                if context.depth == 0:
                    return DISPROVED
                context.depth = context.depth - 1
                context.goals[context.depth].step = -1
                continue
            if status != READY:
                return -1 - status
            patience = patience - 1
        body = next_uncertain(context, goal, context.frames[context.depth + 1])
        if body < 0:
            if context.depth == 0:
                return PROVED
            context.depth = context.depth - 1
        elif is_goal(context, body):
            goal.step = -1
        elif patience <= 0 or context.depth + 1 == DEEPEST:
            return LEFT_TO_ONE_THREAD
        else:
            push_goal(context, body)


@kernel
def try_fact(context: Context, fact: int) -> int:
    """Return the outcome of a search for a proof. A request is noted."""
    if flags_of(context, fact) & (EXPLICIT | STATED):
        return CHECKED | PROVED
    found = search(context, fact)
    if found < 0:
        note_request(context, -1 - found)
        return LEFT_TO_ONE_THREAD if found == -1 - FUNCTION_RESULTS else UNTRIED
    return LEFT_TO_ONE_THREAD if found == LEFT_TO_ONE_THREAD else CHECKED | found


@kernel
def prefetch_flags(context: Context, fact: int) -> int:
    """Request the flags and the tuple of a fact from memory."""
    relation = relation_of(context, fact)
    prefetch(relation.flags, fact & ROW)
    prefetch(relation.rows, relation.arity * (fact & ROW))
    return 0


@entry
def try_facts(context: Context, facts: Int64s, outcomes: Bytes, first: int, end: int) -> int:
    """Search for proofs of the facts [first, end), unless they have been checked: DONE or STOPPED.

    `context` is that of a thread.
    """
    for place in range(first, end):
        if place + RING < end:
            prefetch_flags(context, facts[place + RING])
        fact = facts[place]
        flags = flags_of(context, fact)
        if flags & CHECKED:
            outcomes[place] = flags & (CHECKED | PROVED | DISPROVED)
        else:
            outcomes[place] = try_fact(context, fact)
        if is_stopped(context):
            return STOPPED
    return DONE


@entry
def list_consequences(context: Context, facts: Int64s, outcomes: Bytes, first: int, end: int, unwanted: int) -> int:
    """List the heads of the instances that the facts [first, end) without unwanted flags trigger: DONE, STOPPED, or GROW, and the
    caller calls again for the facts from `place` on. `context` is that of a thread.
    """
    heads = context.lists[context.own_list - 1]
    for place in range(first, end):
        if place + RING < end:
            prefetch_flags(context, facts[place + RING])
        fact = facts[place]
        flags = flags_of(context, fact)
        if not flags & unwanted:
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
def set_outcome_flags(context: Context, facts: Int64s, outcomes: Bytes, first: int, end: int) -> int:
    """Set the flags that are the outcomes for the facts [first, end). Return 0."""
    for place in range(first, end):
        if place + RING < end:
            prefetch(relation_of(context, facts[place + RING]).flags, facts[place + RING] & ROW)
        if outcomes[place] > LEFT_TO_ONE_THREAD:
            set_flags(context, facts[place], outcomes[place])
    return 0


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
