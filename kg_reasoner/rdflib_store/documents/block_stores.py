"""The interface of stores that read documents in blocks, for parsers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from kg_reasoner.loaders.rdf.formats import Format

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.parser import InputSource

__all__ = ["BlockStore"]


@runtime_checkable
class BlockStore(Protocol):
    """A store that reads documents in blocks."""

    def reads_blocks_for(self, graph: Graph) -> bool:
        """Return whether a graph over the store may be filled in blocks."""

    def parse_blocks(
        self, source: InputSource, graph: Graph, format: Format, by_rdflib: Callable[[InputSource], object], **options: Any
    ) -> None:
        """Parse a document into a graph; `by_rdflib` does it by rdflib's parser."""
