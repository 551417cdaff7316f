"""A reader from plain Turtle and TriG directly to ids.

It accepts statements of a strict subset of Turtle: IRIs and names of plain ASCII, blank nodes, collections, strings without numeric
escapes, numbers and truth values. It stops before a statement with anything else, also before declarations: a full parser reads
that, up to where `statements_end` says. Of TriG, it also reads where graphs begin and end.
"""

from kg_reasoner.storage.kernels.ascii_bytes import (
    APOSTROPHE,
    BACKSLASH,
    BRACE,
    BRACKET,
    CLOSING_BRACE,
    CLOSING_BRACKET,
    CLOSING_PAREN,
    COLON,
    COMMA,
    DOT,
    GREATER,
    HASH,
    LESS_THAN,
    LOWER_G,
    NEWLINE,
    PAREN,
    QUOTE,
    SEMICOLON,
    UNDERSCORE,
)
from kg_reasoner.storage.kernels.decorators import brief_entry, entry, kernel
from kg_reasoner.storage.kernels.interning import copy_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.literal_values import write_digits
from kg_reasoner.storage.kernels.memory.structs import Bytes
from kg_reasoner.storage.kernels.readers.reader_results import ALL_READ, FRESH, FULL, NO_ROOM, STOPPED
from kg_reasoner.storage.kernels.readers.turtle_terms import (
    DEFAULT_GRAPH,
    FIRST,
    NIL,
    REST,
    TurtleText,
    intern_span,
    next_token,
    read_node,
    read_object,
    read_property,
)
from kg_reasoner.storage.kernels.token_ends import BAD, is_space

# what a statement goes on with, and what surrounds it
PROPERTY, OBJECT, AFTER, END = 0, 1, 2, 3
OBJECT_BRACKET, OBJECT_COLLECTION, SUBJECT_BRACKET, SUBJECT_COLLECTION = 1, 2, 3, 4


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
    if document.text[start] == BRACKET or document.text[start] == PAREN:
        return read_statement(terms, document, start)
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
def fresh_node(document: TurtleText) -> int:
    """Return a number for a node without a label, up to `FRESH`, which stands for its id until the statement ends."""
    document.fresh_count = document.fresh_count + 1
    return FRESH + 1 - document.fresh_count


@kernel
def intern_constant(terms: Terms, document: TurtleText, kind: int) -> int:
    """Return the id of a term of RDF's vocabulary, or FULL."""
    return intern_span(terms, document, document.suffixes, document.suffix_offsets[kind], document.suffix_offsets[kind + 1], 0)


@kernel
def intern_fresh(terms: Terms, document: TurtleText, number: int) -> int:
    """Return the id of the node without a label that has this number in the document, or FULL."""
    if document.scope_length < 0:
        document.need = -1
        return FULL
    work = document.work
    work[0] = UNDERSCORE
    work[1] = COLON
    place = copy_bytes(document.scope, 0, document.scope_length - 1, work, 2)  # without the underscore of those with a label
    work[place] = LOWER_G
    end = write_digits(number, work, place + 1)
    return intern_span(terms, document, work, 0, end, 0)


@kernel
def end_rows(terms: Terms, document: TurtleText) -> int:
    """Give the nodes without a label in the rows of a statement their ids, numbered by first occurrence, and publish the rows.

    Return 0, or FULL.
    """
    ids = document.fresh_ids
    for number in range(document.fresh_count):
        ids[number] = BAD
    known = document.fresh_before
    if document.fresh_count > 0:
        for number in range(document.row_count, document.end_of_rows):
            row = document.rows + document.width * number
            for column in range(0, 3, 2):
                if row[column] <= FRESH:
                    node = FRESH - row[column]
                    if ids[node] == BAD:
                        found = intern_fresh(terms, document, known)
                        if found < 0:
                            return found
                        ids[node] = found
                        known = known + 1
                    row[column] = ids[node]
    document.fresh_before = known
    document.row_count = document.end_of_rows
    return 0


@kernel
def add_row(document: TurtleText, subject: int, property: int, value: int) -> int:
    """Add a row to the statement; return 0, or FULL."""
    if document.end_of_rows == document.row_room or document.fresh_count > document.row_room:
        document.need = 0
        return FULL
    row = document.rows + document.width * document.end_of_rows
    row[0] = subject
    row[1] = property
    row[2] = value
    if document.width == 4:
        row[3] = document.graph
    document.end_of_rows = document.end_of_rows + 1
    return 0


@kernel
def end_token(document: TurtleText) -> int:
    """Reverse the rows that the last token has completed: the full parser returns them in this order, and numbers nodes by it."""
    first = document.first_of_token
    last = document.end_of_rows - 1
    document.first_of_token = document.end_of_rows
    while first < last:
        upper = document.rows + document.width * first
        lower = document.rows + document.width * last
        for column in range(3):
            cell = upper[column]
            upper[column] = lower[column]
            lower[column] = cell
        first = first + 1
        last = last - 1
    return 0


@kernel
def push(document: TurtleText, kind: int, subject: int, property: int) -> int:
    """Remember what surrounds an opening bracket; return 0, or BAD if there are too many."""
    if document.depth == document.deepest:
        return BAD
    document.depth = document.depth + 1
    frame = document.frames + 3 * document.depth
    frame[0] = kind
    frame[1] = subject
    frame[2] = property
    return 0


@kernel
def pop(document: TurtleText) -> int:
    """Return to what surrounds a closing bracket."""
    frame = document.frames + 3 * document.depth
    document.subject = frame[1]
    document.property = frame[2]
    document.depth = document.depth - 1
    return 0


@kernel
def ends_list(document: TurtleText, position: int) -> int:
    """Return whether a list of properties may end at a position."""
    byte = document.text[position]
    return 1 if byte == DOT or byte == CLOSING_BRACKET or ends_graph(document, position) else 0


@kernel
def begin_items(terms: Terms, document: TurtleText, node: int, position: int) -> int:
    """Go on with the first item of a collection, given its first node. Return the position, or FULL."""
    document.subject = node
    document.property = intern_constant(terms, document, FIRST)
    document.state = OBJECT
    return document.property if document.property < 0 else position


@kernel
def read_subject(terms: Terms, document: TurtleText, position: int) -> int:
    """Read a subject, or the beginning of one in brackets. Return the position after it, or BAD or FULL."""
    text = document.text
    byte = text[position]
    document.state = PROPERTY
    if byte != BRACKET and byte != PAREN:
        document.subject = read_node(terms, document, position)
        return document.subject if document.subject < 0 else next_token(document, document.after)
    if document.depth == document.deepest:
        return BAD
    position = next_token(document, position + 1)
    if byte == PAREN and text[position] == CLOSING_PAREN:
        return BAD
    node = fresh_node(document)
    document.subject = node
    if byte == BRACKET and text[position] == CLOSING_BRACKET:
        return next_token(document, position + 1)
    if push(document, SUBJECT_COLLECTION if byte == PAREN else SUBJECT_BRACKET, node, 0) == BAD:
        return BAD
    return begin_items(terms, document, node, position) if byte == PAREN else position


@kernel
def read_value(terms: Terms, document: TurtleText, position: int) -> int:
    """Read an object that is one token and add its row. Return the position of the token after it, or BAD or FULL."""
    byte = document.text[position]
    value = read_object(terms, document, position)
    if value < 0:
        return value
    position = document.after
    is_text = 1 if byte == QUOTE or byte == APOSTROPHE else 0
    if is_text:
        end_token(document)
    if add_row(document, document.subject, document.property, value) == FULL:
        return FULL
    if not is_text or document.has_suffix:
        end_token(document)  # only the token after a string without a suffix completes its row
    document.state = AFTER
    return next_token(document, position)


@kernel
def read_nested(terms: Terms, document: TurtleText, position: int) -> int:
    """Read the beginning of an object in brackets, or all of an empty one. Return the position after it, or BAD or FULL."""
    text = document.text
    byte = text[position]
    subject = document.subject
    property = document.property
    end_token(document)
    position = next_token(document, position + 1)
    if byte == BRACKET and text[position] != CLOSING_BRACKET:
        if push(document, OBJECT_BRACKET, subject, property) == BAD:
            return BAD
        document.subject = fresh_node(document)
        document.state = PROPERTY
        return position
    if byte == PAREN and text[position] != CLOSING_PAREN:
        node = fresh_node(document)
        if push(document, OBJECT_COLLECTION, subject, property) == BAD:
            return BAD
        if add_row(document, subject, property, node) == FULL:
            return FULL
        return begin_items(terms, document, node, position)
    if document.depth == document.deepest:
        return BAD
    value = fresh_node(document) if byte == BRACKET else intern_constant(terms, document, NIL)
    if value == FULL or value == BAD:
        return value
    if add_row(document, subject, property, value) == FULL:
        return FULL
    end_token(document)
    document.state = AFTER
    return next_token(document, position + 1)


@kernel
def read_after_item(terms: Terms, document: TurtleText, kind: int, position: int) -> int:
    """Go on with the next item of a collection, or after its end. Return the position, or BAD or FULL."""
    is_last = 1 if document.text[position] == CLOSING_PAREN else 0
    rest = intern_constant(terms, document, REST)
    if rest < 0:
        return rest
    node = intern_constant(terms, document, NIL) if is_last else fresh_node(document)
    if node == FULL or node == BAD:
        return node
    if add_row(document, document.subject, rest, node) == FULL:
        return FULL
    if not is_last:
        document.subject = node
        document.state = OBJECT
        return position
    end_token(document)
    pop(document)
    document.state = PROPERTY if kind == SUBJECT_COLLECTION else AFTER
    return next_token(document, position + 1)


@kernel
def end_bracket(document: TurtleText, kind: int, position: int) -> int:
    """End the properties of a node. Return the position after the bracket, or FULL."""
    node = document.subject
    pop(document)
    if kind == OBJECT_BRACKET and add_row(document, document.subject, document.property, node) == FULL:
        return FULL
    end_token(document)
    position = next_token(document, position + 1)
    if kind == SUBJECT_BRACKET:
        document.state = AFTER if ends_list(document, position) else PROPERTY
    return position


@kernel
def end_statement(terms: Terms, document: TurtleText, position: int) -> int:
    """End the statement. Return the position after it, or BAD or FULL."""
    if not ends_graph(document, position):
        if document.text[position] != DOT or not ends_statement(document, position + 1):
            return BAD
        position = position + 1
    end_token(document)
    document.state = END
    return FULL if end_rows(terms, document) == FULL else position


@kernel
def read_after_value(terms: Terms, document: TurtleText, position: int) -> int:
    """Read what follows an object. Return the position after it, or BAD or FULL."""
    text = document.text
    byte = text[position]
    kind = document.frames[3 * document.depth]
    if kind == OBJECT_COLLECTION or kind == SUBJECT_COLLECTION:
        return read_after_item(terms, document, kind, position)
    if byte == COMMA:
        end_token(document)
        document.state = OBJECT
        return next_token(document, position + 1)
    if byte == SEMICOLON:
        end_token(document)
        while text[position] == SEMICOLON:
            position = next_token(document, position + 1)
        document.state = AFTER if ends_list(document, position) else PROPERTY
        return position
    if document.depth == 0:
        return end_statement(terms, document, position)
    return end_bracket(document, kind, position) if byte == CLOSING_BRACKET else BAD


@kernel
def read_statement(terms: Terms, document: TurtleText, start: int) -> int:
    """Read a subject with its properties and objects. Return the position after the full stop, or BAD or FULL.

    The rows of brackets and collections have the order in which the full parser returns them.
    """
    text = document.text
    document.end_of_rows = document.row_count
    document.first_of_token = document.row_count
    document.fresh_count = 0
    document.depth = 0
    position = read_subject(terms, document, start)
    while position >= 0 and document.state != END:
        if document.state == PROPERTY:
            document.property = read_property(terms, document, position)
            if document.property < 0:
                return document.property
            position = next_token(document, document.after)
            document.state = OBJECT
        elif document.state == AFTER:
            position = read_after_value(terms, document, position)
        elif position >= document.end:
            return BAD
        elif text[position] == BRACKET or text[position] == PAREN:
            position = read_nested(terms, document, position)
        else:
            position = read_value(terms, document, position)
    return position


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
