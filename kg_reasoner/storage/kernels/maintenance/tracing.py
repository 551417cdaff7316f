"""Tracing: find the facts derived from facts that have lost part of their support. Nothing is deleted.

With rewriting of equal terms, one fact represents many, and one derivation represents many. A fact may remain and yet represent
fewer facts than before, so its consequences have to be checked again (see `kg_reasoner.engine.equality`).
"""

from kg_reasoner.storage.kernels.decorators import entry
from kg_reasoner.storage.kernels.layout import CANDIDATE, DONE, Context
from kg_reasoner.storage.kernels.maintenance.deletion_candidates import add_candidate, add_consequences, see_new, see_old
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.relations import clear_flags, find


@entry
def add_candidates(context: Context, number: int, facts: Int32s, count: int) -> int:
    """Add the existing facts among a relation's tuples to the list of facts to trace."""
    relation = context.relations[number]
    for position in range(count):
        row = find(relation, facts + position * relation.arity)
        if row >= 0:
            add_candidate(context, (number << 32) | row)
    return 0


@entry
def trace_candidates(context: Context) -> int:
    """Add all consequences of the listed facts to their list: DONE, or a request to the caller, who then calls again."""
    see_old(context)
    status = DONE
    while status == DONE and context.candidates_done < context.candidates_count:
        status = add_consequences(context, context.candidates[context.candidates_done])
        if status == DONE:
            context.candidates_done = context.candidates_done + 1
    see_new(context)
    return status


@entry
def clear_candidates(context: Context) -> int:
    """Empty the list of facts to trace."""
    for place in range(context.candidates_count):
        clear_flags(context, context.candidates[place], CANDIDATE)
    context.candidates_count = 0
    context.candidates_done = 0
    return 0
