"""Interning of term texts, and a reader from strict N-Triples directly to ids.

The reader accepts lines in a strict subset of N-Triples (canonical escapes, ASCII IRIs without unusual characters, language tags in
lower case) and reports the byte ranges of all other lines for a full parser.
"""

from kg_reasoner.storage.kernels.ascii_bytes import (
    AT,
    BACKSLASH,
    CARET,
    COLON,
    DOT,
    GREATER,
    HASH,
    LESS_THAN,
    LOWER_G,
    LOWER_N,
    LOWER_R,
    MINUS,
    NEWLINE,
    PERCENT,
    QUESTION,
    QUOTE,
    RETURN,
    SLASH,
    SPACE,
    TAB,
    UNDERSCORE,
    UPPER_S,
)
from kg_reasoner.storage.kernels.layout import EMPTY, Terms
from kg_reasoner.storage.kernels.memory import (
    Bytes,
    Int32s,
    Int64s,
    brief_entry,
    entry,
    kernel,
    mix,
    prefetch,
    set_word,
    shared_kernel,
    word,
)

# classes of bytes, as bits (the table is made by `byte_classes`)
IN_IRI, IN_SCHEME, IN_LABEL, LOWER, DIGIT, HEX, IN_HOST = 1, 2, 4, 8, 16, 32, 64

# the kinds of terms whose values are copied
VALUE_IRI, VALUE_BLANK, VALUE_STRING, VALUE_TAGGED, VALUE_TYPED, VALUE_ESCAPED = 0, 1, 2, 3, 4, 8

# what the scanner says of a term
BAD = -1

# what the reader of lines says
DONE, IS_FULL, NEEDS_SCOPE, NEEDS_PARSER = 0, 1, 2, 3

AHEAD = 8
"""The place of a text is requested from memory this number of texts before its insertion."""

HASH_MASK = (1 << 42) - 1
HASH_FACTOR = 1000003


def byte_classes() -> bytes:
    """Return the class bits of each byte. IRIs accept ASCII characters that every scheme allows; a full parser handles the rest."""
    table = bytearray(256)
    lower, digits = b"abcdefghijklmnopqrstuvwxyz", b"0123456789"
    letters = lower + lower.upper()
    for members, bit in (
        (letters + digits + b"-._~:/?#@!$&'()*+,;=%", IN_IRI),
        (letters + digits + b"+.-", IN_SCHEME),
        (letters + digits + b"_", IN_LABEL),
        (lower, LOWER),
        (letters + digits + b"-._~", IN_HOST),
        (digits, DIGIT),
        (digits + b"abcdefABCDEF", HEX),
    ):
        for byte in members:
            table[byte] |= bit
    return bytes(table)


@kernel
def hash_bytes(text: Bytes, start: int, end: int, seed: int) -> int:
    """Return a 42-bit running hash of some bytes."""
    value = seed
    for position in range(start, end):
        value = ((value ^ text[position]) * HASH_FACTOR) & HASH_MASK
    return value


@kernel
def hash_words(text: Bytes, start: int, end: int) -> int:
    """Return a hash of eight bytes or more, a word at a time; the last words may overlap."""
    value = end - start
    position = start
    while position + 8 <= end:
        value = mix(value ^ word(text, position))
        position = position + 8
    return mix(value ^ word(text, end - 8))


@kernel
def hash_text(text: Bytes, start: int, end: int, scope: Bytes, scoped: int) -> int:
    """Return the hash of a text. With `scoped` > 0 it is a blank node, and the scope's `scoped` bytes are part of its label.

    The hash of a blank node is made byte by byte, so that it does not matter whether the scope is part of the text.
    """
    if end - start >= 8 and text[start] != UNDERSCORE:
        return hash_words(text, start, end)
    if scoped == 0:
        return mix(hash_bytes(text, start, end, 0))
    value = hash_bytes(scope, 0, scoped, hash_bytes(text, start, start + 2, 0))
    return mix(hash_bytes(text, start + 2, end, value))


@kernel
def is_space(byte: int) -> int:
    """Return whether a byte is a space, a tab or a line break."""
    return 1 if byte == SPACE or byte == NEWLINE or byte == TAB or byte == RETURN else 0


@kernel
def same_bytes(one: Bytes, start: int, other: Bytes, other_start: int, length: int) -> int:
    """Return whether two byte ranges are equal."""
    position = 0
    while position + 8 <= length:
        if word(one, start + position) != word(other, other_start + position):
            return 0
        position = position + 8
    while position < length:
        if one[start + position] != other[other_start + position]:
            return 0
        position = position + 1
    return 1


@kernel
def text_slot(terms: Terms, scope: Bytes, scoped: int, text: Bytes, start: int, end: int) -> int:
    """Return the slot of a text in the dictionary's hash, or the empty slot for it.

    With `scoped` > 0 the text is a blank node and stands for ``_:`` + the scope's `scoped` bytes + its label.
    """
    return slot_of_hash(terms, hash_text(text, start, end, scope, scoped), scope, scoped, text, start, end)


@kernel
def slot_of_hash(terms: Terms, value: int, scope: Bytes, scoped: int, text: Bytes, start: int, end: int) -> int:
    """Return the slot of a text with this hash, see `text_slot`."""
    label = start + 2 if scoped > 0 else start
    tag = value >> 31
    length = end - start + scoped
    slot = value & terms.mask
    while True:
        number = terms.slots[slot]
        if number == EMPTY:
            terms.hashes[slot] = tag
            return slot
        if terms.hashes[slot] == tag:
            offset = terms.offsets[number]
            if terms.offsets[number + 1] - offset == length:
                if scoped == 0:
                    if same_bytes(terms.texts, offset, text, start, length):
                        return slot
                elif (
                    same_bytes(terms.texts, offset, text, start, 2)
                    and same_bytes(terms.texts, offset + 2, scope, 0, scoped)
                    and same_bytes(terms.texts, offset + 2 + scoped, text, label, end - label)
                ):
                    return slot
        slot = (slot + 1) & terms.mask


@kernel
def copy_bytes(source: Bytes, start: int, end: int, out: Bytes, place: int) -> int:
    """Copy bytes to a place in another array. Return the place after them."""
    after = place + end - start
    if after - place < 8:
        while place < after:
            out[place] = source[start]
            place = place + 1
            start = start + 1
        return place
    while place + 8 < after:
        set_word(out, place, word(source, start))
        place = place + 8
        start = start + 8
    set_word(out, after - 8, word(source, end - 8))
    return after


@shared_kernel
def intern(terms: Terms, scope: Bytes, scoped: int, text: Bytes, start: int, end: int) -> int:
    """Return the id of a text, and assign one if it is new. The tables must have room."""
    return intern_at(terms, text_slot(terms, scope, scoped, text, start, end), scope, scoped, text, start, end)


@shared_kernel
def intern_at(terms: Terms, slot: int, scope: Bytes, scoped: int, text: Bytes, start: int, end: int) -> int:
    """Return the id of the text with this slot, see `intern`."""
    number = terms.slots[slot]
    if number != EMPTY:
        return number
    number = terms.count
    place = terms.offsets[number]
    label = start
    if scoped > 0:
        label = start + 2
        place = copy_bytes(text, start, label, terms.texts, place)
        place = copy_bytes(scope, 0, scoped, terms.texts, place)
    terms.offsets[number + 1] = copy_bytes(text, label, end, terms.texts, place)
    terms.slots[slot] = number
    terms.count = number + 1
    return number


@brief_entry
def find_text(terms: Terms, text: Bytes, length: int) -> int:
    """Return the id of a text, or -1."""
    return terms.slots[text_slot(terms, text, 0, text, 0, length)]


@entry
def find_texts(terms: Terms, texts: Bytes, offsets: Int64s, out: Int32s, count: int) -> int:
    """Write the ids of consecutive texts, or -1 for unknown ones."""
    for number in range(count):
        out[number] = terms.slots[text_slot(terms, texts, 0, texts, offsets[number], offsets[number + 1])]
    return 0


@entry
def intern_texts(terms: Terms, texts: Bytes, offsets: Int64s, out: Int32s, first: int, count: int) -> int:
    """Intern consecutive texts. Return the number of the first for which there was no room, or `count`."""
    for number in range(first, count):
        start = offsets[number]
        end = offsets[number + 1]
        if terms.count >= terms.room or terms.offsets[terms.count] + end - start > terms.text_capacity:
            return number
        out[number] = intern(terms, texts, 0, texts, start, end)
    return count


@entry
def hash_texts(terms: Terms, hashes: Int64s) -> int:
    """Write the hash of each text."""
    for number in range(terms.count):
        hashes[number] = hash_text(terms.texts, terms.offsets[number], terms.offsets[number + 1], terms.texts, 0)
    return 0


@entry
def merge_texts(terms: Terms, others: Terms, hashes: Int64s, first: int, out: Int32s) -> int:
    """Intern the texts of another dictionary, with these hashes, in the order of their ids.

    Return the number of the first for which there was no room, or their count.
    """
    count = others.count
    for number in range(first, count):
        if number + AHEAD < count:
            place = hashes[number + AHEAD] & terms.mask
            prefetch(terms.slots, place)
            prefetch(terms.hashes, place)
        start = others.offsets[number]
        end = others.offsets[number + 1]
        if terms.count >= terms.room or terms.offsets[terms.count] + end - start > terms.text_capacity:
            return number
        slot = slot_of_hash(terms, hashes[number], others.texts, 0, others.texts, start, end)
        out[number] = intern_at(terms, slot, others.texts, 0, others.texts, start, end)
    return count


@entry
def copy_values(terms: Terms, ids: Int32s, count: int, kinds: Bytes, ends: Int64s, out: Bytes, capacity: int) -> int:
    """Write the part of each text inside its brackets or quotation marks, followed by a line break; return the length of all.

    `ends` receives where each value ends, and `kinds` the kind of the term (see `VALUE_IRI` and so on) and whether it has escapes.
    Nothing is written beyond the capacity.
    """
    length = 0
    for number in range(count):
        start = terms.offsets[ids[number]]
        end = terms.offsets[ids[number] + 1]
        first = terms.texts[start]
        kind = VALUE_BLANK
        if first == LESS_THAN:
            kind = VALUE_IRI
            start = start + 1
            end = end - 1
        elif first == QUOTE:
            start = start + 1
            kind = VALUE_STRING
            if terms.texts[end - 1] != QUOTE:
                kind = VALUE_TYPED
                while terms.texts[end - 1] != QUOTE:
                    if terms.texts[end - 1] == AT:
                        kind = VALUE_TAGGED
                    end = end - 1
                if kind == VALUE_TAGGED and terms.texts[end] != AT:
                    kind = VALUE_TYPED  # an @ in the IRI of the datatype
            end = end - 1
        if length + end - start < capacity:
            for place in range(start, end):
                byte = terms.texts[place]
                if byte == BACKSLASH:
                    kind = kind | VALUE_ESCAPED
                out[length + place - start] = byte
            out[length + end - start] = NEWLINE
        length = length + end - start
        kinds[number] = kind
        ends[number] = length
        length = length + 1
    return length


@entry
def rehash_texts(terms: Terms, slots: Int32s, hashes: Int32s, mask: int) -> int:
    """Add all texts to a new, empty hash."""
    for number in range(terms.count):
        value = hash_text(terms.texts, terms.offsets[number], terms.offsets[number + 1], terms.texts, 0)
        slot = value & mask
        while slots[slot] != EMPTY:
            slot = (slot + 1) & mask
        slots[slot] = number
        hashes[slot] = value >> 31
    return 0


@kernel
def skip_blanks(text: Bytes, position: int) -> int:
    """Return the first position that has neither a space nor a tab."""
    while text[position] == SPACE or text[position] == TAB:
        position = position + 1
    return position


@kernel
def authority_end(classes: Bytes, text: Bytes, start: int) -> int:
    """Return the position after the host and port that begin behind ``//``, or BAD. A full parser handles user names."""
    position = start
    while classes[text[position]] & IN_HOST:
        position = position + 1
    if text[position] == COLON:
        position = position + 1
        while classes[text[position]] & DIGIT:
            position = position + 1
    byte = text[position]
    return position if byte == SLASH or byte == QUESTION or byte == HASH or byte == GREATER else BAD


@shared_kernel
def iri_end(classes: Bytes, text: Bytes, start: int) -> int:
    """Return the position after the ``>`` of an absolute IRI that starts at ``<``, or BAD."""
    position = start + 1
    if not (classes[text[position]] & IN_SCHEME) or classes[text[position]] & DIGIT or not (classes[text[position]] & IN_LABEL):
        return BAD
    while classes[text[position]] & IN_SCHEME:
        position = position + 1
    if text[position] != COLON:
        return BAD
    if text[position + 1] == SLASH and text[position + 2] == SLASH:
        position = authority_end(classes, text, position + 3)
        if position == BAD:
            return BAD
    hashes = 0
    while classes[text[position]] & IN_IRI:
        if text[position] == PERCENT and not (classes[text[position + 1]] & HEX and classes[text[position + 2]] & HEX):
            return BAD
        if text[position] == HASH:
            hashes = hashes + 1
        position = position + 1
    if text[position] != GREATER or hashes > 1:
        return BAD
    return position + 1


@kernel
def label_end(classes: Bytes, text: Bytes, start: int) -> int:
    """Return the position after a blank node that starts at ``_``, or BAD."""
    position = start + 2
    if text[start + 1] != COLON:
        return BAD
    while classes[text[position]] & IN_LABEL:
        position = position + 1
    if position == start + 2 or not (text[position] == SPACE or text[position] == TAB):
        return BAD
    return position


@kernel
def string_end(text: Bytes, start: int, ascii_only: int) -> int:
    """Return the position after the closing quote of a string with canonical escapes only, or BAD."""
    position = start + 1
    while True:
        byte = text[position]
        if byte == QUOTE:
            return position + 1
        if byte == BACKSLASH:
            position = position + 1
            byte = text[position]
            if byte != QUOTE and byte != BACKSLASH and byte != LOWER_N and byte != LOWER_R:
                return BAD
        elif byte == NEWLINE or byte == RETURN or (ascii_only and byte > 127):
            return BAD
        position = position + 1


@kernel
def letters_end(classes: Bytes, text: Bytes, start: int) -> int:
    """Return the position after letters in lower case."""
    position = start
    while classes[text[position]] & LOWER:
        position = position + 1
    return position


@shared_kernel
def language_end(classes: Bytes, text: Bytes, start: int) -> int:
    """Return the position after a language tag in lower case that starts at ``@``, or BAD: a language, maybe a script, maybe a
    country.

    Other tags of BCP 47 are left to the full parser.
    """
    position = letters_end(classes, text, start + 1)
    if position < start + 3 or position > start + 4:
        return BAD
    if text[position] == MINUS and letters_end(classes, text, position + 1) == position + 5:
        position = position + 5
    if text[position] == MINUS and letters_end(classes, text, position + 1) == position + 3:
        position = position + 3
    if classes[text[position]] & (IN_LABEL | IN_SCHEME) and text[position] != DOT:
        return BAD
    return position


@kernel
def is_language_type(text: Bytes, end: int) -> int:
    """Return whether a datatype may be rdf:langString or rdf:dirLangString (it ends in ``gString>``), which the full parser
    rejects.
    """
    return 1 if text[end - 2] == LOWER_G and text[end - 7] == UPPER_S and text[end - 8] == LOWER_G else 0


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
def object_end(
    classes: Bytes, text: Bytes, start: int, ascii_only: int, spans: Int64s, string_type: Bytes, string_type_length: int
) -> int:
    """Return the end of the object at a position, or BAD. ``spans[5]`` receives it, without the datatype xsd:string."""
    byte = text[start]
    if byte == LESS_THAN:
        position = iri_end(classes, text, start)
    elif byte == UNDERSCORE:
        position = label_end(classes, text, start)
    elif byte == QUOTE:
        position = string_end(text, start, ascii_only)
    else:
        return BAD
    spans[5] = position
    if byte != QUOTE or position == BAD:
        return position
    if text[position] == AT:
        position = language_end(classes, text, position)
        spans[5] = position
    elif text[position] == CARET:
        if text[position + 1] != CARET or text[position + 2] != LESS_THAN:
            return BAD
        datatype = position + 2
        position = iri_end(classes, text, datatype)
        if position == BAD or is_language_type(text, position):
            return BAD
        if position - datatype != string_type_length or not same_bytes(text, datatype, string_type, 0, string_type_length):
            spans[5] = position
    return position


@kernel
def scan_line(
    classes: Bytes, text: Bytes, start: int, end: int, ascii_only: int, spans: Int64s, string_type: Bytes, string_type_length: int
) -> int:
    """Split a line into the spans of its terms, that of the graph behind the object. Return the position after it, 0 if it is empty
    or a comment, or BAD.

    ``spans[8]`` receives whether the subject is the text at ``spans[9]`` to ``spans[10]``, of which the line before has found that
    it is a term.
    """
    position = skip_blanks(text, start)
    byte = text[position]
    if byte == NEWLINE or byte == HASH or (byte == RETURN and text[position + 1] == NEWLINE):
        return 0
    spans[0] = position
    length = spans[10] - spans[9] + 1  # with what follows it
    spans[8] = length > 1 and position + length < end and same_bytes(text, position, text, spans[9], length)
    position = position + length - 1 if spans[8] else node_end(classes, text, position)
    if position == BAD:
        return BAD
    spans[1] = position
    position = skip_blanks(text, position)
    if text[position] != LESS_THAN:
        return BAD
    spans[2] = position
    position = iri_end(classes, text, position)
    if position == BAD:
        return BAD
    spans[3] = position
    position = skip_blanks(text, position)
    spans[4] = position
    position = object_end(classes, text, position, ascii_only, spans, string_type, string_type_length)
    if position == BAD:
        return BAD
    spans[6] = skip_blanks(text, position)
    if text[spans[6]] != DOT:
        position = node_end(classes, text, spans[6])
        if position == BAD:
            return BAD
    spans[7] = position
    return triple_end(text, position)


@kernel
def intern_line(terms: Terms, scope: Bytes, scope_length: int, text: Bytes, spans: Int64s, count: int, row: Int32s) -> int:
    """Write the ids of the terms of a line to a row. Return whether that was possible: a blank node needs a scope."""
    for part in range(count):
        start = spans[2 * part]
        scoped = scope_length if text[start] == UNDERSCORE else 0
        if scoped < 0:
            return 0
        if part > 0 or not spans[8]:
            row[part] = intern(terms, scope, scoped, text, start, spans[2 * part + 1])
        else:
            row[0] = spans[11]
    spans[9] = spans[0]
    spans[10] = spans[1]
    spans[11] = row[0]
    return 1


@entry
def read_lines(
    terms: Terms,
    classes: Bytes,
    scope: Bytes,
    scope_length: int,
    string_type: Bytes,
    string_type_length: int,
    text: Bytes,
    end: int,
    ascii_only: int,
    state: Int64s,
    width: int,
    rows: Int32s,
    row_room: int,
    rejects: Int64s,
    reject_room: int,
) -> int:
    """Read whole lines, including the final line break, into rows of ids: three of N-Triples, four of N-Quads.

    Return DONE, or IS_FULL (grow what is full, call again), or NEEDS_SCOPE if a blank node is met and the scope's length is -1, or
    NEEDS_PARSER if lines follow behind those of which the byte ranges are in `rejects`: terms get their ids in the order of lines.
    `state` holds the position, the numbers of rows, of rejects and of lines read so far, and twelve words of scratch.
    """
    position, spans = state[0], state + 4
    while position < end:
        following = scan_line(classes, text, position, end, ascii_only, spans, string_type, string_type_length)
        has_graph = following > 0 and spans[7] > spans[6]
        if has_graph and width == 3:
            following = BAD
        if following > 0:
            if state[2] > 0:
                return NEEDS_PARSER
            number = state[1]
            growth = following - position + 3 * scope_length
            no_room = terms.count + 4 > terms.room or terms.offsets[terms.count] + growth > terms.text_capacity
            if number >= row_room or no_room:
                return IS_FULL
            row = rows + width * number
            if width == 4:
                row[3] = -1
            if not intern_line(terms, scope, scope_length, text, spans, 3 + has_graph, row):
                return NEEDS_SCOPE
            state[1] = number + 1
        elif following == 0:
            following = line_end(text, position, end)
        else:
            following = line_end(text, position, end)
            number = state[2]
            if number >= reject_room:
                return IS_FULL
            rejects[2 * number] = position
            rejects[2 * number + 1] = following if following < end else end
            state[2] = number + 1
        position = state[0] = following
        state[3] = state[3] + 1
    return DONE
