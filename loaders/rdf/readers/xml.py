"""Safe and simplified XML: nothing is fetched, entities cannot explode, and the RDF/XML parser sees only elements and text.

pyoxigraph's RDF/XML parser is fast and strict about RDF. It does not support encodings other than UTF-8, CDATA sections, comments
inside text, all forms of document types, or line numbers, and it accepts a truncated document. Therefore expat reads every byte
first to check the XML, and constructs that pyoxigraph does not support are rewritten.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias
from xml.parsers import expat

from kg_reasoner.errors import LoadError
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.rdf.bounds import hint_for
from kg_reasoner.loaders.rdf.readers.xml_tags import Tags, escaped, quoted
from kg_reasoner.loaders.rdf.scan import refused_triple_term, too_deep, too_long
from kg_reasoner.terms import OWL, RDF

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.document_reading import PrefixSink
    from kg_reasoner.loaders.rdf.sources import Document, OpenDocument

__all__ = ["PlainXML", "Prolog", "XMLReader", "prolog_of", "text_of"]

_CHUNK: Final = 1 << 16
_ENCODING: Final = regular_expression(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([\w.-]+)["']""")
_SINGLE_BYTES: Final = regular_expression(r"(us-)?ascii|iso-8859-1?\d|windows-125\d")
_REFERENCE: Final = regular_expression(r"&([^\s&;#]+);")
_IN_ENTITY: Final = regular_expression(r"&(?:#x0*([0-9a-fA-F]{1,6})|#0*([0-9]{1,7})|([^\s&;#]+));")
_TO_SPACES: Final = str.maketrans("\t\n\r", "   ")
_PREDEFINED: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_LONGEST_ENTITY: Final = 1 << 16
_INSIDE: Final = "nothing is fetched: define the entities inside the document"

_ROOT: Final = f"{RDF} RDF"
_PARSE_TYPE: Final = f"{RDF} parseType"
_DIRECTION: Final = "http://www.w3.org/2005/11/its dir"
_RDF_1_2: Final = frozenset({_PARSE_TYPE, _DIRECTION, f"{RDF} annotation", f"{RDF} annotationNodeID"})

_OnStart: TypeAlias = Callable[[str, dict[str, str]], None]
_OnEnd: TypeAlias = Callable[[str], None]

_SPECIAL: Final = regular_expression(rb"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_SPECIAL_START: Final = regular_expression(rb"<[!?]|<\Z")


class XMLReader:
    """The text of an XML document as UTF-8, checked by an expat parser that rejects external references and
    documents beyond their bounds.

    `parser` is the expat parser, for handlers to be set. Those of elements are `on_start` and `on_end`; they get names with a space
    between the namespace and the local name. `entities` are the general entities that the document defines, by name; `values` are
    those that stand for something else in attributes, where white space in them is spaces.
    """

    def __init__(self, document: Document, text: io.TextIOWrapper, on_start: _OnStart, on_end: _OnEnd | None = None) -> None:
        self.document = document
        self.entities: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self._text = text
        self._finished = False
        self.on_start = on_start
        self._on_end = on_end
        self._deepest = document.bounds.depth
        self._depth = 0
        self._tags = 0
        self._read = 0
        self._without_tag = 0
        self._replaced = 0
        self.parser = parser = expat.ParserCreate("UTF-8", " ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._external
        parser.SkippedEntityHandler = self._skipped

    @property
    def line(self) -> int:
        """The current line of expat, counted from 1."""
        return int(self.parser.CurrentLineNumber)

    @property
    def depth(self) -> int:
        """The depth of the element that has begun last; that of the root is 1."""
        return self._depth

    def error(self, message: str, hint: str | None = None) -> LoadError:
        """Return an error at the current line of expat."""
        return self.document.error(message, self.line, hint=hint)

    def feed(self) -> bytes:
        """Read a chunk and call the handlers for it; return the chunk, or nothing at the end.

        Raises:
            LoadError: The document is not well-formed, ends in the middle, or needs something outside it.
        """
        if self._finished:
            return b""
        try:
            # More at a time while no tag ends: expat reads an incomplete token again from its beginning.
            text = self._text.read(max(_CHUNK, self._without_tag))
        except UnicodeDecodeError as error:
            message = f"the byte {error.object[error.start]:#04x} is not valid {error.encoding}"
            raise self.document.error(message, self._undecodable_line(error.encoding)) from None
        except UnicodeError as error:
            raise self.document.error(f"the text is not in the encoding that it declares: {error}") from None
        data = text.encode("utf-8", "surrogatepass")  # of a surrogate, expat says that it is not XML
        self._finished = not data
        self._read += len(data)
        before = self._tags, self._depth
        try:
            self.parser.Parse(data, not data)
        except expat.ExpatError as error:
            message = f"not well-formed XML: {expat.ErrorString(error.code)}"
            raise self.document.error(message, error.lineno, error.offset + 1, error.offset + 2) from None
        self._without_tag = self._without_tag + len(data) if before == (self._tags, self._depth) else 0
        if self._without_tag > self.document.bounds.literal:
            raise too_long(self.document, self.line)
        if self.entities:
            self._check_expansion(text)
        return data

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._tags += 1
        self._depth += 1
        if self._depth > self._deepest:
            raise too_deep(self.document, self._deepest, self.line, hint_for("depth"))
        self.on_start(tag, attributes)

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if self._on_end is not None:
            self._on_end(tag)

    def _check_expansion(self, text: str) -> None:
        """Reject a short document that repeats long entities many times."""
        self._replaced += sum(len(self.entities.get(name, "")) for name in _REFERENCE.findall(text))
        if self._replaced > self.document.bounds.expanded(self._read):
            message = f"its entities make it more than {self.document.bounds.expansion} times as long"
            raise self.error(message, hint_for("expansion"))

    def _undecodable_line(self, encoding: str) -> int | None:
        """Return the first line that is invalid in the encoding; expat may not have reached it."""
        if self.document.reopens and encoding != "utf-16":
            with self.document.open() as again:
                for number, line in enumerate(again.stream, 1):
                    try:
                        line.decode(encoding)
                    except UnicodeDecodeError:
                        return number
        return None

    def _entity(self, name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        if is_parameter or value is None or name in self.entities or name in _PREDEFINED:
            return
        if "<" in value:
            raise self.error(f"the entity {name} has markup in it, which is not supported")
        length = len(value) + sum(len(self._expansion(found)) for found in _IN_ENTITY.finditer(value))
        if length > _LONGEST_ENTITY:
            raise self.error(f"the entity {name} is longer than {_LONGEST_ENTITY} characters")
        text = self.entities[name] = _IN_ENTITY.sub(self._expansion, value)
        in_attributes = _IN_ENTITY.sub(self._value, value.translate(_TO_SPACES))
        if in_attributes != text:
            self.values[name] = in_attributes

    def _expansion(self, reference: re.Match[str]) -> str:
        hexadecimal, decimal, name = reference.groups()
        if name is None:
            code = int(hexadecimal, 16) if hexadecimal else int(decimal)
            return chr(code) if _is_character(code) else str(reference[0])  # of which expat says what is wrong with it
        if name in _PREDEFINED:
            return _PREDEFINED[name]
        if name not in self.entities:
            raise self.error(f"the entity {name} is used before it is defined")
        return self.entities[name]

    def _value(self, reference: re.Match[str]) -> str:
        return self.values.get(reference[3]) or self._expansion(reference)

    def _external(self, *_: object) -> int:
        raise self.error("an entity is defined outside the document", _INSIDE)

    def _skipped(self, name: str, is_parameter: bool) -> None:
        raise self.error(f"the entity {name} is not defined in the document", _INSIDE)


def _is_character(code: int) -> bool:
    """Return whether XML allows a character."""
    return code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000


def text_of(opened: OpenDocument) -> io.TextIOWrapper:
    """Return the document's text, decoded by its byte order mark or XML declaration, with LF line breaks as XML requires."""
    declared = _ENCODING.match(opened.head)
    encoding = "utf-16" if opened.head.startswith((b"\xff\xfe", b"\xfe\xff")) else declared[1].decode() if declared else "utf-8"
    try:
        return io.TextIOWrapper(opened.stream, encoding, newline=None)
    except LookupError:
        raise opened.document.error(f"the encoding {encoding} is not known", 1, hint="save the document as UTF-8") from None


class Prolog(NamedTuple):
    """The part before the root element: its length in bytes, the entities that it defines, and whether the document is in UTF-8."""

    length: int
    entities: dict[str, str]
    is_utf8: bool


class _RootFoundError(Exception):
    """The root element begins here."""


class _DefaultsFoundError(Exception):
    """The document type may give attributes values that are not in the document."""


def prolog_of(opened: OpenDocument, data: bytes) -> Prolog | None:
    """Return the prolog of an RDF/XML document with the root element rdf:RDF, or nothing if it has an error, or an encoding that is
    neither UTF-8 nor ASCII with single further bytes.

    Args:
        opened: The document.
        data: Its beginning, as it is.
    """
    declared = _ENCODING.match(opened.head)
    encoding = declared[1].decode().lower() if declared else "utf-8"
    if encoding != "utf-8" and not _SINGLE_BYTES.fullmatch(encoding):
        return None

    def found(tag: str, _: object) -> None:
        raise _RootFoundError(tag, reader.parser.CurrentByteIndex)

    def refused(*_: object) -> None:
        raise _DefaultsFoundError

    try:
        reader = XMLReader(opened.document, io.TextIOWrapper(io.BytesIO(data), encoding, newline=""), found)
        reader.parser.AttlistDeclHandler = refused
        while reader.feed():
            pass
    except _RootFoundError as root:
        tag, length = root.args
        is_utf8 = encoding == "utf-8"
        return Prolog(length, reader.entities, is_utf8) if tag == _ROOT and (is_utf8 or data[:length].isascii()) else None
    except (LoadError, LookupError, _DefaultsFoundError):
        pass
    return None


class PlainXML:
    """An XML document rewritten for pyoxigraph: UTF-8 without comments, processing instructions, CDATA sections, and unusual
    entities.

    With `by_lines`, `read` returns it line by line, so that `line`, the line returned last, is where the parser is. `prefixes`
    is called for each declaration of a prefix.
    """

    def __init__(
        self, opened: OpenDocument, *, by_lines: bool, base: str | None = None, prefixes: PrefixSink | None = None
    ) -> None:
        self.line = 1
        self._by_lines = by_lines
        self._reader = XMLReader(opened.document, text_of(opened), self._begin)
        if prefixes is not None:
            self._reader.parser.StartNamespaceDeclHandler = lambda prefix, namespace: prefixes(prefix or "", namespace or "")
        self._tags = Tags(base, self._reader.values)
        self._root_offset: int | None = None
        self._unread = b""
        self._pieces: list[tuple[int, bytes]] = []
        self._next = 0
        self._done = 0
        self._next_line = 1

    def read(self, size: int = -1) -> bytes:
        """Return the next line or piece, limited to `size` bytes; nothing at the end."""
        while self._next == len(self._pieces):
            self._pieces.clear()
            self._next = 0
            data = self._reader.feed()
            self._unread += data
            if self._root_offset is not None:
                self._rewrite()
            if not data:
                return b""
        self.line, piece = self._pieces[self._next]
        if 0 <= size < len(piece) - self._done:  # pyoxigraph ends the process if it gets more than it asked for
            self._done += size
            return piece[self._done - size : self._done]
        if self._done:
            piece, self._done = piece[self._done :], 0
        self._next += 1
        return piece

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle the first element: the document type is complete, and the content begins."""
        if tag == f"{OWL} Ontology":
            raise self._reader.error("this is OWL/XML, not RDF/XML", "give owlxml as its format")
        self._root_offset = self._reader.parser.CurrentByteIndex
        self._reader.on_start = self._check
        self._check(tag, attributes)

    def _check(self, tag: str, attributes: dict[str, str]) -> None:
        """Reject constructs of RDF 1.2."""
        try:
            known = self._tags.begin(self._reader.depth, tag, attributes)
        except ValueError as error:
            raise self._reader.error(str(error)) from None
        if _RDF_1_2.isdisjoint(known):
            return
        if _DIRECTION in known:
            raise self._reader.error(
                "the base direction its:dir belongs to RDF 1.2, which is not supported", "leave the direction out"
            )
        if known.get(_PARSE_TYPE, "Triple") == "Triple":
            raise refused_triple_term(self._reader.document, self._reader.line)

    def _rewrite(self) -> None:
        """Rewrite the text read so far, except for an incomplete construct such as a comment."""
        text, self._unread = self._unread, b""
        if self._root_offset:
            entities = "".join(f"<!ENTITY {name} {quoted(value)}>" for name, value in self._reader.entities.items())
            if entities:
                self._pieces.append((1, f"<!DOCTYPE rdf:RDF [{entities}]>".encode()))
            self._next_line += text.count(b"\n", 0, self._root_offset)
            text, self._root_offset = text[self._root_offset :], 0
        place = 0
        if _SPECIAL_START.search(text):
            for special in _SPECIAL.finditer(text):
                if _SPECIAL_START.search(text, place, special.start()):
                    break  # it is inside another one, which is unfinished
                rest = self._add(text[place : special.start()])
                if rest:
                    self._unread = rest + text[special.start() :]
                    return
                if special[1]:
                    self._pieces.append((self._next_line, escaped(special[1].decode()).encode()))
                self._next_line += special[0].count(b"\n")
                place = special.end()
            unfinished = _SPECIAL_START.search(text, place)
            if unfinished:
                self._unread = text[unfinished.start() :]
                text = text[: unfinished.start()]
        end = self._tags.complete(text, place)
        self._unread = self._add(text[place:end]) + text[end:] + self._unread

    def restored(self, triples: bytes) -> bytes:
        """Return what the parser has made, in canonical N-Triples, as the document says it."""
        return self._tags.restored(triples)

    def _add(self, text: bytes) -> bytes:
        """Add text of complete tags, and return what has to wait until expat has reached it."""
        text, rest = self._tags.rewritten(text)
        if not self._by_lines:
            if text:
                self._pieces.append((self._next_line, text))
            return rest
        lines = text.split(b"\n")
        self._pieces += ((number, line + b"\n") for number, line in enumerate(lines[:-1], self._next_line))
        self._next_line += len(lines) - 1
        if lines[-1]:
            self._pieces.append((self._next_line, lines[-1]))
        return rest
