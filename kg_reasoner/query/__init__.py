"""Queries: patterns over triples and quads, tables of answers, what of them is visible, and what an update has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kg_reasoner.query.patterns import AnyPattern, Pattern, Queries, Solutions, answers, match_triples, variables_of

__all__ = ["AnyPattern", "Pattern", "Queries", "Solutions", "answers", "match_triples", "variables_of"]


def __getattr__(name: str) -> Any:
    """Import the names that this was a module of, when it was one, where they are used."""
    from kg_reasoner._moved import forwarded

    return forwarded(__name__, "patterns", name, __all__)
