"""Plain Turtle and TriG directly to ids: the statements that most data consists of, without objects of Python or a parser's events.

`PlainTurtle` has a part of a document in a buffer. `PlainTurtle.read` stops before a statement that a full parser has to read, and
`PlainTurtle.statement_end` says up to where.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from kg_reasoner.lazy_regex import regular_expression
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.kernels import native
from kg_reasoner.storage.kernels.memory.buffers import allocate
from kg_reasoner.storage.kernels.memory.struct_tables import StructTable
from kg_reasoner.storage.kernels.readers.turtle_terms import DEFAULT_GRAPH, TurtleText
from kg_reasoner.storage.kernels.token_ends import byte_classes
from kg_reasoner.storage.readers.text_windows import SLACK, TextWindow
from kg_reasoner.storage.terms.dictionary import Dictionary
from kg_reasoner.storage.terms.texts import concatenated, is_utf8
from kg_reasoner.terms import RDF, XSD

__all__ = ["PlainTurtle"]

_WORK: Final = 1 << 16
"""The longest literal with a datatype and the longest IRI of a name."""
_ROWS: Final = 1 << 12
_DEEPEST: Final = 100
"""The brackets that may be open; statements with more are left to the full parser."""
_LAST_LINES: Final = 1 << 16
"""The bytes before the end of a part in which a statement has to end."""
_CHARACTERS: Final = r"[A-Za-z0-9._~:/?@!$&'()*+,;=-]*"
_NAMESPACE: Final = regular_expression(
    rf"[A-Za-z][A-Za-z0-9+.-]*:(?://[A-Za-z0-9._~-]+(?::[0-9]+)?(?=[/?#])|(?!//)){_CHARACTERS}(?:#{_CHARACTERS})?"
)
"""Namespaces that are valid IRIs together with any local name of letters, digits, hyphens and full stops."""
_PREFIX: Final = regular_expression(r"(?:[A-Za-z][A-Za-z0-9_-]*)?")


@cache
def _tables() -> Mapping[str, Any]:
    """Return the fields that all windows share."""
    suffixes, suffix_offsets = concatenated(
        [
            *(f'"^^{kind}'.encode() for kind in (XSD.integer, XSD.decimal, XSD.double, XSD.boolean)),
            *(str(term).encode() for term in (RDF.type, RDF.first, RDF.rest, RDF.nil)),
        ]
    )
    string_type = str(XSD.string).encode()
    return {
        "classes": concatenated([byte_classes()])[0],
        "suffixes": suffixes,
        "suffix_offsets": suffix_offsets,
        "string_type": concatenated([string_type])[0],
        "string_type_length": len(string_type),
        "words": concatenated([b"truefalsegraph"])[0],
    }


class PlainTurtle(TextWindow):
    """A window on a Turtle document.

    Args:
        dictionary: Assigns the ids.
        scope: Returns what the labels of blank nodes begin with; called before the first of them is read.
        size: The size of the window in bytes.
        has_graphs: Whether the document is in TriG.
        deepest: How many brackets may be open; 0 leaves blank nodes without a label, and collections, to the full parser.
    """

    def __init__(
        self, dictionary: Dictionary, scope: Callable[[], str], size: int, has_graphs: bool = False, deepest: int = _DEEPEST
    ) -> None:
        self._width = 4 if has_graphs else 3
        text = allocate(size + SLACK, np.uint8)
        document = StructTable(TurtleText, capacity=1).add(
            **_tables(),
            text=text,
            scope=allocate(1, np.uint8),
            scope_length=-1,
            work=allocate(_WORK + SLACK, np.uint8),
            work_room=_WORK,
            width=self._width,
            graph=DEFAULT_GRAPH,
            frames=allocate(3 * (_DEEPEST + 1), np.int32, 0),
            deepest=min(deepest, _DEEPEST),
        )
        super().__init__(dictionary, scope, document, text)
        self._make_room(_ROWS)
        self.set_prefixes({})

    def set_prefixes(self, prefixes: Mapping[str, str]) -> None:
        """Set the prefixes that are declared; names with unusual ones are left to the full parser."""
        usual = {
            prefix: namespace
            for prefix, namespace in prefixes.items()
            if _PREFIX.fullmatch(prefix) and _NAMESPACE.fullmatch(namespace)
        }
        names, name_offsets = concatenated([prefix.encode() for prefix in usual])
        namespaces, namespace_offsets = concatenated([f"<{namespace}".encode() for namespace in usual.values()])
        self._document.publish(
            prefixes=names,
            prefix_offsets=name_offsets,
            namespaces=namespaces,
            namespace_offsets=namespace_offsets,
            prefix_count=len(usual),
        )

    def fill(self, read_into: Callable[[memoryview], int]) -> int:
        """Move the window, see `TextWindow.fill`."""
        read = super().fill(read_into)
        self._document.is_last = int(read == 0)
        return read

    def check_encoding(self) -> None:
        """Find out whether the window is UTF-8; if not, strings are read that are ASCII."""
        self._document.ascii_only = int(not is_utf8(self._buffer[: self._document.end]))

    def begin(
        self, dictionary: Dictionary, scope: Callable[[], str], before: bytes, read_into: Callable[[memoryview], int]
    ) -> bytes:
        """Begin a part of a document: some bytes and those read behind them, up to where a statement seems to end. Return the
        bytes after that: all of them, if none seems to end, or there is nothing to read.

        The part is read in another thread, which first checks its encoding.
        """
        document, text, kept = self._document, self._text, len(before)
        self._buffer[:kept] = before
        read = read_into(self._buffer[kept : len(text) - SLACK])
        data = bytes(self._buffer[max(0, kept + read - _LAST_LINES) : kept + read])
        place = max(data.rfind(b".\n") + 1, data.rfind(b".\r\n") + 2) if read else 0
        end = kept + read - len(data) + place + 1 if place > 1 else 0
        after = bytes(self._buffer[end : kept + read])
        text[end : end + SLACK] = ord("\n")
        self._dictionary, self._scope = dictionary, scope
        document.publish(position=0, end=end, is_last=0, scope_length=-1)
        return after

    @property
    def graph(self) -> str | None:
        """The graph that has begun and not ended, as in N-Triples; nothing for the default graph."""
        document = self._document
        if not document.in_graph:
            return None
        return "" if document.graph == DEFAULT_GRAPH else self._dictionary.text(document.graph)

    def read(self) -> tuple[Ids, bool]:
        """Read statements; return their ids, shape (n, 3) or (n, 4) with the graphs, and whether all of the window is read."""
        document = self._document
        document.row_count = 0
        is_read = self._read_by(native.read_turtle)
        rows: Ids = np.array(document.rows[: self._width * document.row_count]).reshape(-1, self._width)
        return rows, is_read

    def statement_end(self, least: int) -> int:
        """Return the length of the statements that a full parser is to read next, or 0 if the window has no end of a statement.

        Args:
            least: The minimal number of bytes, if the statements that end in the window are that long.
        """
        return self._end_by(native.statements_end, least)

    def _make_room(self, room: int) -> None:
        document, rows = self._document, allocate(self._width * room, np.int32)
        used = self._width * document.row_count
        if used:
            rows[:used] = document.rows[:used]
        document.publish(rows=rows, row_room=room, fresh_ids=allocate(room + 2, np.int32))
