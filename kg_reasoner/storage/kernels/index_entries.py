"""Indexes of relations: the keys of tuples, and the entries of rows under them."""

from kg_reasoner.storage.kernels.decorators import entry, kernel, rare_kernel
from kg_reasoner.storage.kernels.layout import CACHED, DEAD, EMPTY, RING, Context, Index, Relation
from kg_reasoner.storage.kernels.memory.structs import Int32s, Int64s
from kg_reasoner.storage.kernels.primitives import mix, prefetch
from kg_reasoner.storage.kernels.vectors import entry_place, has_room_at, lengthened, set_entry


@kernel
def key_slot(index: Index, key: int) -> int:
    """Return the slot of a key in an index, or the empty slot for it."""
    keys = index.keys
    mask = index.mask
    slot = mix(key) & mask
    while True:
        found = keys[slot]
        if found == key or found == EMPTY:
            return slot
        slot = (slot + 1) & mask


@rare_kernel
def wide_key(index: Index, values: Int32s) -> int:
    """Return the key of a tuple in an index on no column, or on more than two."""
    key = index.width
    for position in range(index.width):
        key = mix(key ^ (values[index.columns[position]] + (position << 40)))
    return key if index.width > 0 else 0


@kernel
def index_key(index: Index, values: Int32s) -> int:
    """Return the key of a tuple in an index."""
    columns = index.columns
    width = index.width
    if width == 1:
        return values[columns[0]]
    if width == 2:
        return (values[columns[0]] << 32) | values[columns[1]]
    return wide_key(index, values)


@kernel
def only_column(index: Index) -> int:
    """Return the column of an index's key, or -1 if the key has several. Loops ask for it once, and pass it to `key_by`."""
    return index.columns[0] if index.width == 1 else -1


@kernel
def key_by(index: Index, column: int, values: Int32s) -> int:
    """Return the key of a tuple in an index, given the `only_column` of the key."""
    return values[column] if column >= 0 else index_key(index, values)


@kernel
def is_left_out(index: Index, values: Int32s) -> int:
    """Return whether an index does without a tuple."""
    return 1 if index.apart > 0 and values[0] == values[index.apart] else 0


@kernel
def has_every_row(relation: Relation, index: Index) -> int:
    """Return whether an index certainly has every row of its section, so that loops need not ask `is_indexed` for each."""
    return 1 if relation.dead == 0 and index.apart <= 0 else 0


@kernel
def is_indexed(relation: Relation, index: Index, row: int) -> int:
    """Return whether a row of an index's section belongs to the index."""
    return 0 if relation.flags[row] & DEAD or is_left_out(index, relation.rows + row * relation.arity) else 1


@kernel
def prefetch_key(index: Index, values: Int32s) -> int:
    """Request the cache lines of a tuple's key in an index."""
    slot = mix(index_key(index, values)) & index.mask
    prefetch(index.keys, slot)
    prefetch(index.starts, slot)
    prefetch(index.lengths, slot)
    return 0


@kernel
def has_room(index: Index, key: int) -> int:
    """Return whether one more entry fits. Store the key's slot in the index, or the missing room if the entry does not fit."""
    slot = key_slot(index, key)
    index.slot = slot
    if index.used >= index.limit:
        return 0
    return has_room_at(index, slot)


@kernel
def append_entry(index: Index, key: int, row: int, value: int) -> int:
    """Add an entry at the slot stored by `has_room`."""
    slot = index.slot
    length = 0
    start = 0
    if index.keys[slot] == EMPTY:
        index.keys[slot] = key
        index.used = index.used + 1
    else:
        length = index.lengths[slot]
        start = index.starts[slot]
    start = lengthened(index, start, length)
    index.starts[slot] = start
    set_entry(index, entry_place(index, start, length), row, value)
    index.lengths[slot] = length + 1
    return 0


@kernel
def indexes_have_room(context: Context, section: int, values: Int32s) -> int:
    """Return whether every index of a section has room for one more tuple."""
    number = context.sections[section].first_index
    while number >= 0:
        index = context.indexes[number]
        if not is_left_out(index, values) and not has_room(index, index_key(index, values)):
            return 0
        number = index.next
    return 1


@kernel
def index_row(context: Context, section: int, row: int, values: Int32s) -> int:
    """Add a new row to every index of a section."""
    number = context.sections[section].first_index
    while number >= 0:
        index = context.indexes[number]
        column = index.value_column
        value = values[column] if column >= 0 else 0
        if not is_left_out(index, values):
            append_entry(index, index_key(index, values), row, value)
        number = index.next
    return 0


@entry
def rehash_index(index: Index, keys: Int64s, starts: Int32s, lengths: Int32s, mask: int) -> int:
    """Copy the vectors of an index to a new, empty key table."""
    for old in range(index.mask + 1):
        key = index.keys[old]
        if key != EMPTY:
            slot = mix(key) & mask
            while keys[slot] != EMPTY:
                slot = (slot + 1) & mask
            keys[slot] = key
            starts[slot] = index.starts[old]
            lengths[slot] = index.lengths[old]
    return 0


@entry
def index_rows(relation: Relation, index: Index, constant: int, first: int, end: int) -> int:
    """Add the live rows [first, end) of a relation to an index. Return the row that found no room, or `end`.

    `constant` is the constant of the index's section, -1 for all rows.
    """
    rows, arity, section, value_column = relation.rows, relation.arity, relation.section_column, index.value_column
    has_all, column = has_every_row(relation, index), only_column(index)
    is_large = index.mask >= CACHED
    last = EMPTY  # successive rows often have the same key, whose slot is still in the index
    for row in range(first, end):
        if is_large and row + RING < end:
            ahead = rows + (row + RING) * arity
            if constant < 0 or ahead[section] == constant:
                prefetch_key(index, ahead)
        values = rows + row * arity
        if (constant < 0 or values[section] == constant) and (has_all or is_indexed(relation, index, row)):
            key = key_by(index, column, values)
            if not (has_room_at(index, index.slot) if key == last else has_room(index, key)):
                return row
            last = key
            append_entry(index, key, row, values[value_column] if value_column >= 0 else 0)
    return end
