"""Ontologies with what they import: headers, catalogs, and the imports closure."""

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
    """Import the names that this was a module of, when it was one, where they are used."""
    from kg_reasoner._moved import forwarded

    return forwarded(__name__, "closure", name, __all__)
