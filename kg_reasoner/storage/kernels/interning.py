"""Interning: the ids of the texts of terms."""

from kg_reasoner.storage.kernels.ascii_bytes import AT, BACKSLASH, LESS_THAN, NEWLINE, QUOTE, UNDERSCORE
from kg_reasoner.storage.kernels.decorators import brief_entry, entry, kernel, shared_kernel
from kg_reasoner.storage.kernels.layout import EMPTY, Terms
from kg_reasoner.storage.kernels.memory.structs import Bytes, Int32s, Int64s
from kg_reasoner.storage.kernels.primitives import mix, prefetch, set_word, word

# the kinds of terms whose values are copied
VALUE_IRI, VALUE_BLANK, VALUE_STRING, VALUE_TAGGED, VALUE_TYPED, VALUE_ESCAPED = 0, 1, 2, 3, 4, 8

AHEAD = 8
"""The place of a text is requested from memory this number of texts before its insertion."""

HASH_MASK = (1 << 42) - 1
HASH_FACTOR = 1000003


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
def rehash_texts(terms: Terms, slots: Int32s, hashes: Int32s, mask: int, first: int, end: int) -> int:
    """Add the texts with the ids [first, end) to a hash that has none of them. Return 0."""
    for number in range(first, end):
        value = hash_text(terms.texts, terms.offsets[number], terms.offsets[number + 1], terms.texts, 0)
        slot = value & mask
        while slots[slot] != EMPTY:
            slot = (slot + 1) & mask
        slots[slot] = number
        hashes[slot] = value >> 31
    return 0
