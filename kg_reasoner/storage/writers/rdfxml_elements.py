"""Rows of ids as elements of RDF/XML, block by block. The texts of terms are escaped once; nothing is decoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kg_reasoner.storage.arrays import Flags, Ids
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.elements import AROUND, FIRST_TAG, FIXED, LONGEST_ESCAPE
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, lend
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.kernels.triple_texts import Output
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.texts import concatenated

__all__ = ["ElementWriter"]

_BUFFER = 1 << 19


class ElementWriter:
    """Writes triples as elements.

    Args:
        dictionary: The terms.
        further: The names of further blank nodes, which have the ids behind those of the dictionary.
        buffer: The bytes of a block, if a triple is not longer.

    Attributes:
        refused: Which terms are literals that XML cannot hold.
    """

    def __init__(self, dictionary: Dictionary, further: Sequence[str], buffer: int | None = None) -> None:
        buffer = buffer or _BUFFER
        fixed, offsets = concatenated([text.encode() for text in FIXED])
        texts, ends, self.refused = _escaped_texts(dictionary, fixed, offsets, buffer)
        self._kinds = lend(np.ascontiguousarray(dictionary.first_bytes()[: len(ends) - 1]))
        more, more_offsets = concatenated([f'"{name}"'.encode() for name in further])
        self._output = StructTable(Output, capacity=1).add(
            texts=texts, offsets=ends, known=len(ends) - 1, more=more, more_offsets=more_offsets
        )
        self._output.publish(buffer=allocate(buffer, np.uint8), room=buffer)

    def elements(self, rows: Ids, tags: Sequence[tuple[str, str]]) -> Iterator[tuple[memoryview, int]]:
        """Yield the elements of triples in blocks, with the number of triples in each. A block is valid until the next one.

        Args:
            rows: Subject, number of the tags, and object of each triple, shape (n, 3), grouped by subject.
            tags: The beginnings of start tags, and the end tags with a line break.
        """
        pieces = [text.encode() for text in (*FIXED, *(text for pair in tags for text in pair))]
        fixed, offsets = concatenated(pieces)
        given = allocate(max(rows.size, 3), np.int32)
        given[: rows.size] = rows.reshape(-1)
        given[1 : rows.size : 3] *= 2
        given[1 : rows.size : 3] += FIRST_TAG
        longest = max(map(len, pieces))
        output, count, row = self._output, len(rows), 0
        where = address(fixed), address(offsets), address(self._kinds), address(given)
        while row < count:
            following = native.write_elements(output.address, *where, row, count, longest)
            if following == row:  # a triple that is longer than the buffer
                output.publish(buffer=allocate(2 * output.room, np.uint8), room=2 * output.room)
                continue
            yield memoryview(output.buffer)[: output.length], following - row
            row = following


def _escaped_texts(dictionary: Dictionary, fixed: Any, offsets: Any, buffer: int) -> tuple[Any, Any, Flags]:
    """Return the bytes of all texts as in RDF/XML, where each begins (and the last ends), and which are refused."""
    _, starts, count = dictionary.table()
    ends, refused = allocate(count + 1, np.int64, 0), allocate(max(count, 1), np.uint8, 0)
    out = allocate(buffer, np.uint8)
    done = 0
    while True:
        where = address(out), len(out), address(ends), address(refused)
        done = dictionary.read_with(native.escape_texts, address(fixed), address(offsets), done, count, *where)
        if done == count:
            found: Flags = np.asarray(refused[:count]) != 0
            return out, ends, found
        needed = int(ends[done]) + LONGEST_ESCAPE * int(starts[done + 1] - starts[done]) + AROUND
        size = max(2 * len(out), needed)
        dictionary.claim(size)
        grown = allocate(size, np.uint8)
        grown[: ends[done]] = out[: ends[done]]
        out = grown
