"""Detection of a document's RDF syntax from its beginning."""

from __future__ import annotations

import contextlib
import re
from typing import Final

from kg_reasoner.errors import LoadError
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.rdf.formats import (
    FORMATS,
    FUNCTIONAL,
    JSON_LD,
    MANCHESTER,
    N3,
    N_QUADS,
    N_TRIPLES,
    OBO,
    OWL_XML,
    RDF_XML,
    TRIG,
    TURTLE,
    Format,
)
from kg_reasoner.terms import OWL, RDF

__all__ = ["HEAD_SIZE", "other_than", "refuse_binary", "sniff"]

HEAD_SIZE: Final = 1 << 16
"""The number of bytes of a document that are examined."""

_NAMES: Final = ", ".join(entry.name for entry in FORMATS)
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_ARCHIVES: Final = {
    b"PK\x03\x04": "a zip archive",
}
_OWL_SYNTAXES: Final = (
    (regular_expression(r"(?:\s*#[^\n]*\n)*\s*(?:Prefix|Ontology)\s*\("), FUNCTIONAL),
    (regular_expression(r"(?:\s*#[^\n]*\n)*\s*(?:Prefix|Ontology|Class|ObjectProperty|Individual):\s"), MANCHESTER),
    (regular_expression(r"(?:\s*![^\n]*\n)*\s*(?:format-version:|\[Term\]\s*\n)"), OBO),
)
_WEB_PAGE: Final = regular_expression(r"<!doctype\s+html|(?:<\?xml[^>]*>\s*)?<html\b", re.IGNORECASE)
_XML: Final = regular_expression(r"<(?:\?xml\b|!--|!DOCTYPE\b|(?:[\w.-]+:)?[\w.-]+\s[^<>]*\bxmlns\b)")
_JSON: Final = regular_expression(r'\{\s*(?:"|\}\s*$)|\[\s*(?:\{\s*(?:"|\})|\]\s*$)')
_TERM: Final = r"(?:<[^<>\s]*>|_:\S+)"
_LINE: Final = regular_expression(
    rf'{_TERM}\s*<[^<>\s]*>\s*(?:{_TERM}|"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^<>\s]*>)?)\s*(?P<graph>{_TERM}\s*)?\.\s*(?:#.*)?'
)
_NOISE: Final = regular_expression(
    r'"{3}(?s:.)*?(?:"{3}|\Z)|\'{3}(?s:.)*?(?:\'{3}|\Z)|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|<[^<>\s"]*>|#[^\n]*'
)
_N3_ONLY: Final = regular_expression(r"=>|<=|@forAll\b|@forSome\b|@keywords\b|(?<![\w?])\?\w")
_RULE: Final = regular_expression(r"\s*\{[^{}]*\}\s*(?:=>|<=)\s*\{")
_TURTLE_ONLY: Final = regular_expression(r"@(?:prefix|base)\b|^[^\S\n]*(?:prefix|base)\b", re.MULTILINE | re.IGNORECASE)
_IN_LINES: Final = regular_expression(r"\x00|_:\S+|@[\w-]*|\^\^|[\s.]")
"""The tokens of N-Triples and N-Quads, with marks for their IRIs and literals."""
_UNCLOSED: Final = regular_expression(r"[\"']|<(?!=)")
"""The beginning of a literal or an IRI that is not closed, which is an error in all formats of the family of Turtle."""
_NARROWER: Final = {
    N_QUADS: (N_TRIPLES,),
    TURTLE: (N_TRIPLES,),
    TRIG: (TURTLE, N_TRIPLES),
    N3: (TURTLE, N_TRIPLES),
}
"""Formats, each with those whose documents are also documents of this one."""
_STATEMENT: Final = regular_expression(r"\s*(?:[\w.-]*:[\w.-]*|\[|\(|\x00|_:\w)")


def sniff(head: bytes, name: str) -> Format:
    """Return the format of a document that begins with `head`, its first `HEAD_SIZE` bytes (decompressed).

    Args:
        head: The beginning of the document.
        name: The name of the document in messages.

    Raises:
        LoadError: The document is not RDF, or its beginning does not determine its syntax.
    """
    text = _decode(head)
    start = text.lstrip()
    if _WEB_PAGE.match(start):
        raise LoadError(f"{name} is a web page, not RDF", hint="download the RDF document itself")
    if _XML.match(start):
        return _sniff_xml(head, name)
    if _JSON.match(start):
        return JSON_LD
    for pattern, format in _OWL_SYNTAXES:
        if pattern.match(start):
            return format
    lines = [line for line in map(str.strip, text.split("\n")) if line and not line.startswith("#")]
    if len(head) >= HEAD_SIZE:
        lines = lines[:-1]
    if lines:
        matches = [_LINE.fullmatch(line) for line in lines]
        if all(matches):
            return N_QUADS if any(match["graph"] for match in matches if match) else N_TRIPLES
    bare = _bare(text)
    if _RULE.match(bare):
        return N3
    if _TURTLE_ONLY.search(bare) or _STATEMENT.match(bare):
        if _N3_ONLY.search(bare):
            return N3
        return TRIG if "{" in bare else TURTLE
    raise LoadError(f"cannot tell the RDF format of {name} from its content", hint=f"give its name: one of {_NAMES}")


def _bare(text: str) -> str:
    """Return a text of the family of Turtle without comments, and with a mark for each IRI and literal."""
    return _NOISE.sub(lambda match: " " if match[0].startswith("#") else "\x00", text)


def other_than(declared: Format, head: bytes) -> Format | None:
    """Return the format in which a document that begins with `head` is probably read, if it is not read in the declared one.

    Args:
        declared: The declared format.
        head: The beginning of the document.
    """
    try:
        seems = sniff(head, "")
    except LoadError:
        return None
    if seems is declared or seems in _NARROWER.get(declared, ()):
        return None
    if seems in (TURTLE, TRIG, N3) and declared in (N_TRIPLES, *_NARROWER):
        lines = _decode(head).splitlines()
        rest = _IN_LINES.sub("", _bare("\n".join(lines[:-1] if len(head) >= HEAD_SIZE else lines)))
        if _UNCLOSED.search(rest) or not rest:
            return None
    return seems


def refuse_binary(head: bytes, name: str) -> None:
    """Check that the beginning of a document looks like text.

    Raises:
        LoadError: The document is binary.
    """
    for magic, what in _ARCHIVES.items():
        if head.startswith(magic):
            raise LoadError(f"{name} is {what}", hint="unpack it first: only gzip, zstd, bzip2 and xz are read as they are")
    place = head.find(b"\0")
    if place >= 0 and not head.startswith(_UTF_16) and not (_may_hold_zero(head[:place]) and _is_utf8(head)):
        raise LoadError(f"{name} is a binary file, not RDF")


def _may_hold_zero(before: bytes) -> bool:
    """Return whether a zero byte at this place can be part of a literal or a comment."""
    return any(mark in before for mark in (b'"', b"'", b"#"))


def _is_utf8(head: bytes) -> bool:
    """Return whether the bytes are UTF-8, except for a truncated last character."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4
    return True


def _decode(head: bytes) -> str:
    if head.startswith(_UTF_16):
        return head.decode("utf-16", "replace")
    # XML may be in any encoding; the other syntaxes are recognised by their ASCII characters.
    return head.decode("utf-8-sig", "ignore") if _is_utf8(head) else head.decode("latin-1")


class _RootSeen(Exception):
    """Raised to leave the XML parser once the root element is known."""


def _sniff_xml(head: bytes, name: str) -> Format:
    from xml.parsers import expat

    roots: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        roots.append(tag)
        raise _RootSeen

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    with contextlib.suppress(_RootSeen, expat.ExpatError, LookupError, ValueError):  # its reader gives a better error
        parser.Parse(head, len(head) < HEAD_SIZE)
    namespace, _, local = roots[0].rpartition(" ") if roots else ("", "", "")
    if (namespace, local) == (str(OWL), "Ontology"):
        return OWL_XML
    if roots and namespace != str(RDF) and str(RDF).encode() not in head and not head.startswith(_UTF_16):
        raise LoadError(f"{name} is XML, but neither RDF/XML nor OWL/XML: its root element is {local}")
    return RDF_XML
