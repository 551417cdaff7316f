"""Tuples and keys that are looked up in several relations or indexes at once."""

from kg_reasoner.storage.kernels.decorators import brief_entry
from kg_reasoner.storage.kernels.index_entries import key_slot
from kg_reasoner.storage.kernels.layout import EMPTY, Context
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.relations import find
from kg_reasoner.storage.kernels.vectors import entry_place, row_at, value_at


@brief_entry
def find_each(context: Context, relations: Int32s, count: int, values: Int32s, mask: int, flags: int, out: Int32s) -> int:
    """Look up a tuple in several relations. Write the positions of those that contain it in a row with these flags under the
    mask.

    Returns how many they are.
    """
    found = 0
    for position in range(count):
        relation = context.relations[relations[position]]
        row = find(relation, values)
        if row >= 0 and (relation.flags[row] & mask) == flags:
            out[found] = position
            found = found + 1
    return found


@brief_entry
def probe_each(context: Context, indexes: Int32s, count: int, key: int, mask: int, flags: int, out: Int32s, capacity: int) -> int:
    """Look up a key in several indexes. Write (position of the index, row, value) of the entries whose rows have these flags.

    Returns how many entries there are, of which the first `capacity` are written, or ``-1 - position`` of an index yet to be built.
    """
    found = 0
    for position in range(count):
        index = context.indexes[indexes[position]]
        if not index.built:
            return -1 - position
        slot = key_slot(index, key)
        if index.keys[slot] != EMPTY:
            relation = context.relations[index.relation]
            for number in range(index.lengths[slot]):
                place = entry_place(index, index.starts[slot], number)
                row = row_at(index, place)
                if (relation.flags[row] & mask) == flags:
                    if found < capacity:
                        out[3 * found] = position
                        out[3 * found + 1] = row
                        out[3 * found + 2] = value_at(index, relation, place, row)
                    found = found + 1
    return found
