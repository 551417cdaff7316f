"""Lists in the texts of terms: their sizes and members; strings split into lists, lists of terms, and entries of maps.

A member is its length in characters, a colon, a letter for its kind and its value, see `kg_reasoner.expressions.structures`. Terms
in other forms (with escapes, nested structures, other datatypes) are left to the caller.
"""

from kg_reasoner.storage.kernels.ascii_bytes import (
    BACKSLASH,
    COLON,
    GREATER,
    LESS_THAN,
    LOWER_B,
    LOWER_I,
    LOWER_N,
    LOWER_S,
    NEWLINE,
    NINE,
    QUOTE,
    RETURN,
    UNDERSCORE,
    ZERO,
)
from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.interning import same_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.literal_values import write_digits
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Int64s

CONTINUED, CONTINUATION = 192, 128
"""The bits that tell the further bytes of a character, and their value."""

MOST_DIGITS = 9
UNDECIDED = -1
"""In place of a number, place or term: the caller decides."""

PER_BYTE = 8
"""The maximal number of bytes of a list for each byte of its string: a separator of one byte becomes the beginning of a member."""

PER_MEMBER = 16
"""The maximal number of bytes by which a member is longer than its term."""


@kernel
def characters_end(texts: Bytes, start: int, end: int, count: int) -> int:
    """Return the place after some characters, or -1 if there are fewer before the end."""
    place = start
    for _ in range(count):
        if place >= end:
            return UNDECIDED
        place = place + 1
        while place < end and texts[place] & CONTINUED == CONTINUATION:
            place = place + 1
    return place


@kernel
def member_start(texts: Bytes, start: int, end: int) -> int:
    """Return the place of the letter of a member whose length begins at `start`, or -1."""
    place = start
    while place < end and texts[place] >= ZERO and texts[place] <= NINE:
        place = place + 1
    if place == start or place >= end or place - start > MOST_DIGITS or texts[place] != COLON or texts[start] == ZERO:
        return UNDECIDED
    return place + 1


@kernel
def member_end(texts: Bytes, start: int, letter: int, end: int) -> int:
    """Return where a member ends, or -1: it is too short, or a structure or another literal."""
    length = 0
    for place in range(start, letter - 1):
        length = 10 * length + texts[place] - ZERO
    kind = texts[letter]
    if kind != LOWER_S and kind != LOWER_N and kind != LOWER_I and kind != LOWER_B:
        return UNDECIDED
    return characters_end(texts, letter, end, length)


@kernel
def is_before(texts: Bytes, start: int, middle: int, other: int, end: int) -> int:
    """Return whether the bytes of [start, middle) come before those of [other, end)."""
    place = 0
    while start + place < middle and other + place < end:
        if texts[start + place] != texts[other + place]:
            return 1 if texts[start + place] < texts[other + place] else 0
        place = place + 1
    return 1 if start + place == middle and other + place < end else 0


@kernel
def ending_of(texts: Bytes, quote: int, end: int, ends: Bytes, bounds: Int64s, count: int) -> int:
    """Return the number of the ending of a text among some, or -1."""
    for kind in range(count):
        length = bounds[kind + 1] - bounds[kind]
        if end - quote == length and same_bytes(texts, quote, ends, bounds[kind], length):
            return kind
    return UNDECIDED


@kernel
def plain_value_end(texts: Bytes, start: int, end: int) -> int:
    """Return the place of the quotation mark after the value of a literal without escapes, or -1."""
    if texts[start] != QUOTE:
        return UNDECIDED
    for place in range(start + 1, end):
        if texts[place] == BACKSLASH:
            return UNDECIDED
        if texts[place] == QUOTE:
            return place
    return UNDECIDED


@entry
def count_members(
    terms: Terms, ids: Int32s, count: int, ends: Bytes, bounds: Int64s, kinds: int, ordered: int, sizes: Int64s
) -> int:
    """Write the number of members of each term, or -1 for those that are left to the caller; return the length of all their texts.

    Collections are the literals that end with one of `kinds` texts; the members of the kind `ordered` are in order.
    """
    texts = terms.texts
    total = 0
    for number in range(count):
        start = terms.offsets[ids[number]]
        end = terms.offsets[ids[number] + 1]
        quote = plain_value_end(texts, start, end)
        kind = UNDECIDED
        if quote >= 0:
            kind = ending_of(texts, quote, end, ends, bounds, kinds)
        size = 0 if kind >= 0 else UNDECIDED
        place = start + 1
        before = -1
        before_end = -1
        while size >= 0 and place < quote:
            letter = member_start(texts, place, quote)
            after = UNDECIDED
            if letter >= 0:
                after = member_end(texts, place, letter, quote)
            if after < 0 or (kind == ordered and before >= 0 and not is_before(texts, before, before_end, letter, after)):
                size = UNDECIDED
            else:
                before = letter
                before_end = after
                place = after
                size = size + 1
        sizes[number] = size
        if size > 0:
            total = total + quote - start
    return total


@kernel
def put_bytes(out: Bytes, place: int, texts: Bytes, start: int, end: int) -> int:
    """Copy bytes; return the place after them."""
    for each in range(start, end):
        out[place + each - start] = texts[each]
    return place + end - start


@entry
def copy_members(
    terms: Terms, ids: Int32s, count: int, sizes: Int64s, only: int, integer: Bytes, length: int, out: Bytes, bounds: Int64s
) -> int:
    """Write the texts of the members of terms whose sizes are known, and where each ends; return their number.

    With `only` of 0 or more, the member at this place is written, where there is one. `integer` has the end of integers, of
    `length` bytes. The first of the bounds is 0.
    """
    texts = terms.texts
    written = 0
    at = 0
    for number in range(count):
        place = terms.offsets[ids[number]] + 1
        end = terms.offsets[ids[number] + 1]
        for each in range(sizes[number]):
            letter = member_start(texts, place, end)
            after = member_end(texts, place, letter, end)
            place = after
            if only >= 0 and each != only:
                continue
            kind = texts[letter]
            if kind == LOWER_B:
                out[at] = UNDERSCORE
                out[at + 1] = COLON
                at = put_bytes(out, at + 2, texts, letter + 1, after)
            else:
                out[at] = LESS_THAN if kind == LOWER_I else QUOTE
                at = put_bytes(out, at + 1, texts, letter + 1, after)
                if kind == LOWER_N:
                    at = put_bytes(out, at, integer, 0, length)
                else:
                    out[at] = GREATER if kind == LOWER_I else QUOTE
                    at = at + 1
            written = written + 1
            bounds[written] = at
    return written


@kernel
def put_member(out: Bytes, place: int, texts: Bytes, start: int, end: int, letter: int) -> int:
    """Write a value as the member of a list; return the place after it."""
    length = 1
    for each in range(start, end):
        if texts[each] & CONTINUED != CONTINUATION:
            length = length + 1
    place = write_digits(length, out, place)
    out[place] = COLON
    out[place + 1] = letter
    return put_bytes(out, place + 2, texts, start, end)


@entry
def split_values(
    terms: Terms, ids: Int32s, count: int, separator: Bytes, length: int, ending: Bytes, width: int, out: Bytes, bounds: Int64s
) -> int:
    """Write the lists of the parts of strings, and where each text ends; a list that is left to the caller has an empty text.

    Without a separator, the parts are the characters. `ending` has the end of lists, of `width` bytes. There is room for it, and
    for `PER_BYTE` bytes for each byte of the strings. The first of the bounds is 0.
    """
    texts = terms.texts
    at = 0
    for number in range(count):
        start = terms.offsets[ids[number]]
        end = terms.offsets[ids[number] + 1]
        quote = plain_value_end(texts, start, end)
        if quote == end - 1:
            out[at] = QUOTE
            at = at + 1
            part = start + 1
            place = part
            while length == 0 and part < quote:
                place = characters_end(texts, part, quote, 1)
                at = put_member(out, at, texts, part, place, LOWER_S)
                part = place
            while length > 0 and place + length <= quote:
                if same_bytes(texts, place, separator, 0, length):
                    at = put_member(out, at, texts, part, place, LOWER_S)
                    part = place + length
                    place = part
                else:
                    place = place + 1
            if length > 0:
                at = put_member(out, at, texts, part, quote, LOWER_S)
            at = put_bytes(out, at, ending, 0, width)
        bounds[number + 1] = at
    return count


@kernel
def has_special(texts: Bytes, start: int, end: int) -> int:
    """Return whether a value has characters that are escaped in literals."""
    for place in range(start, end):
        byte = texts[place]
        if byte == BACKSLASH or byte == QUOTE or byte == NEWLINE or byte == RETURN:
            return 1
    return 0


@kernel
def put_term(out: Bytes, place: int, texts: Bytes, start: int, end: int, integer: Bytes, length: int) -> int:
    """Write a term as the member of a list; return the place after it, or -1: it has escapes, or is another literal."""
    first = texts[start]
    letter = LOWER_S
    start = start + 1
    if first == UNDERSCORE:
        letter = LOWER_B
        start = start + 1
    elif first == LESS_THAN:
        letter = LOWER_I
        end = end - 1
    elif texts[end - 1] == QUOTE:
        end = end - 1
    elif end - start > length and same_bytes(texts, end - length, integer, 0, length):
        letter = LOWER_N
        end = end - length
    else:
        return UNDECIDED
    if has_special(texts, start, end):
        return UNDECIDED
    return put_member(out, place, texts, start, end, letter)


@entry
def write_lists(
    terms: Terms,
    ids: Int32s,
    starts: Int64s,
    groups: int,
    integer: Bytes,
    length: int,
    ending: Bytes,
    width: int,
    out: Bytes,
    bounds: Int64s,
) -> int:
    """Write the list of the terms of each group, and where its text ends; a list that is left to the caller has an empty text.

    A group begins where `starts` says, and ends where the next one begins; `starts` has the end of the last one, too. `integer`
    has the end of integers, of `length` bytes, and `ending` that of lists, of `width` bytes. There is room for it, and for
    each term's text and `PER_MEMBER` further bytes. The first of the bounds is 0.
    """
    offsets = terms.offsets
    for group in range(groups):
        begin = bounds[group]
        out[begin] = QUOTE
        at = begin + 1
        for place in range(starts[group], starts[group + 1]):
            if at >= 0:
                at = put_term(out, at, terms.texts, offsets[ids[place]], offsets[ids[place] + 1], integer, length)
        bounds[group + 1] = put_bytes(out, at, ending, 0, width) if at >= 0 else begin
    return groups


@kernel
def entry_end(texts: Bytes, start: int, end: int) -> int:
    """Return the place after two members, the key and the value of a map's entry, or -1."""
    letter = member_start(texts, start, end)
    if letter < 0:
        return UNDECIDED
    middle = member_end(texts, start, letter, end)
    if middle < 0:
        return UNDECIDED
    letter = member_start(texts, middle, end)
    if letter < 0:
        return UNDECIDED
    return member_end(texts, middle, letter, end)


@kernel
def count_entries_of(texts: Bytes, place: int, quote: int) -> int:
    """Return the number of entries of a map, or -1: it has unusual members, or its keys are not in order."""
    size = 0
    before = -1
    before_end = -1
    while place < quote:
        after = entry_end(texts, place, quote)
        if after < 0:
            return UNDECIDED
        letter = member_start(texts, place, quote)
        key_end = member_end(texts, place, letter, quote)
        if before >= 0 and not is_before(texts, before, before_end, letter, key_end):
            return UNDECIDED
        before = letter
        before_end = key_end
        place = after
        size = size + 1
    return size


@entry
def count_entries(terms: Terms, ids: Int32s, count: int, ending: Bytes, width: int, sizes: Int64s) -> int:
    """Write the number of entries of maps, or -1 for those that are left to the caller; return the length of all their texts.

    Maps are the literals that end with `ending`, of `width` bytes.
    """
    texts = terms.texts
    total = 0
    for number in range(count):
        start = terms.offsets[ids[number]]
        end = terms.offsets[ids[number] + 1]
        quote = plain_value_end(texts, start, end)
        sizes[number] = UNDECIDED
        if quote >= 0 and end - quote == width and same_bytes(texts, quote, ending, 0, width):
            sizes[number] = count_entries_of(texts, start + 1, quote)
        if sizes[number] > 0:
            total = total + quote - start
    return total


@entry
def copy_entries(
    terms: Terms, ids: Int32s, count: int, sizes: Int64s, ending: Bytes, width: int, out: Bytes, bounds: Int64s
) -> int:
    """Write the entries of maps whose sizes are known as tuples, and where each ends; return their number.

    `ending` has the end of tuples, of `width` bytes. The first of the bounds is 0.
    """
    texts = terms.texts
    written = 0
    at = 0
    for number in range(count):
        place = terms.offsets[ids[number]] + 1
        end = terms.offsets[ids[number] + 1]
        for _ in range(sizes[number]):
            after = entry_end(texts, place, end)
            out[at] = QUOTE
            at = put_bytes(out, at + 1, texts, place, after)
            at = put_bytes(out, at, ending, 0, width)
            place = after
            written = written + 1
            bounds[written] = at
    return written
