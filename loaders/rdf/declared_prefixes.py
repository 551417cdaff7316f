"""The prefixes that a document declares, in the order of their first declarations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol

from kg_reasoner.lazy_regex import regular_expression

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.document_reading import PrefixSink

__all__ = ["RecordedPrefixes"]

_DIRECTIVE: Final = regular_expression(rb"[pP][rR][eE][fF][iI][xX](?:\s|#[^\n]*\n)+([^\s:<>\"']*):")
_SPELLINGS: Final = (b"prefix", b"PREFIX", b"Prefix")
"""The usual spellings of declarations. Others are valid, but rare: their prefixes come last."""
_LONGEST: Final = 1 << 8


class ReadableBytes(Protocol):
    """A stream of bytes."""

    def read(self, size: int = -1, /) -> bytes: ...


class RecordedPrefixes:
    """A stream of Turtle or TriG that records in which order prefixes may be declared; the parser knows which are."""

    def __init__(self, stream: ReadableBytes) -> None:
        self._stream = stream
        self._before = b""
        self._order: dict[str, int] = {}

    def read(self, size: int = -1) -> bytes:
        """Read from the stream."""
        data = self._stream.read(size)
        text = self._before + data
        if any(spelling in text for spelling in _SPELLINGS):
            for name in _DIRECTIVE.findall(text):
                self._order.setdefault(name.decode("utf-8", "replace"), len(self._order))
        self._before = text[-_LONGEST:]
        return data

    def pass_on(self, declared: Mapping[str, str], sink: PrefixSink) -> None:
        """Pass on the prefixes that the parser has found, in the order of their first declarations."""
        for prefix in sorted(declared, key=lambda prefix: self._order.get(prefix, len(self._order))):
            sink(prefix, declared[prefix])
