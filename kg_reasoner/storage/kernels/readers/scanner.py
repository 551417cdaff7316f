"""An automaton over the bytes of a document that checks nesting depth, token lengths and forbidden constructs.

For each state and byte, the table has the next state and the actions as bits (see `kg_reasoner.loaders.rdf.scan`).
"""

from kg_reasoner.storage.kernels.ascii_bytes import NEWLINE
from kg_reasoner.storage.kernels.decorators import entry
from kg_reasoner.storage.kernels.memory.structs import Bytes, Struct

STATES = 32
"""The most states; the low bits of an entry of the table are the next state."""
OPENS, CLOSES, REFUSED, INSIDE = 32, 64, 96, 128
"""The role of a byte, in the high bits: it opens or closes a level, is refused, or is inside a token."""

# what the scanner says
FINE = 0
TOO_DEEP = 1
TOO_LONG = 2
FOUND = 3


class ScanState(Struct):
    """How far a document has been scanned."""

    state: int
    depth: int
    token_length: int
    lines: int
    """The number of line breaks."""


@entry
def scan_document(table: Bytes, text: Bytes, end: int, scan: ScanState, deepest: int, longest: int) -> int:
    """Scan the next part of a document: FINE, or why the document is rejected."""
    current = scan.state
    depth = scan.depth
    length = scan.token_length
    lines = scan.lines
    verdict = FINE
    position = 0
    while position < end:
        byte = text[position]
        found = table[current * 256 + byte]
        current = found & (STATES - 1)
        action = found - current
        if byte == NEWLINE:
            lines = lines + 1
        if action == INSIDE:
            length = length + 1
            if length > longest:
                verdict = TOO_LONG
                break
        else:
            length = 0
            if action == OPENS:
                depth = depth + 1
                if depth > deepest:
                    verdict = TOO_DEEP
                    break
            elif action == CLOSES:
                depth = depth - 1
            elif action == REFUSED:
                verdict = FOUND
                break
        position = position + 1
    scan.state = current
    scan.depth = depth
    scan.token_length = length
    scan.lines = lines
    return verdict
