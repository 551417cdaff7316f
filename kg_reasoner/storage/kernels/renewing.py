"""The successors of large relations, filled in slices (see `kg_reasoner.storage.relations.renewal`)."""

from kg_reasoner.storage.kernels.decorators import entry
from kg_reasoner.storage.kernels.layout import ABSENT, EMPTY, Relation
from kg_reasoner.storage.kernels.memory.structs import Int32s
from kg_reasoner.storage.kernels.relations import set_slot, tuple_key, tuple_slot


@entry
def renew_rows(relation: Relation, target: Relation, sources: Int32s, first: int, last: int) -> int:
    """Append the live rows [first, last) of a relation to its successor. Return the row that found no room, or `last`.

    `sources` gets the former number of each row. A tuple that was deleted and came back since it was copied gets a second row.
    """
    arity = relation.arity
    for row in range(first, last):
        if relation.flags[row] & ABSENT:
            continue
        if target.count >= target.capacity or target.used >= target.limit:
            return row
        values = relation.rows + row * arity
        key = tuple_key(values, arity)
        slot = tuple_slot(target, values, key)
        if target.slots[slot] == EMPTY:
            target.used = target.used + 1
        stored = target.rows + target.count * arity
        for column in range(arity):
            stored[column] = values[column]
        target.flags[target.count] = 0
        set_slot(target, slot, key, target.count)
        sources[target.count] = row
        target.count = target.count + 1
    return last
