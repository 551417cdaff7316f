"""A reader from lines of N-Triples and N-Quads directly to ids.

It accepts lines of the subset of `token_ends`, without comments behind a statement, and reports the byte ranges of all other lines
for a full parser.
"""

from kg_reasoner.storage.kernels.ascii_bytes import AT, CARET, DOT, HASH, LESS_THAN, NEWLINE, QUOTE, RETURN, UNDERSCORE
from kg_reasoner.storage.kernels.decorators import entry, kernel
from kg_reasoner.storage.kernels.interning import intern, same_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Int64s, Struct
from kg_reasoner.storage.kernels.token_ends import BAD, iri_end, is_language_type, label_end, language_end, skip_blanks, string_end

# what the reader says
DONE, IS_FULL, NEEDS_SCOPE, NEEDS_PARSER = 0, 1, 2, 3

# the terms of a line, by the places of their spans; the graph is empty in a line without one
SUBJECT, PREDICATE, OBJECT, GRAPH = 0, 2, 4, 6


class LineText(Struct):
    """Lines of N-Triples or N-Quads: `text` up to `end`, the end of a line, and the state for reading it."""

    classes: Bytes
    text: Bytes
    end: int
    ascii_only: int
    position: int
    line_count: int
    """The number of lines read."""
    scope: Bytes
    scope_length: int
    """The length of what the labels of blank nodes begin with; -1: it is not known yet."""
    string_type: Bytes
    """The IRI of xsd:string, which literals are stored without."""
    string_type_length: int
    width: int
    """The ids of a row: 3, or 4 for N-Quads."""
    rows: Int32s
    row_room: int
    row_count: int
    rejects: Int64s
    """Where each line that needs a full parser begins and ends."""
    reject_room: int
    reject_count: int
    spans: Int64s
    """Where each term of the current line begins and ends (see `SUBJECT` and so on)."""
    repeats_subject: int
    """1: the subject is that of the line before."""
    former_start: int
    """The subject of the line before."""
    former_end: int
    former_id: int


@kernel
def line_end(text: Bytes, position: int, end: int) -> int:
    """Return the position after the line break of a line."""
    while position < end and text[position] != NEWLINE:
        position = position + 1
    return position + 1


@kernel
def triple_end(text: Bytes, position: int) -> int:
    """Return the position after the line break if only a full stop and blanks precede it, else BAD."""
    position = skip_blanks(text, position)
    if text[position] != DOT:
        return BAD
    position = skip_blanks(text, position + 1)
    if text[position] == RETURN:
        position = position + 1
    return position + 1 if text[position] == NEWLINE else BAD


@kernel
def node_end(classes: Bytes, text: Bytes, start: int) -> int:
    """Return the position after an IRI or a blank node, or BAD."""
    byte = text[start]
    if byte == LESS_THAN:
        return iri_end(classes, text, start)
    return label_end(classes, text, start) if byte == UNDERSCORE else BAD


@kernel
def scan_object(lines: LineText, start: int) -> int:
    """Return the position after the object at a position, or BAD. It is noted without the datatype xsd:string."""
    classes = lines.classes
    text = lines.text
    spans = lines.spans
    byte = text[start]
    if byte == LESS_THAN:
        position = iri_end(classes, text, start)
    elif byte == UNDERSCORE:
        position = label_end(classes, text, start)
    elif byte == QUOTE:
        position = string_end(text, start, lines.ascii_only)
    else:
        return BAD
    spans[OBJECT] = start
    spans[OBJECT + 1] = position
    if byte != QUOTE or position == BAD:
        return position
    if text[position] == AT:
        position = language_end(classes, text, position)
        spans[OBJECT + 1] = position
    elif text[position] == CARET:
        if text[position + 1] != CARET or text[position + 2] != LESS_THAN:
            return BAD
        datatype = position + 2
        position = iri_end(classes, text, datatype)
        if position == BAD or is_language_type(text, position):
            return BAD
        length = position - datatype
        if length != lines.string_type_length or not same_bytes(text, datatype, lines.string_type, 0, length):
            spans[OBJECT + 1] = position
    return position


@kernel
def scan_line(lines: LineText, start: int) -> int:
    """Note where the terms of a line begin and end. Return the position after it, 0 if it is empty or a comment, or BAD."""
    classes = lines.classes
    text = lines.text
    spans = lines.spans
    position = skip_blanks(text, start)
    byte = text[position]
    if byte == NEWLINE or byte == HASH or (byte == RETURN and text[position + 1] == NEWLINE):
        return 0
    spans[SUBJECT] = position
    length = lines.former_end - lines.former_start + 1  # with what follows it
    repeats = length > 1 and position + length < lines.end and same_bytes(text, position, text, lines.former_start, length)
    lines.repeats_subject = repeats
    position = position + length - 1 if repeats else node_end(classes, text, position)
    if position == BAD:
        return BAD
    spans[SUBJECT + 1] = position
    position = skip_blanks(text, position)
    if text[position] != LESS_THAN:
        return BAD
    spans[PREDICATE] = position
    position = iri_end(classes, text, position)
    if position == BAD:
        return BAD
    spans[PREDICATE + 1] = position
    position = scan_object(lines, skip_blanks(text, position))
    if position == BAD:
        return BAD
    spans[GRAPH] = skip_blanks(text, position)
    if text[spans[GRAPH]] != DOT:
        position = node_end(classes, text, spans[GRAPH])
        if position == BAD:
            return BAD
    spans[GRAPH + 1] = position
    return triple_end(text, position)


@kernel
def intern_line(terms: Terms, lines: LineText, end: int, row: Int32s) -> int:
    """Write the ids of the terms of the current line, those with spans before `end`, to a row. Return whether that was possible: a
    blank node needs a scope.
    """
    text = lines.text
    spans = lines.spans
    first = SUBJECT
    if lines.repeats_subject:
        row[0] = lines.former_id
        first = PREDICATE
    for place in range(first, end, 2):
        scoped = lines.scope_length if text[spans[place]] == UNDERSCORE else 0
        if scoped < 0:
            return 0
        row[place >> 1] = intern(terms, lines.scope, scoped, text, spans[place], spans[place + 1])
    lines.former_start = spans[SUBJECT]
    lines.former_end = spans[SUBJECT + 1]
    lines.former_id = row[0]
    return 1


@entry
def read_lines(terms: Terms, lines: LineText) -> int:
    """Read whole lines, including the final line break, into rows of ids: three of N-Triples, four of N-Quads.

    Return DONE, or IS_FULL (grow what is full, call again), or NEEDS_SCOPE if a blank node is met and the scope is not known, or
    NEEDS_PARSER if lines follow behind those whose byte ranges are in `rejects`: terms get their ids in the order of lines.
    """
    text = lines.text
    end = lines.end
    width = lines.width
    spans = lines.spans
    while lines.position < end:
        position = lines.position
        following = scan_line(lines, position)
        has_graph = following > 0 and spans[GRAPH + 1] > spans[GRAPH]
        if has_graph and width == 3:
            following = BAD
        if following > 0:
            if lines.reject_count > 0:
                return NEEDS_PARSER
            number = lines.row_count
            growth = following - position + 3 * lines.scope_length
            no_room = terms.count + 4 > terms.room or terms.offsets[terms.count] + growth > terms.text_capacity
            if number >= lines.row_room or no_room:
                return IS_FULL
            row = lines.rows + width * number
            if width == 4:
                row[3] = -1
            if not intern_line(terms, lines, GRAPH + 2 * has_graph, row):
                return NEEDS_SCOPE
            lines.row_count = number + 1
        else:
            is_blank = following == 0
            following = line_end(text, position, end)
            if not is_blank:
                number = lines.reject_count
                if number >= lines.reject_room:
                    return IS_FULL
                lines.rejects[2 * number] = position
                lines.rejects[2 * number + 1] = following if following < end else end
                lines.reject_count = number + 1
        lines.position = following
        lines.line_count = lines.line_count + 1
    return DONE
