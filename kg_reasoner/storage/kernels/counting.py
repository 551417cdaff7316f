"""Counting: each fact knows how many derivations it has in each iteration of its stratum's fixpoint.

The *rank* of a fact is the first iteration that derives it: 0 for explicit facts, and one more than the highest rank in the body
for the head of a rule instance; facts of lower strata count as explicit. A fact without a derivation in any iteration has no rank,
and is not there. As derivations are counted by iteration, facts that only hold each other up have none: each would need to be there
before the other.

An update changes the ranks of one fact after the other, in the order of iterations. Every change enumerates the rule instances with
the fact in their bodies, once each, in the world as it is at the moment, and moves them from one iteration to another in the counts
of their heads, which are looked at when that iteration comes. Since what is looked at in an iteration only moves derivations of
later ones, a fact changes at most twice: it is lost at its old rank, and found again at a higher one.

Sources: Gupta, Mumick and Subrahmanian, Maintaining Views Incrementally (SIGMOD 1993) for counting; for counts by iteration Dewan,
Ohsie, Stolfo, Wolfson and Da Silva, Incremental Database Rule Processing in PARADISER (1992), and Motik, Nenov, Piro and Horrocks,
Maintenance of Datalog Materialisations Revisited (2019).

Nothing is changed before all instances of a fact are enumerated, so that a kernel can stop for room, an index or a function's
results and be called again.
"""

from kg_reasoner.storage.kernels.deletion import delete_fact, see_new
from kg_reasoner.storage.kernels.fixpoint import open_plan, open_triggered
from kg_reasoner.storage.kernels.joins import advance, insert_head, next_match, row_limit
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    CALLS,
    COMPARE,
    DEAD,
    DONE,
    EXPLICIT,
    FULL,
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
from kg_reasoner.storage.kernels.memory import Int32s, entry, kernel
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
    """The rank of a fact for the stratum that is being updated: those of lower strata have 0."""
    relation = relation_of(context, fact)
    return relation.ranks[fact & ROW] if relation.ranked == context.level else 0


@kernel
def hide(context: Context, fact: int) -> int:
    """Take a fact out of the world."""
    return set_flags(context, fact, OUT)


@kernel
def show(context: Context, fact: int) -> int:
    """Put a fact into the world."""
    return clear_flags(context, fact, OUT)


@kernel
def schedule(context: Context, fact: int, time: int) -> int:
    """Put a fact on the agenda of an iteration. There is room."""
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
    """Remember a fact that may be gone at the end, once. There is room."""
    if not flags_of(context, fact) & TOUCHED:
        set_flags(context, fact, TOUCHED)
        context.touched[context.touched_count] = fact
        context.touched_count = context.touched_count + 1
    return 0


@kernel
def tally(context: Context, fact: int, time: int, change: int) -> int:
    """Add to the number of a fact's derivations in an iteration. There is room."""
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
    """The rank that a fact's flags and counts give it."""
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
    """The fact of the head of the frame's instance, inserted without rank if it is new; FULL if there is no room."""
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
    """The highest rank of the facts other than `fact` that the plan's steps have matched."""
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
    """Whether an earlier position of the rule's body, which holds the same fact (or negates it), has the same instance."""
    is_out = relation_of(context, fact).flags[fact & ROW] & OUT
    for position in range(plan.step_count):
        step = context.steps[plan.first_step + position]
        if step.kind < COMPARE and not step.newest and step.relation == fact >> 32:
            if not step.negated:
                if frame.levels[position].row == fact & ROW:
                    return 1
            elif is_out:  # only this fact is out: does the negation fail with it?
                show(context, fact)
                found = advance(context, frame, step, position, 1, row_limit(context, step, 0, 0, -1))
                hide(context, fact)
                if found >= 0:
                    return 1
    return 0


@kernel
def adjust(context: Context, head: int, before: int, after: int) -> int:
    """Put a derivation that moves on the list: DONE or GROW."""
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
    """Enumerate the instances of an opened plan; `before` and `after` are the ranks of the triggering fact, or NEVER where the
    instances do not hold: DONE, GROW or CALLS."""
    frame = context.frames[0]
    plan = context.plans[number]
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
    return CALLS if context.request_count > 0 else DONE


@kernel
def move_triggered(context: Context, plans: Int32s, first: int, end: int, fact: int, before: int, after: int) -> int:
    """Move the instances of some plans that a fact triggers: DONE, or what must be done first."""
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
    """Move the instances that a change of a fact's rank concerns, by the rules of a section: DONE, or what must be done first."""
    if before == NEVER or after == NEVER:  # it comes or goes, and holds back or sets free what only it blocks
        held = 0 if before == NEVER else NEVER
        hide(context, fact)
        status = move_triggered(context, context.blockers, section.first_blocker, section.end_blocker, fact, held, NEVER - held)
        show(context, fact)
        if status != DONE:
            return status
    return move_triggered(context, context.triggers, section.first_trigger, section.end_trigger, fact, before, after)


@kernel
def move_all(context: Context, fact: int, before: int, after: int) -> int:
    """Move all instances that a change of a fact's rank concerns: DONE, or what must be done first."""
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
    """Whether the pools have room for all adjustments, and the agenda for their iterations."""
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
    """Change the counts of heads, and put these on the agenda."""
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
    """Give a fact another rank, with all that depends on it: DONE, or what must be done first."""
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
    """Bring the rank of a fact up to date as far as the current iteration decides it: DONE, or what must be done first."""
    relation = relation_of(context, fact)
    flags = relation.flags[fact & ROW]
    if relation.level < context.level:  # of a lower stratum: it comes, or goes
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
    """Put what has changed on the agenda of a stratum: DONE or GROW.

    New rows are out of the world at first, and those of lower strata that are gone are still in it.
    """
    wanted = 2 * (context.gone_count + context.removed_count + context.claimed_count)
    for number in range(context.relation_count):
        wanted = wanted + 2 * (context.relations[number].count - context.settled[number])
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
            for row in range(context.settled[number], relation.count):
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
def see_world(context: Context) -> int:
    """Let joins see the world as it is at the moment."""
    context.hidden = DEAD | OUT
    context.look = 1
    return 0


@entry
def count_rule(context: Context, number: int, removes: int) -> int:
    """Count all instances of a rule, or (`removes`) discount them: DONE, or what must be done before it is called again."""
    see_world(context)
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
    """Work off the agenda, iteration by iteration: DONE, or what must be done before it is called again."""
    see_world(context)
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
    """Delete what has no rank, and get ready for the next stratum."""
    for place in range(context.touched_count):
        fact = context.touched[place]
        relation = relation_of(context, fact)
        row = fact & ROW
        clear_flags(context, fact, TOUCHED)
        if relation.ranks[row] == NEVER:
            if row < context.settled[fact >> 32]:
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
    """Give the settled rows of a relation the rank of explicit facts: no rule has derived any of them so far."""
    relation = context.relations[number]
    for row in range(context.settled[number]):
        relation.ranks[row] = 0
        relation.tallies[row] = -1
    return 0
