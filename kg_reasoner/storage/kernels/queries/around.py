"""Queries about one node with few answers, found by one call, as in `small_queries`: its triples, and the nodes that it reaches."""

from kg_reasoner.storage.kernels.ascii_bytes import LESS_THAN, QUOTE
from kg_reasoner.storage.kernels.decorators import brief_entry, kernel
from kg_reasoner.storage.kernels.index_entries import key_slot
from kg_reasoner.storage.kernels.joins import is_hidden
from kg_reasoner.storage.kernels.layout import (
    BLANK,
    EMPTY,
    EXPLICIT,
    GENERAL,
    IN_ROW,
    REFLEXIVE,
    VOCABULARY,
    Context,
    Index,
    Relation,
)
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Struct
from kg_reasoner.storage.kernels.queries.small_queries import NOT_BUILT, PATIENCE, TOO_MANY
from kg_reasoner.storage.kernels.relations import find
from kg_reasoner.storage.kernels.vectors import entry_place, row_at, value_at


class Surroundings(Struct):
    """The relations of all properties and classes, and what decides which of their triples are shown."""

    properties: Int32s
    """The properties, each with a relation of its own; `IN_ROW` for a relation that has triples of all properties."""
    indexes: Int32s
    """The indexes of these relations on the end that is known."""
    property_count: int
    classes: Int32s
    class_relations: Int32s
    class_count: int
    kind: int
    """The id of rdf:type, and `below`, that of rdfs:subClassOf."""
    below: int
    is_hiding: int
    """1: inferred triples are hidden if the marks of their terms say so."""
    marks: Bytes
    first_bytes: Bytes


@kernel
def is_shown(around: Surroundings, relation: Relation, row: int, subject: int, property: int, value: int) -> int:
    """Return whether the triple of a row is RDF, and explicit or not hidden."""
    if around.first_bytes[subject] == QUOTE or around.first_bytes[property] != LESS_THAN:
        return 0
    if not around.is_hiding or relation.flags[row] & EXPLICIT:
        return 1
    marks = around.marks
    if property == around.kind and marks[value] & (BLANK | GENERAL):
        return 0
    if property == around.below and marks[value] & GENERAL:
        return 0
    if marks[subject] & VOCABULARY:
        return 0
    return 0 if subject == value and marks[property] & REFLEXIVE else 1


@kernel
def write_pair(out: Int32s, room: int, place: int, property: int, other: int) -> int:
    """Write the property and the other end of a triple, and return the next place; `TOO_MANY` without room."""
    if place == room:
        return TOO_MANY
    out[place] = property
    out[room + place] = other
    return place + 1


@kernel
def write_entries(
    context: Context,
    around: Surroundings,
    index: Index,
    name: int,
    key: int,
    forwards: int,
    found: int,
    out: Int32s,
    room: int,
    enough: int,
) -> int:
    """Write the triples of a property with a subject (`forwards`) or value, and return how many there are then."""
    slot = key_slot(index, key)
    if index.keys[slot] == EMPTY:
        return found
    if index.lengths[slot] > PATIENCE:
        return TOO_MANY
    relation = context.relations[index.relation]
    for number in range(index.lengths[slot]):
        place = entry_place(index, index.starts[slot], number)
        row = row_at(index, place)
        if is_hidden(context, relation, row):
            continue
        property = relation.rows[3 * row + 1] if name == IN_ROW else name
        other = relation.rows[3 * row + (2 if forwards else 0)] if name == IN_ROW else value_at(index, relation, place, row)
        if is_shown(around, relation, row, key if forwards else other, property, other if forwards else key):
            found = write_pair(out, room, found, property, other)
            if found < 0 or found == enough:
                return found
    return found


@kernel
def write_classes(context: Context, around: Surroundings, subject: int, found: int, out: Int32s, room: int, enough: int) -> int:
    """Write the triples with the classes of a subject, and return how many triples there are then."""
    values = out + 2 * room
    values[0] = subject
    for place in range(around.class_count):
        relation = context.relations[around.class_relations[place]]
        row = find(relation, values)
        if row < 0 or is_hidden(context, relation, row):
            continue
        if is_shown(around, relation, row, subject, around.kind, around.classes[place]):
            found = write_pair(out, room, found, around.kind, around.classes[place])
            if found < 0 or found == enough:
                return found
    return found


@kernel
def write_members(context: Context, around: Surroundings, cls: int, found: int, out: Int32s, room: int, enough: int) -> int:
    """Write the triples with the members of a class, and return how many triples there are then."""
    for place in range(around.class_count):
        if around.classes[place] != cls:
            continue
        relation = context.relations[around.class_relations[place]]
        if relation.count > PATIENCE:
            return TOO_MANY
        for row in range(relation.count):
            if is_hidden(context, relation, row):
                continue
            if is_shown(around, relation, row, relation.rows[row], around.kind, cls):
                found = write_pair(out, room, found, around.kind, relation.rows[row])
                if found < 0 or found == enough:
                    return found
    return found


@brief_entry
def match_around(context: Context, around: Surroundings, key: int, forwards: int, out: Int32s, room: int, enough: int) -> int:
    """Write the properties and the values of the triples with a subject (`forwards`), or the subjects of those with a value.

    Behind the two columns, there is room for one more id.
    """
    found = 0
    for place in range(around.property_count):
        index = context.indexes[around.indexes[place]]
        if not index.built:
            return NOT_BUILT
        found = write_entries(context, around, index, around.properties[place], key, forwards, found, out, room, enough)
        if found < 0 or found == enough:
            return found
    if forwards:
        return write_classes(context, around, key, found, out, room, enough)
    return write_members(context, around, key, found, out, room, enough)


@kernel
def is_among_nodes(nodes: Int32s, first: int, count: int, node: int) -> int:
    """Return whether a node is among some."""
    for place in range(first, count):
        if nodes[place] == node:
            return 1
    return 0


@kernel
def add_reached(
    context: Context, index: Index, nodes: Int32s, first: int, count: int, room: int, node: int, first_bytes: Bytes, forwards: int
) -> int:
    """Add the nodes that are one step away from a node, and return how many nodes there are then, or `TOO_MANY`."""
    slot = key_slot(index, node)
    if index.keys[slot] == EMPTY:
        return count
    relation = context.relations[index.relation]
    if index.lengths[slot] > room:
        return TOO_MANY
    for number in range(index.lengths[slot]):
        place = entry_place(index, index.starts[slot], number)
        row = row_at(index, place)
        other = value_at(index, relation, place, row)
        if is_hidden(context, relation, row) or (first_bytes[other] == QUOTE and not forwards):
            continue
        if not is_among_nodes(nodes, first, count, other):
            if count == room:
                return TOO_MANY
            nodes[count] = other
            count = count + 1
    return count


@brief_entry
def reach_few(
    context: Context, number: int, start: int, takes_start: int, forwards: int, first_bytes: Bytes, nodes: Int32s, room: int
) -> int:
    """Write the start, and the nodes that are reached from it by steps along an index; return how many they are.

    Unless `takes_start`, the start counts, and is written once more, only if a step leads to it.
    """
    index = context.indexes[number]
    if not index.built:
        return NOT_BUILT
    nodes[0] = start
    count = 1
    following = 0
    while following < count:
        node = nodes[following]
        following = following + 1
        if first_bytes[node] == QUOTE and forwards:
            continue
        count = add_reached(context, index, nodes, 0 if takes_start else 1, count, room, node, first_bytes, forwards)
        if count < 0:
            return count
    return count
