"""The tokens of N-Triples and Turtle: where each of them ends.

Tokens of a strict subset are read: ASCII IRIs without unusual characters, canonical escapes, language tags in lower case. A full
parser handles all others.
"""

from kg_reasoner.storage.kernels.ascii_bytes import (
    BACKSLASH,
    COLON,
    DOT,
    GREATER,
    HASH,
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
    UPPER_S,
)
from kg_reasoner.storage.kernels.decorators import kernel, shared_kernel
from kg_reasoner.storage.kernels.memory.structs import Bytes

# classes of bytes, as bits (the table is made by `byte_classes`)
IN_IRI, IN_SCHEME, IN_LABEL, LOWER, DIGIT, HEX, IN_HOST = 1, 2, 4, 8, 16, 32, 64

BAD = -1
"""In place of a position: the token is not in the subset."""


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
def is_space(byte: int) -> int:
    """Return whether a byte is a space, a tab or a line break."""
    return 1 if byte == SPACE or byte == NEWLINE or byte == TAB or byte == RETURN else 0


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
