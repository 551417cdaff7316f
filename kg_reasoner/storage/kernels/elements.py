"""Triples as elements of RDF/XML, copied to a buffer from texts of terms that have been escaped before.

What stands around the texts of terms is in a table of fixed texts: `CLOSE` and so on, then a start tag and an end tag for each
property.
"""

from kg_reasoner.storage.kernels.ascii_bytes import (
    AMPERSAND,
    AT,
    BACKSLASH,
    GREATER,
    LESS_THAN,
    LOWER_N,
    LOWER_R,
    NEWLINE,
    QUOTE,
    SPACE,
    TAB,
    UNDERSCORE,
)
from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.interning import copy_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Int64s
from kg_reasoner.storage.kernels.triple_texts import Output, copy_text, text_length

FIRST_OF_LAST, SECOND_OF_LAST, LAST_BUT_ONE = 0xEF, 0xBF, 0xBE

# the fixed texts
CLOSE, ABOUT, ABOUT_NODE, BEGUN, RESOURCE, NODE, EMPTY_END, QUOTED, AMP, LT, GT, CR, QUOT, LANGUAGE, DATATYPE, VALUE, INDENT = (
    range(17)
)
FIRST_TAG = 17
FIXED = (
    "  </rdf:Description>\n",
    "  <rdf:Description rdf:about=",
    "  <rdf:Description rdf:nodeID=",
    ">\n",
    " rdf:resource=",
    " rdf:nodeID=",
    "/>\n",
    '"',
    "&amp;",
    "&lt;",
    "&gt;",
    "&#13;",
    "&quot;",
    ' xml:lang="',
    ' rdf:datatype="',
    '">',
    "    ",
)

AROUND = 96
"""No less than the bytes of the fixed texts of a triple."""
LONGEST_ESCAPE = 6


@kernel
def put(fixed: Bytes, offsets: Int64s, number: int, out: Bytes, place: int) -> int:
    """Write a fixed text. Return the place after it."""
    return copy_bytes(fixed, offsets[number], offsets[number + 1], out, place)


@kernel
def put_escaped(fixed: Bytes, offsets: Int64s, text: Bytes, start: int, end: int, is_literal: int, out: Bytes, place: int) -> int:
    """Write a part of a text as XML has it; the escapes of a literal become what they stand for. Return the place after it."""
    position = start
    while position < end:
        byte = text[position]
        escape = -1
        if byte == BACKSLASH and is_literal:
            position = position + 1
            byte = text[position]
            if byte == LOWER_N:
                byte = NEWLINE
            elif byte == LOWER_R:
                escape = CR
        elif byte == AMPERSAND:
            escape = AMP
        elif byte == LESS_THAN:
            escape = LT
        elif byte == GREATER:
            escape = GT
        elif byte == QUOTE and not is_literal:
            escape = QUOT
        if escape >= 0:
            place = put(fixed, offsets, escape, out, place)
        else:
            out[place] = byte
            place = place + 1
        position = position + 1
    return place


@kernel
def is_not_xml(text: Bytes, start: int, end: int) -> int:
    """Return whether a part of a text has a character that XML cannot hold."""
    for position in range(start, end):
        byte = text[position]
        if byte < SPACE and byte != TAB:
            return 1
        if byte >= LAST_BUT_ONE and position >= start + 2:
            if text[position - 1] == SECOND_OF_LAST and text[position - 2] == FIRST_OF_LAST and byte <= SECOND_OF_LAST:
                return 1
    return 0


@entry
def escape_texts(
    terms: Terms, fixed: Bytes, offsets: Int64s, first: int, count: int, out: Bytes, room: int, ends: Int64s, refused: Bytes
) -> int:
    """Write the texts of terms as in RDF/XML, each to where the one before ends. Return the first that did not fit, or `count`.

    An IRI or a blank node is in quotation marks; a literal has the rest of its start tag before it. `refused` says which literals
    XML cannot hold.
    """
    texts = terms.texts
    number = first
    while number < count:
        start = terms.offsets[number]
        end = terms.offsets[number + 1]
        place = ends[number]
        if place + LONGEST_ESCAPE * (end - start) + AROUND > room:
            break
        refused[number] = 0
        if texts[start] == QUOTE:
            quote = end - 1
            while texts[quote] != QUOTE:
                quote = quote - 1
            if quote == end - 1:
                out[place] = GREATER
                place = place + 1
            elif texts[quote + 1] == AT:
                place = put(fixed, offsets, LANGUAGE, out, place)
                place = copy_bytes(texts, quote + 2, end, out, place)
                place = put(fixed, offsets, VALUE, out, place)
            else:
                place = put(fixed, offsets, DATATYPE, out, place)
                place = put_escaped(fixed, offsets, texts, quote + 4, end - 1, 0, out, place)
                place = put(fixed, offsets, VALUE, out, place)
            place = put_escaped(fixed, offsets, texts, start + 1, quote, 1, out, place)
            refused[number] = is_not_xml(texts, start + 1, quote)
        else:
            place = put(fixed, offsets, QUOTED, out, place)
            if texts[start] == UNDERSCORE:
                place = copy_bytes(texts, start + 2, end, out, place)
            else:
                place = put_escaped(fixed, offsets, texts, start + 1, end - 1, 0, out, place)
            place = put(fixed, offsets, QUOTED, out, place)
        number = number + 1
        ends[number] = place
    return number


@entry
def write_elements(
    output: Output, fixed: Bytes, offsets: Int64s, kinds: Bytes, rows: Int32s, first: int, end: int, longest: int
) -> int:
    """Write triples, grouped by subject, as RDF/XML. Return the number of the first that did not fit, or `end`.

    In a row, the property is the number of its start tag among the fixed texts. `kinds` has the first byte of each term; terms from
    ``output.known`` on are blank nodes. No fixed text is longer than `longest`.
    """
    buffer = output.buffer
    place = 0
    row = first
    while row < end:
        subject = rows[3 * row]
        tag = rows[3 * row + 1]
        value = rows[3 * row + 2]
        if place + text_length(output, subject) + text_length(output, value) + 2 * longest + AROUND > output.room:
            break
        if row == 0 or rows[3 * row - 3] != subject:
            if row > 0:
                place = put(fixed, offsets, CLOSE, buffer, place)
            is_node = subject >= output.known or kinds[subject] == UNDERSCORE
            place = put(fixed, offsets, ABOUT_NODE if is_node else ABOUT, buffer, place)
            place = copy_text(output, subject, place)
            place = put(fixed, offsets, BEGUN, buffer, place)
        place = put(fixed, offsets, INDENT, buffer, place)
        place = put(fixed, offsets, tag, buffer, place)
        if value < output.known and kinds[value] == QUOTE:
            place = copy_text(output, value, place)
            place = put(fixed, offsets, tag + 1, buffer, place)
        else:
            is_node = value >= output.known or kinds[value] == UNDERSCORE
            place = put(fixed, offsets, NODE if is_node else RESOURCE, buffer, place)
            place = copy_text(output, value, place)
            place = put(fixed, offsets, EMPTY_END, buffer, place)
        row = row + 1
    output.length = place
    return row
