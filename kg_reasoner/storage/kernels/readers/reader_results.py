"""What the readers of Turtle and RDF/XML return, and the labels of nodes that both leave to a full parser."""

from kg_reasoner.storage.kernels.ascii_bytes import LOWER_A, LOWER_F, NINE, ZERO
from kg_reasoner.storage.kernels.decorators import kernel
from kg_reasoner.storage.kernels.memory.structs import Bytes

FULL = -2
"""In place of an id: the tables have no room for the term."""

FRESH = -16
"""The first of the numbers that stand for nodes without a label; the others are below."""

# what a reader of a document says
ALL_READ, STOPPED, NO_ROOM = 0, 1, 2

LONGEST_LABEL = 15
"""Longer labels of hexadecimal digits may be taken for those that pyoxigraph makes."""


@kernel
def may_be_made_by_parser(text: Bytes, start: int, end: int) -> int:
    """Return whether a label may be taken for one that pyoxigraph makes: hexadecimal digits that begin with a letter."""
    if end - start <= LONGEST_LABEL or text[start] < LOWER_A:
        return 0
    for position in range(start, end):
        byte = text[position]
        if byte > LOWER_F or (byte < LOWER_A and (byte < ZERO or byte > NINE)):
            return 0
    return 1
