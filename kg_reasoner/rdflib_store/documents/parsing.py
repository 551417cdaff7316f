"""Parsing documents into graphs over a store, in blocks: `Graph.parse` and `Dataset.parse`.

What rdflib promises remains: blank nodes are new ones, whatever labels the document has; the prefixes of the document are bound in
the graph; relative IRIs are resolved against the `publicID` or the place of the document; literals are normalised if
`rdflib.NORMALIZE_LITERALS` is set; the store's subscribers get an event for each triple. A document with an error adds nothing.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol, cast
from urllib.parse import quote, urldefrag, urlsplit
from uuid import uuid4

import numpy as np
from rdflib import Graph
from rdflib.parser import FileInputSource, InputSource, PythonInputSource, URLInputSource

from kg_reasoner.errors import LoadError
from kg_reasoner.loaders.rdf.bounds import DEFAULT_BOUNDS, DocumentBounds
from kg_reasoner.loaders.rdf.formats import JSON_LD, N_QUADS, N_TRIPLES, RDF_XML, Format
from kg_reasoner.loaders.rdf.readers.reader import read
from kg_reasoner.loaders.rdf.readers.syntax import NEEDS_BASE
from kg_reasoner.loaders.rdf.sources import Document, document_of
from kg_reasoner.rdflib_store.documents.literal_forms import normalised
from kg_reasoner.rdflib_store.graphs.separate_graphs import Graphs
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.terms.dictionary import Dictionary

_DECLARED_ENCODING: Final = re.compile(r"""\A(\s*<\?xml[^>]*?)\sencoding\s*=\s*["'][\w.-]+["']""")
_XML_LITERAL: Final = re.compile(rb"""parseType\s{0,99}=\s{0,99}["']Literal""")
_CHUNK: Final = 1 << 20
_LONGEST: Final = 1 << 8
_HTML: Final = ("text/html", "application/xhtml+xml")
_IN_IRI: Final = "!#$%&'()*+,/:;=?@[]~"


class RowStore(Protocol):
    """The part of a store that parsing requires."""

    graphs: Graphs

    def add_rows(self, triples: Ids, graphs: Ids | None, context: Graph, dictionary: Dictionary) -> None: ...


def parse_in_blocks(
    store: RowStore,
    source: InputSource,
    graph: Graph,
    format: Format,
    by_rdflib: Callable[[InputSource], object],
    bounds: DocumentBounds = DEFAULT_BOUNDS,
) -> None:
    """Parse a document into a graph.

    What needs rdflib's parser is passed on to it: JSON-LD with contexts outside the document, in HTML or as Python objects; RDF/XML
    with XML literals, which rdflib writes in another form, or with relative IRIs and no base, which remain relative. It adds triple
    by triple.

    Args:
        store: The store.
        source: The document.
        graph: The graph, over the store.
        format: The syntax.
        by_rdflib: Parses the document, or a copy of it, by rdflib's parser.
        bounds: Bounds on the size and depth of documents.

    Raises:
        LoadError: The document is malformed. Nothing has changed.
        ReasonerError: A graph of the document holds the inferred triples and is read-only. Nothing has changed.
    """
    document = None if format is JSON_LD and _is_for_rdflib(source) else _document(source, format)
    if document is None:
        by_rdflib(source)
        return
    document = replace(document, bounds=bounds)
    base = _base(source, graph, format)
    declared: dict[tuple[str, str], None] = {}
    if format is JSON_LD:
        from kg_reasoner.rdflib_store.documents.jsonld_contexts import JSONText

        data = _content(document)
        text = JSONText(data)
        if text.refers_outside:
            by_rdflib(_copy(source, data))
            return
        _add(store, _held(document, text.without_unnamed_graphs() or data), graph, base, declared)
        declared = dict.fromkeys(text.prefixes(cast(str, base)))  # rdflib's choice
    elif format is RDF_XML:
        document = document if document.reopens else _held(document, _content(document))
        if _has_xml_literals(document):
            by_rdflib(_copy(source, _content(document)))
            return
        try:
            _add(store, document, graph, base, declared)
        except LoadError as error:
            if base is not None or error.hint != NEEDS_BASE:
                raise
            by_rdflib(_copy(source, _content(document)))
            return
    else:
        _add(store, document, graph, base, declared)
    for prefix, namespace in declared:
        graph.bind(prefix, namespace, override=format is not RDF_XML)


def _add(store: RowStore, document: Document, graph: Graph, base: str | None, declared: dict[tuple[str, str], None]) -> None:
    """Add the triples of a document to a graph, all of them or, on an error, none; note the prefixes that it declares."""
    dictionary = store.graphs.reasoner.dictionary
    blocks = list(
        read(
            document,
            dictionary=dictionary,
            base=base,
            bounds=document.bounds,
            scope=f"n{uuid4().hex}",
            prefixes=lambda prefix, namespace: declared.setdefault((prefix, namespace)),
        )
    )
    if blocks:
        triples = normalised(np.concatenate([block.triples for block in blocks]), dictionary)
        graphs = [block.graphs for block in blocks if block.graphs is not None]
        store.add_rows(triples, np.concatenate(graphs) if graphs else None, graph, dictionary)


# --- documents ----------------------------------------------------------------------------------------------------------


def _document(source: InputSource, format: Format) -> Document | None:
    """Return the document of a source; None if it has neither bytes nor text."""
    data, text = source.getByteStream(), source.getCharacterStream()
    path = Path(str(getattr(source.file, "name", ""))) if isinstance(source, FileInputSource) and source.auto_close else None
    if path is not None and path.is_file():
        return document_of(path, format)  # opened by rdflib: it can be opened again, to show a wrong line
    if isinstance(data, io.BytesIO):
        return document_of(data.read(), format)
    if text is not None:
        if format is RDF_XML:
            return document_of(_DECLARED_ENCODING.sub(r"\1", text.read(), count=1).encode("utf-8", "surrogatepass"), format)
        if isinstance(text, io.StringIO):
            return document_of(text.read().encode("utf-8", "surrogatepass"), format)
        return document_of(_Text(text), format)
    if data is None or not hasattr(data, "read"):
        return None
    found = document_of(data, format)
    return replace(found, name=str(source.url)) if found is not None and isinstance(source, URLInputSource) else found


class _Text:
    """A stream of text, read from where it is; its buffer may be further."""

    def __init__(self, stream: Any) -> None:
        self.read = stream.read
        self.name = getattr(stream, "name", None)


def _content(document: Document) -> bytes:
    with document.open() as opened:
        return opened.stream.read()


def _held(document: Document, data: bytes) -> Document:
    """Return a document with given content, which can be read several times."""
    held = cast(Document, document_of(data, document.format, document.bounds))
    return replace(held, name=document.name)


def _copy(source: InputSource, data: bytes) -> InputSource:
    """Return a source with the content of one that has been read."""
    copy = InputSource(source.getSystemId())
    copy.setPublicId(source.getPublicId())
    copy.setByteStream(io.BytesIO(data))
    copy.content_type = source.content_type
    return copy


def _has_xml_literals(document: Document) -> bool:
    """Return whether an RDF/XML document seems to have XML literals."""
    before = b""
    with document.open() as opened:
        while data := opened.stream.read(_CHUNK):
            if _XML_LITERAL.search(before + data):
                return True
            before = data[-_LONGEST:]
    return False


def _is_for_rdflib(source: InputSource) -> bool:
    """Return whether a JSON-LD document comes in a form that only rdflib reads; a response may have a context in its header."""
    return isinstance(source, PythonInputSource | URLInputSource) or (source.content_type or "").lower() in _HTML


def _base(source: InputSource, graph: Graph, format: Format) -> str | None:
    """Return the base of a document, as rdflib's parser of the format chooses it."""
    place = source.getPublicId() or source.getSystemId() or ""
    if format in (N_TRIPLES, N_QUADS):
        return None
    base = urldefrag(place)[0] if format is RDF_XML else str(graph.absolutize(place))
    return quote(base, safe=_IN_IRI) if urlsplit(base).scheme else None
