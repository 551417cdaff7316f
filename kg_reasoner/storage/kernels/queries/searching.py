"""Searches in the texts of terms: whether their values contain a text, begin or end with it."""

from kg_reasoner.storage.kernels.ascii_bytes import AT, BACKSLASH, LESS_THAN, NEWLINE, QUOTE
from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s
from kg_reasoner.storage.kernels.primitives import prefetch

ANYWHERE, AT_START, AT_END, IN_STEPS = 0, 1, 2, 3
"""Where the text is searched. The last one also means anywhere, for a single text that needs no escapes and no conversion, see
`has_in_steps`.
"""

AS_IT_IS, LOWER, UPPER = 0, 1, 2
"""The case that letters are converted to first."""

NO, YES, ERROR, UNDECIDED = 0, 1, 255, 254
"""The answers for a term: the last is for values with escapes, and for letters beyond ASCII that would have to be converted."""

SEPARATOR = NEWLINE
"""Separates several texts that are wanted."""

AHEAD = 16
"""The text of a term is requested from memory this number of terms before it is searched; its place, twice this number before."""


@kernel
def converted(byte: int, case: int) -> int:
    """Return a byte of ASCII in another case."""
    if case == LOWER and byte >= 65 and byte <= 90:
        return byte + 32
    if case == UPPER and byte >= 97 and byte <= 122:
        return byte - 32
    return byte


@kernel
def value_end(texts: Bytes, start: int, end: int, takes_any: int) -> int:
    """Return where the value of a term ends, whose first byte is at `start`.

    -1 if the term is not a string (with `takes_any`, a blank node).
    """
    if texts[start] == LESS_THAN:
        return end - 1 if takes_any else -1
    if texts[start] != QUOTE:
        return -1
    place = end - 1
    tagged = 0
    while texts[place] != QUOTE:
        if texts[place] == AT:
            tagged = place
        place = place - 1
    if takes_any or place == end - 1 or tagged == place + 1:
        return place
    return -1


@kernel
def begins(texts: Bytes, start: int, end: int, wanted: Bytes, length: int, case: int) -> int:
    """Return whether a value begins with a text."""
    for place in range(length):
        if start + place >= end:
            return NO
        byte = texts[start + place]
        if byte == BACKSLASH or (case != AS_IT_IS and byte > 127):
            return UNDECIDED
        if converted(byte, case) != wanted[place]:
            return NO
    return YES


@kernel
def part_at(texts: Bytes, position: int, end: int, wanted: Bytes, part: int, length: int, case: int) -> int:
    """Return where a part of the wanted text ends if a value has it at a position, otherwise -1."""
    place = part
    while place < length and wanted[place] != SEPARATOR:
        at = position + place - part
        if at >= end or converted(texts[at], case) != wanted[place]:
            return -1
        place = place + 1
    return place


@kernel
def contains(texts: Bytes, start: int, end: int, wanted: Bytes, length: int, first: int, case: int) -> int:
    """Return whether texts occur in a value one after the other, at `first` or later. They are separated by line breaks."""
    part = 0
    found = YES if length == 0 else NO
    for position in range(start, end):
        byte = texts[position]
        if byte == BACKSLASH or (case != AS_IT_IS and byte > 127):
            return UNDECIDED
        if found == NO and position >= first and converted(byte, case) == wanted[part]:
            place = part_at(texts, position, end, wanted, part, length, case)
            if place >= 0:
                first = position + place - part
                part = place + 1
                found = YES if place == length else NO
    return found


@kernel
def has_in_steps(texts: Bytes, start: int, end: int, wanted: Bytes, length: int, steps: Bytes) -> int:
    """Return whether a value has a text (Horspool, Practical fast searching in strings, 1980).

    The step of a byte is how far before the last byte of the text it is: no match ends nearer after it.
    """
    last = start + length - 1
    while last < end:
        byte = texts[last]
        if byte == wanted[length - 1]:
            place = 0
            while place < length - 1 and texts[last - length + 1 + place] == wanted[place]:
                place = place + 1
            if place == length - 1:
                for position in range(start, end):
                    if texts[position] == BACKSLASH:
                        return UNDECIDED
                return YES
        last = last + steps[byte]
    return NO


@entry
def search_values(
    terms: Terms,
    ids: Int32s,
    count: int,
    wanted: Bytes,
    length: int,
    steps: Bytes,
    where: int,
    case: int,
    takes_any: int,
    truth: Bytes,
) -> int:
    """Write for each term whether its value has a text, or anywhere several: NO, YES, ERROR if it is not a string, or UNDECIDED.

    With `takes_any` the values are those of STR, which only blank nodes do not have. `steps` has a step for each byte, see
    `has_in_steps`.
    """
    for number in range(count):
        if number + 2 * AHEAD < count:
            prefetch(terms.offsets, ids[number + 2 * AHEAD])
        if number + AHEAD < count:
            prefetch(terms.texts, terms.offsets[ids[number + AHEAD]])
        start = terms.offsets[ids[number]]
        end = value_end(terms.texts, start, terms.offsets[ids[number] + 1], takes_any)
        start = start + 1
        if end < 0:
            truth[number] = ERROR
        elif where == IN_STEPS:
            truth[number] = has_in_steps(terms.texts, start, end, wanted, length, steps)
        elif where == AT_START:
            truth[number] = begins(terms.texts, start, end, wanted, length, case)
        else:
            first = end - length if where == AT_END else start
            truth[number] = contains(terms.texts, start, end, wanted, length, first, case)
    return 0
