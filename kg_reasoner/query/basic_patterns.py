"""Patterns of triples and quads as values: their constants and variables, and how they are connected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from kg_reasoner.planning.catalog import StoredTerm
from kg_reasoner.query.quads import GraphTerm, QuadPattern

__all__ = ["AnyPattern", "Pattern", "bound", "connected", "constant", "distance", "variables_of"]

Pattern: TypeAlias = tuple[StoredTerm, StoredTerm, StoredTerm]
"""A triple pattern: ids of constants, names of variables."""

AnyPattern: TypeAlias = Pattern | QuadPattern
"""A pattern of all triples, or of the triples of a graph."""


def variables_of(patterns: Sequence[AnyPattern]) -> list[str]:
    """Return the variables of some patterns, in order of occurrence."""
    return list(dict.fromkeys(term for pattern in patterns for term in pattern if isinstance(term, str)))


def constant(term: GraphTerm) -> int | None:
    """Return the id of a constant; None for a variable."""
    return term if isinstance(term, int) else None


def bound(pattern: AnyPattern, names: Sequence[str], values: Sequence[int]) -> AnyPattern:
    """Return the pattern with some variables replaced by ids."""
    known = dict(zip(names, values, strict=True))
    return cast(AnyPattern, tuple(known.get(term, term) if isinstance(term, str) else term for term in pattern))


def distance(pattern: AnyPattern, names: Sequence[str]) -> tuple[bool, int]:
    """Return whether a pattern has variables but shares none with `names`, and the number of its variables not in `names`."""
    variables = variables_of([pattern])
    new = sum(name not in names for name in variables)
    return 0 < len(variables) == new, new


def connected(start: AnyPattern, patterns: Sequence[AnyPattern]) -> list[AnyPattern]:
    """Return the patterns connected by shared variables to the first one, or none if the first is not among them."""
    group: list[AnyPattern] = []
    fresh = [start] if start in patterns else []
    while fresh:
        group += fresh
        names = set(variables_of(group))
        fresh = [pattern for pattern in patterns if pattern not in group and not names.isdisjoint(pattern)]
    return group
