"""The vectors of indexes: the entries of one key each, in the order of their rows.

A vector of up to a page of entries is a part of the index's arena. Its size is a power of two, and it moves when it is full. A
longer one consists of pages, whose places are listed in a directory, a vector itself: so it grows without being copied, and no more
than a page of it is unused.
"""

from kg_reasoner.storage.kernels.decorators import kernel
from kg_reasoner.storage.kernels.layout import EMPTY, MOST, Index, Relation
from kg_reasoner.storage.kernels.primitives import prefetch


@kernel
def item_at(index: Index, place: int) -> int:
    """Return the item at a place of the arena."""
    return index.arena[place] if index.has_values else index.row_arena[place]


@kernel
def set_item(index: Index, place: int, item: int) -> int:
    """Set the item at a place of the arena."""
    if index.has_values:
        index.arena[place] = item
    else:
        index.row_arena[place] = item
    return 0


@kernel
def entry_place(index: Index, start: int, position: int) -> int:
    """Return the place of an entry of the vector that begins at `start` (see `Index.starts`)."""
    if start >= 0:
        return start + position
    bits = index.page_bits
    return item_at(index, ~start + (position >> bits)) + (position & ((1 << bits) - 1))


@kernel
def page_end(index: Index, start: int, position: int, length: int) -> int:
    """Return the end of the entries, from a position on, that are at successive places."""
    if start >= 0:
        return length
    end = (position | ((1 << index.page_bits) - 1)) + 1
    return end if end < length else length


@kernel
def row_at(index: Index, place: int) -> int:
    """Return the row of the entry at a place."""
    return index.arena[place] >> 32 if index.has_values else index.row_arena[place]


@kernel
def value_at(index: Index, relation: Relation, place: int, row: int) -> int:
    """Return the value of the entry at a place, which is for a row of this relation; 0 without a value column."""
    if index.has_values:
        return index.arena[place] & 0x7FFFFFFF
    column = index.value_column
    return relation.rows[row * relation.arity + column] if column >= 0 else 0


@kernel
def set_entry(index: Index, place: int, row: int, value: int) -> int:
    """Set the entry at a place."""
    if index.has_values:
        index.arena[place] = (row << 32) | value
    else:
        index.row_arena[place] = row
    return 0


@kernel
def prefetch_vector(index: Index, start: int) -> int:
    """Request the first entries of a vector, or its directory."""
    place = start if start >= 0 else ~start
    if index.has_values:
        prefetch(index.arena, place)
    else:
        prefetch(index.row_arena, place)
    return 0


@kernel
def vector_size(length: int) -> int:
    """Return the size of a vector with this number of items: a power of two."""
    size = 1
    while size < length:
        size = size * 2
    return size


@kernel
def directory_size(index: Index, length: int) -> int:
    """Return the size of the directory of a vector with this number of entries; 0 if one page is enough."""
    pages = (length + (1 << index.page_bits) - 1) >> index.page_bits
    return vector_size(pages) if pages > 1 else 0


@kernel
def vector_room(index: Index, length: int) -> int:
    """Return the room for a vector with this number of entries, with its directory."""
    directory = directory_size(index, length)
    if directory == 0:
        return vector_size(length)
    return directory + (((length - 1) >> index.page_bits) + 1 << index.page_bits)


@kernel
def lay_out(index: Index, place: int, length: int) -> int:
    """Return where the vector with this number of entries begins that has the room from a place on. Its pages are listed."""
    directory = directory_size(index, length)
    if directory == 0:
        return place
    for page in range(((length - 1) >> index.page_bits) + 1):
        set_item(index, place + page, place + directory + (page << index.page_bits))
    return ~place


@kernel
def has_room_at(index: Index, slot: int) -> int:
    """Return whether one more entry fits into the vector of a slot. If not, store in the index how much room is missing."""
    length = 0
    if index.keys[slot] != EMPTY:
        length = index.lengths[slot]
    page = 1 << index.page_bits
    need = 2 * length + 1 if length < page else page + 2 * (length >> index.page_bits)
    room = index.top + need
    if room > index.capacity or room > MOST:
        index.need = need
        return 0
    return 1


@kernel
def take(index: Index, size_class: int) -> int:
    """Return the place of an unused part of the arena, of 2**size_class items."""
    place = index.free[size_class]
    if place >= 0:
        index.free[size_class] = item_at(index, place)
        return place
    place = index.top
    index.top = place + (1 << size_class)
    return place


@kernel
def doubled(index: Index, start: int, length: int) -> int:
    """Move a full vector, whose size is its length, to a part of the arena of twice the size. Return its place."""
    size_class = 0
    while (1 << size_class) < length:
        size_class = size_class + 1
    place = take(index, size_class + 1)
    for position in range(length):
        set_item(index, place + position, item_at(index, start + position))
    set_item(index, start, index.free[size_class])
    index.free[size_class] = start
    return place


@kernel
def add_page(index: Index, start: int, pages: int) -> int:
    """Add a page to a vector of this number of full pages. Return where it begins."""
    page = take(index, index.page_bits)
    if pages == 1:
        directory = take(index, 1)
        set_item(index, directory, start)
    else:
        directory = ~start
        if pages & (pages - 1) == 0:
            directory = doubled(index, directory, pages)
    set_item(index, directory + pages, page)
    return ~directory


@kernel
def lengthened(index: Index, start: int, length: int) -> int:
    """Make room for one more entry at the end of a vector, and return where it begins."""
    if length == 0:
        return take(index, 0)
    if length < 1 << index.page_bits:
        return doubled(index, start, length) if length & (length - 1) == 0 else start
    if length & ((1 << index.page_bits) - 1) == 0:
        return add_page(index, start, length >> index.page_bits)
    return start
