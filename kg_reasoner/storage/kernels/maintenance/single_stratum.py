"""A whole update in one call, for the common case of one stratum without negation."""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.fixpoint import run
from kg_reasoner.storage.kernels.layout import BEGIN, COLLECT, DONE, FINISH, INSERT, MANY_CHANGED, PAUSE, PROCESS, Context
from kg_reasoner.storage.kernels.maintenance.deletion import drop_removed, finish_deletion, finish_update, process_candidates
from kg_reasoner.storage.kernels.maintenance.deletion_candidates import add_consequences_of_deleted, add_removed_facts
from kg_reasoner.storage.kernels.relations import is_nearly_full, list_grown


@entry
def is_full_soon(context: Context, number: int) -> int:
    """Return whether a relation is nearly full."""
    return is_nearly_full(context, context.relations[number])


@kernel
def is_small(context: Context) -> int:
    """Return whether an update changes so few facts that joins may scan rows instead of waiting for an index."""
    count = context.removed_count
    for place in range(context.grown_count):
        number = context.grown[place]
        count = count + context.relations[number].count - context.processed[number]
    return 1 if count < MANY_CHANGED else 0


@entry
def update_stratum(context: Context, pauses: int) -> int:
    """Delete by backward/forward, then insert, then finish the update: DONE, or a request to the caller, who then calls again.

    If it `pauses`, it also returns PAUSE, once, when all has been deleted and inserted. The stratum is entered, and the lists have
    room (see `maintenance.strata`). `phase` is 0 at first, and in the end.
    """
    if context.phase == BEGIN:
        list_grown(context)
        context.current = 0
        context.block_end = 0
        context.passed = 0
        context.following = 0
        context.pause = 0
        context.phase = INSERT
        if context.removed_count > 0:
            drop_removed(context)
            context.place = 0
            context.depth = -1
            context.pending = -1
            context.unsettled = -1
            context.phase = COLLECT
        context.scans = 1 if is_small(context) else 0
    if context.phase == COLLECT:
        status = add_consequences_of_deleted(context)
        if status != DONE:
            return status
        add_removed_facts(context)
        context.phase = PROCESS
    if context.phase == PROCESS:
        status = process_candidates(context)
        if status != DONE:
            return status
        finish_deletion(context)
        context.phase = INSERT
    if context.phase == INSERT:
        status = run(context)
        if status != DONE:
            return status
        context.scans = 0
        context.phase = FINISH
        if pauses:
            return PAUSE
    finish_update(context)
    for place in range(context.grown_count):
        number = context.grown[place]
        context.materialised[number] = context.processed[number]
        relation = context.relations[number]
        if relation.count >= context.renew_from and is_nearly_full(context, relation):
            context.crowded = 1
    context.grown_count = 0
    context.phase = BEGIN
    return DONE
