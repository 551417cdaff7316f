"""Turtle and TriG to ids: plain statements by a compiled reader, all others, with the declarations, by pyoxigraph's parser.

The parser gets the statements that the compiled reader does not accept, after the prefixes that hold there; the more there are of
them, the more text at a time. What it refuses, it gets again with all of the rest of the document, and the error is that of the
whole document.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import IO, TYPE_CHECKING, BinaryIO, cast

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.blank import BlankScope
from kg_reasoner.loaders.rdf.declared_prefixes import RecordedPrefixes
from kg_reasoner.loaders.rdf.document_reading import Reading
from kg_reasoner.loaders.rdf.formats import Format
from kg_reasoner.loaders.rdf.parser_share import LEAST, MOST, ROWS, ParserShare, window_size
from kg_reasoner.loaders.rdf.pushback import PushbackStream
from kg_reasoner.loaders.rdf.readers.escaped_dots import DotsApart
from kg_reasoner.loaders.rdf.readers.statements import Encoder
from kg_reasoner.loaders.rdf.readers.syntax import Batch, parser_error, read_parsed, term_too_long
from kg_reasoner.loaders.rdf.readers.turtle_ahead import PART, Ahead
from kg_reasoner.loaders.rdf.row_blocks import in_blocks
from kg_reasoner.loaders.rdf.scan import Scanned
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.readers.turtle_reading import PlainTurtle
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.texts import count_lines

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.sources import OpenDocument

__all__ = ["read_turtle"]


@dataclass
class _Declared:
    """The declarations that hold at a place in a document."""

    base: str | None
    prefixes: dict[str, str] = field(default_factory=dict)

    def header(self) -> bytes:
        """Return the declarations of the prefixes."""
        return "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in self.prefixes.items()).encode()


def read_turtle(
    opened: OpenDocument, format: Format, reading: Reading, *, window: int | None = None, part: int = PART
) -> Iterator[Batch]:
    """Read Turtle or TriG.

    Args:
        opened: The document.
        format: Turtle or TriG.
        reading: How it is read. Threads read Turtle together that has only plain statements for some time.
        window: How many bytes are in memory; by default, it depends on the size of a batch.
        part: The number of bytes that each of several threads reads at a time.

    Yields:
        The ids of triples and, for TriG, those of their graphs.

    Raises:
        LoadError: The document is wrong.
    """
    scope = reading.scope_of(opened)
    reader = _Reader(opened, reading, scope, window_size(window, reading.block, opened.size), format)
    if reading.threads > 1 and not format.graphs:
        reader.ahead = Ahead(reading.dictionary, scope, reading.threads, not opened.document.reopens, part)
    for rows in in_blocks(reader.rows(), min(reading.block, ROWS), reader.width):
        yield (rows[:, :3], rows[:, 3]) if format.graphs else (rows, None)
    for prefix, namespace in reader.declared.prefixes.items():
        if reading.prefixes is not None:
            reading.prefixes(prefix, namespace)


class _Reader:
    """Reads one document."""

    def __init__(self, opened: OpenDocument, reading: Reading, scope: BlankScope, window: int, format: Format) -> None:
        self.declared = _Declared(reading.base)
        self.width = 4 if format.graphs else 3
        self.ahead: Ahead | None = None
        self._base = reading.base
        self._format = format
        self._stream = PushbackStream(opened.stream)
        self._document = opened.document
        self._encoder = Encoder(reading.dictionary, scope, parsed=True)
        self._scope = scope
        deepest = opened.document.bounds.depth - format.graphs  # in a graph, its brace is open, too
        self._window = PlainTurtle(reading.dictionary, lambda: scope.prefix, window, format.graphs, deepest)
        self._lines = 0
        self._ends_in_return = False

    def rows(self) -> Iterator[Ids]:
        """Yield triples in the order of the document, except in statements for the parser."""
        window = self._window
        share = ParserShare()
        has_ended = False
        while True:
            before = len(window.rest)
            window.fresh_nodes = self._scope.fresh_nodes
            ids, is_read = window.read()
            self._scope.fresh_nodes = window.fresh_nodes
            yield ids
            read = before - len(window.rest)
            share.since += read
            if read and self.ahead is not None and self.ahead.is_tried:  # the statement is not plain, so threads stopped here
                self.ahead.has_stopped()
                share.since = 0
            has_enough = has_ended or window.is_full or share.is_there(len(window.rest))
            length = 0 if is_read or not has_enough else window.statement_end(share.least)
            if length:
                share.take()
                parsed = self._parsed_part(bytes(window.rest[:length]))
                if parsed is None:
                    break
                yield parsed
                window.skip(length)
                if self.ahead is not None:
                    self.ahead.has_stopped()
            elif has_ended and is_read and window.graph is None:
                return
            elif has_ended or window.is_full:
                break
            elif self.ahead is not None and len(window.rest) < LEAST and self.ahead.is_worthwhile(share.since):
                self._count_lines(window.passed)
                self._stream.push_back([bytes(window.rest)])
                window.clear()
                yield from self.ahead.rows(self._stream, self.declared.prefixes)
                share.since += self.ahead.bytes
                self._lines += self.ahead.lines
                has_ended = not window.fill(self._stream.readinto)
            else:
                self._count_lines(window.passed)
                has_ended = not window.fill(self._stream.readinto)
        yield from self._parsed_rest()

    def _count_lines(self, passed: memoryview) -> None:
        """Count the lines of the text that leaves the window, if the document cannot be read again."""
        if not self._document.reopens and len(passed):
            self._lines += count_lines(passed) - (self._ends_in_return and passed[0] == ord("\n"))
            self._ends_in_return = passed[-1] == ord("\r")

    def _lines_read(self) -> int:
        """Count the lines before the window, at last, if the document cannot be read again."""
        self._count_lines(self._window.passed)
        return self._lines

    def _parsed_part(self, data: bytes) -> Ids | None:
        """Return the triples of some statements, or None if they are wrong or their end was not found."""
        try:
            before, after = self._around()
            return np.concatenate([np.empty((0, self.width), np.int32), *self._parsed(io.BytesIO(before + data + after))])
        except (SyntaxError, LoadError, MemoryError):
            return None

    def _parsed_rest(self) -> Iterator[Ids]:
        """Yield the triples of the rest of the document."""
        header, _ = self._around()
        self._stream.push_back([header, bytes(self._window.rest)])
        try:
            yield from self._parsed(self._stream, lambda: self._lines_read() - header.count(b"\n"))
        except (SyntaxError, LoadError, MemoryError) as error:
            if self._document.reopens:
                self._raise_error_of_document()
            if isinstance(error, MemoryError):
                raise term_too_long(self._document) from None
            if not isinstance(error, SyntaxError):
                raise
            if error.lineno is not None:
                start = self._lines_read()
                if error.lineno == header.count(b"\n") + 1:  # the columns before the statement are not known
                    error.offset = error.end_offset = None
                error.lineno += start - header.count(b"\n")
                error.end_lineno = None
            raise parser_error(self._document, error) from None

    def _around(self) -> tuple[bytes, bytes]:
        """Return the text that has to surround the following statements: the declarations, and the graph that they are in."""
        header, graph = self.declared.header(), self._window.graph
        if graph is None:
            return header, b""
        if graph.startswith("_:"):
            graph = "_:" + graph.removeprefix(f"_:{self._scope.prefix}")
        return header + f"{graph} {{ ".encode(), b" }"

    def _parsed(self, stream: object, lines_before: Callable[[], int] = lambda: 0) -> Iterator[Ids]:
        """Yield the triples of a document that begins with the declarations, and update these."""
        import pyoxigraph

        feed = Scanned(cast(BinaryIO, stream), self._document, self._format, by_lines=False, lines_before=lines_before)
        recorded = RecordedPrefixes(feed)
        graphs = self._format.graphs
        syntax = pyoxigraph.RdfFormat.TRIG if graphs else pyoxigraph.RdfFormat.TURTLE
        lines = pyoxigraph.RdfFormat.N_QUADS if graphs else pyoxigraph.RdfFormat.N_TRIPLES
        statements = pyoxigraph.parse(cast(IO[bytes], DotsApart(recorded)), syntax, base_iri=self.declared.base)
        while data := pyoxigraph.serialize(itertools.islice(statements, ROWS), format=lines):
            yield self._encoder.rows(data, self.width)
        while feed.read(MOST):
            pass
        found: dict[str, str] = {}
        recorded.pass_on(statements.prefixes, found.__setitem__)
        self.declared = _Declared(statements.base_iri, found)
        self._window.set_prefixes(found)

    def _raise_error_of_document(self) -> None:
        scratch = Dictionary()
        with self._document.open() as again:
            encoder = Encoder(scratch, BlankScope(scratch, again.head), parsed=True)
            for _ in read_parsed(again, self._format, self._base, encoder, ROWS):
                pass
