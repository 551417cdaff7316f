"""Lines of N-Quads in other syntaxes, by pyoxigraph's parser and writer: the terms never become objects of Python that we make."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from kg_reasoner.errors import OutputError

if TYPE_CHECKING:
    from kg_reasoner.io.lines import Blocks
    from kg_reasoner.loaders.rdf.formats import Format

__all__ = ["write_in_syntax"]

_KEPT = 4
"""Blocks that the parser may have read ahead of the line that it is at."""


def write_in_syntax(blocks: Blocks, file: BinaryIO, format: Format, prefixes: Mapping[str, str]) -> None:
    """Write blocks of lines in a syntax that pyoxigraph writes.

    Raises:
        OutputError: The syntax cannot hold a statement.
    """
    import pyoxigraph

    lines = _Lines(blocks)
    syntax = pyoxigraph.RdfFormat.from_media_type(format.media_type)
    statements = pyoxigraph.parse(cast(IO[bytes], lines), pyoxigraph.RdfFormat.N_QUADS)
    quads = statements if format.graphs else (quad.triple for quad in statements)
    try:
        pyoxigraph.serialize(quads, file, syntax, prefixes=dict(prefixes))
    except SyntaxError as error:
        line = lines.text(error.lineno or 0)
        raise OutputError(f"cannot write {line} as {format.name}: {error.msg}; N-Triples can hold it") from None
    except ValueError as error:
        raise OutputError(f"cannot write {format.name}: {error}") from None


class _Lines:
    """A stream of blocks of lines, which remembers the latest ones."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._rest = io.BytesIO()
        self._done = 0
        self._latest: deque[tuple[int, bytes]] = deque(maxlen=_KEPT)

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` further bytes."""
        data = self._rest.read(size)
        if not data:
            block, count = next(self._blocks, (b"", 0))
            self._latest.append((self._done, bytes(block)))
            self._done += count
            self._rest = io.BytesIO(self._latest[-1][1])
            data = self._rest.read(size)
        return data

    def text(self, number: int) -> str:
        """Return the line with a number, counted from 1, without the full stop."""
        before, block = next((found for found in reversed(self._latest) if found[0] < number), (0, b""))
        lines = block.split(b"\n")
        return lines[number - before - 1].decode().removesuffix(" .") if number - before <= len(lines) else "a statement"
