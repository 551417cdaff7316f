"""The ids of terms in RDF/XML: of the values of attributes, of text, and of nodes without a label as they occur in triples."""

from kg_reasoner.storage.kernels.ascii_bytes import CARET, COLON, GREATER, HASH, LESS_THAN, LOWER_G, QUOTE, UNDERSCORE
from kg_reasoner.storage.kernels.decorators import kernel, rare_kernel
from kg_reasoner.storage.kernels.interning import intern, same_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.literal_values import write_digits
from kg_reasoner.storage.kernels.memory.structs import Bytes
from kg_reasoner.storage.kernels.readers.reader_results import FRESH, FULL, may_be_made_by_parser
from kg_reasoner.storage.kernels.readers.xml_markup import (
    IN_NAME,
    STARTS_NAME,
    Element,
    XmlText,
    copy_few,
    put_text,
)
from kg_reasoner.storage.kernels.readers.xml_names import NAMESPACE, STRING, intern_text, put_resolved, resolved
from kg_reasoner.storage.kernels.token_ends import BAD, IN_LABEL, is_language_type


@rare_kernel
def constant_id(terms: Terms, document: XmlText, number: int) -> int:
    """Return the id of a constant, or FULL."""
    first = document.constant_offsets[number]
    last = document.constant_offsets[number + 1]
    if terms.count + 4 > terms.room or terms.offsets[terms.count] + last - first > terms.text_capacity:
        document.need = last - first
        return FULL
    return intern(terms, document.constants, 0, document.constants, first, last)


@rare_kernel
def intern_node(terms: Terms, document: XmlText, text: Bytes, start: int, end: int, scoped: int) -> int:
    """Return the id of a blank node, of whose label a part of the scope is a part; or FULL."""
    if document.scope_length < 0:
        document.need = -1
        return FULL
    length = end - start + document.scope_length
    if terms.count + 4 > terms.room or terms.offsets[terms.count] + length > terms.text_capacity:
        document.need = length
        return FULL
    return intern(terms, document.scope, scoped, text, start, end)


@kernel
def new_node(document: XmlText) -> int:
    """Return a number for a node without a label, up to `FRESH`, which stands for its id until it occurs in a triple."""
    number = document.fresh_count
    if number == document.row_room:
        document.need = 0
        return FULL
    document.fresh_ids[number] = BAD
    document.fresh_count = number + 1
    return FRESH - number


@kernel
def node_id(terms: Terms, document: XmlText, node: int) -> int:
    """Return the id of a node: those without a label are numbered by first occurrence in triples. Or FULL."""
    if node > FRESH:
        return node
    number = FRESH - node
    found = document.fresh_ids[number]
    if found != BAD:
        return found
    work = document.work
    work[0] = UNDERSCORE
    work[1] = COLON
    work[2] = LOWER_G
    end = write_digits(document.numbered, work, 3)
    found = intern_node(terms, document, work, 0, end, document.scope_length - 1)  # without the underscore at its end
    if found != FULL:
        document.numbered = document.numbered + 1
        document.fresh_ids[number] = found
    return found


@kernel
def resource_id(terms: Terms, document: XmlText, start: int, end: int) -> int:
    """Return the id of the IRI that is the value of an attribute, or BAD or FULL."""
    last = put_resolved(document, start, end)
    return BAD if last == BAD else intern_text(terms, document, document.first, last)


@kernel
def is_name(document: XmlText, start: int, end: int) -> int:
    """Return whether the value of an attribute is a name without a colon, of plain characters."""
    text = document.text
    position = start
    if not document.markup[text[position]] & STARTS_NAME:
        return 0
    while document.markup[text[position]] & IN_NAME:
        position = position + 1
    return 1 if position == end else 0


@rare_kernel
def named_id(terms: Terms, document: XmlText, start: int, end: int) -> int:
    """Return the id of the IRI of an rdf:ID, which is listed; or BAD or FULL."""
    if not is_name(document, start, end) or end - start + 16 > document.work_room >> 2:
        return BAD
    document.work[1] = HASH
    last = resolved(document, copy_few(document.text, start, end, document.work, 2))
    if last == BAD:
        return BAD
    if document.name_count == document.row_room:
        document.need = 0
        return FULL
    found = intern_text(terms, document, document.first, last)
    if found >= 0:
        document.names[document.name_count] = found
        document.name_count = document.name_count + 1
    return found


@rare_kernel
def labelled_node(terms: Terms, document: XmlText, start: int, end: int) -> int:
    """Return the id of the blank node of an rdf:nodeID, or BAD or FULL."""
    text = document.text
    if not is_name(document, start, end) or end - start + 16 > document.work_room or may_be_made_by_parser(text, start, end):
        return BAD
    for position in range(start, end):
        if not document.classes[text[position]] & IN_LABEL:
            return BAD
    work = document.work
    work[0] = UNDERSCORE
    work[1] = COLON
    return intern_node(terms, document, work, 0, copy_few(text, start, end, work, 2), document.scope_length)


@kernel
def intern_literal(terms: Terms, document: XmlText, end: int, datatype: int, datatype_end: int) -> int:
    """Return the id of the literal with the text in the work space up to a place; or BAD or FULL."""
    work = document.work
    work[end] = QUOTE
    end = end + 1
    if datatype_end - datatype + document.language_end - document.language + end + 16 > document.work_room:
        return BAD
    if datatype_end > datatype:
        first = document.constant_offsets[STRING]
        length = document.constant_offsets[STRING + 1] - first
        is_string = datatype_end - datatype == length
        if not is_string or not same_bytes(document.held, datatype, document.constants, first, length):
            work[end] = CARET
            work[end + 1] = CARET
            end = copy_few(document.held, datatype, datatype_end, work, end + 2)
            if is_language_type(work, end):
                return BAD
    else:
        end = copy_few(document.held, document.language, document.language_end, work, end)
    return intern_text(terms, document, 0, end)


@kernel
def property_value(terms: Terms, document: XmlText, start: int, end: int) -> int:
    """Return the id of the literal that is the value of an attribute; or BAD or FULL."""
    document.work[0] = QUOTE
    last = put_text(document, start, end, 1, 1)
    return BAD if last == BAD else intern_literal(terms, document, last, 0, 0)


@rare_kernel
def member_property(terms: Terms, document: XmlText, node: Element) -> int:
    """Return the id of the property of the next rdf:li of a node, or FULL."""
    node.counter = node.counter + 1
    work = document.work
    work[0] = LESS_THAN
    first = document.constant_offsets[NAMESPACE]
    place = copy_few(document.constants, first, document.constant_offsets[NAMESPACE + 1], work, 1)
    work[place] = UNDERSCORE
    end = write_digits(node.counter, work, place + 1)
    work[end] = GREATER
    return intern_text(terms, document, 0, end + 1)
