"""The tokens of XML: names, attributes, references, text, comments and processing instructions.

A strict subset is read: names of plain ASCII, entities without markup in them. Kernels return BAD for anything else, and where a
token does not end in the text.
"""

from kg_reasoner.storage.kernels.ascii_bytes import (
    AMPERSAND,
    APOSTROPHE,
    BACKSLASH,
    BRACKET,
    CLOSING_BRACKET,
    COLON,
    EXCLAMATION,
    GREATER,
    HASH,
    LESS_THAN,
    LOWER_N,
    LOWER_R,
    LOWER_X,
    MINUS,
    NEWLINE,
    QUESTION,
    QUOTE,
    RETURN,
    SEMICOLON,
    SLASH,
    SPACE,
    TAB,
    ZERO,
)
from kg_reasoner.storage.kernels.decorators import kernel, rare_kernel
from kg_reasoner.storage.kernels.interning import hash_text, same_bytes
from kg_reasoner.storage.kernels.memory.structs import Array, Bytes, Int32s, Int64s, Struct
from kg_reasoner.storage.kernels.token_ends import BAD, DIGIT, HEX, is_space

# classes of bytes, as bits (the table is made by `markup_classes`)
IN_NAME, STARTS_NAME, PLAIN = 1, 2, 4

FIRST_OF_THREE, NONCHARACTER = 0xEF, 0xBFBE
"""U+FFFE and U+FFFF, which XML does not allow, begin with this byte; the first one's others are these."""

LARGEST = 0x10FFFF
GUESSES = 256
"""The number of entities that are found at once; a power of two."""

MOST_ATTRIBUTES = 1024
ATTRIBUTE = 4
"""The words of an attribute: where its name and its value begin and end; it has no value if it has been taken care of."""
TAKEN = -1

# what an element is
ROOT, NODE, PROPERTY, COLLECTION = 0, 1, 2, 3


class Element(Struct):
    """An open element: its name in the text, the declarations around it, and the known parts of its triples."""

    kind: int
    name: int
    name_end: int
    bindings: int
    held_length: int
    base: int
    base_end: int
    directory_end: int
    language: int
    language_end: int
    subject: int
    """The node, or of a property element the node that it belongs to."""
    property: int
    object: int
    """The node that is the value; BAD: none yet."""
    statement: int
    """The name of the triple; BAD: none."""
    counter: int
    """Of a node, how many members it has; of a collection, the number of the first item."""
    datatype: int
    datatype_end: int


class XmlText(Struct):
    """A part of an XML document: `text` up to `end`, where a line break follows, and the state for reading it as RDF/XML.

    `held` has the texts that are declared: prefixes, namespaces, bases, languages and datatypes. `constants` are texts of RDF/XML.
    """

    classes: Bytes
    markup: Bytes
    text: Bytes
    end: int
    position: int
    is_closed: int
    """1: the root element has ended."""
    after: int
    need: int
    is_empty: int
    """1: the tag read last has no end tag."""
    entity_names: Bytes
    entity_name_offsets: Int64s
    entities: Bytes
    entity_offsets: Int64s
    entity_count: int
    entity_guesses: Int32s
    constants: Bytes
    constant_offsets: Int64s
    held: Bytes
    held_room: int
    held_length: int
    bindings: Int64s
    """Where the prefix of each binding begins and ends in `held`, and its namespace."""
    binding_room: int
    binding_count: int
    outer_bindings: int
    """The number of bindings that the root element declares."""
    base: int
    """Where the base begins in `held`, which ends without a fragment; BAD: none."""
    base_end: int
    directory_end: int
    """Where the part of the base ends to which relative paths are appended; that is its beginning if there is none."""
    language: int
    language_end: int
    declared: Bytes
    """The prefixes that have been declared and their namespaces, in lines."""
    declared_room: int
    declared_length: int
    root: int
    """Where the name of the root element begins in `held`."""
    root_end: int
    attributes: Int32s
    attribute_count: int
    kind: int
    """The kind of the name that was found last."""
    known_names: Bytes
    known_facts: Int32s
    elements: Array[Element]
    depth: int
    deepest: int
    work: Bytes
    work_room: int
    first: int
    """Where the IRI made last begins in `work`."""
    text_end: int
    """Where the literal that is being read ends in `work`."""
    rows: Int32s
    row_room: int
    row_count: int
    end_of_rows: int
    node: int
    """The node that the tag read last names, or whose attributes it has; BAD: none."""
    type: int
    """The type that an attribute of the tag gives to the node; BAD: none."""
    parse_type: int
    """The kind of the content that the tag declares, as the number of a constant; 0: it declares none."""
    properties: Int32s
    """The properties and literals of the tag's other attributes, in pairs."""
    property_count: int
    items: Int32s
    """The members of the open collections."""
    item_count: int
    names: Int32s
    """The names given to nodes and triples, which must be different."""
    name_count: int
    scope: Bytes
    scope_length: int
    fresh_before: int
    """The nodes without a label that have been numbered."""
    numbered: int
    fresh_count: int
    """The nodes without a label in this element, whose ids are to be in `fresh_ids`."""
    fresh_ids: Int32s


def markup_classes(ascii_only: bool) -> bytes:
    """Return the class bits of each byte. Text that is not UTF-8 can only be ASCII."""
    table = bytearray(256)
    lower = b"abcdefghijklmnopqrstuvwxyz"
    letters = lower + lower.upper() + b"_"
    ascii_text = bytes(set(range(0x20, 0x80)) - set(b'<>&"\\'))
    others = bytes(set(range(0x80, 0x100)) - {FIRST_OF_THREE})
    for members, bit in (
        (letters, STARTS_NAME),
        (letters + b"0123456789.-", IN_NAME),
        (ascii_text if ascii_only else ascii_text + others, PLAIN),
    ):
        for byte in members:
            table[byte] |= bit
    return bytes(table)


@rare_kernel
def copy_few(source: Bytes, start: int, end: int, out: Bytes, place: int) -> int:
    """Copy bytes to a place, and return the place after them. A call is enough: loops for many bytes are much code."""
    for position in range(start, end):
        out[place] = source[position]
        place = place + 1
    return place


@kernel
def blanks_end(document: XmlText, position: int) -> int:
    """Return the position after white space."""
    text = document.text
    end = document.end
    while position < end and is_space(text[position]):
        position = position + 1
    return position


@kernel
def name_end(document: XmlText, start: int) -> int:
    """Return the position after a name, maybe with a prefix, or BAD."""
    text = document.text
    markup = document.markup
    position = start
    if not markup[text[position]] & STARTS_NAME:
        return BAD
    while markup[text[position]] & IN_NAME:
        position = position + 1
    if text[position] == COLON:
        position = position + 1
        if not markup[text[position]] & STARTS_NAME:
            return BAD
        while markup[text[position]] & IN_NAME:
            position = position + 1
    return position


@rare_kernel
def is_allowed(document: XmlText, position: int) -> int:
    """Return whether a byte may be part of a character that XML allows; white space is."""
    text = document.text
    byte = text[position]
    if document.markup[byte] & PLAIN or (byte >= SPACE and byte < 128) or is_space(byte):
        return 1
    if byte != FIRST_OF_THREE or document.markup[byte + 1] & PLAIN == 0:
        return 0
    return 1 if text[position + 1] << 8 | (text[position + 2] & 254) != NONCHARACTER else 0


@rare_kernel
def comment_end(document: XmlText, start: int) -> int:
    """Return the position after a comment or processing instruction that starts at a position, or BAD."""
    text = document.text
    end = document.end
    position = start + 4
    if text[start + 1] == EXCLAMATION:
        if text[start + 2] != MINUS or text[start + 3] != MINUS:
            return BAD
        while position < end:
            if text[position] == MINUS and text[position + 1] == MINUS:
                return position + 3 if text[position + 2] == GREATER else BAD
            if not is_allowed(document, position):
                return BAD
            position = position + 1
        return BAD
    position = start + 2
    if not document.markup[text[position]] & STARTS_NAME or text[position] | 32 == LOWER_X:  # it may be an XML declaration
        return BAD
    while document.markup[text[position]] & IN_NAME:
        position = position + 1
    if not is_space(text[position]) and (text[position] != QUESTION or text[position + 1] != GREATER):
        return BAD
    while position < end:
        if text[position] == QUESTION and text[position + 1] == GREATER:
            return position + 2
        if not is_allowed(document, position):
            return BAD
        position = position + 1
    return BAD


@kernel
def next_markup(document: XmlText, position: int) -> int:
    """Return the position after white space, comments and processing instructions, or BAD."""
    text = document.text
    while True:
        position = blanks_end(document, position)
        if text[position] != LESS_THAN or (text[position + 1] != EXCLAMATION and text[position + 1] != QUESTION):
            return position
        position = comment_end(document, position)
        if position == BAD:
            return BAD


@kernel
def put_byte(document: XmlText, byte: int, place: int, in_literal: int) -> int:
    """Write a byte to the work space, in a literal escaped if need be. Return the place after it."""
    work = document.work
    if in_literal and (byte == QUOTE or byte == BACKSLASH or byte == NEWLINE or byte == RETURN):
        work[place] = BACKSLASH
        place = place + 1
        if byte == NEWLINE:
            byte = LOWER_N
        elif byte == RETURN:
            byte = LOWER_R
    work[place] = byte
    return place + 1


@rare_kernel
def code_point(document: XmlText, start: int) -> int:
    """Return the code point of a reference to a character, which starts at ``&``, or BAD. ``document.after`` receives its end."""
    text = document.text
    classes = document.classes
    is_hexadecimal = 1 if text[start + 2] == LOWER_X else 0
    position = start + 3 if is_hexadecimal else start + 2
    first = position
    code = 0
    while position < document.end and code <= LARGEST and classes[text[position]] & (HEX if is_hexadecimal else DIGIT):
        digit = text[position] - ZERO if classes[text[position]] & DIGIT else (text[position] & 7) + 9
        code = (code << 4) + digit if is_hexadecimal else 10 * code + digit
        position = position + 1
    document.after = position + 1
    if position == first or text[position] != SEMICOLON:
        return BAD
    if code < SPACE:
        return code if code == TAB or code == NEWLINE or code == RETURN else BAD
    return BAD if code > LARGEST or (code >= 0xD800 and code < 0xE000) or code == 0xFFFE or code == 0xFFFF else code


@rare_kernel
def put_code_point(document: XmlText, code: int, place: int, in_literal: int) -> int:
    """Write a character to the work space in UTF-8. Return the place after it."""
    if code < 0x80:
        return put_byte(document, code, place, in_literal)
    work = document.work
    if code < 0x800:
        work[place] = 0xC0 | (code >> 6)
        place = place + 1
    else:
        if code < 0x10000:
            work[place] = 0xE0 | (code >> 12)
        else:
            work[place] = 0xF0 | (code >> 18)
            place = place + 1
            work[place] = 0x80 | ((code >> 12) & 63)
        work[place + 1] = 0x80 | ((code >> 6) & 63)
        place = place + 2
    work[place] = 0x80 | (code & 63)
    return place + 1


@rare_kernel
def entity_number(document: XmlText, start: int, end: int) -> int:
    """Return the number of the entity with a name, or BAD."""
    text = document.text
    guesses = document.entity_guesses
    slot = hash_text(text, start, end, text, 0) & (GUESSES - 1)
    number = guesses[slot]
    for place in range(document.entity_count + 1):
        if place > 0:
            number = place - 1
        first = document.entity_name_offsets[number]
        if document.entity_name_offsets[number + 1] - first == end - start:
            if same_bytes(text, start, document.entity_names, first, end - start):
                guesses[slot] = number
                return number
    return BAD


@kernel
def put_reference(document: XmlText, start: int, place: int, in_literal: int) -> int:
    """Write what a reference that starts at ``&`` stands for to the work space. Return the place after it, or BAD.

    ``document.after`` receives the position after the reference.
    """
    text = document.text
    if text[start + 1] == HASH:
        code = code_point(document, start)
        return BAD if code == BAD else put_code_point(document, code, place, in_literal)
    position = start + 1
    while document.markup[text[position]] & IN_NAME:
        position = position + 1
    if text[position] != SEMICOLON or position == start + 1:
        return BAD
    number = entity_number(document, start + 1, position)
    if number == BAD:
        return BAD
    first = document.entity_offsets[number]
    last = document.entity_offsets[number + 1]
    if place + 2 * (last - first) + 8 > document.work_room:
        return BAD
    for source in range(first, last):
        place = put_byte(document, document.entities[source], place, in_literal)
    document.after = position + 1
    return place


@kernel
def put_text(document: XmlText, position: int, end: int, place: int, is_value: int) -> int:
    """Write text or the value of an attribute to the work space as part of a literal. Return the place after it, or BAD.

    Tabs and line breaks in values are spaces. ``document.after`` receives the position after the text, which ends before markup.
    """
    text = document.text
    work = document.work
    markup = document.markup
    room = document.work_room - 16
    while position < end:
        if place > room:
            return BAD
        byte = text[position]
        if markup[byte] & PLAIN:
            work[place] = byte
            place = place + 1
            position = position + 1
        elif byte == LESS_THAN:
            break
        elif byte == AMPERSAND:
            place = put_reference(document, position, place, 1)
            if place == BAD:
                return BAD
            position = document.after
        else:
            if byte == GREATER and text[position - 1] == CLOSING_BRACKET and text[position - 2] == CLOSING_BRACKET:
                return BAD
            if not is_allowed(document, position):
                return BAD
            if byte == RETURN:
                byte = NEWLINE
                if text[position + 1] == NEWLINE:
                    position = position + 1
            if is_value and (byte == NEWLINE or byte == TAB):
                byte = SPACE
            place = put_byte(document, byte, place, 1)
            position = position + 1
    document.after = position
    return place


@rare_kernel
def put_section(document: XmlText, start: int, place: int) -> int:
    """Write a CDATA section to the work space as part of a literal. Return the place after it, or BAD.

    ``document.after`` receives the position after the section.
    """
    text = document.text
    room = document.work_room - 16
    position = start + 9
    while position < document.end and place < room:
        byte = text[position]
        if byte == CLOSING_BRACKET and text[position + 1] == CLOSING_BRACKET and text[position + 2] == GREATER:
            document.after = position + 3
            return place
        if not is_allowed(document, position):
            return BAD
        if byte == RETURN:
            byte = NEWLINE
            if text[position + 1] == NEWLINE:
                position = position + 1
        place = put_byte(document, byte, place, 1)
        position = position + 1
    return BAD


@kernel
def place_after(document: XmlText, start: int, last: int, before: int, before_that: int) -> int:
    """Return the position after a byte that follows two others, or the end."""
    text = document.text
    position = start
    while position < document.end:
        if text[position] == last and text[position - 1] == before and text[position - 2] == before_that:
            return position + 1
        position = position + 1
    return document.end


@kernel
def tag_end(document: XmlText, start: int) -> int:
    """Return the position of the ``>`` of a tag, outside of the values of attributes, or the end."""
    text = document.text
    quote = 0
    position = start
    while position < document.end:
        byte = text[position]
        if quote:
            if byte == quote:
                quote = 0
        elif byte == QUOTE or byte == APOSTROPHE:
            quote = byte
        elif byte == GREATER:
            return position
        position = position + 1
    return position


@rare_kernel
def skipped_to(document: XmlText, start: int, least: int) -> int:
    """Return where an element ends, the first that ends at least `least` bytes after the start, or the last that ends in the text
    and the element around it; 0 if none ends.
    """
    text = document.text
    end = document.end
    depth = 0
    last = 0
    position = start
    while position < end:
        if text[position] != LESS_THAN:
            position = position + 1
            continue
        following = text[position + 1]
        if following == EXCLAMATION:
            if text[position + 2] == BRACKET:
                position = place_after(document, position + 9, GREATER, CLOSING_BRACKET, CLOSING_BRACKET)
            else:
                position = place_after(document, position + 6, GREATER, MINUS, MINUS)
        elif following == QUESTION:
            while position < end and (text[position] != QUESTION or text[position + 1] != GREATER):
                position = position + 1
            position = position + 2
        else:
            if following == SLASH and depth == 0:
                return last
            position = tag_end(document, position)
            if position >= end:
                return last
            if following == SLASH:
                depth = depth - 1
            elif text[position - 1] != SLASH:
                depth = depth + 1
            position = position + 1
            if depth == 0:
                last = position
                if position - start >= least:
                    return position
    return last
