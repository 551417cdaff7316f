"""N-Triples and N-Quads to ids, piece by piece; the pieces of a long document in several threads.

The threads have dictionaries of their own, whose terms are merged into the one of the document in the order of the pieces. The ids
and the order of the statements are those of one thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.bounds import hint_for
from kg_reasoner.loaders.rdf.document_reading import Reading
from kg_reasoner.loaders.rdf.readers.statements import Encoder
from kg_reasoner.storage.terms.dictionary import Dictionary

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.formats import Format
    from kg_reasoner.loaders.rdf.merging import PartDictionaries, PartTerms
    from kg_reasoner.loaders.rdf.readers.syntax import Batch
    from kg_reasoner.loaders.rdf.sources import Document, OpenDocument
    from kg_reasoner.storage.arrays import Ids, Numbers

__all__ = ["read_lines"]

_BYTES_OF_A_LINE: Final = 100
_LARGEST_PIECE: Final = 1 << 21
_SMALLEST_BUFFER: Final = 1 << 14
"""The size of the buffers for small documents."""
_RETURN: Final = ord("\r")
_ALONE: Final = 8
"""The number of pieces up to which one thread reads the whole document, as it does for short ones. If the document is known to be
at least twice as long, one thread reads only the first piece.
"""


class _LongLineError(Exception):
    """The line behind those that have been read is too long."""


def read_lines(opened: OpenDocument, format: Format, reading: Reading) -> Iterator[Batch]:
    """Read N-Triples or N-Quads.

    Args:
        opened: The document.
        format: N-Triples or N-Quads.
        reading: How it is read. A batch has about as many statements as a block.

    Yields:
        The ids of triples and, for N-Quads, those of their graphs.

    Raises:
        LoadError: The first invalid line.
    """
    document, dictionary, scope = opened.document, reading.dictionary, reading.scope_of(opened)
    reader = _Reader(document, format, Encoder(dictionary, scope, parsed=False))
    most = _LARGEST_PIECE if opened.size is None else max(_SMALLEST_BUFFER, min(opened.size + 1, _LARGEST_PIECE))
    buffers = _Buffers(max(_BYTES_OF_A_LINE, min(reading.block * _BYTES_OF_A_LINE, most)) + 1)
    pieces = _whole_lines(opened.stream, document, buffers)
    alone = 1 if (document.size or 0) > 2 * _ALONE * buffers.size else _ALONE
    try:
        for number, piece in enumerate(pieces, 1):
            yield reader.read(piece)
            buffers.give_back(piece)
            if number == alone and reading.threads > 1 and isinstance(dictionary, Dictionary):
                from kg_reasoner.loaders.rdf.merging import PartDictionaries

                yield from _Together(reader, buffers, PartDictionaries(dictionary, scope)).batches(pieces, reading.threads)
    except _LongLineError:
        message = f"the line is longer than {document.bounds.line} bytes"
        raise document.error(message, reader.line, hint=hint_for("line")) from None


class _Reader:
    """Reads the pieces of one document."""

    def __init__(self, document: Document, format: Format, encoder: Encoder) -> None:
        self.document = document
        self.encoder = encoder
        self.has_graphs = format.graphs
        self.width = 4 if format.graphs else 3

    @property
    def line(self) -> int:
        """The number of the next line."""
        return self.encoder.lines + 1

    def read(self, piece: memoryview) -> Batch:
        """Return the statements of the next piece.

        Raises:
            LoadError: It has an invalid line, or one that is too long.
        """
        line = self.line
        self.check_lengths(piece, line)
        try:
            return self.batch(self.encoder.rows(piece, self.width))
        except (SyntaxError, LoadError) as error:
            from kg_reasoner.loaders.rdf.readers.syntax import first_error

            raise first_error(self.document, bytes(piece), line, self.has_graphs) or self.document.error(str(error), line) from None

    def batch(self, rows: Ids) -> Batch:
        """Return statements and their graphs."""
        return (rows[:, :3], rows[:, 3]) if self.has_graphs else (rows, None)

    def check_lengths(self, piece: memoryview, first_line: int) -> None:
        """Reject whole lines that are too long, or that have a literal that is too long."""
        bounds = self.document.bounds
        if len(piece) <= min(bounds.line, bounds.literal):
            return
        from kg_reasoner.loaders.rdf.readers.syntax import has_longer_literal
        from kg_reasoner.loaders.rdf.scan import too_long

        for number, line in enumerate(bytes(piece).split(b"\n"), first_line):
            if len(line) > bounds.line:
                raise self.document.error(f"the line is longer than {bounds.line} bytes", number, hint=hint_for("line"))
            if has_longer_literal(line, bounds.literal):
                raise too_long(self.document, number)


@dataclass(frozen=True, slots=True)
class _Found:
    """The statements that a thread has read from a piece."""

    terms: PartTerms
    rows: Ids
    hashes: Numbers
    lines: int


@dataclass(frozen=True, slots=True)
class _Together:
    """Reads pieces in several threads."""

    reader: _Reader
    buffers: _Buffers
    parts: PartDictionaries

    def batches(self, pieces: Iterator[memoryview], threads: int) -> Iterator[Batch]:
        """Yield the statements of the pieces."""
        from kg_reasoner.concurrency.ordered_work import ThreadPipeline

        yield from ThreadPipeline(pieces, self._read, self._collect, threads)

    def _read(self, piece: memoryview) -> _Found | None:
        """Return the statements of a piece, or None if it has an error."""
        terms = self.parts.take()
        encoder = Encoder(terms.dictionary, terms.scope, parsed=False)
        try:
            self.reader.check_lengths(piece, 1)
            rows = encoder.rows(piece, self.reader.width)
        except (SyntaxError, LoadError):
            return None
        return _Found(terms, rows, terms.hashes(), encoder.lines)

    def _collect(self, piece: memoryview, found: _Found | None) -> Batch:
        if found is None:
            batch = self.reader.read(piece)  # it raises the error, now that the number of the line is known
        else:
            batch = self.reader.batch(self.parts.merge(found.terms, found.hashes, found.rows))
            self.reader.encoder.lines += found.lines
            self.parts.give_back(found.terms)
        self.buffers.give_back(piece)
        return batch


class _Buffers:
    """Buffers of one size for pieces, which are used again and again."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._spare: deque[bytearray] = deque()

    def take(self, least: int) -> bytearray:
        """Return a buffer; one of another size if it has to hold as many bytes."""
        if least >= self.size:
            return bytearray(2 * least)
        try:
            return self._spare.pop()
        except IndexError:
            return bytearray(self.size)

    def give_back(self, piece: memoryview) -> None:
        """Allow the buffer of a piece to be used again."""
        buffer = cast(bytearray, piece.obj)
        if len(buffer) == self.size:
            self._spare.append(buffer)


def _whole_lines(stream: BinaryIO, document: Document, buffers: _Buffers) -> Iterator[memoryview]:
    """Yield pieces, of as many bytes as the buffers have, that end at the end of a line. Every line break becomes LF.

    Raises:
        _LongLineError: The next line is longer than it may be.
    """
    buffer = buffers.take(0)
    kept = returns = 0  # `returns`: whether a carriage return follows what is kept; a line feed may be read behind it
    while True:
        if kept + returns == len(buffer) - 1:
            if kept > document.bounds.line:
                raise _LongLineError
            buffer = buffer + bytearray(len(buffer))
        view = memoryview(buffer)
        read = stream.readinto(view[kept + returns : -1])  # type: ignore[attr-defined]
        if not read:
            break
        filled = kept + returns + read
        returns = int(buffer[filled - 1] == _RETURN)
        filled = _with_line_feeds(buffer, kept, filled - returns)
        if returns:
            buffer[filled] = _RETURN
        end = buffer.rfind(b"\n", kept, filled) + 1
        kept = filled - end if end else filled
        if end:
            following = buffers.take(kept + returns + 1)
            following[: kept + returns] = view[end : filled + returns]
            yield view[:end]
            buffer = following
    if returns:
        buffer[kept] = ord("\n")
    if kept + returns:
        yield memoryview(buffer)[: kept + returns]


def _with_line_feeds(buffer: bytearray, start: int, end: int) -> int:
    """Replace the other line breaks in a part of a buffer; return where it ends now."""
    if buffer.find(b"\r", start, end) < 0:
        return end
    data = buffer[start:end].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    buffer[start : start + len(data)] = data
    return start + len(data)
