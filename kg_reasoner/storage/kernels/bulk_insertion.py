"""Large indexes, built by several threads, each of which adds the keys in its own part of the table.

The number of keys of an index is estimated first. Then the rows of each key are counted, so that vectors are made in their final
sizes, and then the entries are added. Every thread looks at all rows, and collects its own without branches, as no processor can
predict these. A key whose search leaves its part is placed when all threads have counted.
"""

from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.index_entries import has_every_row, index_key, is_indexed, key_by, key_slot, only_column
from kg_reasoner.storage.kernels.layout import DONE, EMPTY, FULL, RING, ROW, Index, Relation
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int64s
from kg_reasoner.storage.kernels.primitives import mix, prefetch
from kg_reasoner.storage.kernels.thread_results import MOST_SPILLED, ROWS, SIZE, SPILLED, SPILLS, USED
from kg_reasoner.storage.kernels.vectors import entry_place, lay_out, set_entry, vector_room


@entry
def mark_keys(relation: Relation, index: Index, constant: int, first: int, end: int, marks: Bytes, mask: int) -> int:
    """Mark the keys of the rows [first, end) by their hashes. Return 0."""
    rows, arity, section = relation.rows, relation.arity, relation.section_column
    has_all, column = has_every_row(relation, index), only_column(index)
    for row in range(first, end):
        values = rows + row * arity
        if (constant < 0 or values[section] == constant) and (has_all or is_indexed(relation, index, row)):
            marks[mix(key_by(index, column, values)) & mask] = 1
    return 0


@kernel
def is_inside(low: int, high: int, slot: int) -> int:
    """Return whether low <= slot < high, without a branch."""
    return 1 + (((slot - low) | (high - 1 - slot)) >> 63)


@kernel
def growth(index: Index, length: int) -> int:
    """Return by how much a vector with this number of entries grows with one more."""
    if length & (length - 1) and length & ((1 << index.page_bits) - 1):
        return 0
    return vector_room(index, length + 1) - (vector_room(index, length) if length else 0)


@kernel
def count_spilled(index: Index, report: Int64s, key: int) -> int:
    """Count a row of a key that found no slot in its part. Return by how much its vector grows, or FULL."""
    place = 0
    while place < report[SPILLED] and report[SPILLS + 2 * place] != key:
        place = place + 1
    if place == MOST_SPILLED:
        return FULL
    if place == report[SPILLED]:
        report[SPILLED] = place + 1
        report[SPILLS + 2 * place] = key
        report[SPILLS + 2 * place + 1] = 0
    length = report[SPILLS + 2 * place + 1]
    report[SPILLS + 2 * place + 1] = length + 1
    return growth(index, length)


@kernel
def gather(relation: Relation, index: Index, constant: int, row: int, low: int, high: int, waiting: Int64s) -> int:
    """Collect rows, from a given row on, whose keys belong to the slots [low, high), and request their cache lines.

    Each entry has the key and the row; -1 in place of a row ends the list. Return the row after the last one.
    """
    found = 0
    mask, rows, arity, section = index.mask, relation.rows, relation.arity, relation.section_column
    has_all, column = has_every_row(relation, index), only_column(index)
    while row < relation.count and found < RING:
        values = rows + row * arity
        if (constant < 0 or values[section] == constant) and (has_all or is_indexed(relation, index, row)):
            key = key_by(index, column, values)
            waiting[2 * found] = key
            waiting[2 * found + 1] = row
            found = found + is_inside(low, high, mix(key) & mask)
        row = row + 1
    for place in range(found):
        home = mix(waiting[2 * place]) & mask
        prefetch(index.keys, home)
        prefetch(index.lengths, home)
    waiting[2 * found + 1] = -1
    return row


@kernel
def slot_before(keys: Int64s, slot: int, high: int, key: int) -> int:
    """Return the first slot from one on that has a key or is empty; `high` if none before it does."""
    while slot < high and keys[slot] != key and keys[slot] != EMPTY:
        slot = slot + 1
    return slot


@entry
def count_keys(
    relation: Relation,
    index: Index,
    constant: int,
    part: int,
    parts: int,
    waiting: Int64s,
    report: Int64s,
    found: Int64s,
    room: int,
) -> int:
    """Make a part of an index's hash table, with the keys that belong there and their negated numbers of rows. Return DONE or FULL.

    `found` has room for `room` entries. It gets the row and the slot of each; ROW in place of the slot if that is not known yet.
    """
    keys, lengths = index.keys, index.lengths
    low = part * (index.mask + 1) // parts
    high = (part + 1) * (index.mask + 1) // parts
    for slot in range(low, high):
        keys[slot] = EMPTY
    most = (high - low) * 7 // 8
    report[SPILLED] = 0
    row, used, size, count = 0, 0, 0, 0
    while row < relation.count:
        row = gather(relation, index, constant, row, low, high, waiting)
        if count + RING > room:
            return FULL
        place = 0
        while waiting[2 * place + 1] >= 0:
            key = waiting[2 * place]
            slot = slot_before(keys, mix(key) & index.mask, high, key)
            if slot == high:
                more = count_spilled(index, report, key)
                if more == FULL:
                    return FULL
                size = size + more
                slot = ROW
            elif keys[slot] == EMPTY:
                if used >= most:
                    return FULL
                keys[slot] = key
                lengths[slot] = -1
                used = used + 1
                size = size + 1
            else:
                size = size + growth(index, -lengths[slot])
                lengths[slot] = lengths[slot] - 1
            found[count] = (waiting[2 * place + 1] << 32) | slot
            count = count + 1
            place = place + 1
    report[USED] = used
    report[SIZE] = size
    report[ROWS] = count
    return DONE


@entry
def place_spilled(index: Index, report: Int64s) -> int:
    """Add the keys that found no slot in their part. Return 0."""
    for place in range(report[SPILLED]):
        key = report[SPILLS + 2 * place]
        slot = key_slot(index, key)
        index.keys[slot] = key
        index.lengths[slot] = -report[SPILLS + 2 * place + 1]
    return 0


@entry
def fill_vectors(relation: Relation, index: Index, found: Int64s, count: int, top: int) -> int:
    """Add the entries that a part has found; their vectors begin at `top`. Return their end.

    Vectors are made in the order of their first rows, so that rows that lie together have their entries together, too.
    """
    starts, lengths = index.starts, index.lengths
    column = index.value_column
    for place in range(count):
        if place + RING < count:
            prefetch(starts, found[place + RING] & ROW)
            prefetch(lengths, found[place + RING] & ROW)
        row = found[place] >> 32
        slot = found[place] & ROW
        values = relation.rows + row * relation.arity
        if slot == ROW:
            slot = key_slot(index, index_key(index, values))
        length = lengths[slot]
        if length < 0:
            starts[slot] = lay_out(index, top, -length)
            top = top + vector_room(index, -length)
            length = 0
        value = values[column] if column >= 0 else 0
        set_entry(index, entry_place(index, starts[slot], length), row, value)
        lengths[slot] = length + 1
    return top
