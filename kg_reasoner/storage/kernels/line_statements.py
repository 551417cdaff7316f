"""A reader from lines of N-Triples and N-Quads directly to ids.

It accepts lines of the subset of `token_ends`, without comments behind a statement, and reports the byte ranges of all other lines
for a full parser.
"""

from kg_reasoner.storage.kernels.ascii_bytes import AT, CARET, DOT, HASH, LESS_THAN, NEWLINE, QUOTE, RETURN, UNDERSCORE
from kg_reasoner.storage.kernels.interning import intern, same_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.memory import Bytes, Int32s, Int64s, Struct, entry, kernel
from kg_reasoner.storage.kernels.token_ends import BAD, iri_end, is_language_type, label_end, language_end, skip_blanks, string_end

# what the reader says
DONE, IS_FULL, NEEDS_SCOPE, NEEDS_PARSER = 0, 1, 2, 3


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
    subject_start: int
    """The terms of the current line. The graph is empty in a line without one."""
    subject_end: int
    predicate_start: int
    predicate_end: int
    object_start: int
    object_end: int
    graph_start: int
    graph_end: int
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
    byte = text[start]
    if byte == LESS_THAN:
        position = iri_end(classes, text, start)
    elif byte == UNDERSCORE:
        position = label_end(classes, text, start)
    elif byte == QUOTE:
        position = string_end(text, start, lines.ascii_only)
    else:
        return BAD
    lines.object_start = start
    lines.object_end = position
    if byte != QUOTE or position == BAD:
        return position
    if text[position] == AT:
        position = language_end(classes, text, position)
        lines.object_end = position
    elif text[position] == CARET:
        if text[position + 1] != CARET or text[position + 2] != LESS_THAN:
            return BAD
        datatype = position + 2
        position = iri_end(classes, text, datatype)
        if position == BAD or is_language_type(text, position):
            return BAD
        length = position - datatype
        if length != lines.string_type_length or not same_bytes(text, datatype, lines.string_type, 0, length):
            lines.object_end = position
    return position


@kernel
def scan_line(lines: LineText, start: int) -> int:
    """Note where the terms of a line begin and end. Return the position after it, 0 if it is empty or a comment, or BAD."""
    classes = lines.classes
    text = lines.text
    position = skip_blanks(text, start)
    byte = text[position]
    if byte == NEWLINE or byte == HASH or (byte == RETURN and text[position + 1] == NEWLINE):
        return 0
    lines.subject_start = position
    length = lines.former_end - lines.former_start + 1  # with what follows it
    repeats = length > 1 and position + length < lines.end and same_bytes(text, position, text, lines.former_start, length)
    lines.repeats_subject = repeats
    position = position + length - 1 if repeats else node_end(classes, text, position)
    if position == BAD:
        return BAD
    lines.subject_end = position
    position = skip_blanks(text, position)
    if text[position] != LESS_THAN:
        return BAD
    lines.predicate_start = position
    position = iri_end(classes, text, position)
    if position == BAD:
        return BAD
    lines.predicate_end = position
    position = scan_object(lines, skip_blanks(text, position))
    if position == BAD:
        return BAD
    lines.graph_start = skip_blanks(text, position)
    if text[lines.graph_start] != DOT:
        position = node_end(classes, text, lines.graph_start)
        if position == BAD:
            return BAD
    lines.graph_end = position
    return triple_end(text, position)


@kernel
def intern_term(terms: Terms, lines: LineText, start: int, end: int) -> int:
    """Return the id of a term of the current line; -1 if it is a blank node and needs a scope."""
    scoped = lines.scope_length if lines.text[start] == UNDERSCORE else 0
    return intern(terms, lines.scope, scoped, lines.text, start, end) if scoped >= 0 else -1


@kernel
def intern_line(terms: Terms, lines: LineText, row: Int32s) -> int:
    """Write the ids of the terms of the current line to a row. Return whether that was possible: a blank node needs a scope."""
    subject = lines.former_id
    if not lines.repeats_subject:
        subject = intern_term(terms, lines, lines.subject_start, lines.subject_end)
        if subject < 0:
            return 0
    row[0] = subject
    row[1] = intern_term(terms, lines, lines.predicate_start, lines.predicate_end)
    value = intern_term(terms, lines, lines.object_start, lines.object_end)
    if value < 0:
        return 0
    row[2] = value
    if lines.width == 4:
        row[3] = -1
        if lines.graph_end > lines.graph_start:
            graph = intern_term(terms, lines, lines.graph_start, lines.graph_end)
            if graph < 0:
                return 0
            row[3] = graph
    lines.former_start = lines.subject_start
    lines.former_end = lines.subject_end
    lines.former_id = subject
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
    while lines.position < end:
        position = lines.position
        following = scan_line(lines, position)
        if following > 0 and width == 3 and lines.graph_end > lines.graph_start:
            following = BAD
        if following > 0:
            if lines.reject_count > 0:
                return NEEDS_PARSER
            number = lines.row_count
            growth = following - position + 3 * lines.scope_length
            no_room = terms.count + 4 > terms.room or terms.offsets[terms.count] + growth > terms.text_capacity
            if number >= lines.row_room or no_room:
                return IS_FULL
            if not intern_line(terms, lines, lines.rows + width * number):
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
