"""Queries: patterns of triples and quads, tables of solutions, hidden triples, and the changes of updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kg_reasoner.query.patterns import AnyPattern, Pattern, Queries, Solutions, answers, match_triples, variables_of

__all__ = ["AnyPattern", "Pattern", "Queries", "Solutions", "answers", "match_triples", "variables_of"]


def __getattr__(name: str) -> Any:
    """Import the public names of the former module `query` on demand."""
    from kg_reasoner._moved import forwarded

    return forwarded(__name__, "patterns", name, __all__)
