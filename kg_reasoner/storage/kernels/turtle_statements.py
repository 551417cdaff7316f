"""A reader from plain Turtle and TriG directly to ids.

It accepts statements of a strict subset of Turtle: IRIs and names of plain ASCII, labelled blank nodes, short strings in double
quotation marks, numbers and truth values. It stops before a statement with anything else, also before declarations, brackets and
parentheses: a full parser reads that, up to where `statements_end` says. Of TriG, it also reads where graphs begin and end.
"""

from kg_reasoner.storage.kernels.interning import (
    AT,
    BACKSLASH,
    BAD,
    CARET,
    COLON,
    DIGIT,
    DOT,
    GREATER,
    HASH,
    IN_LABEL,
    LESS_THAN,
    MINUS,
    NEWLINE,
    QUOTE,
    RETURN,
    SPACE,
    TAB,
    UNDERSCORE,
    intern,
    iri_end,
    is_language_type,
    language_end,
    letters_end,
    same_bytes,
    string_end,
)
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.memory import Bytes, Int32s, Int64s, Struct, brief_entry, entry, kernel
from kg_reasoner.storage.kernels.triple_texts import COMMA, LOWER_A, PLUS, SEMICOLON, copy_bytes

APOSTROPHE, PAREN, CLOSING_PAREN, BRACKET, CLOSING_BRACKET, BRACE, CLOSING_BRACE = 39, 40, 41, 91, 93, 123, 125
LOWER_E, LOWER_F, LOWER_T, UPPER_E = 101, 102, 116, 69
DIGIT_0, DIGIT_9 = 48, 57

FULL = -2
"""In place of an id: the tables have no room for the term."""

# the datatypes of literals without quotation marks, in the order of their texts in `suffixes`, and the text of rdf:type
INTEGER, DECIMAL, DOUBLE, BOOLEAN, TYPE = 0, 1, 2, 3, 4

DEFAULT_GRAPH = -1

LONGEST_LABEL = 15
"""Longer labels of hexadecimal digits may be taken for those that pyoxigraph makes."""

# what the reader says
ALL_READ, STOPPED, NO_ROOM = 0, 1, 2


class TurtleText(Struct):
    """A part of a Turtle document: `text` up to `end`, where a line break follows, and what is needed to read it.

    `suffixes` are the texts of some literals from the closing quotation mark on, and of rdf:type; `words` is "truefalsegraph". The
    namespaces begin with ``<``.
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


@kernel
def is_space(byte: int) -> int:
    """Return whether a byte is a space, a tab or a line break."""
    return 1 if byte == SPACE or byte == NEWLINE or byte == TAB or byte == RETURN else 0


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
def may_be_made_by_parser(text: Bytes, start: int, end: int) -> int:
    """Return whether a label may be taken for one that pyoxigraph makes: hexadecimal digits that begin with a letter."""
    if end - start <= LONGEST_LABEL or text[start] < LOWER_A:
        return 0
    for position in range(start, end):
        byte = text[position]
        if byte > LOWER_F or (byte < LOWER_A and (byte < DIGIT_0 or byte > DIGIT_9)):
            return 0
    return 1


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
def read_literal(terms: Terms, document: TurtleText, start: int) -> int:
    """Return the id of a literal in double quotation marks, or BAD or FULL."""
    text = document.text
    classes = document.classes
    end = string_end(text, start, document.ascii_only)
    if end == BAD or (end == start + 2 and text[end] == QUOTE):
        return BAD
    document.after = end
    if text[end] == AT:
        end = language_end(classes, text, end)
        document.after = end
        return BAD if end == BAD else intern_span(terms, document, text, start, end, 0)
    if text[end] != CARET:
        return intern_span(terms, document, text, start, end, 0)
    if text[end + 1] != CARET:
        return BAD
    datatype = end + 2
    length = end - start + 2
    if length > document.work_room:
        return BAD
    work = document.work
    if text[datatype] == LESS_THAN:
        after = iri_end(classes, text, datatype)
        if after == BAD or length + after - datatype > document.work_room:
            return BAD
        place = copy_bytes(text, start, after, work, 0)
        document.after = after
    else:
        copy_bytes(text, start, datatype, work, 0)
        place = expand_name(document, datatype, length)
        if place == BAD:
            return BAD
    if is_language_type(work, place):
        return BAD
    is_string = place - length == document.string_type_length
    if is_string and same_bytes(work, length, document.string_type, 0, document.string_type_length):
        place = length - 2
    return intern_span(terms, document, work, 0, place, 0)


@kernel
def read_object(terms: Terms, document: TurtleText, start: int) -> int:
    """Return the id of an object, or BAD or FULL."""
    text = document.text
    byte = text[start]
    if byte == QUOTE:
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


@kernel
def ends_statement(document: TurtleText, position: int) -> int:
    """Return whether a full stop before a position is the end of a statement, not part of a number or name."""
    return document.is_last if position == document.end else is_space(document.text[position])


@kernel
def ends_graph(document: TurtleText, position: int) -> int:
    """Return whether a graph ends at a position."""
    return 1 if document.in_graph and position < document.end and document.text[position] == CLOSING_BRACE else 0


@kernel
def keyword_end(document: TurtleText, start: int) -> int:
    """Return the position after the keyword GRAPH, or the start if it is not there."""
    text = document.text
    is_there = is_space(text[start + 5])
    for place in range(5):
        if text[start + place] | 32 != document.words[9 + place]:  # in capital letters, too
            is_there = 0
    return start + 5 if is_there else start


@kernel
def read_in_graph(terms: Terms, document: TurtleText, start: int) -> int:
    """Read the beginning or the end of a graph, or a statement in it. Return the position after it, or BAD or FULL."""
    if document.in_graph:
        if document.text[start] != CLOSING_BRACE:
            return read_statement(terms, document, start)
        document.in_graph = 0
        document.graph = DEFAULT_GRAPH
        return start + 1
    graph = DEFAULT_GRAPH
    position = start
    if document.text[start] != BRACE:
        position = next_token(document, keyword_end(document, start))
        is_named = position > start
        graph = read_node(terms, document, position)
        if graph < 0:
            return graph
        position = next_token(document, document.after)
        if position >= document.end or document.text[position] != BRACE:
            return BAD if is_named else read_statement(terms, document, start)
    document.in_graph = 1
    document.graph = graph
    return position + 1


@kernel
def read_statement(terms: Terms, document: TurtleText, start: int) -> int:
    """Read a subject with its properties and objects. Return the position after the full stop, or BAD or FULL."""
    text = document.text
    count = document.row_count
    subject = read_node(terms, document, start)
    if subject < 0:
        return subject
    position = next_token(document, document.after)
    while True:
        property = read_property(terms, document, position)
        if property < 0:
            return property
        position = document.after
        while True:
            value = read_object(terms, document, next_token(document, position))
            if value < 0:
                return value
            if count == document.row_room:
                document.need = 0
                return FULL
            row = document.rows + document.width * count
            row[0] = subject
            row[1] = property
            row[2] = value
            if document.width == 4:
                row[3] = document.graph
            count = count + 1
            position = next_token(document, document.after)
            if text[position] != COMMA:
                break
            position = position + 1
        if text[position] == SEMICOLON:
            while text[position] == SEMICOLON:
                position = next_token(document, position + 1)
        elif text[position] != DOT and not ends_graph(document, position):
            return BAD
        if text[position] == DOT or ends_graph(document, position):
            break
    if ends_graph(document, position):
        document.row_count = count
        return position
    if not ends_statement(document, position + 1):
        return BAD
    document.row_count = count
    return position + 1


@entry
def read_turtle(terms: Terms, document: TurtleText) -> int:
    """Read statements into rows of ids from ``document.position`` on, which moves to the first that is not read.

    Return ALL_READ; STOPPED, if a full parser or more text is needed; or NO_ROOM: for a text of ``document.need`` bytes, for rows
    (0), or because the scope of blank nodes is needed, which has no length yet (-1).
    """
    while True:
        position = next_token(document, document.position)
        if position == document.end:
            return ALL_READ
        following = read_statement(terms, document, position) if document.width == 3 else read_in_graph(terms, document, position)
        if following == FULL:
            return NO_ROOM
        if following == BAD:
            document.position = position
            return STOPPED
        document.position = following


@kernel
def string_passed(text: Bytes, start: int, end: int) -> int:
    """Return the position after a string in any quotation marks, or the end."""
    quote = text[start]
    if text[start + 1] == quote and text[start + 2] != quote:
        return start + 2
    is_long = text[start + 1] == quote
    position = start + 3 if is_long else start + 1
    while position < end:
        byte = text[position]
        if byte == BACKSLASH:
            position = position + 1
        elif byte == quote and not is_long:
            return position + 1
        elif byte == quote and text[position + 1] == quote and text[position + 2] == quote:
            return position + 3
        elif byte == NEWLINE and not is_long:
            return position
        position = position + 1
    return end


@brief_entry
def statements_end(document: TurtleText, start: int, least: int) -> int:
    """Return where a statement ends that a full parser may read last: the first that ends at least `least` bytes after the start,
    or the last one; 0 if none ends.

    A full stop ends a statement outside of brackets, strings, IRIs and comments, before a space or line break. In TriG, the end of
    a graph ends what is in it, a graph that begins here ends behind its brace, and what is before a graph ends before its name.
    """
    text = document.text
    end = document.end
    depth = 0
    last = 0
    position = start
    while position < end:
        byte = text[position]
        if byte == HASH:
            position = next_token(document, position)
        elif byte == QUOTE or byte == APOSTROPHE:
            position = string_passed(text, position, end)
        elif byte == LESS_THAN:
            while position < end and text[position] != GREATER and text[position] != NEWLINE:
                position = position + 1
            position = position + 1
        elif byte == BACKSLASH:
            position = position + 2
        else:
            position = position + 1
            if byte == CLOSING_BRACE and document.width == 4:
                if depth <= 0:
                    return position - 1
                if depth == 1 and position - start >= least:
                    return position
                if depth == 1:
                    last = position
            if byte == BRACE and document.width == 4 and depth == 0 and last > 0:
                return last
            if byte == PAREN or byte == BRACKET or byte == BRACE:
                depth = depth + 1
            elif byte == CLOSING_PAREN or byte == CLOSING_BRACKET or byte == CLOSING_BRACE:
                depth = depth - 1
            elif byte == DOT and depth <= 0 and ends_statement(document, position):
                last = position
                if position - start >= least:
                    return position
    return last
