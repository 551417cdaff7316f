"""A reader from RDF/XML directly to ids.

It reads the elements inside of rdf:RDF one by one, and stops before one with anything unusual in it: a full parser reads that, up
to where `elements_end` says. Rows have the order in which the full parser returns triples: the last first of those that a tag
completes.
"""

from kg_reasoner.storage.kernels.ascii_bytes import (
    BACKSLASH,
    BRACKET,
    COLON,
    EXCLAMATION,
    GREATER,
    LESS_THAN,
    QUESTION,
    QUOTE,
    SLASH,
    SPACE,
    TAB,
)
from kg_reasoner.storage.kernels.decorators import brief_entry, entry, kernel, rare_kernel
from kg_reasoner.storage.kernels.interning import same_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.memory.structs import Bytes
from kg_reasoner.storage.kernels.readers.rdfxml_terms import (
    constant_id,
    intern_literal,
    labelled_node,
    member_property,
    named_id,
    new_node,
    node_id,
    property_value,
    resource_id,
)
from kg_reasoner.storage.kernels.readers.reader_results import ALL_READ, FULL, NO_ROOM, STOPPED
from kg_reasoner.storage.kernels.readers.xml_markup import (
    ATTRIBUTE,
    COLLECTION,
    NODE,
    PROPERTY,
    ROOT,
    TAKEN,
    Element,
    XmlText,
    blanks_end,
    comment_end,
    copy_few,
    name_end,
    next_markup,
    put_section,
    put_text,
    skipped_to,
)
from kg_reasoner.storage.kernels.readers.xml_names import (
    ABOUT,
    COLLECTION_TYPE,
    DATATYPE,
    DESCRIPTION,
    DOCUMENT,
    FIRST,
    ID,
    ITEM,
    NIL,
    NODE_ID,
    OBJECT_OF,
    ORDINARY,
    PARSE_TYPE,
    PREDICATE_OF,
    RESOURCE,
    RESOURCE_TYPE,
    REST,
    SECTION,
    STATEMENT,
    SUBJECT_OF,
    TYPE,
    TYPE_NAME,
    declare_base,
    is_constant,
    put_resolved,
    read_attributes,
    read_name,
    read_unqualified,
)
from kg_reasoner.storage.kernels.token_ends import BAD

LITERAL = -2
"""In place of the id of a value: the text of the element is the value."""


@kernel
def add_triple(terms: Terms, document: XmlText, subject: int, property: int, value: int) -> int:
    """Add a row; return 0, or FULL, also if the id of a constant is."""
    if property == FULL or value == FULL:
        return FULL
    if document.end_of_rows == document.row_room:
        document.need = 0
        return FULL
    subject = node_id(terms, document, subject)
    value = node_id(terms, document, value)
    if subject == FULL or value == FULL:
        return FULL
    row = document.rows + 3 * document.end_of_rows
    row[0] = subject
    row[1] = property
    row[2] = value
    document.end_of_rows = document.end_of_rows + 1
    return 0


@kernel
def add_constant_triple(terms: Terms, document: XmlText, subject: int, number: int, value: int) -> int:
    """Add a row whose property is a constant; return 0, or FULL."""
    return add_triple(terms, document, subject, constant_id(terms, document, number), value)


@kernel
def add_statement(terms: Terms, document: XmlText, element: Element, value: int) -> int:
    """Add the triple of a property element, and those that describe it if it has a name; return 0, or FULL."""
    subject = element.subject
    property = element.property
    if add_triple(terms, document, subject, property, value) == FULL:
        return FULL
    name = element.statement
    if name == BAD:
        return 0
    if add_constant_triple(terms, document, name, OBJECT_OF, value) == FULL:
        return FULL
    if add_constant_triple(terms, document, name, PREDICATE_OF, property) == FULL:
        return FULL
    if add_constant_triple(terms, document, name, SUBJECT_OF, subject) == FULL:
        return FULL
    return add_constant_triple(terms, document, name, TYPE, constant_id(terms, document, STATEMENT))


@kernel
def is_blank_literal(document: XmlText) -> int:
    """Return whether the literal that is being read has white space only."""
    work = document.work
    position = 1
    end = document.text_end
    while position < end:
        byte = work[position]
        if byte == BACKSLASH and work[position + 1] != QUOTE and work[position + 1] != BACKSLASH:
            position = position + 1
        elif byte != SPACE and byte != TAB:
            return 0
        position = position + 1
    return 1


@kernel
def read_text(document: XmlText, position: int) -> int:
    """Read the text of an element, up to the next tag, behind the part that has been read. Return where the tag begins, or BAD."""
    text = document.text
    while True:
        place = put_text(document, position, document.end, document.text_end, 0)
        if place == BAD:
            return BAD
        document.text_end = place
        position = document.after
        following = text[position + 1]
        if position >= document.end:
            return BAD
        if following == EXCLAMATION and text[position + 2] == BRACKET:
            if not is_constant(document, SECTION, position, position + 9):
                return BAD
            document.text_end = put_section(document, position, place)
            if document.text_end == BAD:
                return BAD
            position = document.after
        elif following == EXCLAMATION or following == QUESTION:
            position = comment_end(document, position)
            if position == BAD:
                return BAD
        else:
            return position


@kernel
def open_element(document: XmlText, start: int, end: int) -> int:
    """Begin an element inside the current one; return 0, or BAD if it is too deep."""
    if document.depth + 1 >= document.deepest:
        return BAD
    document.depth = document.depth + 1
    element = document.elements[document.depth]
    element.name = start
    element.name_end = end
    element.bindings = document.binding_count
    element.held_length = document.held_length
    element.base = document.base
    element.base_end = document.base_end
    element.directory_end = document.directory_end
    element.language = document.language
    element.language_end = document.language_end
    element.object = BAD
    element.statement = BAD
    element.counter = 0
    element.datatype = 0
    element.datatype_end = 0
    return 0


@kernel
def close_element(document: XmlText) -> int:
    """Forget the current element and its declarations."""
    element = document.elements[document.depth]
    document.binding_count = element.bindings
    document.held_length = element.held_length
    document.base = element.base
    document.base_end = element.base_end
    document.directory_end = element.directory_end
    document.language = element.language
    document.language_end = element.language_end
    document.depth = document.depth - 1
    return 0


@kernel
def has_prefix(document: XmlText, start: int, end: int) -> int:
    """Return whether a name has a prefix."""
    for position in range(start, end):
        if document.text[position] == COLON:
            return 1
    return 0


@kernel
def add_property_attribute(terms: Terms, document: XmlText, property: int, value: int, value_end: int) -> int:
    """Keep the property and the literal of an attribute; return 0, or BAD if the tag has the property already, or FULL."""
    pairs = document.properties
    count = document.property_count
    for other in range(count):
        if pairs[2 * other] == property:
            return BAD
    literal = property_value(terms, document, value, value_end)
    if literal < 0:
        return literal
    pairs[2 * count] = property
    pairs[2 * count + 1] = literal
    document.property_count = count + 1
    return 0


@kernel
def hold_datatype(document: XmlText, element: Element, value: int, value_end: int) -> int:
    """Keep the datatype of an element; return 0, or BAD."""
    if element.datatype_end > 0:
        return BAD
    last = put_resolved(document, value, value_end)
    if last == BAD or document.held_length + last + 16 > document.held_room:
        return BAD
    element.datatype = document.held_length
    element.datatype_end = copy_few(document.work, document.first, last, document.held, document.held_length)
    document.held_length = element.datatype_end
    return 0


@kernel
def read_parse_type(document: XmlText, value: int, value_end: int) -> int:
    """Read the kind of the content of a property element; return 0, or BAD."""
    if document.parse_type:
        return BAD
    if is_constant(document, RESOURCE_TYPE, value, value_end):
        document.parse_type = RESOURCE_TYPE
    elif is_constant(document, COLLECTION_TYPE, value, value_end):
        document.parse_type = COLLECTION_TYPE
    return 0 if document.parse_type else BAD


@kernel
def read_attribute(terms: Terms, document: XmlText, element: Element, is_property: int, number: int) -> int:
    """Read an attribute that is no declaration; return 0, or BAD or FULL."""
    attribute = document.attributes + ATTRIBUTE * number
    value = attribute[2]
    value_end = attribute[3]
    if value == TAKEN:
        return 0
    if has_prefix(document, attribute[0], attribute[1]):
        property = read_name(terms, document, attribute[0], attribute[1])
    else:
        property = read_unqualified(document, attribute[0], attribute[1])
    if property < 0:
        return property
    role = document.kind
    if role == ORDINARY:
        return add_property_attribute(terms, document, property, value, value_end)
    if role == TYPE_NAME:
        if document.type != BAD:
            return BAD
        document.type = resource_id(terms, document, value, value_end)
        return document.type if document.type < 0 else 0
    if is_property and role == ID:
        if element.statement != BAD:
            return BAD
        element.statement = named_id(terms, document, value, value_end)
        return element.statement if element.statement < 0 else 0
    if is_property and role == DATATYPE:
        return hold_datatype(document, element, value, value_end)
    if is_property and role == PARSE_TYPE:
        return read_parse_type(document, value, value_end)
    if document.node != BAD:
        return BAD
    if role == NODE_ID:
        document.node = labelled_node(terms, document, value, value_end)
    elif role == ID:
        document.node = named_id(terms, document, value, value_end)
    elif role == (RESOURCE if is_property else ABOUT):
        document.node = resource_id(terms, document, value, value_end)
    return document.node if document.node < 0 else 0


@kernel
def begin_property(terms: Terms, document: XmlText, element: Element, around: Element, property: int) -> int:
    """Begin a property element with the attributes that have been read; return 0, or BAD or FULL."""
    element.kind = PROPERTY
    element.subject = around.subject
    element.property = property
    if property == FULL:
        return FULL
    has_value = 1 if document.node != BAD or document.property_count > 0 or document.type != BAD else 0
    is_text = 1 if not has_value and not document.parse_type else 0
    if (has_value and document.parse_type) or (element.datatype_end > 0 and not is_text):
        return BAD
    if is_text:
        element.object = LITERAL
        document.work[0] = QUOTE
        document.text_end = 1
        return 0
    if document.parse_type == COLLECTION_TYPE:
        element.kind = COLLECTION
        element.counter = document.item_count
        return 0
    if document.node == BAD:
        document.node = new_node(document)
        if document.node == FULL:
            return FULL
    if not document.parse_type:
        element.object = document.node
        return 0
    element.kind = NODE
    if add_statement(terms, document, element, document.node) == FULL:
        return FULL
    element.subject = document.node
    return 0


@kernel
def begin_node(terms: Terms, document: XmlText, element: Element, type: int) -> int:
    """Begin a node element, whose name is a type unless that is BAD; return 0, or FULL."""
    if document.node == BAD:
        document.node = new_node(document)
        if document.node == FULL:
            return FULL
    element.kind = NODE
    element.subject = document.node
    return 0 if type == BAD else add_constant_triple(terms, document, document.node, TYPE, type)


@kernel
def add_attributes(terms: Terms, document: XmlText) -> int:
    """Add the triples of attributes, which are about the node of the tag; return 0, or FULL."""
    if document.type != BAD and add_constant_triple(terms, document, document.node, TYPE, document.type) == FULL:
        return FULL
    while document.property_count > 0:
        document.property_count = document.property_count - 1
        pair = document.properties + 2 * document.property_count
        if add_triple(terms, document, document.node, pair[0], pair[1]) == FULL:
            return FULL
    return 0


@kernel
def read_start(terms: Terms, document: XmlText, start: int) -> int:
    """Read a start tag, which may be empty. Return the position after it, or BAD or FULL."""
    around = document.elements[document.depth]
    is_property = 1 if around.kind == NODE else 0
    if around.kind == PROPERTY and (around.object != LITERAL or not is_blank_literal(document)):
        return BAD
    end = name_end(document, start + 1)
    if end == BAD or open_element(document, start + 1, end) == BAD:
        return BAD
    element = document.elements[document.depth]
    following = read_attributes(document, end)
    if following < 0:
        return following
    name = read_name(terms, document, start + 1, end)
    if name < 0:
        return name
    kind = document.kind
    if kind > DESCRIPTION and kind != TYPE_NAME and (kind != ITEM or not is_property):
        return BAD
    if is_property and kind == DESCRIPTION:
        return BAD
    document.node = BAD
    document.type = BAD
    document.parse_type = 0
    document.property_count = 0
    for number in range(document.attribute_count):
        result = read_attribute(terms, document, element, is_property, number)
        if result < 0:
            return result
    if is_property:
        property = member_property(terms, document, around) if kind == ITEM else name
        result = begin_property(terms, document, element, around, property)
    else:
        result = begin_node(terms, document, element, BAD if kind == DESCRIPTION else name)
    if result < 0:
        return result
    return FULL if add_attributes(terms, document) == FULL else following


@rare_kernel
def end_collection(terms: Terms, document: XmlText, element: Element) -> int:
    """Add the rows of a list; return 0, or FULL."""
    item = element.counter
    last = document.item_count
    document.item_count = item
    node = constant_id(terms, document, NIL) if item == last else new_node(document)
    if node == FULL or add_statement(terms, document, element, node) == FULL:
        return FULL
    while item < last:
        rest = constant_id(terms, document, NIL) if item + 1 == last else new_node(document)
        if rest == FULL or add_constant_triple(terms, document, node, REST, rest) == FULL:
            return FULL
        if add_constant_triple(terms, document, node, FIRST, document.items[item]) == FULL:
            return FULL
        node = rest
        item = item + 1
    return 0


@kernel
def end_element(terms: Terms, document: XmlText) -> int:
    """End the current element: give the one around it its value, or add its rows. Return 0, or BAD or FULL."""
    element = document.elements[document.depth]
    if element.kind == NODE:
        around = document.elements[document.depth - 1]
        if around.kind == PROPERTY:
            around.object = element.subject
        elif around.kind == COLLECTION:
            if document.item_count == document.row_room:
                document.need = 0
                return FULL
            document.items[document.item_count] = element.subject
            document.item_count = document.item_count + 1
        return close_element(document)
    if element.kind == COLLECTION:
        if end_collection(terms, document, element) == FULL:
            return FULL
        return close_element(document)
    value = element.object
    if value == LITERAL:
        value = intern_literal(terms, document, document.text_end, element.datatype, element.datatype_end)
        if value < 0:
            return value
    if add_statement(terms, document, element, value) == FULL:
        return FULL
    return close_element(document)


@kernel
def end_tag_end(document: XmlText, start: int, names: Bytes, name: int, last: int) -> int:
    """Return the position after an end tag, which must have a name; or BAD."""
    end = start + 2 + last - name
    if end >= document.end or not same_bytes(document.text, start + 2, names, name, last - name):
        return BAD
    position = blanks_end(document, end)
    return position + 1 if document.text[position] == GREATER else BAD


@kernel
def read_element(terms: Terms, document: XmlText, start: int) -> int:
    """Read an element of rdf:RDF with all that is in it. Return the position after it, or BAD or FULL."""
    text = document.text
    position = start
    while True:
        position = read_start(terms, document, position)
        if position < 0:
            return position
        has_ended = document.is_empty
        while True:
            if not has_ended:
                element = document.elements[document.depth]
                is_text = 1 if element.kind == PROPERTY and element.object == LITERAL else 0
                position = read_text(document, position) if is_text else next_markup(document, position)
                if position == BAD or text[position] != LESS_THAN:
                    return BAD
                if text[position + 1] != SLASH:
                    break
                position = end_tag_end(document, position, text, element.name, element.name_end)
                if position == BAD:
                    return BAD
            ended = end_element(terms, document)
            if ended < 0:
                return ended
            if document.depth == 0:
                return position
            has_ended = 0


@entry
def read_rdfxml(terms: Terms, document: XmlText) -> int:
    """Read elements into rows of ids from ``document.position`` on, which moves to the first that is not read.

    Return ALL_READ; STOPPED, if a full parser or more text is needed; or NO_ROOM: for a text of ``document.need`` bytes, for rows
    (0), or because the scope of blank nodes is needed, which has no length yet (-1).
    """
    text = document.text
    root = document.elements[0]
    while True:
        position = next_markup(document, document.position)
        if position == BAD:
            return STOPPED
        document.position = position
        if position >= document.end:
            return ALL_READ
        if document.is_closed or text[position] != LESS_THAN:
            return STOPPED
        if text[position + 1] == SLASH:
            position = end_tag_end(document, position, document.held, root.name, root.name_end)
            if position == BAD:
                return STOPPED
            document.position = position
            document.is_closed = 1
            continue
        names = document.name_count
        declared = document.declared_length
        document.end_of_rows = document.row_count
        document.fresh_count = 0
        document.item_count = 0
        document.numbered = document.fresh_before
        following = read_element(terms, document, position)
        if following < 0:
            while document.depth > 0:
                close_element(document)
            document.name_count = names
            document.declared_length = declared
            return NO_ROOM if following == FULL else STOPPED
        document.position = following
        document.row_count = document.end_of_rows
        document.fresh_before = document.numbered


@brief_entry
def read_root(terms: Terms, document: XmlText, base_end: int) -> int:
    """Read the start tag of rdf:RDF from ``document.position`` on, which moves behind it. Return whether that was possible.

    The work space has the base of the document, up to `base_end`, if the tag declares no other one.
    """
    start = document.position + 1
    document.base = BAD
    if base_end > 0 and declare_base(document, 0, base_end) == BAD:
        return 0
    end = name_end(document, start)
    if end == BAD:
        return 0
    following = read_attributes(document, end)
    if following < 0 or document.is_empty or read_name(terms, document, start, end) < 0 or document.kind != DOCUMENT:
        return 0
    for number in range(document.attribute_count):
        if document.attributes[ATTRIBUTE * number + 2] != TAKEN:
            return 0
    root = document.elements[0]
    root.kind = ROOT
    root.name = document.held_length
    if root.name + end - start + 16 > document.held_room:
        return 0
    root.name_end = copy_few(document.text, start, end, document.held, root.name)
    document.held_length = root.name_end
    document.outer_bindings = document.binding_count
    document.position = following
    return 1


@brief_entry
def elements_end(document: XmlText, start: int, least: int) -> int:
    """Return where the elements end that a full parser may read last, see `skipped_to`."""
    return skipped_to(document, start, least)
