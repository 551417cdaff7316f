"""Rows of ids as text for files, block by block: lines of N-Triples and N-Quads, and statements of Turtle.

The bytes are those of the dictionary, which has the texts of terms as N-Triples does; nothing is decoded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from kg_reasoner.storage.arrays import Flags, Ids
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import address, allocate, lend
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.kernels.token_ends import byte_classes
from kg_reasoner.storage.kernels.triple_texts import NOTHING, Output, PrefixTable
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.texts import concatenated
from kg_reasoner.terms import XSD

__all__ = ["NOTHING", "TextTable", "TextWriter", "Writers", "WrittenText", "are_plain_labels", "rows_for_statements", "short_texts"]

_BUFFER: Final = 1 << 19
_ROWS: Final = 1 << 16


class TextTable(NamedTuple):
    """The texts of the terms with ids below `known`: concatenated bytes, and where each begins (and the last ends)."""

    texts: Any
    offsets: Any
    known: int

    @classmethod
    def of(cls, dictionary: Dictionary) -> TextTable:
        """Return the texts of a dictionary, as in N-Triples."""
        return cls(*dictionary.table())


class TextWriter:
    """Gives rows of ids as text. Further texts, with ids from `known` on, stand beside those of a table.

    >>> from kg_reasoner.terms import IRI
    >>> dictionary = Dictionary()
    >>> ids = [dictionary.encode(IRI(f"urn:{name}")) for name in "abc"]
    >>> [bytes(block) for block, _ in TextWriter(TextTable.of(dictionary)).lines(np.array([ids], np.int32))]
    [b'<urn:a> <urn:b> <urn:c> .\\n']
    """

    def __init__(self, table: TextTable, buffer: int = _BUFFER) -> None:
        self.known = table.known
        self._output = StructTable(Output, capacity=1).add(texts=table.texts, offsets=table.offsets, known=table.known)
        self._make_room(buffer)
        self.set_further([])

    def set_further(self, pieces: Sequence[bytes]) -> None:
        """Set the texts of the ids from `known` on."""
        texts, offsets = concatenated(pieces)
        self._output.publish(more=texts, more_offsets=offsets)

    def lines(self, rows: Ids) -> Iterator[tuple[memoryview, int]]:
        """Yield the lines of N-Triples or N-Quads for rows of ids, shape (n, 3) or (n, 4), in blocks, with their number in each.

        `NOTHING` stands for no graph. A block is valid until the next one.
        """
        width = rows.shape[1]
        given = allocate(min(_ROWS, len(rows)) * width, np.int32)
        for start in range(0, len(rows), _ROWS):
            some = rows[start : start + _ROWS]
            given[: some.size] = some.reshape(-1)
            at, count = address(given), len(some)
            yield from self._blocks(lambda first: native.write_lines(self._output.address, at, width, first, count), 0, count)  # noqa: B023

    def text_of_lines(self, rows: Ids) -> memoryview:
        """Return the lines for some rows in one block, which is valid until the next one."""
        given, (count, width) = lend(np.ascontiguousarray(rows, np.int32)), rows.shape
        return self._whole(lambda: native.write_lines(self._output.address, address(given), width, 0, count), count)

    def text_of_statements(self, rows: Ids, rdf_type: int, first: int, end: int) -> memoryview:
        """Return the Turtle of the rows from `first` to `end` in one block, which is valid until the next one; see `statements`."""
        output, at, count = self._output, address(rows), len(rows)
        return self._whole(lambda: native.write_statements(output.address, at, rdf_type, first, end, count), end)

    def _whole(self, write: Callable[[], int], end: int) -> memoryview:
        while write() != end:
            self._make_room(2 * self._output.room)
        return memoryview(self._output.buffer)[: self._output.length]

    def statements(self, rows: Ids, rdf_type: int, first: int, end: int) -> Iterator[tuple[memoryview, int]]:
        """Yield the Turtle of the rows from `first` to `end` in blocks, with the number of rows in each.

        Args:
            rows: All triples, by subject and property, in an array made by `rows_for_statements`.
            rdf_type: The id of rdf:type, written as ``a``.
            first: The first row to write.
            end: The row after the last one to write.
        """
        at, count = address(rows), len(rows)
        yield from self._blocks(
            lambda row: native.write_statements(self._output.address, at, rdf_type, row, end, count), first, end
        )

    def _blocks(self, write: Callable[[int], int], first: int, end: int) -> Iterator[tuple[memoryview, int]]:
        output = self._output
        while first < end:
            following = write(first)
            if following == first:  # a row that is longer than the buffer
                self._make_room(2 * output.room)
                continue
            yield memoryview(output.buffer)[: output.length], following - first
            first = following

    def _make_room(self, size: int) -> None:
        self._output.publish(buffer=allocate(size, np.uint8), room=size)


class WrittenText(NamedTuple):
    """A block of text, the number of rows in it, and the writer that has it in its buffer."""

    text: memoryview
    rows: int
    writer: TextWriter


class Writers:
    """Text writers for several threads.

    Args:
        table: The texts of terms.
        take: Takes blocks of text in one thread; when it returns, their writers are used again.
    """

    def __init__(self, table: TextTable, take: Callable[[tuple[memoryview, int]], object]) -> None:
        self._table, self._take = table, take
        self._spare: deque[TextWriter] = deque()

    def writer(self, further: Sequence[bytes]) -> TextWriter:
        """Return a writer that no other thread has, with these further texts."""
        try:
            writer = self._spare.pop()
        except IndexError:
            writer = TextWriter(self._table)
        writer.set_further(further)
        return writer

    def pass_on(self, written: WrittenText) -> None:
        """Have a block of text taken."""
        self._take((written.text, written.rows))
        self._spare.append(written.writer)


def rows_for_statements(rows: Ids) -> Ids:
    """Return a copy of triples for `TextWriter.statements`, in which objects may be replaced."""
    copy: Ids = allocate((max(len(rows), 1), 3), np.int32)[: len(rows)]
    copy[:] = rows
    return copy


def short_texts(dictionary: Dictionary, prefixes: Mapping[str, str], buffer: int = _BUFFER) -> TextTable:
    """Return the texts of all terms as in Turtle: prefixed names, integers and truth values in their short forms.

    Args:
        dictionary: The terms.
        prefixes: Prefixes by namespace.
        buffer: The bytes to begin with.
    """
    _, offsets, count = dictionary.table()
    names = _names(prefixes)
    longest = max(map(len, prefixes.values()), default=0)
    ends = allocate(count + 1, np.int64, 0)
    out = allocate(buffer + longest, np.uint8)
    done = 0
    while True:
        room = len(out) - longest
        done = dictionary.read_with(native.shorten_texts, names.address, done, count, address(out), room, address(ends))
        if done == count:
            return TextTable(out, ends, count)
        size = max(2 * len(out), int(ends[done] + offsets[done + 1] - offsets[done]) + 2 * longest)
        dictionary.claim(size)
        grown = allocate(size, np.uint8)
        grown[: ends[done]] = out[: ends[done]]
        out = grown


def _names(prefixes: Mapping[str, str]) -> Any:
    """Return a record of `PrefixTable`."""
    delimited = [namespace for namespace in prefixes if namespace.endswith(("#", "/"))]
    ordered = [*delimited, *(namespace for namespace in prefixes if not namespace.endswith(("#", "/")))]
    namespaces, namespace_offsets = concatenated([namespace.encode() for namespace in ordered])
    names, name_offsets = concatenated([prefixes[namespace].encode() for namespace in ordered])
    ends = [f'"^^{kind}'.encode() for kind in (XSD.integer, XSD.boolean)]
    integer, boolean, truth = (concatenated([piece])[0] for piece in (*ends, b"truefalse"))
    return StructTable(PrefixTable, capacity=1).add(
        classes=concatenated([byte_classes()])[0],
        namespaces=namespaces,
        namespace_offsets=namespace_offsets,
        prefixes=names,
        prefix_offsets=name_offsets,
        count=len(ordered),
        delimited=len(delimited),
        integer=integer,
        integer_length=len(ends[0]),
        boolean=boolean,
        boolean_length=len(ends[1]),
        truth=truth,
    )


def are_plain_labels(dictionary: Dictionary, blank: Ids) -> Flags:
    """Return for each of some blank nodes whether its label has only letters, digits and underscores of ASCII."""
    classes = concatenated([byte_classes()])[0]
    ids, plain = allocate(len(blank), np.int32), allocate(len(blank), np.uint8)
    ids[: len(blank)] = blank
    dictionary.read_with(native.check_labels, address(classes), address(ids), len(blank), address(plain))
    found: Flags = np.asarray(plain[: len(blank)]) != 0
    return found
