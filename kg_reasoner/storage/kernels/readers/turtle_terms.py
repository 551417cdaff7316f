"""The state of a reader of Turtle, and the tokens of Turtle as ids of terms.

Tokens of a strict subset are read: IRIs and names of plain ASCII, strings without numeric escapes, numbers and truth values.
"""

from kg_reasoner.storage.kernels.ascii_bytes import (
    APOSTROPHE,
    AT,
    BACKSLASH,
    CARET,
    CLOSING_BRACKET,
    CLOSING_PAREN,
    COLON,
    COMMA,
    DOT,
    GREATER,
    HASH,
    LESS_THAN,
    LOWER_A,
    LOWER_E,
    LOWER_F,
    LOWER_N,
    LOWER_R,
    LOWER_T,
    MINUS,
    NEWLINE,
    PLUS,
    QUOTE,
    RETURN,
    SEMICOLON,
    SPACE,
    TAB,
    UNDERSCORE,
    UPPER_A,
    UPPER_E,
    UPPER_Z,
)
from kg_reasoner.storage.kernels.decorators import kernel
from kg_reasoner.storage.kernels.interning import copy_bytes, intern, same_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Int64s, Struct
from kg_reasoner.storage.kernels.readers.reader_results import FULL, may_be_made_by_parser
from kg_reasoner.storage.kernels.token_ends import (
    BAD,
    DIGIT,
    IN_LABEL,
    iri_end,
    is_language_type,
    is_space,
    language_end,
    letters_end,
    string_end,
)

# the datatypes of literals without quotation marks, in the order of their texts in `suffixes`, and terms of RDF's vocabulary
INTEGER, DECIMAL, DOUBLE, BOOLEAN, TYPE, FIRST, REST, NIL = 0, 1, 2, 3, 4, 5, 6, 7

DEFAULT_GRAPH = -1


class TurtleText(Struct):
    """A part of a Turtle document: `text` up to `end`, where a line break follows, and the state for reading it.

    `suffixes` are the texts of some literals from the closing quotation mark on, and of some terms; `words` is "truefalsegraph".
    The namespaces begin with ``<``.
    """

    classes: Bytes
    text: Bytes
    end: int
    is_last: int
    ascii_only: int
    position: int
    scope: Bytes
    scope_length: int
    prefixes: Bytes
    prefix_offsets: Int64s
    namespaces: Bytes
    namespace_offsets: Int64s
    prefix_count: int
    suffixes: Bytes
    suffix_offsets: Int64s
    string_type: Bytes
    string_type_length: int
    words: Bytes
    width: int
    """The ids of a row: 3, or 4 for TriG."""
    graph: int
    """The graph of the following triples, or `DEFAULT_GRAPH`."""
    in_graph: int
    """1: a graph has begun with a brace and has not ended."""
    rows: Int32s
    row_room: int
    row_count: int
    work: Bytes
    work_room: int
    after: int
    need: int
    has_suffix: int
    """1: the literal read last has a language or a datatype."""
    fresh_before: int
    """The nodes without a label in the statements before."""
    fresh_count: int
    """The nodes without a label in this statement, whose ids are to be in `fresh_ids`."""
    fresh_ids: Int32s
    end_of_rows: int
    """The number of rows together with those of this statement."""
    first_of_token: int
    """The first row that the last token has completed."""
    subject: int
    property: int
    """The subject and property of the next object."""
    state: int
    """What follows: a `PROPERTY`, an `OBJECT`, what stands `AFTER` an object, or the `END`, after which nothing follows."""
    frames: Int32s
    """For each open bracket, its kind and the subject and property around it, after a frame of kind 0."""
    depth: int
    deepest: int


@kernel
def next_token(document: TurtleText, position: int) -> int:
    """Return the position after spaces, line breaks and comments."""
    text = document.text
    end = document.end
    while position < end:
        byte = text[position]
        if byte == HASH:
            while position < end and text[position] != NEWLINE and text[position] != RETURN:
                position = position + 1
        elif is_space(byte):
            position = position + 1
        else:
            break
    return position


@kernel
def ends_token(byte: int) -> int:
    """Return whether a name or number ends before a byte."""
    if byte == CLOSING_BRACKET or byte == CLOSING_PAREN:
        return 1
    return 1 if byte == SEMICOLON or byte == COMMA or byte == DOT or is_space(byte) else 0


@kernel
def intern_span(terms: Terms, document: TurtleText, text: Bytes, start: int, end: int, scoped: int) -> int:
    """Return the id of a text, or FULL; BAD, if the text may go on behind the end of this part."""
    if document.after >= document.end and not document.is_last:
        return BAD
    length = end - start + scoped
    if terms.count + 4 > terms.room or terms.offsets[terms.count] + length > terms.text_capacity:
        document.need = length
        return FULL
    return intern(terms, document.scope, scoped, text, start, end)


@kernel
def expand_name(document: TurtleText, start: int, place: int) -> int:
    """Write the IRI of a prefixed name to the work space, from a place on. Return the place after it, or BAD.

    ``document.after`` receives the position after the name.
    """
    text = document.text
    classes = document.classes
    colon = start
    while classes[text[colon]] & IN_LABEL or text[colon] == MINUS:
        colon = colon + 1
    if text[colon] != COLON or classes[text[start]] & DIGIT or text[start] == UNDERSCORE or text[start] == MINUS:
        return BAD
    position = colon + 1
    if text[position] != MINUS and text[position] != DOT:
        while classes[text[position]] & IN_LABEL or text[position] == MINUS or text[position] == DOT:
            position = position + 1
        while text[position - 1] == DOT:
            position = position - 1
    if not ends_token(text[position]):
        return BAD
    for number in range(document.prefix_count):
        first = document.prefix_offsets[number]
        length = document.prefix_offsets[number + 1] - first
        if length == colon - start and same_bytes(text, start, document.prefixes, first, length):
            namespace = document.namespace_offsets[number]
            namespace_end = document.namespace_offsets[number + 1]
            if place + namespace_end - namespace + position - colon > document.work_room:
                return BAD
            place = copy_bytes(document.namespaces, namespace, namespace_end, document.work, place)
            place = copy_bytes(text, colon + 1, position, document.work, place)
            document.work[place] = GREATER
            document.after = position
            return place + 1
    return BAD


@kernel
def read_iri(terms: Terms, document: TurtleText, start: int) -> int:
    """Return the id of an IRI or a prefixed name, or BAD or FULL."""
    if document.text[start] == LESS_THAN:
        end = iri_end(document.classes, document.text, start)
        document.after = end
        return BAD if end == BAD else intern_span(terms, document, document.text, start, end, 0)
    length = expand_name(document, start, 0)
    return BAD if length == BAD else intern_span(terms, document, document.work, 0, length, 0)


@kernel
def read_node(terms: Terms, document: TurtleText, start: int) -> int:
    """Return the id of an IRI, a prefixed name or a labelled blank node, or BAD or FULL."""
    text = document.text
    if text[start] != UNDERSCORE:
        return read_iri(terms, document, start)
    position = start + 2
    while document.classes[text[position]] & IN_LABEL:
        position = position + 1
    if text[start + 1] != COLON or position == start + 2 or not ends_token(text[position]):
        return BAD
    if may_be_made_by_parser(text, start + 2, position):
        return BAD
    if document.scope_length < 0:
        document.need = -1
        return FULL
    document.after = position
    return intern_span(terms, document, text, start, position, document.scope_length)


@kernel
def intern_plain(terms: Terms, document: TurtleText, start: int, end: int, kind: int) -> int:
    """Return the id of a literal without quotation marks, or FULL."""
    if end - start + document.suffix_offsets[kind + 1] - document.suffix_offsets[kind] + 2 > document.work_room:
        return BAD
    work = document.work
    work[0] = QUOTE
    place = copy_bytes(document.text, start, end, work, 1)
    place = copy_bytes(document.suffixes, document.suffix_offsets[kind], document.suffix_offsets[kind + 1], work, place)
    document.after = end
    return intern_span(terms, document, work, 0, place, 0)


@kernel
def digits_end(classes: Bytes, text: Bytes, position: int) -> int:
    """Return the position after digits."""
    while classes[text[position]] & DIGIT:
        position = position + 1
    return position


@kernel
def read_number(terms: Terms, document: TurtleText, start: int) -> int:
    """Return the id of a number, or BAD or FULL."""
    text = document.text
    classes = document.classes
    kind = INTEGER
    first = start
    if text[first] == PLUS or text[first] == MINUS:
        first = first + 1
    position = digits_end(classes, text, first)
    if text[position] == DOT and classes[text[position + 1]] & DIGIT:
        kind = DECIMAL
        position = digits_end(classes, text, position + 1)
    if position == first:
        return BAD
    if text[position] == LOWER_E or text[position] == UPPER_E:
        kind = DOUBLE
        first = position + 1
        if text[first] == PLUS or text[first] == MINUS:
            first = first + 1
        position = digits_end(classes, text, first)
        if position == first:
            return BAD
    return intern_plain(terms, document, start, position, kind) if ends_token(text[position]) else BAD


@kernel
def copy_string(document: TurtleText, start: int) -> int:
    """Write a string in any quotation marks to the work space as a literal in canonical form. Return the place after it, or BAD.

    ``document.after`` receives the position after the string.
    """
    text = document.text
    work = document.work
    end = document.end
    mark = text[start]
    is_long = 1 if text[start + 1] == mark and text[start + 2] == mark else 0
    position = start + 3 if is_long else start + 1
    work[0] = QUOTE
    place = 1
    while position < end and place + 4 < document.work_room:
        byte = text[position]
        if byte == mark and (not is_long or (text[position + 1] == mark and text[position + 2] == mark)):
            work[place] = QUOTE
            document.after = position + 3 if is_long else position + 1
            return place + 1
        if byte == BACKSLASH:
            position = position + 1
            byte = text[position]
            if byte == LOWER_N:
                byte = NEWLINE
            elif byte == LOWER_R:
                byte = RETURN
            elif byte == LOWER_T:
                byte = TAB
            elif byte != QUOTE and byte != APOSTROPHE and byte != BACKSLASH:
                return BAD
        elif (byte > 127 and document.ascii_only) or (not is_long and (byte == NEWLINE or byte == RETURN)):
            return BAD
        if byte == QUOTE or byte == BACKSLASH or byte == NEWLINE or byte == RETURN:
            work[place] = BACKSLASH
            place = place + 1
            if byte == NEWLINE:
                byte = LOWER_N
            elif byte == RETURN:
                byte = LOWER_R
        work[place] = byte
        place = place + 1
        position = position + 1
    return BAD


@kernel
def copy_language(document: TurtleText, start: int, place: int) -> int:
    """Write a language tag in lower case to the work space, from a place on. Return the place after it, or BAD.

    ``document.after`` receives the position after the tag.
    """
    text = document.text
    classes = document.classes
    work = document.work
    position = start
    after = place
    while (position == start or classes[text[position]] & IN_LABEL or text[position] == MINUS) and after < document.work_room:
        byte = text[position]
        work[after] = byte + 32 if byte >= UPPER_A and byte <= UPPER_Z else byte
        position = position + 1
        after = after + 1
    work[after] = SPACE
    document.after = position
    return after if ends_token(text[position]) and language_end(classes, work, place) == after else BAD


@kernel
def copy_datatype(document: TurtleText, start: int, place: int) -> int:
    """Write ``^^`` and a datatype to the work space, from a place on. Return the place after it, or BAD.

    ``document.after`` receives the position after the datatype.
    """
    text = document.text
    work = document.work
    first = copy_bytes(text, start, start + 2, work, place)
    if text[start + 2] == LESS_THAN:
        after = iri_end(document.classes, text, start + 2)
        if after == BAD or first + after - start > document.work_room:
            return BAD
        end = copy_bytes(text, start + 2, after, work, first)
        document.after = after
    else:
        end = expand_name(document, start + 2, first)
    if end == BAD or is_language_type(work, end):
        return BAD
    is_string = end - first == document.string_type_length
    return place if is_string and same_bytes(work, first, document.string_type, 0, end - first) else end


@kernel
def read_literal(terms: Terms, document: TurtleText, start: int) -> int:
    """Return the id of a literal in quotation marks, or BAD or FULL. ``document.has_suffix`` receives whether it has a language or
    a datatype.
    """
    text = document.text
    end = string_end(text, start, document.ascii_only) if text[start] == QUOTE else BAD
    if end == start + 2 and text[end] == QUOTE:
        end = BAD
    document.has_suffix = 0
    if end != BAD:
        document.after = end
        if text[end] == AT:
            after = language_end(document.classes, text, end)
            if after != BAD:
                document.after = after
                document.has_suffix = 1
                return intern_span(terms, document, text, start, after, 0)
        elif text[end] != CARET:
            return intern_span(terms, document, text, start, end, 0)
        if end - start + 2 > document.work_room:
            return BAD
        length = copy_bytes(text, start, end, document.work, 0)
    else:
        length = copy_string(document, start)
        if length == BAD:
            return BAD
        end = document.after
    if text[end] == AT:
        length = copy_language(document, end, length)
        document.has_suffix = 1
    elif text[end] == CARET:
        length = copy_datatype(document, end, length) if text[end + 1] == CARET else BAD
        document.has_suffix = 1
    return BAD if length == BAD else intern_span(terms, document, document.work, 0, length, 0)


@kernel
def read_object(terms: Terms, document: TurtleText, start: int) -> int:
    """Return the id of an object, or BAD or FULL."""
    text = document.text
    byte = text[start]
    if byte == QUOTE or byte == APOSTROPHE:
        return read_literal(terms, document, start)
    if byte == PLUS or byte == MINUS or byte == DOT or document.classes[byte] & DIGIT:
        return read_number(terms, document, start)
    if byte == LOWER_T or byte == LOWER_F:
        end = letters_end(document.classes, text, start)
        is_truth = end == start + 4 and same_bytes(text, start, document.words, 0, 4)
        if (is_truth or (end == start + 5 and same_bytes(text, start, document.words, 4, 5))) and ends_token(text[end]):
            return intern_plain(terms, document, start, end, BOOLEAN)
    return read_node(terms, document, start)


@kernel
def read_property(terms: Terms, document: TurtleText, start: int) -> int:
    """Return the id of a property, or BAD or FULL."""
    following = document.text[start + 1]
    if document.text[start] == LOWER_A and (following == SPACE or following == TAB or following == NEWLINE):
        document.after = start + 1
        first = document.suffix_offsets[TYPE]
        return intern_span(terms, document, document.suffixes, first, document.suffix_offsets[TYPE + 1], 0)
    return read_iri(terms, document, start)
