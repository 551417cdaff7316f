"""Attributes in the tags of RDF/XML as pyoxigraph's parser needs them.

The parser takes tabs and line breaks in values as they are, although they stand for spaces (XML 1.0, section 3.3.3), refuses a
relative xml:base, an empty xml:lang, and the attributes of RDF that may lack a prefix (RDF 1.1 XML Syntax, section 6.1.4), and
overlooks the node of a property whose only attribute is its rdf:type. Line breaks move behind the values that they were in, so that
lines can still be counted.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final

from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.terms import RDF

__all__ = ["Tags", "escaped", "quoted"]

_TAG: Final = regular_expression(rb"""</?[^\s<>"'/][^<>"']*(?:(?:"[^"<]*"|'[^'<]*')[^<>"']*)*>""")
_ATTRIBUTE: Final = regular_expression(rb"""([^\s<>"'/=]+)(\s*=\s*)("[^"]*"|'[^']*')""")
_BREAK: Final = regular_expression(rb"""=\s*(?:"[^"<\t\n]*[\t\n]|'[^'<\t\n]*[\t\n])""")
_NO_TAG: Final = regular_expression(rb"""xml:lang\s*=\s*(?:""|'')""")
"""A pattern that tags with attributes to be changed contain, and other tags rarely."""
_TYPED: Final = regular_expression(rb"[\s:]type\s*=")
_UNQUALIFIED: Final = regular_expression(rb"\s(?:about|ID|parseType|resource|type)\s*=")
_REFERENCE: Final = regular_expression(rb"&([^\s&;#]+);")
_SCHEME: Final = regular_expression("[A-Za-z][A-Za-z0-9+.-]*:")
_SPACES: Final = bytes.maketrans(b"\t\n", b"  ")

_XML: Final = "http://www.w3.org/XML/1998/namespace"
_BASE: Final = f"{_XML} base"
_ROOT: Final = f"{RDF} RDF"
_ID: Final = f"{RDF} ID"
_TYPE: Final = f"{RDF} type"
_PARSE_TYPE: Final = f"{RDF} parseType"
_PARSED: Final = ("Resource", "Collection")
_MAY_LACK_PREFIX: Final = frozenset({"about", "ID", "parseType", "resource", "type"})

_NODE: Final = "f3a91c0e5b7d4826%016x"
"""A label like those that the parser makes."""

_NO_LANGUAGE: Final = b"x-none-q7w2k9"
"""A tag that no document has, in place of an empty one."""

_PREFIX: Final = b"x-rdf-q7w2k9"
"""A prefix that no document has, for attributes of RDF without one."""
_DECLARED: Final = b'xmlns:%s="%s"' % (_PREFIX, str(RDF).encode())
_DECLARED_IN_LITERAL: Final = b" " + _DECLARED.replace(b'"', b'\\"')
"""An XML literal has all declarations around it."""


class Tags:
    """The tags of a document.

    Args:
        base: The base of the document.
        values: The values of entities in attributes, if they differ from those in text.
    """

    def __init__(self, base: str | None, values: Mapping[str, str]) -> None:
        self._values = values
        self._bases: list[tuple[int, str | None]] = [(0, base)]
        self._resolved: deque[str | None] = deque()
        self._lacks_node: deque[bool] = deque()
        """Whether the parser overlooks the node of each element that has an attribute whose local name is ``type``."""
        self._lacks_prefix: deque[bool] = deque()
        """Whether attributes are RDF's, for each element that has some without a prefix that can be."""
        self._has_properties: list[bool] = [False]
        """By depth, whether the elements within the current one are properties."""
        self._nodes = 0
        self._literal = 0

    def begin(self, depth: int, tag: str, attributes: Mapping[str, str]) -> Mapping[str, str]:
        """Take note of an element, in the order of the document, before its tag is rewritten. Return its attributes, with RDF's
        namespace for those that may lack it.

        Args:
            depth: Its depth; that of the root is 1.
            tag: Its namespace and name, with a space between them.
            attributes: Its attributes, by namespace and name with a space between them.

        Raises:
            ValueError: An attribute is given twice.
        """
        if depth <= self._literal:
            self._literal = 0
        if not _MAY_LACK_PREFIX.isdisjoint(attributes):
            self._lacks_prefix.append(not self._literal)
            attributes = attributes if self._literal else _qualified(attributes)
        while self._bases[-1][0] >= depth:
            self._bases.pop()
        if _BASE in attributes:
            self._resolved.append(None if self._literal else self._base(depth, attributes[_BASE]))
        is_property = self._has_properties[depth - 1]
        if any(name == "type" or name.endswith(" type") for name in attributes):
            own = {name for name in attributes if not name.startswith(_XML)} - {_ID}
            self._lacks_node.append(is_property and not self._literal and own == {_TYPE})
        self._has_properties[depth:] = [attributes.get(_PARSE_TYPE) == "Resource" if is_property else tag != _ROOT]
        if not self._literal and attributes.get(_PARSE_TYPE, "Resource") not in _PARSED:
            self._literal = depth
        return attributes

    def _base(self, depth: int, given: str) -> str | None:
        """Return the base in scope in an element, if it is given relative to the enclosing one."""
        outer = self._bases[-1][1]
        made = None if _SCHEME.match(given) or outer is None else _resolved_iri(outer, given)
        self._bases.append((depth, made or given))
        return made

    def complete(self, text: bytes, start: int) -> int:
        """Return the position in a text up to which its tags are complete."""
        last = text.rfind(b"<", start)
        return len(text) if last < 0 or _TAG.match(text, last) else last

    def rewritten(self, text: bytes) -> tuple[bytes, bytes]:
        """Return a text of complete tags with their attributes rewritten, and its rest behind the last tag that has begun."""
        is_unusual = self._is_unusual(text)
        if not is_unusual and b"xml:base" not in text and not _TYPED.search(text) and not _UNQUALIFIED.search(text):
            return text, b""
        pieces: list[bytes] = []
        place = 0
        for found in _TAG.finditer(text):
            tag = found[0]
            has_base = b"xml:base" in tag and any(name == b"xml:base" for name in _names(tag))
            has_type = _TYPED.search(tag) is not None and any(map(_is_type, _names(tag)))
            is_unqualified = _UNQUALIFIED.search(tag) is not None and any(map(_may_lack_prefix, _names(tag)))
            decided = self._resolved or not has_base, self._lacks_node or not has_type, self._lacks_prefix or not is_unqualified
            if not all(decided):
                return b"".join(pieces) + text[place : found.start()], text[found.start() :]
            base = self._resolved.popleft() if has_base else None
            lacks_node = has_type and self._lacks_node.popleft()
            lacks_prefix = is_unqualified and self._lacks_prefix.popleft()
            if base is not None or lacks_node or lacks_prefix or (is_unusual and self._is_unusual(tag)):
                pieces += [text[place : found.start()], *self._parts(tag, base, lacks_node, lacks_prefix)]
                place = found.end()
        return b"".join(pieces) + text[place:], b""

    def _is_unusual(self, text: bytes) -> bool:
        """Return whether attributes have to be rewritten, other than bases."""
        return bool(_BREAK.search(text) or (b"xml:lang" in text and _NO_TAG.search(text)) or (self._values and b"&" in text))

    def _parts(self, tag: bytes, base: str | None, lacks_node: bool, lacks_prefix: bool) -> Iterator[bytes]:
        place = 0
        declaration = _DECLARED + b" "
        for attribute in _ATTRIBUTE.finditer(tag):
            name, equals, value = attribute.groups()
            yield tag[place : attribute.start()]
            if lacks_prefix and _may_lack_prefix(name):
                yield declaration
                declaration = b""
                name = _PREFIX + b":" + name
            yield name + equals
            if name == b"xml:base" and base is not None:
                yield quoted(base).encode()
            elif name == b"xml:lang" and len(value) == 2:
                yield value[:1] + _NO_LANGUAGE + value[:1]
            else:
                yield self._with_values(value.translate(_SPACES))
            if lacks_node and _is_type(name):
                self._nodes += 1
                yield b' %s:nodeID="%s"' % (name.rpartition(b":")[0], (_NODE % self._nodes).encode())
            yield b"\n" * value.count(b"\n")
            place = attribute.end()
        yield tag[place:]

    def _with_values(self, value: bytes) -> bytes:
        return _REFERENCE.sub(self._value, value) if self._values and b"&" in value else value

    def _value(self, reference: re.Match[bytes]) -> bytes:
        text = self._values.get(reference[1].decode())
        return reference[0] if text is None else quoted(text)[1:-1].replace("'", "&apos;").encode()

    def restored(self, triples: bytes) -> bytes:
        """Return triples that the parser has made, in canonical N-Triples, with empty languages and without what was declared."""
        if _PREFIX in triples:
            triples = triples.replace(_DECLARED_IN_LITERAL, b"")
        if _NO_LANGUAGE not in triples:
            return triples
        return triples.replace(b'"@' + _NO_LANGUAGE + b" .\n", b'" .\n').replace(_NO_LANGUAGE, b"")


def _names(tag: bytes) -> Iterator[bytes]:
    return (attribute[1] for attribute in _ATTRIBUTE.finditer(tag))


def _is_type(name: bytes) -> bool:
    """Return whether an attribute's local name is ``type``."""
    return name == b"type" or (name.endswith(b":type") and not name.startswith(b"xmlns:"))


def _may_lack_prefix(name: bytes) -> bool:
    """Return whether an attribute without a prefix is one of those that are RDF's."""
    return name.decode() in _MAY_LACK_PREFIX


def _qualified(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return attributes with RDF's namespace for those that may lack it."""
    found = {f"{RDF} {name}" if name in _MAY_LACK_PREFIX else name: value for name, value in attributes.items()}
    if len(found) < len(attributes):
        raise ValueError("an attribute of RDF is given twice, with a prefix and without one")
    return found


def _resolved_iri(base: str, relative: str) -> str | None:
    """Return the IRI of a relative one, or None if it is wrong."""
    import pyoxigraph

    data = f'<rdf:RDF xmlns:rdf="{RDF}"><rdf:Description rdf:about={quoted(relative)}><rdf:value/></rdf:Description></rdf:RDF>'
    try:
        (triple,) = pyoxigraph.parse(data, pyoxigraph.RdfFormat.RDF_XML, base_iri=base)
    except (SyntaxError, ValueError):
        return None
    return str(triple.subject)[1:-1]


def quoted(value: str) -> str:
    """Return a text in quotation marks, as the value of an attribute or an entity."""
    value = escaped(value).replace('"', "&quot;").replace("%", "&#37;")
    return '"' + value.replace("\n", "&#10;").replace("\t", "&#9;").replace("\r", "&#13;") + '"'


def escaped(text: str) -> str:
    """Return a text as the text of an element."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
