"""What holds in an element of RDF/XML: namespaces, the base and the language; names and relative IRIs are expanded by them."""

from kg_reasoner.storage.kernels.ascii_bytes import (
    AMPERSAND,
    APOSTROPHE,
    AT,
    COLON,
    DOT,
    EQUALS,
    GREATER,
    HASH,
    LESS_THAN,
    LOWER_X,
    NEWLINE,
    QUESTION,
    QUOTE,
    SLASH,
    SPACE,
    UPPER_A,
    UPPER_Z,
)
from kg_reasoner.storage.kernels.decorators import kernel, rare_kernel
from kg_reasoner.storage.kernels.interning import hash_text, intern, same_bytes
from kg_reasoner.storage.kernels.layout import Terms
from kg_reasoner.storage.kernels.readers.reader_results import FULL
from kg_reasoner.storage.kernels.readers.xml_markup import (
    ATTRIBUTE,
    MOST_ATTRIBUTES,
    PLAIN,
    TAKEN,
    XmlText,
    blanks_end,
    copy_few,
    name_end,
    put_reference,
)
from kg_reasoner.storage.kernels.token_ends import BAD, IN_IRI, IN_LABEL, iri_end, language_end

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

# the constants, by number: terms, the namespace, local names in it, and what else there is
TYPE, FIRST, REST, NIL, STATEMENT, SUBJECT_OF, PREDICATE_OF, OBJECT_OF, STRING = 0, 1, 2, 3, 4, 5, 6, 7, 8
NAMESPACE, FIRST_NAME, NAMES_END = 9, 10, 26
FIRST_RESERVED, RESERVED_END = 26, 28
TAG_SET = 28  # ITS, the Internationalization Tag Set: declaring it says nothing, its attributes do
LANG, BASE, SPACE_NAME, XMLNS, RESOURCE_TYPE, COLLECTION_TYPE, SECTION = 29, 30, 31, 32, 33, 34, 35

CONSTANTS = (
    f"<{RDF}type>",
    f"<{RDF}first>",
    f"<{RDF}rest>",
    f"<{RDF}nil>",
    f"<{RDF}Statement>",
    f"<{RDF}subject>",
    f"<{RDF}predicate>",
    f"<{RDF}object>",
    "<http://www.w3.org/2001/XMLSchema#string>",
    RDF,
    *("Description", "about", "ID", "nodeID", "resource", "datatype", "parseType", "type", "li", "RDF"),
    *("aboutEach", "aboutEachPrefix", "bagID", "annotation", "annotationNodeID", "version"),
    *("http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2000/xmlns/", "http://www.w3.org/2005/11/its"),
    *("xml:lang", "xml:base", "xml:space", "xmlns", "Resource", "Collection", "<![CDATA["),
)

# what a name stands for: itself, a name of RDF that is only allowed for elements, or that with a place among the local names
ORDINARY, OF_RDF = -2, -1
DESCRIPTION, ABOUT, ID, NODE_ID, RESOURCE, DATATYPE, PARSE_TYPE, TYPE_NAME, ITEM, DOCUMENT = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9

BINDING = 4
KNOWN = 512
"""The number of names that are found at once; a power of two."""
KNOWN_LENGTH = 64
"""The longest of them."""
KNOWN_FACT = 3


@kernel
def intern_text(terms: Terms, document: XmlText, start: int, end: int) -> int:
    """Return the id of a text in the work space, or FULL."""
    if terms.count + 4 > terms.room or terms.offsets[terms.count] + end - start > terms.text_capacity:
        document.need = end - start
        return FULL
    return intern(terms, document.work, 0, document.work, start, end)


@rare_kernel
def is_constant(document: XmlText, number: int, start: int, end: int) -> int:
    """Return whether some text of the document is a constant."""
    first = document.constant_offsets[number]
    length = document.constant_offsets[number + 1] - first
    return 1 if end - start == length and same_bytes(document.text, start, document.constants, first, length) else 0


@kernel
def is_namespace(document: XmlText, number: int, start: int, length: int) -> int:
    """Return whether some text of the work space is a constant."""
    first = document.constant_offsets[number]
    known = document.constant_offsets[number + 1] - first
    return 1 if known == length and same_bytes(document.work, start, document.constants, first, length) else 0


@kernel
def put_iri(document: XmlText, start: int, end: int, place: int) -> int:
    """Write the value of an attribute, which is to be an IRI or a part of one, to the work space. Return the place after it, or
    BAD.
    """
    text = document.text
    work = document.work
    classes = document.classes
    room = document.work_room >> 2
    position = start
    while position < end:
        if place >= room:
            return BAD
        byte = text[position]
        if byte == AMPERSAND:
            place = put_reference(document, position, place, 0)
            if place == BAD or place >= room:
                return BAD
            position = document.after
        elif classes[byte] & IN_IRI:
            work[place] = byte
            place = place + 1
            position = position + 1
        else:
            return BAD
    return place


@kernel
def hold(document: XmlText, start: int, end: int) -> int:
    """Keep a part of the work space; return where it begins, or BAD if there is no room."""
    first = document.held_length
    if first + end - start + 16 > document.held_room:
        return BAD
    document.held_length = copy_few(document.work, start, end, document.held, first)
    return first


@kernel
def note_prefix(document: XmlText, start: int, end: int, namespace: int, namespace_end: int) -> int:
    """List a prefix and its namespace among those declared; return 0, or FULL."""
    if document.declared_length + end - start + namespace_end - namespace + 2 > document.declared_room:
        document.need = 0
        return FULL
    place = copy_few(document.text, start, end, document.declared, document.declared_length)
    document.declared[place] = SPACE
    place = copy_few(document.work, namespace, namespace_end, document.declared, place + 1)
    document.declared[place] = NEWLINE
    document.declared_length = place + 1
    return 0


@kernel
def declare_namespace(document: XmlText, start: int, end: int, value: int, value_end: int) -> int:
    """Bind a prefix, which may be empty, to a namespace; return 0, or BAD or FULL."""
    last = put_iri(document, value, value_end, 0)
    if last == BAD or (last == 0 and end > start) or document.binding_count == document.binding_room:
        return BAD
    for place in range(last):
        if not document.classes[document.work[place]] & IN_IRI:
            return BAD
    is_of_xml = 1 if end == start + 3 and is_xml(document, start) else 0
    reserved = 0
    for number in range(FIRST_RESERVED, RESERVED_END):
        if is_namespace(document, number, 0, last):
            reserved = number
    if is_constant(document, XMLNS, start, end) or reserved != (FIRST_RESERVED if is_of_xml else 0):
        return BAD
    place = hold(document, 0, last)
    if place == BAD or document.held_length + end - start + 16 > document.held_room:
        return BAD
    binding = document.bindings + BINDING * document.binding_count
    binding[0] = document.held_length
    document.held_length = copy_few(document.text, start, end, document.held, document.held_length)
    binding[1] = document.held_length
    binding[2] = place
    binding[3] = place + last
    document.binding_count = document.binding_count + 1
    return note_prefix(document, start, end, 0, last)


@rare_kernel
def declare_base(document: XmlText, start: int, end: int) -> int:
    """Make an IRI in the work space, without brackets, the base; return 0, or BAD."""
    work = document.work
    last = start
    while last < end and work[last] != HASH:
        last = last + 1
    place = hold(document, start, last)
    if place == BAD:
        return BAD
    path_end = start
    while path_end < last and work[path_end] != QUESTION:
        path_end = path_end + 1
    path = start
    while path < path_end and work[path] != COLON:
        path = path + 1
    directory = start
    if work[path + 1] == SLASH and work[path + 2] == SLASH and path + 3 < path_end:
        for position in range(path + 3, path_end):
            if work[position] == SLASH:
                directory = position + 1
        if directory == start and path_end == last:
            document.held[document.held_length] = SLASH
            document.held_length = document.held_length + 1
            directory = last + 1
    document.base = place
    document.base_end = place + last - start
    document.directory_end = place + directory - start
    return 0


@kernel
def declare_language(document: XmlText, start: int, end: int) -> int:
    """Make a tag the language, or none if it is empty; return 0, or BAD."""
    if start == end:
        document.language = 0
        document.language_end = 0
        return 0
    text = document.text
    held = document.held
    first = document.held_length
    if first + end - start + 16 > document.held_room:
        return BAD
    held[first] = AT
    place = first + 1
    for position in range(start, end):
        byte = text[position]
        held[place] = byte + 32 if byte >= UPPER_A and byte <= UPPER_Z else byte
        place = place + 1
    held[place] = SPACE
    if language_end(document.classes, held, first) != place:
        return BAD
    document.language = first
    document.language_end = place
    document.held_length = place
    return 0


@rare_kernel
def declare(document: XmlText, start: int, end: int, value: int, value_end: int) -> int:
    """Take care of an attribute whose name begins with "xml"; return 0, or BAD or FULL."""
    if document.text[start + 5] == COLON and end > start + 6 and is_constant(document, XMLNS, start, start + 5):
        return declare_namespace(document, start + 6, end, value, value_end)
    if is_constant(document, XMLNS, start, end):
        return declare_namespace(document, end, end, value, value_end)
    if is_constant(document, LANG, start, end):
        return declare_language(document, value, value_end)
    if is_constant(document, BASE, start, end):
        last = put_resolved(document, value, value_end)
        return BAD if last == BAD else declare_base(document, document.first + 1, last - 1)
    if not is_constant(document, SPACE_NAME, start, end):
        return BAD
    for position in range(value, value_end):
        if not document.markup[document.text[position]] & PLAIN:
            return BAD
    return 0


@kernel
def attribute_end(document: XmlText, start: int) -> int:
    """Return where the value of an attribute ends that begins with a quotation mark, or BAD."""
    text = document.text
    mark = text[start]
    if mark != QUOTE and mark != APOSTROPHE:
        return BAD
    position = start + 1
    while position < document.end:
        byte = text[position]
        if byte == mark:
            return position
        if byte == LESS_THAN:
            return BAD
        position = position + 1
    return BAD


@kernel
def read_attributes(document: XmlText, position: int) -> int:
    """List the attributes of a tag, and take care of those that begin with "xml". Return the position after the tag, or BAD or
    FULL.
    """
    text = document.text
    count = 0
    while True:
        start = blanks_end(document, position)
        if text[start] == GREATER:
            document.is_empty = 0
            document.attribute_count = count
            return start + 1
        if text[start] == SLASH and text[start + 1] == GREATER:
            document.is_empty = 1
            document.attribute_count = count
            return start + 2
        end = name_end(document, start)
        if start == position or end == BAD or count == MOST_ATTRIBUTES:
            return BAD
        first = blanks_end(document, end)
        if text[first] != EQUALS:
            return BAD
        first = blanks_end(document, first + 1)
        position = attribute_end(document, first)
        if position == BAD:
            return BAD
        attribute = document.attributes + ATTRIBUTE * count
        attribute[0] = start
        attribute[1] = end
        attribute[2] = first + 1
        attribute[3] = position
        for number in range(count):
            other = document.attributes + ATTRIBUTE * number
            if other[1] - other[0] == end - start and same_bytes(text, start, text, other[0], end - start):
                return BAD
        if text[start] == LOWER_X and is_xml(document, start):
            declared = declare(document, start, end, first + 1, position)
            if declared < 0:
                return declared
            attribute[2] = TAKEN
        count = count + 1
        position = position + 1


@kernel
def is_xml(document: XmlText, start: int) -> int:
    """Return whether "xml" is at a position."""
    first = document.constant_offsets[XMLNS]
    return same_bytes(document.text, start, document.constants, first, 3)


@rare_kernel
def expand(document: XmlText, start: int, end: int) -> int:
    """Write the IRI of a name to the work space. Return the place after it, or BAD.

    ``document.kind`` receives what the name stands for.
    """
    text = document.text
    work = document.work
    held = document.held
    prefix_end = start
    while prefix_end < end and text[prefix_end] != COLON:
        prefix_end = prefix_end + 1
    local = prefix_end + 1
    if prefix_end == end:
        prefix_end = start
        local = start
    number = document.binding_count - 1
    while number >= 0:
        binding = document.bindings + BINDING * number
        if binding[1] - binding[0] == prefix_end - start and same_bytes(text, start, held, binding[0], prefix_end - start):
            break
        number = number - 1
    if number < 0:
        return BAD
    binding = document.bindings + BINDING * number
    length = binding[3] - binding[2]
    if length == 0 or length + end - start + 16 > document.work_room:
        return BAD
    work[0] = LESS_THAN
    place = copy_few(held, binding[2], binding[3], work, 1)
    place = copy_few(text, local, end, work, place)
    work[place] = GREATER
    if iri_end(document.classes, work, 0) != place + 1 or is_namespace(document, TAG_SET, 1, length):
        return BAD
    document.kind = ORDINARY
    if is_namespace(document, NAMESPACE, 1, length):
        document.kind = OF_RDF
        for number in range(FIRST_NAME, NAMES_END):
            if is_constant(document, number, local, end):
                document.kind = number - FIRST_NAME
    return place + 1


@kernel
def read_name(terms: Terms, document: XmlText, start: int, end: int) -> int:
    """Return the id of the IRI of a name of an element or attribute, or 0 if it never is a term; or BAD or FULL.

    ``document.kind`` receives what it stands for.
    """
    is_known = 1 if document.binding_count == document.outer_bindings and end - start <= KNOWN_LENGTH else 0
    slot = hash_text(document.text, start, end, document.text, 0) & (KNOWN - 1) if is_known else 0
    fact = document.known_facts + KNOWN_FACT * slot
    name = document.known_names + KNOWN_LENGTH * slot
    if is_known and fact[0] == end - start and same_bytes(document.text, start, name, 0, end - start):
        document.kind = fact[2]
        return fact[1]
    length = expand(document, start, end)
    if length == BAD:
        return BAD
    found = 0
    if document.kind < 0 or document.kind == TYPE_NAME:
        found = intern_text(terms, document, 0, length)
        if found == FULL:
            return FULL
    if is_known:
        copy_few(document.text, start, end, name, 0)
        fact[0] = end - start
        fact[1] = found
        fact[2] = document.kind
    return found


@rare_kernel
def read_unqualified(document: XmlText, start: int, end: int) -> int:
    """Read the name of an attribute without a prefix, which a few of RDF's may lack; return 0, or BAD.

    ``document.kind`` receives what it stands for.
    """
    for kind in range(ABOUT, TYPE_NAME + 1):
        if kind != NODE_ID and kind != DATATYPE and is_constant(document, FIRST_NAME + kind, start, end):
            document.kind = kind
            return 0
    return BAD


@kernel
def put_resolved(document: XmlText, start: int, end: int) -> int:
    """Write the IRI that is the value of an attribute to the work space, resolved against the base if it is relative. Return the
    place after it, or BAD.

    ``document.first`` receives where it begins.
    """
    last = put_iri(document, start, end, 1)
    return BAD if last == BAD else resolved(document, last)


@kernel
def resolved(document: XmlText, last: int) -> int:
    """Resolve the text in the work space up to a place, after a byte for a bracket, see `put_resolved`."""
    work = document.work
    work[0] = LESS_THAN
    work[last] = GREATER
    document.first = 0
    if iri_end(document.classes, work, 0) == last + 1:
        return last + 1
    if document.base == BAD:
        return BAD
    base_end = document.base_end
    if last > 1 and work[1] != HASH:
        base_end = root_end(document) if work[1] == SLASH else document.directory_end
        if document.directory_end == document.base or not is_simple_path(document, last):
            return BAD
    first = last + 8
    if first + base_end - document.base + last + 16 > document.work_room:
        return BAD
    work[first] = LESS_THAN
    place = copy_few(document.held, document.base, base_end, work, first + 1)
    place = copy_few(work, 1, last + 1, work, place)
    document.first = first
    return place if iri_end(document.classes, work, first) == place else BAD


@rare_kernel
def root_end(document: XmlText) -> int:
    """Return where the path of the base begins, which has an authority, in the texts that are held."""
    held = document.held
    position = document.base
    while held[position] != COLON:
        position = position + 1
    position = position + 3
    while position < document.base_end and held[position] != SLASH and held[position] != QUESTION:
        position = position + 1
    return position


@rare_kernel
def is_simple_path(document: XmlText, last: int) -> int:
    """Return whether the text in the work space up to a place is a relative path without segments that have to be removed."""
    work = document.work
    if not document.classes[work[1]] & IN_LABEL and (work[1] != SLASH or work[2] == SLASH):
        return 0
    for place in range(1, last):
        if work[place] == COLON or (work[place] == SLASH and work[place + 1] == DOT):
            return 0
    return 1
