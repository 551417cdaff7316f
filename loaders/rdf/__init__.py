"""RDF in any syntax: from files, graphs and streams to ids of terms, by `reader.read`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.reader import Block, DocumentBounds, Progress, read

__all__ = ["Block", "DocumentBounds", "Progress", "read"]


def __getattr__(name: str) -> Any:
    """Import the names that this was a module of, when it was one, where they are used."""
    from kg_reasoner._moved import forwarded

    return forwarded(__name__, "reader", name, __all__)
