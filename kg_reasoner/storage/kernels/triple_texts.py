"""Texts of triples, copied from the dictionary to a buffer: lines of N-Triples and N-Quads, and statements of Turtle.

A row is three or four ids. Ids from `known` on belong to a second table of texts, which are not in the dictionary. A kernel stops
before the first row for which the buffer has no room, and is called again with an empty buffer.
"""

from kg_reasoner.storage.kernels.ascii_bytes import (
    COLON,
    COMMA,
    DOT,
    GREATER,
    HASH,
    LESS_THAN,
    LOWER_A,
    MINUS,
    NEWLINE,
    PLUS,
    QUOTE,
    SEMICOLON,
    SLASH,
    SPACE,
)
from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.interning import copy_bytes, same_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Int64s, Struct
from kg_reasoner.storage.kernels.token_ends import DIGIT, IN_LABEL

NOTHING = -1
"""In place of an id: the column is empty."""

BETWEEN = 16
"""An upper bound on the bytes that are written around the texts of a row."""


class Output(Struct):
    """Texts by id, those from `known` on in a second table, and a buffer for `room` bytes, which has `length`."""

    texts: Bytes
    offsets: Int64s
    known: int
    more: Bytes
    more_offsets: Int64s
    buffer: Bytes
    room: int
    length: int


class PrefixTable(Struct):
    """How terms are written in short: `count` prefixes with their namespaces, and the datatypes of numbers and truth values.

    The namespaces of the first `delimited` prefixes end with ``#`` or ``/``.

    `integer` and `boolean` are the ends of literals with these datatypes, from the quotation mark on; `truth` is "truefalse".
    """

    classes: Bytes
    namespaces: Bytes
    namespace_offsets: Int64s
    prefixes: Bytes
    prefix_offsets: Int64s
    count: int
    delimited: int
    integer: Bytes
    integer_length: int
    boolean: Bytes
    boolean_length: int
    truth: Bytes


@kernel
def text_length(output: Output, number: int) -> int:
    """Return the length of a text."""
    if number < output.known:
        return output.offsets[number + 1] - output.offsets[number]
    further = number - output.known
    return output.more_offsets[further + 1] - output.more_offsets[further]


@kernel
def copy_text(output: Output, number: int, place: int) -> int:
    """Copy a text to a place in the buffer. Return the place after it."""
    if number < output.known:
        return copy_bytes(output.texts, output.offsets[number], output.offsets[number + 1], output.buffer, place)
    further = number - output.known
    return copy_bytes(output.more, output.more_offsets[further], output.more_offsets[further + 1], output.buffer, place)


@entry
def write_lines(output: Output, rows: Int32s, width: int, first: int, count: int) -> int:
    """Write rows of `width` ids as lines. Return the number of the first that did not fit, or `count`."""
    buffer = output.buffer
    place = 0
    row = first
    while row < count:
        ids = rows + row * width
        need = BETWEEN
        for column in range(width):
            if ids[column] != NOTHING:
                need = need + text_length(output, ids[column])
        if place + need > output.room:
            break
        for column in range(width):
            if ids[column] != NOTHING:
                place = copy_text(output, ids[column], place)
                buffer[place] = SPACE
                place = place + 1
        buffer[place] = DOT
        buffer[place + 1] = NEWLINE
        place = place + 2
        row = row + 1
    output.length = place
    return row


@kernel
def has_one_property(rows: Int32s, row: int, count: int) -> int:
    """Return whether all rows of the subject that begins at a row have the same property."""
    following = row + 1
    while following < count and rows[3 * following] == rows[3 * row]:
        if rows[3 * following + 1] != rows[3 * row + 1]:
            return 0
        following = following + 1
    return 1


@kernel
def write_property(output: Output, property: int, rdf_type: int, indented: int, place: int) -> int:
    """Write a space or the beginning of an indented line, then a property. Return the place after it."""
    buffer = output.buffer
    if indented:
        buffer[place] = NEWLINE
        for column in range(4):
            buffer[place + 1 + column] = SPACE
        place = place + 5
    else:
        buffer[place] = SPACE
        place = place + 1
    if property == rdf_type:
        buffer[place] = LOWER_A
        return place + 1
    return copy_text(output, property, place)


@entry
def write_statements(output: Output, rows: Int32s, rdf_type: int, first: int, end: int, count: int) -> int:
    """Write triples, grouped by subject and property, as Turtle. Return the number of the first that did not fit, or `end`.

    There are `count` triples, of which those from `first` to `end` are written.
    """
    buffer = output.buffer
    place = 0
    row = first
    while row < end:
        subject = rows[3 * row]
        property = rows[3 * row + 1]
        value = rows[3 * row + 2]
        need = text_length(output, subject) + text_length(output, property) + text_length(output, value)
        if place + need + BETWEEN > output.room:
            break
        if row == 0 or rows[3 * row - 3] != subject:
            buffer[place] = NEWLINE
            place = copy_text(output, subject, place + 1)
            place = write_property(output, property, rdf_type, 1 - has_one_property(rows, row, count), place)
        elif rows[3 * row - 2] != property:
            buffer[place] = SPACE
            buffer[place + 1] = SEMICOLON
            place = write_property(output, property, rdf_type, 1, place + 2)
        else:
            buffer[place] = COMMA
            place = place + 1
        buffer[place] = SPACE
        place = copy_text(output, value, place + 1)
        row = row + 1
        if row == count or rows[3 * row] != subject:
            buffer[place] = SPACE
            buffer[place + 1] = DOT
            buffer[place + 2] = NEWLINE
            place = place + 3
    output.length = place
    return row


@kernel
def write_name(names: PrefixTable, number: int, texts: Bytes, local: int, end: int, out: Bytes, place: int) -> int:
    """Write a prefixed name. Return the place after it."""
    place = copy_bytes(names.prefixes, names.prefix_offsets[number], names.prefix_offsets[number + 1], out, place)
    out[place] = COLON
    return copy_bytes(texts, local, end, out, place + 1)


@kernel
def short_iri(names: PrefixTable, texts: Bytes, start: int, end: int, out: Bytes, place: int) -> int:
    """Write an IRI in brackets as a prefixed name, or as it is. Return the place after it."""
    local = end - 1
    while local > start + 1 and (names.classes[texts[local - 1]] & IN_LABEL or texts[local - 1] == MINUS):
        local = local - 1
    is_name = local < end - 1 and texts[local] != MINUS and not names.classes[texts[local]] & DIGIT
    if is_name and (texts[local - 1] == HASH or texts[local - 1] == SLASH):
        for number in range(names.delimited):
            first = names.namespace_offsets[number]
            length = names.namespace_offsets[number + 1] - first
            if length == local - start - 1 and same_bytes(texts, start + 1, names.namespaces, first, length):
                return write_name(names, number, texts, local, end - 1, out, place)
    for number in range(names.delimited, names.count):
        first = names.namespace_offsets[number]
        length = names.namespace_offsets[number + 1] - first
        after = start + 1 + length
        if after >= local and after < end - 1 and texts[after] != MINUS:
            if same_bytes(texts, start + 1, names.namespaces, first, length):
                return write_name(names, number, texts, after, end - 1, out, place)
    return copy_bytes(texts, start, end, out, place)


@kernel
def is_plain(names: PrefixTable, texts: Bytes, start: int, quote: int, end: int) -> int:
    """Return whether Turtle has a form without quotation marks for a literal that is closed at `quote`: an integer or a boolean."""
    length = end - quote
    if length == names.integer_length and same_bytes(texts, quote, names.integer, 0, length):
        first = start + 1
        if texts[first] == MINUS or texts[first] == PLUS:
            first = first + 1
        position = first
        while names.classes[texts[position]] & DIGIT:
            position = position + 1
        return 1 if position == quote and position > first else 0
    if length == names.boolean_length and same_bytes(texts, quote, names.boolean, 0, length):
        if quote - start == 5:
            return same_bytes(texts, start + 1, names.truth, 0, 4)
        if quote - start == 6:
            return same_bytes(texts, start + 1, names.truth, 4, 5)
    return 0


@entry
def shorten_texts(terms: Terms, names: PrefixTable, first: int, count: int, out: Bytes, room: int, ends: Int64s) -> int:
    """Write the texts of terms as in Turtle, one after the other. Return the first that did not fit, or `count`.

    Behind its `room` bytes, the buffer must have room for the longest prefix.
    """
    texts = terms.texts
    number = first
    while number < count:
        start = terms.offsets[number]
        end = terms.offsets[number + 1]
        place = ends[number]
        if place + end - start + BETWEEN > room:
            break
        if texts[start] == LESS_THAN:
            place = short_iri(names, texts, start, end, out, place)
        elif texts[start] == QUOTE and texts[end - 1] == GREATER:
            quote = end - 1
            while texts[quote] != QUOTE:
                quote = quote - 1
            if is_plain(names, texts, start, quote, end):
                place = copy_bytes(texts, start + 1, quote, out, place)
            else:
                place = copy_bytes(texts, start, quote + 3, out, place)
                place = short_iri(names, texts, quote + 3, end, out, place)
        else:
            place = copy_bytes(texts, start, end, out, place)
        number = number + 1
        ends[number] = place
    return number


@entry
def check_labels(terms: Terms, classes: Bytes, ids: Int32s, count: int, plain: Bytes) -> int:
    """Write for each blank node whether its label consists of ASCII letters, digits and underscores."""
    for number in range(count):
        position = terms.offsets[ids[number]] + 2
        end = terms.offsets[ids[number] + 1]
        while position < end and classes[terms.texts[position]] & IN_LABEL:
            position = position + 1
        plain[number] = 1 if position == end else 0
    return 0
