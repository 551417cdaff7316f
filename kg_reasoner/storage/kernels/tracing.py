"""Tracing: which facts were derived with the help of facts that have lost some of their support. Nothing is deleted.

Under rewriting of equal terms, one fact stands for many, and one derivation for many: a fact may stay and yet not mean all that it
meant. What was derived from it has to be looked at again (see `kg_reasoner.engine.equality`).
"""

from kg_reasoner.storage.kernels.deletion import doubt, doubt_all_consequences, see_new, see_old
from kg_reasoner.storage.kernels.layout import DONE, DOUBTED, Context
from kg_reasoner.storage.kernels.memory import Int32s, entry
from kg_reasoner.storage.kernels.relations import clear_flags, find


@entry
def doubt_facts(context: Context, number: int, facts: Int32s, count: int) -> int:
    """Put those of a relation's tuples that are there on the list of doubted facts."""
    relation = context.relations[number]
    for position in range(count):
        row = find(relation, facts + position * relation.arity)
        if row >= 0:
            doubt(context, (number << 32) | row)
    return 0


@entry
def trace_doubts(context: Context) -> int:
    """Put all that was derived with the help of doubted facts on their list: DONE, or what must be done before the next call."""
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
    """Empty the list of doubted facts."""
    for place in range(context.doubted_count):
        clear_flags(context, context.doubted[place], DOUBTED)
    context.doubted_count = 0
    context.doubted_done = 0
    return 0
