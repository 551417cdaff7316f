"""Disjunctions: a body that contains any becomes several bodies, one for each choice of alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kg_reasoner.errors import Span, UnsupportedError
from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.desugaring.property_paths import without_path
from kg_reasoner.language.surface import Along, AnyOf, SurfaceBody

__all__ = ["without_alternatives"]

_MOST: Final = 100
"""The most bodies that a body may become."""


def without_alternatives(alternatives: Sequence[SurfaceBody], context: Context, span: Span | None) -> list[SurfaceBody]:
    """Return bodies without disjunctions and paths, one of which holds if and only if one of the alternatives holds.

    Raises:
        UnsupportedError: There are too many.
    """
    found: list[SurfaceBody] = []
    for body in alternatives:
        bodies: list[SurfaceBody] = [()]
        for part in body:
            choices = _choices(part, context, span)
            if len(bodies) * len(choices) + len(found) > _MOST:
                hint = "state the alternatives as rules for a predicate, and use the predicate"
                raise UnsupportedError(f"a rule has more than {_MOST} combinations of alternatives", span, hint)
            bodies = [(*before, *choice) for before in bodies for choice in choices]
        found += bodies
    return found


def _choices(part: object, context: Context, span: Span | None) -> list[SurfaceBody]:
    if isinstance(part, AnyOf):
        return without_alternatives(part.alternatives, context, part.span or span)
    if isinstance(part, Along):
        return without_alternatives([without_path(part, context)], context, part.span or span)
    return [(part,)]
