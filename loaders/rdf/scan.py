"""A scan of every byte of a document before parsing, which rejects deep nesting, long tokens, and RDF 1.2.

pyoxigraph's parsers are recursive for JSON and triple terms and crash the process on a stack overflow; triple terms that they do
read would lose their blank nodes. An automaton that knows strings, IRIs, comments and brackets detects both beforehand.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from kg_reasoner.errors import LoadError
from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.loaders.convert import triple_term_error
from kg_reasoner.loaders.rdf.bounds import JSON_DEPTH, hint_for
from kg_reasoner.loaders.rdf.formats import JSON_LD, Format
from kg_reasoner.loaders.rdf.pushback import KeptText, PushbackStream
from kg_reasoner.storage.readers.scanning import CLOSES, FINE, FOUND, INSIDE, OPENS, REFUSED, STATES, TOO_DEEP, Scan, table_for

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.sources import Document

__all__ = ["Scanned", "refused_triple_term", "too_deep", "too_long"]

_JSON_STAR: Final = regular_expression(rb'"@(?:annotation|triple)"\s*:')
_LONGEST_KEY: Final = 64
_CHUNK: Final = 1 << 16
_FLATTER: Final = "JSON-LD that is nested deeper cannot be read: write it flat, or as N-Quads"

_Edges = Mapping[bytes, tuple[str, int]]
"""For some bytes the next state and what they do there; no bytes stand for all others."""

_TEXT: Final[_Edges] = {
    b"": ("text", 0),
    b'"': ("one double", 0),
    b"'": ("one single", 0),
    b"#": ("comment", INSIDE),
    b"<": ("less", 0),
    b"{": ("brace", OPENS),
    b"[(": ("text", OPENS),
    b"])}": ("text", CLOSES),
    b"~": ("text", REFUSED),
    b"\\": ("escaped name", INSIDE),
    b" \t\r\n,;.": ("text", 0),
}

_AFTER_STRING: Final[_Edges] = {**_TEXT, b"@": ("language", INSIDE)}


def _strings(quote: bytes, name: str) -> dict[str, _Edges]:
    """Return the states for short and long strings with these quotes."""
    inside = {b"": (name, INSIDE), quote: ("string", 0), b"\\": (f"escape {name}", INSIDE), b"\n": ("text", 0)}
    within_long = {b"": (f"long {name}", INSIDE), b"\\": (f"long escape {name}", INSIDE)}
    return {
        f"one {name}": {**inside, quote: (f"two {name}", 0)},
        f"two {name}": {**_AFTER_STRING, quote: (f"long {name}", 0)},
        name: inside,
        f"escape {name}": {b"": (name, INSIDE)},
        f"long {name}": {**within_long, quote: (f"first {name}", INSIDE)},
        f"first {name}": {**within_long, quote: (f"second {name}", INSIDE)},
        f"second {name}": {**within_long, quote: ("string", 0)},
        f"long escape {name}": {b"": (f"long {name}", INSIDE)},
    }


_TURTLE: Final[dict[str, _Edges]] = {
    "text": {**_TEXT, b"": ("text", INSIDE)},  # names and numbers are tokens, too
    "comment": {b"": ("comment", INSIDE), b"\r\n": ("text", 0)},
    "less": {b"": ("IRI", INSIDE), b">": ("text", 0), b"<": ("text", REFUSED)},
    "IRI": {b"": ("IRI", INSIDE), b"> \t\r\n": ("text", 0)},
    "brace": {**_TEXT, b"|": ("text", REFUSED)},
    "escaped name": {b"": ("text", INSIDE)},
    "string": _AFTER_STRING,
    "language": {**_TEXT, b"": ("language", INSIDE), b"-": ("hyphen", INSIDE)},
    "hyphen": {**_TEXT, b"": ("language", INSIDE), b"-": ("direction", REFUSED)},
    "direction": {},
    **_strings(b'"', "double"),
    **_strings(b"'", "single"),
}
"""Turtle, TriG and N3."""
_DIRECTION: Final = list(_TURTLE).index("direction")

_JSON: Final[dict[str, _Edges]] = {
    "text": {b"": ("text", 0), b'"': ("string", 0), b"[{": ("text", OPENS), b"]}": ("text", CLOSES)},
    "string": {b"": ("string", INSIDE), b'"': ("text", 0), b"\\": ("escape", INSIDE)},
    "escape": {b"": ("string", INSIDE)},
}


@cache
def _table(is_json: bool) -> Any:
    """Return the automaton's table for the kernel."""
    states = _JSON if is_json else _TURTLE
    numbers = {name: number for number, name in enumerate(states)}
    assert len(numbers) <= STATES
    table = table_for(len(states))
    for name, edges in states.items():
        row = table[256 * numbers[name] : 256 * (numbers[name] + 1)]
        for some, (following, action) in edges.items():
            row[list(some) if some else slice(None)] = numbers[following] + action
    return table


class Scanned:
    """A stream that is scanned while it is read. With `by_lines`, `line` is the number of the line returned last.

    Args:
        stream: The stream.
        document: The document.
        format: The syntax.
        by_lines: Whether it is read by lines.
        lines_before: Returns how many lines of the document are before the stream.
    """

    def __init__(
        self,
        stream: BinaryIO | KeptText | PushbackStream,
        document: Document,
        format: Format,
        *,
        by_lines: bool,
        lines_before: Callable[[], int] = lambda: 0,
    ) -> None:
        self._stream = stream
        self._lines_before = lines_before
        self._by_lines = by_lines
        self._document = document
        self._is_json = format is JSON_LD
        self._deepest = min(document.bounds.depth, JSON_DEPTH) if self._is_json else document.bounds.depth
        self._automaton = Scan(_table(self._is_json))
        self._before = b""
        self._scanned = io.BytesIO()
        self._ends_line = True
        self.line = 0

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` further bytes; with `by_lines`, not beyond the end of a line.

        Raises:
            LoadError: The bytes are nested too deeply, have a token that is too long, or use RDF 1.2.
        """
        if not self._by_lines:
            data = self._stream.read(size)
            self._scan(data)
            return data
        data = self._scanned.readline(size)
        if not data:
            chunk = self._stream.read(_CHUNK)
            self._scan(chunk)
            self._scanned = io.BytesIO(chunk)
            data = self._scanned.readline(size)
        if data:
            self.line += self._ends_line
            self._ends_line = data.endswith(b"\n")
        return data

    def _scan(self, data: bytes) -> None:
        if not data:
            return
        verdict = self._automaton.scan(data, self._deepest, self._document.bounds.literal)
        if verdict != FINE:
            raise self._error(verdict)
        if self._is_json:
            keys = self._before + data
            found = _JSON_STAR.search(keys)
            if found:
                raise refused_triple_term(self._document, self._automaton.lines + 1 - keys.count(b"\n", found.start()))
            self._before = keys[-_LONGEST_KEY:]

    def _error(self, verdict: int) -> LoadError:
        line = self._lines_before() + self._automaton.lines + 1
        if verdict == FOUND and not self._is_json and self._automaton.state == _DIRECTION:
            return self._document.error(
                "the base direction of a literal belongs to RDF 1.2, which is not supported", line, hint="leave the direction out"
            )
        if verdict == FOUND:
            return refused_triple_term(self._document, line)
        if verdict == TOO_DEEP:
            return too_deep(self._document, self._deepest, line, _FLATTER if self._deepest == JSON_DEPTH else hint_for("depth"))
        return too_long(self._document, line)


def refused_triple_term(document: Document, line: int) -> LoadError:
    """Return the error for a triple term, a reifier or an annotation."""
    error = triple_term_error()
    return document.error(error.message, line, hint=error.hint)


def too_deep(document: Document, deepest: int, line: int, hint: str) -> LoadError:
    """Return the error for a document with too deep nesting."""
    return document.error(f"brackets or elements are nested more than {deepest} deep", line, hint=hint)


def too_long(document: Document, line: int | None) -> LoadError:
    """Return the error for a literal or another token that is too long."""
    return document.error(
        f"a literal or another token is longer than {document.bounds.literal} bytes", line, hint=hint_for("literal")
    )
