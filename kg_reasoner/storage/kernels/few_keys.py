"""Large indexes with few keys, built by several threads, each of which adds the entries of a range of rows.

Each thread counts the rows of each key in its range, in small tables of its own. From these numbers follows how long every vector
is, and where in it the entries of each range begin.
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.index_entries import has_every_row, is_indexed, key_by, key_slot, only_column
from kg_reasoner.storage.kernels.layout import DONE, EMPTY, FULL, Index, Relation
from kg_reasoner.storage.kernels.memory.structs import Int32s, Int64s
from kg_reasoner.storage.kernels.primitives import mix
from kg_reasoner.storage.kernels.vectors import entry_place, lay_out, set_entry, vector_room


@kernel
def slot_of(keys: Int64s, mask: int, key: int) -> int:
    """Return the slot of a key in a table, or the empty slot for it."""
    slot = mix(key) & mask
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & mask
    return slot


@entry
def count_in_range(
    relation: Relation, index: Index, constant: int, first: int, end: int, keys: Int64s, lengths: Int32s, mask: int
) -> int:
    """Count the rows [first, end) of each key in a table without keys: DONE, or FULL if there are too many keys for it."""
    rows, arity, section, used = relation.rows, relation.arity, relation.section_column, 0
    has_all, column = has_every_row(relation, index), only_column(index)
    for row in range(first, end):
        values = rows + row * arity
        if (constant < 0 or values[section] == constant) and (has_all or is_indexed(relation, index, row)):
            key = key_by(index, column, values)
            slot = slot_of(keys, mask, key)
            if keys[slot] == EMPTY:
                if used > mask // 2:
                    return FULL
                keys[slot] = key
                lengths[slot] = 0
                used = used + 1
            lengths[slot] = lengths[slot] + 1
    return DONE


@entry
def add_counts(index: Index, keys: Int64s, lengths: Int32s, mask: int) -> int:
    """Add the numbers of rows in a range to the lengths of an index: DONE, or FULL. In their place, the table has the position of
    the range's first entry in each vector then.
    """
    for slot in range(mask + 1):
        if keys[slot] != EMPTY:
            own = key_slot(index, keys[slot])
            if index.keys[own] == EMPTY:
                if index.used >= index.limit:
                    return FULL
                index.keys[own] = keys[slot]
                index.lengths[own] = 0
                index.used = index.used + 1
            count = lengths[slot]
            lengths[slot] = index.lengths[own]
            index.lengths[own] = index.lengths[own] + count
    return DONE


@entry
def room_of_vectors(index: Index) -> int:
    """Return the number of items that the vectors of an index will take."""
    size = 0
    for slot in range(index.mask + 1):
        if index.keys[slot] != EMPTY:
            size = size + vector_room(index, index.lengths[slot])
    return size


@entry
def lay_out_vectors(index: Index) -> int:
    """Lay out the vectors of an index in its arena, which has room for them. Return 0."""
    for slot in range(index.mask + 1):
        if index.keys[slot] != EMPTY:
            index.starts[slot] = lay_out(index, index.top, index.lengths[slot])
            index.top = index.top + vector_room(index, index.lengths[slot])
    return 0


@entry
def fill_in_range(
    relation: Relation,
    index: Index,
    constant: int,
    first: int,
    end: int,
    keys: Int64s,
    positions: Int32s,
    starts: Int32s,
    mask: int,
) -> int:
    """Add the entries of the rows [first, end). Return 0.

    The table has the position of the next entry of each key; where the vectors begin is copied to it first.
    """
    for slot in range(mask + 1):
        if keys[slot] != EMPTY:
            starts[slot] = index.starts[key_slot(index, keys[slot])]
    rows, arity, section, value_column = relation.rows, relation.arity, relation.section_column, index.value_column
    has_all, column = has_every_row(relation, index), only_column(index)
    for row in range(first, end):
        values = rows + row * arity
        if (constant < 0 or values[section] == constant) and (has_all or is_indexed(relation, index, row)):
            slot = slot_of(keys, mask, key_by(index, column, values))
            position = positions[slot]
            value = values[value_column] if value_column >= 0 else 0
            set_entry(index, entry_place(index, starts[slot], position), row, value)
            positions[slot] = position + 1
    return 0
