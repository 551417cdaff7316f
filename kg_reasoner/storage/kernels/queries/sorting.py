"""Sorts terms by their values: the text inside quotation marks or angle brackets, and the labels of blank nodes.

Values are compared seven bytes at a time, which as a number are the key of a term: in UTF-8, bytes have the order of characters.
Terms with the same key are sorted by the next seven bytes (multikey quicksort; Bentley and Sedgewick, 1997).
"""

from kg_reasoner.storage.kernels.ascii_bytes import BACKSLASH, LESS_THAN, QUOTE
from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Int64s

KEY_BYTES = 7
"""The bytes of a key, which is not negative."""

UNKNOWN = -1
"""Returned where bytes do not tell the order: a value has an escape or a zero."""

SEGMENT = 3
"""The words for a segment of the order that is to be sorted: its first place, the one after its last, and how many bytes its values
have in common; -1 - n where the keys from byte n on have been read.
"""


@kernel
def key_of(terms: Terms, number: int, depth: int) -> int:
    """Return the key of a term from a byte of its value on; zeros follow the end."""
    start = terms.offsets[number]
    end = terms.offsets[number + 1]
    first = terms.texts[start]
    if first == QUOTE or first == LESS_THAN:
        start = start + 1
        end = end - 1
    start = start + depth
    key = 0
    for place in range(KEY_BYTES):
        byte = 0
        if start + place < end:
            byte = terms.texts[start + place]
            if byte == BACKSLASH or byte == 0:
                return UNKNOWN
        key = (key << 8) | byte
    return key


@kernel
def read_keys(terms: Terms, ids: Int32s, order: Int32s, keys: Int64s, low: int, high: int, depth: int) -> int:
    """Read the keys of a segment; return 0 or `UNKNOWN`."""
    for place in range(low, high):
        key = key_of(terms, ids[order[place]], depth)
        if key == UNKNOWN:
            return UNKNOWN
        keys[place] = key
    return 0


@kernel
def exchange(order: Int32s, keys: Int64s, one: int, other: int) -> int:
    """Exchange two terms."""
    number = order[one]
    order[one] = order[other]
    order[other] = number
    key = keys[one]
    keys[one] = keys[other]
    keys[other] = key
    return 0


@kernel
def middle_of(keys: Int64s, low: int, high: int) -> int:
    """Return the middle one of three keys of a segment."""
    first = keys[low]
    second = keys[(low + high) >> 1]
    third = keys[high - 1]
    if first > second:
        swapped = first
        first = second
        second = swapped
    if third < first:
        return first
    return third if third < second else second


@kernel
def push_segment(stack: Int64s, top: int, low: int, high: int, depth: int) -> int:
    """Push a segment of at least two terms; return how many there are."""
    if high - low < 2:
        return top
    stack[SEGMENT * top] = low
    stack[SEGMENT * top + 1] = high
    stack[SEGMENT * top + 2] = depth
    return top + 1


@kernel
def push_by_size(stack: Int64s, top: int, low: int, less: int, more: int, high: int, depth: int) -> int:
    """Push the terms with smaller and those with larger keys, the smaller segment last: so that the stack remains small."""
    if less - low > high - more:
        top = push_segment(stack, top, low, less, -1 - depth)
        return push_segment(stack, top, more, high, -1 - depth)
    top = push_segment(stack, top, more, high, -1 - depth)
    return push_segment(stack, top, low, less, -1 - depth)


@entry
def sort_values(
    terms: Terms,
    ids: Int32s,
    order: Int32s,
    keys: Int64s,
    same: Bytes,
    stack: Int64s,
    top: int,
    capacity: int,
    patience: int,
) -> int:
    """Sort the rows in `order` by the values of their ids, within the segments of a stack; return how many segments are left.

    `same` receives 1 for a place whose value is that of the place before. After looking at `patience` terms it returns, to be
    called again with the number of segments. It returns `UNKNOWN` if bytes do not tell the order, or more segments are left than
    fit.
    """
    while top > 0 and patience > 0:
        if top + SEGMENT > capacity:
            return UNKNOWN
        top = top - 1
        low = stack[SEGMENT * top]
        high = stack[SEGMENT * top + 1]
        depth = stack[SEGMENT * top + 2]
        patience = patience - (high - low)
        if depth >= 0:
            if read_keys(terms, ids, order, keys, low, high, depth) == UNKNOWN:
                return UNKNOWN
        else:
            depth = -1 - depth
        pivot = middle_of(keys, low, high)
        less = low
        more = high
        place = low
        while place < more:
            if keys[place] < pivot:
                exchange(order, keys, place, less)
                less = less + 1
                place = place + 1
            elif keys[place] > pivot:
                more = more - 1
                exchange(order, keys, place, more)
            else:
                place = place + 1
        if pivot & 255 == 0:  # the values end here
            for place in range(less + 1, more):
                same[place] = 1
            top = push_by_size(stack, top, low, less, more, high, depth)
        else:
            top = push_by_size(stack, top, low, less, more, high, depth)
            top = push_segment(stack, top, less, more, depth + KEY_BYTES)
    return top
