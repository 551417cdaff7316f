"""Readers from documents to ids with one of pyoxigraph's parsers."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Final, TypeAlias, cast

from kg_reasoner.errors import LoadError
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.rdf.declared_prefixes import RecordedPrefixes
from kg_reasoner.loaders.rdf.formats import JSON_LD, N3, RDF_XML, TRIG, TURTLE, Format
from kg_reasoner.loaders.rdf.pushback import KeptText
from kg_reasoner.loaders.rdf.readers.escaped_dots import DotsApart
from kg_reasoner.loaders.rdf.readers.jsonld_keys import without_unmapped_keys
from kg_reasoner.loaders.rdf.readers.statements import Encoder, check_line
from kg_reasoner.loaders.rdf.readers.xml import PlainXML
from kg_reasoner.loaders.rdf.scan import Scanned, too_long
from kg_reasoner.storage.arrays import Ids

if TYPE_CHECKING:
    import pyoxigraph

    from kg_reasoner.loaders.rdf.document_reading import PrefixSink
    from kg_reasoner.loaders.rdf.sources import Document, OpenDocument

__all__ = ["NEEDS_BASE", "Batch", "first_error", "has_longer_literal", "parser_error", "read_parsed", "term_too_long"]

Batch: TypeAlias = tuple[Ids, "Ids | None"]
"""Ids of triples, of shape (triples, 3), and of their graphs (-1: the default graph), or None in a syntax without graphs."""

_LARGEST_CHUNK: Final = 1 << 21
_ROWS: Final = 50_000

_LITERAL: Final = regular_expression(rb'"(?:[^"\\]|\\.)*"')
_POSITION: Final = regular_expression(r"Parser error [^:]*: ")
NEEDS_BASE: Final = "relative IRIs need a base: declare one in the document, or pass base='http://...'"
"""The hint of errors for relative IRIs."""
_HINTS: Final = (
    ("No scheme found in an absolute IRI", NEEDS_BASE),
    ("LoadDocumentCallback", "nothing is fetched: put the context itself into the document"),
    ("XML namespaces are required", "give it a prefix: only the attributes about, ID, parseType, resource and type may lack one"),
    ("UTF-8", "save the document in UTF-8"),
    ("variables are not allowed", "variables are only allowed in rules: { ... } => { ... }"),
    ("literals are not allowed in regular RDF subjects", "only N3 allows a literal as a subject, RDF does not"),
)
_NO_BASE: Final = "x-relative-iri:///"
"""The base of JSON-LD documents without one: pyoxigraph leaves out what is relative, but nothing may get lost in silence."""


def has_longer_literal(data: bytes, longest: int) -> bool:
    """Return whether data in N-Triples have a literal that is longer than a number of bytes."""
    return len(data) > longest and any(len(found[0]) - 2 > longest for found in _LITERAL.finditer(data))


def first_error(document: Document, chunk: bytes, first_line: int | None, quads: bool) -> LoadError | None:
    """Return the error of the first invalid line. Parses each line separately, which is slow and only done after an error.

    Without `first_line`, the lines are not those of the document but what a parser made of it.
    """
    for place, line in enumerate(chunk.split(b"\n")):
        text = line.decode("utf-8", "replace")
        number = None if first_line is None else first_line + place
        try:
            check_line(line, quads)
        except SyntaxError as error:
            if number is None:
                message = _POSITION.sub("", error.msg, count=1)
                return document.error(f"{message}: {text}", hint=_hint_for(message))
            return parser_error(document, error, number, text)
        except LoadError as error:
            return document.error(error.message, number, hint=error.hint, text=text)
    return None


def read_parsed(
    opened: OpenDocument,
    format: Format,
    base: str | None,
    encoder: Encoder,
    block: int,
    prefixes: PrefixSink | None = None,
    *,
    by_lines: bool | None = None,
) -> Iterator[Batch]:
    """Read Turtle, TriG, RDF/XML, JSON-LD or N3 without formulas.

    Args:
        opened: The document.
        format: The syntax.
        base: The base IRI of a document that does not declare one.
        encoder: Makes ids of statements.
        block: The most statements in a batch.
        prefixes: Collects the prefixes that the document declares.
        by_lines: Whether RDF/XML is read by lines, which is slow, so that errors have them; by default, if the document cannot be
            read again.

    Yields:
        The ids of triples and, in syntaxes with named graphs, those of their graphs.

    Raises:
        LoadError: The document is wrong; with the line where the parser knows it.
    """
    for data in _statements(opened, format, base, min(block, _ROWS), prefixes, by_lines):
        if has_longer_literal(data, opened.document.bounds.literal):
            raise too_long(opened.document, None)
        try:
            yield encoder.quads(data) if format.graphs else (encoder.triples(data), None)
        except (SyntaxError, LoadError) as error:
            raise first_error(opened.document, data, None, format.graphs) or opened.document.error(str(error)) from None


def _statements(
    opened: OpenDocument, format: Format, base: str | None, rows: int, prefixes: PrefixSink | None, by_lines: bool | None
) -> Iterator[bytes]:
    """Yield the statements parsed by pyoxigraph as canonical N-Triples; as N-Quads, in a syntax with graphs.

    Writing them inside pyoxigraph and reading them with the compiled reader is much faster than a Python object for each term.
    """
    import pyoxigraph

    document = opened.document
    is_json = format is JSON_LD
    # Turtle's parsers know their position; of the others it is the line that they asked for last.
    feed: PlainXML | Scanned
    kept: KeptText | None = None
    if format is RDF_XML:
        by_lines = not document.reopens if by_lines is None else by_lines
        feed = PlainXML(opened, by_lines=by_lines, base=base, prefixes=prefixes)
    else:
        kept = KeptText(opened.stream) if is_json else None
        feed = Scanned(kept or opened.stream, document, format, by_lines=format in (JSON_LD, N3))
    recorded = RecordedPrefixes(feed) if prefixes is not None and format in (TURTLE, TRIG) else None
    parsed = DotsApart(recorded or feed) if format in (TURTLE, TRIG, N3) else recorded or feed

    def statements_of(stream: object) -> pyoxigraph.QuadParser:
        return pyoxigraph.parse(
            cast(IO[bytes], stream),
            _parser_of(format),
            base_iri=base or (_NO_BASE if is_json else None),
            lenient=is_json,  # or else invalid terms would be left out: kept, they are found when they are encoded
        )

    try:
        statements = statements_of(parsed)
        some: Iterator[pyoxigraph.Quad] = statements
        if kept is not None:
            some = _with_default_graph(
                _with_properties(statements, document), kept, lambda text: _with_properties(statements_of(text), document)
            )
        lines = pyoxigraph.RdfFormat.N_QUADS if format.graphs else pyoxigraph.RdfFormat.N_TRIPLES
        while data := pyoxigraph.serialize(itertools.islice(some, rows), format=lines):
            if is_json:
                _refuse_relative(data, document)
            yield feed.restored(data) if isinstance(feed, PlainXML) else data
        while feed.read(_LARGEST_CHUNK):
            pass
        if recorded is not None and prefixes is not None:
            recorded.pass_on(statements.prefixes, prefixes)
        elif format in (JSON_LD, N3) and prefixes is not None:
            for prefix, namespace in statements.prefixes.items():
                prefixes(prefix, namespace)
    except SyntaxError as error:
        line = _line_of_error(document, base) if format is RDF_XML and document.reopens else feed.line
        raise parser_error(document, error, line if error.lineno is None else None) from None
    except MemoryError:  # of the parser's own buffer: a term is longer than it
        raise term_too_long(document) from None


def _with_default_graph(
    statements: Iterator[pyoxigraph.Quad], kept: KeptText, parse: Callable[[object], Iterator[pyoxigraph.Quad]]
) -> Iterator[pyoxigraph.Quad]:
    """Yield the statements of a JSON-LD document, those of a @graph with nothing but comments beside it in the default graph.

    The parser has read a whole object before it returns its first statement, which then is in a named graph.
    """
    import pyoxigraph

    first = next(statements, None)
    text = kept.release()
    if first is None:
        return
    plain = None if isinstance(first.graph_name, pyoxigraph.DefaultGraph) else without_unmapped_keys(text)
    if plain is None:
        yield first
        yield from statements
    else:
        yield from parse(io.BytesIO(plain))


def _with_properties(statements: Iterator[pyoxigraph.Quad], document: Document) -> Iterator[pyoxigraph.Quad]:
    """Leave out keys that no context maps to an IRI, as JSON-LD says, and refuse blank nodes as properties."""
    for quad in statements:
        property = quad.predicate.value
        if property.startswith("_:"):
            raise document.error(f"the property {property} is a blank node, which RDF does not permit", hint="give it an IRI")
        if ":" in property:
            yield quad


def term_too_long(document: Document) -> LoadError:
    """Return the error for a term that does not fit in the parser's buffer."""
    return document.error("a term is too long for this syntax (16 MiB)", hint="N-Triples may have longer ones")


def _line_of_error(document: Document, base: str | None) -> int | None:
    """Return the line of the first error in an RDF/XML document, which is read again line by line."""
    import pyoxigraph

    with document.open() as again:
        feed = PlainXML(again, by_lines=True, base=base)
        try:
            for _ in pyoxigraph.parse(cast(IO[bytes], feed), pyoxigraph.RdfFormat.RDF_XML, base_iri=base):
                pass
        except SyntaxError:
            return feed.line
    return None


def _parser_of(format: Format) -> pyoxigraph.RdfFormat:
    import pyoxigraph

    found = pyoxigraph.RdfFormat.from_media_type(format.media_type)
    assert found is not None
    return found


def parser_error(document: Document, error: SyntaxError, line: int | None = None, text: str | None = None) -> LoadError:
    """Return the error for a message of pyoxigraph, at its position or at `line`; with `text`, the position is in this text."""
    message = _POSITION.sub("", error.msg, count=1)
    hint = _hint_for(message)
    if "LoadDocumentCallback" in message:
        message = "the document refers to a remote context"
    elif "No scheme found in an absolute IRI" in message:
        message = "the IRI is relative"
        if text is not None:
            hint = "N-Triples and N-Quads have absolute IRIs only"
    message = message[:1].lower() + message[1:] if message[1:2].islower() else message
    if error.lineno is None:
        return document.error(message, line, hint=hint, text=text)
    end = error.end_offset if error.end_lineno == error.lineno else None
    return document.error(message, line if text is not None else error.lineno, error.offset or 1, end, hint, text)


def _hint_for(message: str) -> str | None:
    return next((hint for part, hint in _HINTS if part in message), None)


def _refuse_relative(data: bytes, document: Document) -> None:
    found = re.search(re.escape(_NO_BASE.encode()) + b"([^>]*)", data)
    if found:
        iri = found[1].decode("utf-8", "replace")
        raise document.error(f"the IRI {iri!r} is relative", hint=NEEDS_BASE)
