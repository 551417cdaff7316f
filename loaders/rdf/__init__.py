"""RDF in any syntax: from files, graphs and streams to ids of terms, see `readers.reader.read`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kg_reasoner.loaders.rdf.readers.reader import Block, DocumentBounds, Progress, read

__all__ = ["Block", "DocumentBounds", "Progress", "read"]


def __getattr__(name: str) -> Any:
    """Return a name of `reader`, for programs that import it from this package, which was once a module."""
    from kg_reasoner._moved import forwarded

    return forwarded(__name__, "readers.reader", name, __all__)
