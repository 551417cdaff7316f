"""The backward/forward algorithm: candidates for deletion are rederived or deleted, and only deletions yield further candidates.

`deletion_candidates` finds candidates, `proving` rederives them.

Strata are maintained from the lowest upwards; changes of lower strata are complete. All state is in the context, so a kernel can
stop for room, an index or a function's results and be called again.
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    CANDIDATE,
    CANDIDATES,
    CHECKED,
    CLAIMED,
    DEAD,
    DISPROVED,
    DONE,
    EXPIRING,
    EXPLICIT,
    GONE,
    PROCESSED,
    PROVED,
    REBORN,
    RETRACTED,
    ROW,
    STATED,
    WATCHED,
    Context,
)
from kg_reasoner.storage.kernels.maintenance.deletion_candidates import add_consequences, request_threads, see_new
from kg_reasoner.storage.kernels.maintenance.proving import disprove_checked, prove
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.relations import clear_flags, count_dead, find, flags_of, relation_of, set_flags, values_of

TEMPORARY = CHECKED | PROVED | DISPROVED | CANDIDATE | PROCESSED | WATCHED


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
