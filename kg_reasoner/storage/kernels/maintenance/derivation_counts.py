"""Counting: each fact has a number of derivations for each iteration of its stratum's fixpoint.

The *rank* of a fact is the first iteration that derives it: 0 for explicit facts, and for the head of a rule instance one more than
the highest rank in its body; facts of lower strata count as explicit. A fact without a derivation in any iteration has no rank, and
does not hold. Counting by iteration excludes circular support: facts that support only each other have no derivation, because each
would need an earlier iteration than the other.

An update changes the ranks of facts one by one, in the order of iterations. Every change enumerates the rule instances with the
fact in their bodies exactly once, in the current state, and moves them between iterations in the counts of their heads, which are
checked when that iteration comes. Checks in an iteration move only derivations of later iterations, so a fact changes at most
twice: it is deleted at its old rank, and rederived at a higher one.

Sources: Gupta, Mumick and Subrahmanian, Maintaining Views Incrementally (SIGMOD 1993) for counting; for counts by iteration Dewan,
Ohsie, Stolfo, Wolfson and Da Silva, Incremental Database Rule Processing in PARADISER (1992), and Motik, Nenov, Piro and Horrocks,
Maintenance of Datalog Materialisations Revisited (2019).

All instances of a fact are enumerated before anything changes, so a kernel can stop for room, an index or a function's results and
be called again.
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.joins import advance, insert_head, next_match, row_limit
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    COMPARE,
    DEAD,
    DONE,
    EXPLICIT,
    FULL,
    FUNCTION_RESULTS,
    GROW,
    IDLE,
    NEVER,
    OUT,
    READY,
    ROW,
    STATED,
    TOUCHED,
    Context,
    Frame,
    Plan,
    Section,
)
from kg_reasoner.storage.kernels.maintenance.deletion import delete_fact
from kg_reasoner.storage.kernels.maintenance.deletion_candidates import see_new
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.readiness import open_plan, open_triggered
from kg_reasoner.storage.kernels.relations import (
    clear_flags,
    count_dead,
    flags_of,
    relation_of,
    section_of,
    set_flags,
    values_of,
)

NOWHEN = -1
"""Instead of an iteration: the instance does not hold."""


@kernel
def rank_of(context: Context, fact: int) -> int:
    """Return the rank of a fact for the stratum under maintenance; facts of lower strata have rank 0."""
    relation = relation_of(context, fact)
    return relation.ranks[fact & ROW] if relation.ranked == context.level else 0


@kernel
def hide(context: Context, fact: int) -> int:
    """Remove a fact from the current state."""
    return set_flags(context, fact, OUT)


@kernel
def show(context: Context, fact: int) -> int:
    """Add a fact to the current state."""
    return clear_flags(context, fact, OUT)


@kernel
def schedule(context: Context, fact: int, time: int) -> int:
    """Put a fact on the agenda of an iteration, which must have room."""
    event = context.event_count
    context.events[event] = context.agenda[time]
    context.events[event + 1] = fact
    context.event_count = event + 2
    context.agenda[time] = event
    if time > context.last_time:
        context.last_time = time
    return 0


@kernel
def touch(context: Context, fact: int) -> int:
    """Record once a fact that may be deleted at the end. The list must have room."""
    if not flags_of(context, fact) & TOUCHED:
        set_flags(context, fact, TOUCHED)
        context.touched[context.touched_count] = fact
        context.touched_count = context.touched_count + 1
    return 0


@kernel
def tally(context: Context, fact: int, time: int, change: int) -> int:
    """Add to the number of a fact's derivations in an iteration. The list must have room."""
    pool = context.pool_of_tallies
    heads = relation_of(context, fact).tallies
    row = fact & ROW
    before = -1
    place = heads[row]
    while place >= 0 and pool[place + 1] != time:
        before = place
        place = pool[place]
    if place < 0:
        place = context.tally_free
        if place >= 0:
            context.tally_free = pool[place]
        else:
            place = context.tally_count
            context.tally_count = place + 3
        pool[place] = heads[row]
        pool[place + 1] = time
        pool[place + 2] = change
        heads[row] = place
        return 0
    pool[place + 2] = pool[place + 2] + change
    if pool[place + 2] == 0:
        if before < 0:
            heads[row] = pool[place]
        else:
            pool[before] = pool[place]
        pool[place] = context.tally_free
        context.tally_free = place
    return 0


@kernel
def lowest_rank(context: Context, fact: int) -> int:
    """Return the rank determined by a fact's flags and counts."""
    relation = relation_of(context, fact)
    row = fact & ROW
    if relation.flags[row] & (EXPLICIT | STATED):
        return 0
    pool = context.pool_of_tallies
    lowest = NEVER
    place = relation.tallies[row]
    while place >= 0:
        if pool[place + 1] < lowest:
            lowest = pool[place + 1]
        place = pool[place]
    return lowest


@kernel
def head_of(context: Context, frame: Frame, plan: Plan) -> int:
    """Return the fact for the head of the frame's instance, inserted without rank if it is new; FULL without room."""
    number = plan.head_relation
    relation = context.relations[number]
    if context.touched_count >= context.touched_room:
        return FULL
    count = relation.count
    row = insert_head(context, frame, plan)
    if row == FULL:
        return FULL
    if row == count:
        relation.flags[row] = OUT
        relation.ranks[row] = NEVER
        relation.tallies[row] = -1
        touch(context, (number << 32) | row)
    return (number << 32) | row


@kernel
def highest_rank(context: Context, frame: Frame, plan: Plan, fact: int) -> int:
    """Return the highest rank of the facts matched by the plan's steps, other than `fact`."""
    highest = 0
    for position in range(plan.step_count):
        step = context.steps[plan.first_step + position]
        if step.kind < COMPARE and not step.negated:
            body = (step.relation << 32) | frame.levels[position].row
            if body != fact and rank_of(context, body) > highest:
                highest = rank_of(context, body)
    return highest


@kernel
def is_counted_before(context: Context, frame: Frame, plan: Plan, fact: int) -> int:
    """Return whether an earlier position of the rule's body, with the same fact or its negation, enumerates the same instance."""
    is_out = relation_of(context, fact).flags[fact & ROW] & OUT
    for position in range(plan.step_count):
        step = context.steps[plan.first_step + position]
        if step.kind < COMPARE and not step.newest and step.relation == fact >> 32:
            if not step.negated:
                if frame.levels[position].row == fact & ROW:
                    return 1
            elif is_out:  # only this fact is left out: does the negation fail with it?
                show(context, fact)
                found = advance(context, frame, step, position, 1, row_limit(context, step, 0, 0, -1))
                hide(context, fact)
                if found >= 0:
                    return 1
    return 0


@kernel
def adjust(context: Context, head: int, before: int, after: int) -> int:
    """Record a derivation that moves between iterations: DONE or GROW."""
    if before == after:
        return DONE
    place = 3 * context.adjusted_count
    if place + 3 > context.adjusted_room:
        return GROW
    adjusted = context.adjusted
    adjusted[place] = head
    adjusted[place + 1] = before
    adjusted[place + 2] = after
    context.adjusted_count = context.adjusted_count + 1
    return DONE


@kernel
def move_instances(context: Context, number: int, fact: int, before: int, after: int) -> int:
    """Enumerate the instances of an opened plan. `before` and `after` are the ranks of the triggering fact, or NEVER if the
    instances do not hold. Return DONE, GROW or FUNCTION_RESULTS.
    """
    frame = context.frames[0]
    plan = context.plans[number]
    first = context.instances
    while next_match(context, frame, 0, 0, -1):
        if fact >= 0 and is_counted_before(context, frame, plan, fact):
            continue
        context.instances = context.instances + 1
        head = head_of(context, frame, plan)
        if head == FULL:
            return GROW
        highest = highest_rank(context, frame, plan, fact)
        old = NOWHEN
        new = NOWHEN
        if before < NEVER:
            old = 1 + (before if before > highest else highest)
        if after < NEVER:
            new = 1 + (after if after > highest else highest)
        if adjust(context, head, old, new) == GROW:
            return GROW
    plan.found = plan.found + context.instances - first
    return FUNCTION_RESULTS if context.request_count > 0 else DONE


@kernel
def move_triggered(context: Context, plans: Int32s, first: int, end: int, fact: int, before: int, after: int) -> int:
    """Move the instances of the plans that a fact triggers: DONE, or a request to the caller."""
    relation = relation_of(context, fact)
    for position in range(first, end):
        number = plans[position]
        status = open_triggered(context, context.frames[0], number, relation, fact)
        if status == READY:
            status = move_instances(context, number, fact, before, after)
        elif status == IDLE:
            status = DONE
        if status != DONE:
            return status
    return DONE


@kernel
def move_by_section(context: Context, section: Section, fact: int, before: int, after: int) -> int:
    """Move the instances affected by a change of a fact's rank, for the rules of a section: DONE, or a request to the caller."""
    if before == NEVER or after == NEVER:  # it is added or deleted, which blocks or unblocks instances
        held = 0 if before == NEVER else NEVER
        hide(context, fact)
        status = move_triggered(context, context.blockers, section.first_blocker, section.end_blocker, fact, held, NEVER - held)
        show(context, fact)
        if status != DONE:
            return status
    return move_triggered(context, context.triggers, section.first_trigger, section.end_trigger, fact, before, after)


@kernel
def move_all(context: Context, fact: int, before: int, after: int) -> int:
    """Move all instances affected by a change of a fact's rank: DONE, or a request to the caller."""
    context.adjusted_count = 0
    relation = relation_of(context, fact)
    show(context, fact)
    status = move_by_section(context, context.sections[relation.section], fact, before, after)
    own = section_of(relation, values_of(relation, fact))
    if status == DONE and own >= 0:
        status = move_by_section(context, context.sections[own], fact, before, after)
    return status


@kernel
def has_room_to_apply(context: Context) -> int:
    """Return whether the pools have room for all adjustments, and the agenda for their iterations."""
    count = context.adjusted_count
    if context.tally_count + 3 * count > context.tally_room or context.event_count + 4 * count + 4 > context.event_room:
        return 0
    if context.touched_count + 1 > context.touched_room:
        return 0
    for number in range(count):
        if context.adjusted[3 * number + 1] >= context.agenda_room or context.adjusted[3 * number + 2] >= context.agenda_room:
            return 0
    return 1


@kernel
def apply_adjustments(context: Context) -> int:
    """Update the counts of heads, and put the heads on the agenda."""
    adjusted = context.adjusted
    for number in range(context.adjusted_count):
        head = adjusted[3 * number]
        before = adjusted[3 * number + 1]
        after = adjusted[3 * number + 2]
        if before != NOWHEN:
            tally(context, head, before, -1)
            schedule(context, head, before)
        if after != NOWHEN:
            tally(context, head, after, 1)
            schedule(context, head, after)
    context.adjusted_count = 0
    return 0


@kernel
def change_rank(context: Context, fact: int, before: int, after: int) -> int:
    """Change the rank of a fact and the derivations that depend on it: DONE, or a request to the caller."""
    status = move_all(context, fact, before, after)
    if status == DONE and not has_room_to_apply(context):
        status = GROW
    if status != DONE:
        if before == NEVER:
            hide(context, fact)
        else:
            show(context, fact)
        return status
    apply_adjustments(context)
    relation = relation_of(context, fact)
    if relation.ranked == context.level:
        relation.ranks[fact & ROW] = after
    if after == NEVER:
        hide(context, fact)
        if relation.level >= context.level:
            touch(context, fact)
    else:
        show(context, fact)
    return DONE


@kernel
def look_at(context: Context, fact: int) -> int:
    """Update the rank of a fact as far as the current iteration determines it: DONE, or a request to the caller."""
    relation = relation_of(context, fact)
    flags = relation.flags[fact & ROW]
    if relation.level < context.level:  # of a lower stratum: it is added or deleted
        if flags & ABSENT:
            return DONE if flags & OUT else change_rank(context, fact, rank_of(context, fact), NEVER)
        if flags & OUT:
            return change_rank(context, fact, NEVER, 0)
        rank = rank_of(context, fact)  # not 0: it has become explicit while its relation has lost its rules
        return change_rank(context, fact, rank, 0) if rank > 0 else DONE
    rank = relation.ranks[fact & ROW]
    lowest = lowest_rank(context, fact)
    time = context.time
    if lowest == time and rank > time:
        return change_rank(context, fact, rank, time)
    if rank == time and lowest > time:
        status = change_rank(context, fact, rank, NEVER)
        if status != DONE:
            return status
        rank = NEVER
        lowest = lowest_rank(context, fact)
    if rank == NEVER and time < lowest and lowest < NEVER:  # it may be found again then
        if context.event_count + 2 > context.event_room:
            return GROW
        schedule(context, fact, lowest)
    return DONE


@entry
def begin_counting(context: Context) -> int:
    """Put changed facts on the agenda of a stratum: DONE or GROW.

    New rows are not in the current state at first, and deleted rows of lower strata still are.
    """
    wanted = 2 * (context.gone_count + context.removed_count + context.claimed_count)
    for number in range(context.relation_count):
        wanted = wanted + 2 * (context.relations[number].count - context.materialised[number])
    if context.event_count + wanted > context.event_room or wanted // 2 > context.touched_room:
        return GROW
    for place in range(context.gone_count):
        fact = context.gone[place]
        if relation_of(context, fact).level < context.level:
            show(context, fact)
            schedule(context, fact, 0)
    for number in range(context.relation_count):
        relation = context.relations[number]
        if relation.level <= context.level:
            for row in range(context.materialised[number], relation.count):
                if not relation.flags[row] & ABSENT:
                    hide(context, (number << 32) | row)
                    schedule(context, (number << 32) | row, 0)
                    if relation.level < 0:
                        relation.ranks[row] = 0
                    if relation.level == context.level:
                        relation.ranks[row] = NEVER
                        relation.tallies[row] = -1
                        touch(context, (number << 32) | row)
    for place in range(context.removed_count):
        if relation_of(context, context.removed[place]).level == context.level:
            schedule(context, context.removed[place], 0)
    for place in range(context.claimed_count):
        if relation_of(context, context.claimed[place]).ranked == context.level:
            schedule(context, context.claimed[place], 0)
    return DONE


@kernel
def see_current_state(context: Context) -> int:
    """Make joins see the current state."""
    context.hidden = DEAD | OUT
    context.checks_flags = 1
    return 0


@entry
def count_rule(context: Context, number: int, removes: int) -> int:
    """Count all instances of a rule, or with `removes` discount them: DONE, or a request to the caller, who then calls again."""
    see_current_state(context)
    context.adjusted_count = 0
    status = open_plan(context, context.frames[0], number)
    if status == READY:
        status = move_instances(context, number, -1, 0 if removes else NEVER, NEVER if removes else 0)
        if status == DONE and not has_room_to_apply(context):
            status = GROW
        if status == DONE:
            apply_adjustments(context)
    see_new(context)
    return DONE if status == IDLE else status


@entry
def count_changes(context: Context) -> int:
    """Process the agenda, iteration by iteration: DONE, or a request to the caller, who then calls again."""
    see_current_state(context)
    status = DONE
    while status == DONE and context.time <= context.last_time:
        event = context.agenda[context.time]
        if event < 0:
            context.time = context.time + 1
        else:
            status = look_at(context, context.events[event + 1])
            if status == DONE:  # nothing has been added to this iteration: derivations only move to later ones
                context.agenda[context.time] = context.events[event]
    see_new(context)
    return status


@entry
def finish_counting(context: Context) -> int:
    """Delete the facts without rank, and prepare for the next stratum."""
    for place in range(context.touched_count):
        fact = context.touched[place]
        relation = relation_of(context, fact)
        row = fact & ROW
        clear_flags(context, fact, TOUCHED)
        if relation.ranks[row] == NEVER:
            if row < context.materialised[fact >> 32]:
                delete_fact(context, fact)
            else:
                relation.flags[row] = DEAD
                count_dead(context, relation)
    for time in range(context.last_time + 1):
        context.agenda[time] = -1
    context.touched_count = 0
    context.event_count = 0
    context.time = 0
    context.last_time = 0
    return 0


@entry
def rank_explicit(context: Context, number: int) -> int:
    """Assign the rank of explicit facts to the processed rows of a relation that no rule has derived so far."""
    relation = context.relations[number]
    for row in range(context.materialised[number]):
        relation.ranks[row] = 0
        relation.tallies[row] = -1
    return 0


@entry
def forget_counts(context: Context, number: int) -> int:
    """Discard the counts of the processed rows of a relation that no rule derives any more; dead rows have none."""
    relation = context.relations[number]
    pool = context.pool_of_tallies
    for row in range(context.materialised[number]):
        if not relation.flags[row] & DEAD:
            place = relation.tallies[row]
            while place >= 0:
                following = pool[place]
                pool[place] = context.tally_free
                context.tally_free = place
                place = following
            relation.tallies[row] = -1
    return 0
