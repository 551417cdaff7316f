"""Tracing: find the facts derived from facts that have lost part of their support. Nothing is deleted.

With rewriting of equal terms, one fact represents many, and one derivation represents many. A fact may remain and yet represent
fewer facts than before, so its consequences have to be checked again (see `kg_reasoner.engine.equality`).
"""

from kg_reasoner.storage.kernels.deletion import doubt, doubt_all_consequences, see_new, see_old
from kg_reasoner.storage.kernels.layout import DONE, DOUBTED, Context
from kg_reasoner.storage.kernels.memory import Int32s, entry
from kg_reasoner.storage.kernels.relations import clear_flags, find


@entry
def doubt_facts(context: Context, number: int, facts: Int32s, count: int) -> int:
    """Add the existing facts among a relation's tuples to the list of facts to trace."""
    relation = context.relations[number]
    for position in range(count):
        row = find(relation, facts + position * relation.arity)
        if row >= 0:
            doubt(context, (number << 32) | row)
    return 0


@entry
def trace_doubts(context: Context) -> int:
    """Add all consequences of the listed facts to their list: DONE, or a request to the caller, who then calls again."""
    see_old(context)
    status = DONE
    while status == DONE and context.doubted_done < context.doubted_count:
        status = doubt_all_consequences(context, context.doubted[context.doubted_done])
        if status == DONE:
            context.doubted_done = context.doubted_done + 1
    see_new(context)
    return status


@entry
def forget_doubts(context: Context) -> int:
    """Empty the list of facts to trace."""
    for place in range(context.doubted_count):
        clear_flags(context, context.doubted[place], DOUBTED)
    context.doubted_count = 0
    context.doubted_done = 0
    return 0
