"""The changes of an update, read from the flags of rows before `deletion.finish_update` clears them."""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.layout import ABSENT, CLAIMED, EXPLICIT, KIND_BITS, REBORN, RETRACTED, ROW, Context
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int64s
from kg_reasoner.storage.kernels.relations import clear_flags, find, flags_of, growing, growing_count, relation_of, values_of

ADDED, REMOVED, RESTATED = 0, 1, 2
"""Kinds of changes: RESTATED facts have become explicit, or are derived only."""


@kernel
def note_change(changes: Int64s, count: int, fact: int, kind: int, explicit: int) -> int:
    """Record a change: the fact, and twice its kind, plus 1 if the fact is or was explicit. Return the new count."""
    changes[2 * count] = fact
    changes[2 * count + 1] = 2 * kind + (1 if explicit else 0)
    return count + 1


@kernel
def group_of(changes: Int64s, place: int) -> int:
    """Return the group of a change: its relation and its kind."""
    return ((changes[2 * place] >> 32) << KIND_BITS) + (changes[2 * place + 1] >> 1)


@entry
def count_by_group(changes: Int64s, count: int, counts: Int64s) -> int:
    """Count the changes of each group. Return 0."""
    for place in range(count):
        group = group_of(changes, place)
        counts[group] = counts[group] + 1
    return 0


@entry
def group_changes(changes: Int64s, count: int, places: Int64s, rows: Int64s, explicit: Bytes) -> int:
    """Write the rows of all changes, and whether each is explicit, group by group. Return 0.

    `places` has the place of the next change of each group.
    """
    for place in range(count):
        group = group_of(changes, place)
        next_place = places[group]
        places[group] = next_place + 1
        rows[next_place] = changes[2 * place] & ROW
        explicit[next_place] = changes[2 * place + 1] & 1
    return 0


@kernel
def note_restated(context: Context, changes: Int64s, count: int, fact: int) -> int:
    """Record a fact once if it has changed between explicit and derived. Return the new count."""
    flags = flags_of(context, fact) & (RETRACTED | CLAIMED | EXPLICIT | ABSENT)
    if fact & ROW >= context.materialised[fact >> 32] or (flags != RETRACTED and flags != CLAIMED | EXPLICIT):
        return count
    clear_flags(context, fact, RETRACTED | CLAIMED)
    return note_change(changes, count, fact, RESTATED, flags & EXPLICIT)


@entry
def list_changes(context: Context, changes: Int64s, room: int) -> int:
    """Record the changes of this update, two numbers for each fact (see `note_change`).

    Returns how many changes there are. If there may be more than `room`, it returns how many, and nothing is written.
    """
    wanted = context.gone_count + context.removed_count + context.claimed_count
    for place in range(growing_count(context)):
        number = growing(context, place)
        wanted = wanted + context.relations[number].count - context.materialised[number]
    if wanted > room:
        return wanted
    count = 0
    for place in range(growing_count(context)):
        number = growing(context, place)
        relation = context.relations[number]
        for row in range(context.materialised[number], relation.count):
            if not relation.flags[row] & (ABSENT | REBORN):
                count = note_change(changes, count, (number << 32) | row, ADDED, relation.flags[row] & EXPLICIT)
    for place in range(context.gone_count):
        fact = context.gone[place]
        if fact & ROW < context.materialised[fact >> 32]:
            relation = relation_of(context, fact)
            explicit = flags_of(context, fact) & RETRACTED
            if not context.has_reborn or not relation.flags[find(relation, values_of(relation, fact))] & REBORN:
                count = note_change(changes, count, fact, REMOVED, explicit)
            elif explicit:  # it is back, as a derived fact
                count = note_change(changes, count, fact, RESTATED, 0)
    for place in range(context.removed_count):
        count = note_restated(context, changes, count, context.removed[place])
    for place in range(context.claimed_count):
        count = note_restated(context, changes, count, context.claimed[place])
    return count
