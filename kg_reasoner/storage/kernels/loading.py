"""Assertion and retraction of explicit facts by their flags."""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    CLAIMED,
    DEAD,
    EXPLICIT,
    FULL,
    RETRACTED,
    RING,
    ROW,
    STATED,
    Context,
    Relation,
)
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Int64s
from kg_reasoner.storage.kernels.primitives import mix, prefetch
from kg_reasoner.storage.kernels.relations import count_dead, find, find_or_insert, row_with_key, set_slot, tuple_key, tuple_slot


@kernel
def insert_flagged(context: Context, number: int, values: Int32s, flag: int) -> int:
    """Insert a tuple that is not derived, and flag its row: 1 if the flag is new, 0 if not, or FULL."""
    relation = context.relations[number]
    row = find_or_insert(context, number, values)
    if row == FULL:
        return FULL
    flags = relation.flags[row]
    if flags & flag:
        return 0
    if flag and row < context.materialised[number] and not flags & RETRACTED:
        if flag == EXPLICIT:
            flags = flags | CLAIMED
        context.claimed[context.claimed_count] = (number << 32) | row
        context.claimed_count = context.claimed_count + 1
    relation.flags[row] = flags | flag
    return 1


@kernel
def retract(context: Context, number: int, values: Int32s, flag: int) -> int:
    """Remove a flag (EXPLICIT or STATED) from a fact: 1, or 0 if it does not have the flag."""
    row = find(context.relations[number], values)
    return retract_row(context, number, row, flag) if row >= 0 else 0


@kernel
def retract_row(context: Context, number: int, row: int, flag: int) -> int:
    """Remove a flag from a row: 1, or 0 if it does not have the flag.

    The fact is added to the list of removed facts. If it was inserted after the last update, nothing follows from it, so it is dead
    at once.
    """
    relation = context.relations[number]
    flags = relation.flags[row]
    if flags & ABSENT or not flags & flag:
        return 0
    flags = flags - flag
    if row >= context.materialised[number] and not flags & (EXPLICIT | STATED):
        relation.flags[row] = DEAD
        count_dead(context, relation)
        return 1
    if flag == EXPLICIT:
        if flags & CLAIMED:
            flags = flags - CLAIMED
        elif row < context.materialised[number]:
            flags = flags | RETRACTED
    relation.flags[row] = flags
    context.removed[context.removed_count] = (number << 32) | row
    context.removed_count = context.removed_count + 1
    return 1


@kernel
def request_tuple(relation: Relation, values: Int32s) -> int:
    """Request the place of a tuple in the hash table of its relation from memory."""
    prefetch(relation.slots, mix(tuple_key(values, relation.arity)) & relation.mask)
    return 0


@entry
def load_facts(context: Context, number: int, facts: Int32s, first: int, count: int, flag: int, changed: Bytes) -> int:
    """Insert facts of one relation, `arity` ids each, with a flag. Return the number of the first that did not fit, or `count`.

    `changed` says of each fact whether the flag is new to it.
    """
    relation = context.relations[number]
    arity = relation.arity
    for fact in range(first, count):
        if fact + RING // 2 < count:
            request_tuple(relation, facts + (fact + RING // 2) * arity)
        result = insert_flagged(context, number, facts + fact * arity, flag)
        if result == FULL:
            return fact
        changed[fact] = result
    return count


@entry
def exchange_rows(relation: Relation, firsts: Int32s, seconds: Int32s, count: int) -> int:
    """Exchange pairs of rows, which are not dead, in a relation without indexes."""
    for number in range(count):
        first = firsts[number]
        second = seconds[number]
        left = relation.rows + first * relation.arity
        right = relation.rows + second * relation.arity
        left_key = tuple_key(left, relation.arity)
        right_key = tuple_key(right, relation.arity)
        left_slot = tuple_slot(relation, left, left_key)
        right_slot = tuple_slot(relation, right, right_key)
        set_slot(relation, left_slot, left_key, second)
        set_slot(relation, right_slot, right_key, first)
        for column in range(relation.arity):
            value = left[column]
            left[column] = right[column]
            right[column] = value
        flags = relation.flags[first]
        relation.flags[first] = relation.flags[second]
        relation.flags[second] = flags
    return 0


@entry
def retract_facts(context: Context, number: int, facts: Int32s, count: int, flag: int, changed: Bytes) -> int:
    """Remove a flag from facts of one relation. Set `changed` for each that had it, and return their number."""
    relation = context.relations[number]
    arity = relation.arity
    total = 0
    for fact in range(count):
        if fact + RING // 2 < count:
            request_tuple(relation, facts + (fact + RING // 2) * arity)
        changed[fact] = retract(context, number, facts + fact * arity, flag)
        total = total + changed[fact]
    return total


@kernel
def relation_of_triple(context: Context, values: Int32s) -> int:
    """Return the relation that holds a triple in property tables: of its class, or of its property; -1 if there is none yet."""
    if values[1] == context.type_id:
        return context.class_relations[values[2]]
    return context.property_relations[values[1]]


@kernel
def has_flag(relation: Relation, values: Int32s, flag: int) -> int:
    """Return whether a tuple holds with a flag."""
    row = find(relation, values)
    if row < 0:
        return 0
    flags = relation.flags[row]
    return 1 if flags & flag and not flags & ABSENT else 0


@entry
def have_flag(context: Context, number: int, facts: Int32s, count: int, flag: int, answers: Bytes) -> int:
    """Write for each fact of a relation whether it holds with a flag."""
    relation = context.relations[number]
    for fact in range(count):
        if fact + RING // 2 < count:
            request_tuple(relation, facts + (fact + RING // 2) * relation.arity)
        answers[fact] = has_flag(relation, facts + fact * relation.arity, flag)
    return 0


@kernel
def request_place(relation: Relation, triple: Int32s) -> int:
    """Request the place of a triple's row in the hash table of its relation from memory."""
    key = triple[0] if relation.arity == 1 else (triple[0] << 32) | triple[2]
    prefetch(relation.slots, mix(key) & relation.mask)
    return 0


@kernel
def request_triple(context: Context, triple: Int32s) -> int:
    """Request the place of a triple's row in property tables from memory."""
    target = relation_of_triple(context, triple)
    if target >= 0:
        request_place(context.relations[target], triple)
    return 0


@entry
def triples_have_flag(context: Context, triples: Int32s, count: int, flag: int, answers: Bytes) -> int:
    """Write the same for triples in property tables."""
    values = context.frames[0].scratch
    for number in range(count):
        if number + RING < count:
            request_triple(context, triples + 3 * (number + RING))
        triple = triples + 3 * number
        target = relation_of_triple(context, triple)
        answers[number] = 0
        if target >= 0:
            values[0] = triple[0]
            values[1] = triple[2]
            answers[number] = has_flag(context.relations[target], values, flag)
    return 0


@entry
def load_triples(context: Context, triples: Int32s, first: int, count: int, changed: Bytes) -> int:
    """Insert explicit triples in property tables; the number of the first that did not fit or has no relation, or `count`."""
    frame = context.frames[0]
    values = frame.scratch
    for number in range(first, count):
        if number + RING // 2 < count:
            request_triple(context, triples + 3 * (number + RING // 2))
        triple = triples + 3 * number
        target = relation_of_triple(context, triple)
        if target < 0:
            return number
        values[0] = triple[0]
        values[1] = triple[2]
        result = insert_flagged(context, target, values, EXPLICIT)
        if result == FULL:
            return number
        changed[number] = result
    return count


@entry
def load_share(context: Context, triples: Int32s, first: int, count: int, shares: Bytes, share: int, changed: Bytes) -> int:
    """Insert those explicit triples whose relations belong to a share; see `load_triples`.

    Threads that load different shares have contexts of their own, in which `total` and `fresh` count what they have inserted.
    """
    values = context.frames[0].scratch
    for number in range(first, count):
        ahead = number + RING // 2
        if ahead < count:
            later = triples + 3 * ahead
            target = relation_of_triple(context, later)
            if shares[target] == share:
                request_place(context.relations[target], later)
        triple = triples + 3 * number
        target = relation_of_triple(context, triple)
        if shares[target] == share:
            values[0] = triple[0]
            values[1] = triple[2]
            result = insert_flagged(context, target, values, EXPLICIT)
            if result == FULL:
                return number
            changed[number] = result
    return count


@entry
def count_rows(context: Context) -> int:
    """Count the rows of all relations again."""
    total = 0
    for number in range(context.relation_count):
        total = total + context.relations[number].count
    context.total = total
    context.fresh = context.fresh + 1
    return 0


@entry
def count_names(triples: Int32s, count: int, type_id: int, properties: Int32s, classes: Int32s) -> int:
    """Count the triples of each property, and of each class those that say that something is in it."""
    for number in range(count):
        triple = triples + 3 * number
        if triple[1] == type_id:
            classes[triple[2]] = classes[triple[2]] + 1
        else:
            properties[triple[1]] = properties[triple[1]] + 1
    return 0


@entry
def retract_triples(context: Context, triples: Int32s, count: int, changed: Bytes) -> int:
    """Retract explicit triples in property tables; `changed` says of each whether it was explicit. Returns how many were."""
    values = context.frames[0].scratch
    total = 0
    for number in range(count):
        if number + RING < count:
            request_triple(context, triples + 3 * (number + RING))
        triple = triples + 3 * number
        target = relation_of_triple(context, triple)
        changed[number] = 0
        if target >= 0:
            values[0] = triple[0]
            values[1] = triple[2]
            changed[number] = retract(context, target, values, EXPLICIT)
            total = total + changed[number]
    return total


@entry
def find_facts(context: Context, number: int, facts: Int32s, first: int, end: int, found: Int64s) -> int:
    """Write which fact each of the tuples [first, end) of a relation is, or -1. Several threads may do so. Return 0."""
    relation = context.relations[number]
    for place in range(first, end):
        if place + RING // 2 < end:
            request_tuple(relation, facts + (place + RING // 2) * relation.arity)
        row = find(relation, facts + place * relation.arity)
        found[place] = (number << 32) | row if row >= 0 else -1
    return 0


@entry
def find_triples(context: Context, triples: Int32s, first: int, end: int, found: Int64s) -> int:
    """Write the same for triples in property tables."""
    for place in range(first, end):
        if place + RING < end:
            request_triple(context, triples + 3 * (place + RING))
        triple = triples + 3 * place
        target = relation_of_triple(context, triple)
        row = -1
        if target >= 0:
            relation = context.relations[target]
            row = row_with_key(relation, triple[0] if relation.arity == 1 else (triple[0] << 32) | triple[2])
        found[place] = (target << 32) | row if row >= 0 else -1
    return 0


@entry
def retract_found(context: Context, found: Int64s, count: int, flag: int, changed: Bytes) -> int:
    """Remove a flag from facts that have been found. Set `changed` for each that had it, and return their number."""
    total = 0
    for place in range(count):
        changed[place] = 0
        if found[place] >= 0:
            changed[place] = retract_row(context, found[place] >> 32, found[place] & ROW, flag)
            total = total + changed[place]
    return total
