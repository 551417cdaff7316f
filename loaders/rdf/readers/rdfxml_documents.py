"""RDF/XML to ids: plain elements by a compiled reader, all others by pyoxigraph's parser.

The parser gets the elements that the compiled reader does not accept, behind the beginning of the document; the more there are of
them, the more text at a time. What it refuses, it gets again with all of the rest of the document, and the error is that of the
whole document. A document without the root element rdf:RDF, or with an encoding that is rare, is left to it as a whole.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from kg_reasoner.data_classes import dataclass
from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.blank import BlankScope
from kg_reasoner.loaders.rdf.document_reading import Reading
from kg_reasoner.loaders.rdf.formats import RDF_XML
from kg_reasoner.loaders.rdf.parser_share import ROWS, ParserShare, window_size
from kg_reasoner.loaders.rdf.pushback import PushbackStream
from kg_reasoner.loaders.rdf.readers.statements import Encoder
from kg_reasoner.loaders.rdf.readers.syntax import Batch, read_parsed
from kg_reasoner.loaders.rdf.readers.xml import prolog_of
from kg_reasoner.loaders.rdf.readers.xml_tags import quoted
from kg_reasoner.loaders.rdf.row_blocks import in_blocks
from kg_reasoner.loaders.rdf.sources import Document, document_of
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.readers.rdfxml_reading import PlainRDFXML
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.texts import count_lines

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.sources import OpenDocument

__all__ = ["read_rdfxml"]

_WIDEST: Final = 1 << 24
"""The maximal length in bytes of an element that is read into memory; a longer one is left to the parser."""

_ROOT: Final = re.compile(rb"<([^\s:>]+):RDF[\s>]")
_NAMES: Final = re.compile(rb"[\s:]ID\s*=")


def read_rdfxml(opened: OpenDocument, reading: Reading, *, window: int | None = None, widest: int = _WIDEST) -> Iterator[Batch]:
    """Read RDF/XML.

    Args:
        opened: The document.
        reading: How it is read.
        window: How many bytes are in memory; by default, it depends on the size of a batch.
        widest: How many bytes are in memory for longer elements.

    Yields:
        The ids of triples.

    Raises:
        LoadError: The document is wrong.
    """
    reader = _Reader(opened, reading, window_size(window, reading.block, opened.size))
    reader.widest = min(widest, opened.document.bounds.literal)
    for rows in in_blocks(reader.rows(), min(reading.block, ROWS), 3):
        yield rows, None


def _ignored(prefix: str, namespace: str) -> None:
    """Ignore a prefix."""


class _Reader:
    """Reads one document. `_header` is what has to stand before its elements: its own beginning, up to the start tag of rdf:RDF."""

    def __init__(self, opened: OpenDocument, reading: Reading, window: int) -> None:
        self.widest = window
        self._opened = opened
        self._document = opened.document
        self._base = reading.base
        self._dictionary = reading.dictionary
        self._scope = scope = reading.scope_of(opened)
        self._prefixes = reading.prefixes or _ignored
        self._stream = PushbackStream(opened.stream)
        self._window = PlainRDFXML(reading.dictionary, lambda: scope.prefix, window, opened.document.bounds.depth)
        self._header = self._prefix = b""
        self._declarations = 0
        self._lines = 0

    def rows(self) -> Iterator[Ids]:
        """Yield triples in the order of the document."""
        window = self._window
        share = ParserShare()
        has_ended = not window.fill(self._stream.readinto)
        is_plain = self._begin()
        while is_plain:
            before = len(window.rest)
            window.fresh_nodes = self._scope.fresh_nodes
            try:
                ids, is_read = window.read()
            except ValueError:  # as the parser will say
                window.skip(len(window.rest) - before)
                break
            self._scope.fresh_nodes = window.fresh_nodes
            self._pass_on(window.declared())
            yield ids
            share.since += before - len(window.rest)
            has_enough = has_ended or window.is_full or share.is_there(len(window.rest))
            length = 0 if is_read or window.is_closed or not has_enough else window.elements_end(share.least)
            if length:
                share.take()
                parsed = self._parsed_part(bytes(window.rest[:length]))
                if parsed is None:
                    break
                yield parsed
                window.skip(length)
            elif has_ended and is_read and window.is_closed:
                return
            elif has_ended or (window.is_full and not window.widen(self.widest)):
                break
            else:
                self._count_lines()
                has_ended = not window.fill(self._stream.readinto)
        yield from self._parsed_rest()

    def _begin(self) -> bool:
        """Read the beginning of the document, and return whether it is as the compiled reader needs it."""
        window = self._window
        data = bytes(window.rest)
        prolog = prolog_of(self._opened, data)
        if prolog is None:
            return False
        expansion = self._document.bounds.expansion
        if any(len(text) > expansion * len(f"&{name};") for name, text in prolog.entities.items()):
            return False  # the parser counts what entities make of the document; others cannot make too much of it
        root = _ROOT.match(data, prolog.length)
        if root is None or not window.begin(prolog.length, prolog.entities, self._base, not prolog.is_utf8):
            return False
        declared = list(window.declared())
        self._pass_on(declared)
        self._declarations = len(declared)
        self._header, self._prefix = bytes(window.passed), root[1]
        return True

    def _pass_on(self, prefixes: Iterable[tuple[str, str]]) -> None:
        for prefix, namespace in prefixes:
            self._prefixes(prefix, namespace)

    def _count_lines(self) -> None:
        """Count the lines of the text that leaves the window, if the document cannot be read again."""
        if not self._document.reopens:
            self._lines += count_lines(self._window.passed)

    def _parsed_part(self, data: bytes) -> Ids | None:
        """Return the triples of some elements, or None if they are wrong, or give names that must not be given again."""
        if _NAMES.search(data):
            return None
        part = document_of(self._header + data + self._end_tag(), RDF_XML, self._document.bounds)
        assert part is not None
        declared: list[tuple[str, str]] = []
        try:
            found = list(self._parsed(part, declared))
        except LoadError:
            return None
        self._pass_on(declared[self._declarations :])
        return np.concatenate([np.empty((0, 3), np.int32), *found])

    def _parsed_rest(self) -> Iterator[Ids]:
        """Yield the triples of the rest of the document."""
        self._count_lines()
        end = self._end_tag() if self._window.is_closed else b""
        self._stream.push_back([self._header, self._names(), end, bytes(self._window.rest)])
        stream = self._stream
        lines = self._lines - count_lines(self._header)
        rest = _Rest(self._document.name, None, lambda: _Raw(stream), False, RDF_XML, self._document.bounds, lines)
        declared: list[tuple[str, str]] = []
        try:
            yield from self._parsed(rest, declared)
        except LoadError:
            if self._document.reopens:
                self._raise_error_of_document()
            raise
        self._pass_on(declared[self._declarations :])

    def _end_tag(self) -> bytes:
        return b"</" + self._prefix + b":RDF>"

    def _names(self) -> bytes:
        """Return elements without triples that give the names that the document has given: it must not give them again."""
        prefix = self._prefix.decode()
        elements = []
        for number in self._window.names:
            base, _, name = self._dictionary.text(number)[1:-1].rpartition("#")
            elements.append(f'<{prefix}:Description xml:base={quoted(base)} {prefix}:ID="{name}"/>')
        return "".join(elements).encode()

    def _parsed(self, document: Document, declared: list[tuple[str, str]]) -> Iterator[Ids]:
        """Yield what the parser makes of a document, and list the prefixes that this declares."""
        encoder = Encoder(self._dictionary, self._scope, parsed=True)
        with document.open() as opened:
            sink = lambda prefix, namespace: declared.append((prefix, namespace))  # noqa: E731
            by_lines = not self._document.reopens
            for ids, _ in read_parsed(opened, RDF_XML, self._base, encoder, ROWS, sink, by_lines=by_lines):
                yield ids

    def _raise_error_of_document(self) -> None:
        scratch = Dictionary()
        with self._document.open() as again:
            for _ in read_parsed(again, RDF_XML, self._base, Encoder(scratch, BlankScope(scratch, again.head), parsed=True), ROWS):
                pass


@dataclass(frozen=True)
class _Rest(Document):
    """The rest of a document that cannot be read again, behind a number of further lines."""

    lines: int = 0

    def error(
        self,
        message: str,
        line: int | None = None,
        column: int = 1,
        end_column: int | None = None,
        hint: str | None = None,
        text: str | None = None,
    ) -> LoadError:
        """Return an error at a place in the whole document."""
        return super().error(message, None if line is None else line + self.lines, column, end_column, hint, text)


class _Raw(io.RawIOBase):
    """The rest of a stream."""

    def __init__(self, stream: PushbackStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        return self._stream.readinto(memoryview(buffer))  # type: ignore[arg-type]
