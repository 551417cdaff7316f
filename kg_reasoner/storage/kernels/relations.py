"""Lookup and insertion of tuples, and the flags of facts."""

from kg_reasoner.storage.kernels.decorators import brief_entry, entry, kernel, shared_kernel
from kg_reasoner.storage.kernels.index_entries import index_row, indexes_have_room
from kg_reasoner.storage.kernels.layout import (
    ABSENT,
    EMPTY,
    FULL,
    GONE,
    PRESENT,
    REBORN,
    RING,
    ROW,
    Context,
    Relation,
)
from kg_reasoner.storage.kernels.memory.structs import Int32s, Int64s
from kg_reasoner.storage.kernels.primitives import mix, pair, prefetch


@kernel
def relation_of(context: Context, fact: int) -> Relation:
    """Return the relation of a fact."""
    return context.relations[fact >> 32]


@kernel
def flags_of(context: Context, fact: int) -> int:
    """Return the flags of a fact."""
    return relation_of(context, fact).flags[fact & ROW]


@kernel
def set_flags(context: Context, fact: int, flags: int) -> int:
    """Set flags of a fact."""
    relation = relation_of(context, fact)
    row = fact & ROW
    relation.flags[row] = relation.flags[row] | flags
    return 0


@kernel
def clear_flags(context: Context, fact: int, flags: int) -> int:
    """Clear flags of a fact."""
    relation = relation_of(context, fact)
    row = fact & ROW
    relation.flags[row] = relation.flags[row] & ~flags
    return 0


@kernel
def values_of(relation: Relation, fact: int) -> Int32s:
    """Return the tuple of a fact."""
    return relation.rows + (fact & ROW) * relation.arity


@kernel
def fingerprint(values: Int32s, width: int) -> int:
    """Return a 62-bit hash of a tuple."""
    key = width
    for column in range(width):
        key = mix(key ^ (values[column] + (column << 40)))
    return key


@kernel
def tuple_key(values: Int32s, arity: int) -> int:
    """Return the key of a tuple, which is exact for up to two columns."""
    if arity == 2:
        return (values[0] << 32) | values[1]
    if arity == 1:
        return values[0]
    if arity == 0:
        return 0
    return fingerprint(values, arity)


@kernel
def key_of_columns(relation: Relation, values: Int32s, first: int, second: int) -> int:
    """Return the key of a relation's tuple of one or two terms, which are in some columns of a row of another relation."""
    return values[first] if relation.arity == 1 else (values[first] << 32) | values[second]


@kernel
def same_tuple(relation: Relation, row: int, values: Int32s) -> int:
    """Return whether a row has these values."""
    stored = relation.rows + row * relation.arity
    for column in range(relation.arity):
        if stored[column] != values[column]:
            return 0
    return 1


@kernel
def tag_of(hash: int, row_mask: int) -> int:
    """Return the bits of a tuple's hash that a slot has beside the number of the row."""
    return (hash >> 31) & ~row_mask


@kernel
def has_key(relation: Relation, row: int, key: int) -> int:
    """Return whether the tuple of a row, of at most two columns, has this key."""
    if relation.arity == 2:
        return 1 if pair(relation.rows, 2 * row) == key else 0
    return 1 if relation.arity == 0 or relation.rows[row] == key else 0


@kernel
def slot_among(relation: Relation, slots: Int32s, mask: int, row_mask: int, values: Int32s, key: int) -> int:
    """Return the slot of a tuple in a hash table of a relation's rows, or the empty slot for it."""
    hash = mix(key)
    tag = tag_of(hash, row_mask)
    slot = hash & mask
    while True:
        found = slots[slot]
        if found == EMPTY:
            return slot
        if (found & ~row_mask) == tag:
            row = found & row_mask
            if same_tuple(relation, row, values) if relation.arity > 2 else has_key(relation, row, key):
                return slot
        slot = (slot + 1) & mask


@kernel
def tuple_slot(relation: Relation, values: Int32s, key: int) -> int:
    """Return the slot of a tuple in the hash, or the empty slot for it."""
    return slot_among(relation, relation.slots, relation.mask, relation.row_mask, values, key)


@kernel
def set_slot(relation: Relation, slot: int, key: int, row: int) -> int:
    """Let a slot have the row of the tuple with this key."""
    relation.slots[slot] = tag_of(mix(key), relation.row_mask) | row
    return 0


@kernel
def find(relation: Relation, values: Int32s) -> int:
    """Return the newest row of a tuple, which may be dead, or -1."""
    found = relation.slots[tuple_slot(relation, values, tuple_key(values, relation.arity))]
    return -1 if found < 0 else found & relation.row_mask  # a head that another thread has listed is no row


@kernel
def section_of(relation: Relation, values: Int32s) -> int:
    """Return the section for a tuple's constant, or -1."""
    if relation.section_column < 0:
        return -1
    constant = values[relation.section_column]
    keys = relation.section_keys
    mask = relation.section_mask
    slot = mix(constant) & mask
    while keys[slot] != EMPTY:
        if keys[slot] == constant:
            return relation.section_ids[slot]
        slot = (slot + 1) & mask
    return -1


@kernel
def has_room_for(context: Context, relation: Relation, section: int, values: Int32s) -> int:
    """Return whether a relation and its indexes have room for one more tuple."""
    if relation.count >= relation.capacity or relation.used >= relation.limit:
        return 0
    if not indexes_have_room(context, relation.section, values):
        return 0
    return 1 if section < 0 else indexes_have_room(context, section, values)


@kernel
def note_rows(context: Context, number: int, row: int, count: int) -> int:
    """Note that a relation has got further rows, from a row on."""
    context.total = context.total + count
    if context.has_listed_grown and row == context.materialised[number]:
        context.grown[context.grown_count] = number
        context.grown_count = context.grown_count + 1
    if row == 0:
        context.fresh = context.fresh + 1
    return 0


@shared_kernel
def insert(context: Context, number: int, values: Int32s, key: int) -> int:
    """Append a new tuple: return its row, PRESENT, or FULL (only `wanted` has changed). `key` is the tuple's key.

    A tuple whose row is dead gets a new row: rows stay in derivation order.
    """
    relation = context.relations[number]
    slot = tuple_slot(relation, values, key)
    found = relation.slots[slot]
    known = found != EMPTY
    flags = 0
    if known:
        if relation.dead == 0:
            return PRESENT
        before = relation.flags[found & relation.row_mask]
        if not before & ABSENT:
            return PRESENT
        if before & GONE:
            flags = REBORN
            context.has_reborn = 1
    row = relation.count
    section = section_of(relation, values)
    if not has_room_for(context, relation, section, values):
        context.wanted = number
        return FULL
    arity = relation.arity
    stored = relation.rows + row * arity
    for column in range(arity):
        stored[column] = values[column]
    relation.flags[row] = flags
    set_slot(relation, slot, key, row)
    if not known:
        relation.used = relation.used + 1
    relation.count = row + 1
    note_rows(context, number, row, 1)
    index_row(context, relation.section, row, values)
    if section >= 0:
        index_row(context, section, row, values)
    return row


@kernel
def has_values(relation: Relation, values: Int32s, others: Int32s) -> int:
    """Return whether two tuples of a relation are the same."""
    for column in range(relation.arity):
        if values[column] != others[column]:
            return 0
    return 1


@kernel
def find_or_insert(context: Context, number: int, values: Int32s) -> int:
    """Return the live row of a tuple, appended if it is new; FULL without room."""
    relation = context.relations[number]
    row = insert(context, number, values, tuple_key(values, relation.arity))
    return find(relation, values) if row == PRESENT else row


@kernel
def growing_count(context: Context) -> int:
    """Return the number of relations that may have rows beyond the materialised ones; see `growing`."""
    return context.grown_count if context.has_listed_grown else context.relation_count


@kernel
def growing(context: Context, place: int) -> int:
    """Return one of the relations that may have rows beyond the materialised ones."""
    return context.grown[place] if context.has_listed_grown else place


@kernel
def list_grown(context: Context) -> int:
    """List the relations with rows beyond the materialised ones, all of which are to be processed; `insert` continues the list."""
    if not context.has_listed_grown:
        context.grown_count = 0
        for number in range(context.relation_count):
            context.processed[number] = context.materialised[number]
            if context.relations[number].count > context.materialised[number]:
                context.grown[context.grown_count] = number
                context.grown_count = context.grown_count + 1
        context.has_listed_grown = 1
    return 0


@kernel
def count_dead(context: Context, relation: Relation) -> int:
    """Count one more dead or deleted row of a relation, which may make it due for compaction."""
    relation.dead = relation.dead + 1
    if relation.dead >= context.compact_from and 2 * relation.dead > relation.count:
        context.crowded = 1
    return 0


@kernel
def is_present(relation: Relation, key: int) -> int:
    """Return whether a tuple of at most two columns certainly holds: its key is exact, and no row is dead."""
    return 0 if relation.arity > 2 or relation.dead > 0 else has_row(relation, key)


@kernel
def row_with_key(relation: Relation, key: int) -> int:
    """Return the newest row with a key in a relation of at most two columns, which may be dead, or -1."""
    slots = relation.slots
    mask = relation.mask
    row_mask = relation.row_mask
    hash = mix(key)
    tag = tag_of(hash, row_mask)
    slot = hash & mask
    while True:
        found = slots[slot]
        if found == EMPTY:
            return -1
        if (found & ~row_mask) == tag and has_key(relation, found & row_mask, key):
            return found & row_mask
        slot = (slot + 1) & mask


@kernel
def has_row(relation: Relation, key: int) -> int:
    """Return whether a relation of at most two columns has a row, dead or not, with a key."""
    return 1 if row_with_key(relation, key) >= 0 else 0


@brief_entry
def find_row(context: Context, number: int, values: Int32s) -> int:
    """Return the live row of a tuple, or -1."""
    relation = context.relations[number]
    row = find(relation, values)
    if row >= 0 and relation.flags[row] & ABSENT:
        return -1
    return row


@entry
def keep_rows(relation: Relation, wanted: int, ranked: int) -> int:
    """Keep the live rows in their order, and add them to the relation's new, empty hash table. Return the number of removed
    rows.

    With `wanted`, only those are kept that have one of these flags, and only these flags.
    """
    arity, count, alive = relation.arity, relation.count, 0
    rows, flags = relation.rows, relation.flags
    for row in range(count):
        flag = flags[row]
        if flag & ABSENT or (wanted and not flag & wanted):
            continue
        values = rows + alive * arity
        for column in range(arity):
            values[column] = rows[row * arity + column]
        flags[alive] = flag & wanted if wanted else flag
        if ranked:
            relation.ranks[alive] = relation.ranks[row]
            relation.tallies[alive] = relation.tallies[row]
        key = tuple_key(values, arity)
        set_slot(relation, tuple_slot(relation, values, key), key, alive)
        alive += 1
    relation.count = relation.used = alive
    relation.dead = 0
    return count - alive


@entry
def rehash_tuples(relation: Relation, slots: Int32s, mask: int, row_mask: int, hashes: Int64s) -> int:
    """Add the rows of a relation to a new, empty hash table. `hashes` has room for `RING` hashes."""
    first = 0
    while first < relation.count:
        end = first + RING if first + RING < relation.count else relation.count
        for row in range(first, end):
            hash = mix(tuple_key(relation.rows + row * relation.arity, relation.arity))
            hashes[row - first] = hash
            prefetch(slots, hash & mask)
        for row in range(first, end):
            hash = hashes[row - first]
            slot = hash & mask
            if relation.dead > 0:
                values = relation.rows + row * relation.arity
                slot = slot_among(relation, slots, mask, row_mask, values, tuple_key(values, relation.arity))
            while relation.dead == 0 and slots[slot] != EMPTY:
                slot = (slot + 1) & mask
            slots[slot] = tag_of(hash, row_mask) | row
        first = end
    return 0


@kernel
def is_nearly_full(context: Context, relation: Relation) -> int:
    """Return whether a relation, or an index of all its rows, has less than a sixteenth of its room left."""
    if 16 * relation.count > 15 * relation.capacity or 16 * relation.used > 15 * relation.limit:
        return 1
    number = context.sections[relation.section].first_index
    while number >= 0:
        index = context.indexes[number]
        if 16 * index.used > 15 * index.limit or 16 * index.top > 15 * index.capacity:
            return 1
        number = index.next
    return 0
