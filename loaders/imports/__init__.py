"""Ontologies and their imports: headers, catalogs, and the imports closure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kg_reasoner.loaders.imports.closure import (
        BUILT_IN,
        IMPORTS,
        Import,
        ImportClosure,
        ImportsMode,
        imports_of,
        plain,
        read_closure,
    )

__all__ = ["BUILT_IN", "IMPORTS", "Import", "ImportClosure", "ImportsMode", "imports_of", "plain", "read_closure"]


def __getattr__(name: str) -> Any:
    """Return a name of `closure` or `catalogs`, for programs that import it from this package, which was once a module."""
    from kg_reasoner._moved import forwarded

    return forwarded(__name__, "closure", name, __all__)
