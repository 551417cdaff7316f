"""Delete/rederive: overdelete all consequences of deleted facts, then rederive those with another derivation.

Source: Gupta, Mumick and Subrahmanian, Maintaining Views Incrementally (SIGMOD 1993).
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.joins import next_match
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    DONE,
    EXPLICIT,
    FULL,
    FUNCTION_RESULTS,
    GROW,
    OVERDELETED,
    PROCESSED,
    READY,
    STATED,
    UNPLANNED,
    Context,
)
from kg_reasoner.storage.kernels.maintenance.deletion_candidates import add_consequences, request_threads, see_new
from kg_reasoner.storage.kernels.maintenance.proving import better_deriver
from kg_reasoner.storage.kernels.readiness import open_triggered
from kg_reasoner.storage.kernels.relations import flags_of, insert, relation_of, section_of, set_flags, tuple_key, values_of


@entry
def overdelete(context: Context) -> int:
    """Overdelete the consequences of the candidates for deletion: DONE, or a request to the caller, who then calls again.

    Facts that are explicit or stated stay, and so does what follows from them.
    """
    status = DONE
    context.hidden = ABSENT | PROCESSED
    context.checks_flags = 1
    while status == DONE and context.candidates_done < context.candidates_count:
        status = request_threads(context, OVERDELETED, context.candidates_done, context.candidates_count)
        if status != DONE:
            break
        fact = context.candidates[context.candidates_done]
        flags = flags_of(context, fact)
        if not flags & (EXPLICIT | STATED | PROCESSED):
            status = add_consequences(context, fact)
            if status == DONE:
                set_flags(context, fact, PROCESSED)
        if status == DONE:
            context.candidates_done = context.candidates_done + 1
    see_new(context)
    return status


@kernel
def has_derivation(context: Context, number: int, fact: int) -> int:
    """Return whether a rule of a section derives a fact in one step from the current facts: READY if so, DONE if not, or a request
    to the caller.
    """
    relation = relation_of(context, fact)
    frame = context.frames[0]
    section = context.sections[number]
    for position in range(section.first_deriver, section.end_deriver):
        if context.derivers[position] < 0:
            context.wanted = number
            return UNPLANNED
        plan_number = better_deriver(context, context.derivers[position], values_of(relation, fact))
        ready = open_triggered(context, frame, plan_number, relation, fact)
        if ready > READY:
            return ready
        if ready == READY and next_match(context, frame, 0, 0, -1):
            plan = context.plans[frame.plan]
            plan.found = plan.found + 1
            context.backward_instances = context.backward_instances + 1
            return READY
    return FUNCTION_RESULTS if context.request_count > 0 else DONE


@entry
def rederive(context: Context) -> int:
    """Insert overdeleted facts that have another derivation, from `place` on: DONE, or a request to the caller, who then calls
    again.
    """
    while context.place < context.gone_count:
        fact = context.gone[context.place]
        relation = relation_of(context, fact)
        values = values_of(relation, fact)
        status = has_derivation(context, relation.section, fact)
        own = section_of(relation, values)
        if status == DONE and own >= 0:
            status = has_derivation(context, own, fact)
        if status == READY:
            if insert(context, fact >> 32, values, tuple_key(values, relation.arity)) == FULL:
                return GROW
        elif status != DONE:
            return status
        context.place = context.place + 1
    return DONE
