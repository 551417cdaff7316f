"""Joins by equal values: FILTER(?a = ?b) where what binds one side shares no variable with what binds the other one.

Instead of the product of both, solutions are paired by keys, which equal values have in common. The condition decides on the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from kg_reasoner.program import Call
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node
from kg_reasoner.sparql.scope import certain, connected, mentioned, variables_in

__all__ = ["ValueJoin", "value_join"]


class ValueJoin(NamedTuple):
    """Two patterns without common variables, and an expression over each, whose values are to be equal."""

    left: Node
    right: Node
    sides: tuple[Expression, Expression]


def value_join(node: algebra.Filter) -> ValueJoin | None:
    """Return how one of the conditions of a filter joins parts of its pattern by their values; None if no condition does."""
    for condition in node.conditions:
        if not isinstance(condition, Call) or condition.name != "=":
            continue
        first, second = (set(variables_in(side)) for side in condition.arguments)
        if not first or not second or any(isinstance(side, (algebra.Exists, algebra.Foreign)) for side in condition.arguments):
            continue
        parts = _parts(node.node)
        left = connected(parts, first, mentioned)
        right = [part for part in parts if part not in left]
        bound = {variable for part in right for variable in certain(part)}
        if right and second <= bound and first <= {variable for part in left for variable in certain(part)}:
            return ValueJoin(_joined(left), _joined(right), cast("tuple[Any, Any]", tuple(condition.arguments)))
    return None


def _parts(node: Node) -> list[Node]:
    """Return the parts of a join, each triple pattern by itself; none if parts need what others bind."""
    if isinstance(node, algebra.Join):
        parts = [_parts(part) if isinstance(part, algebra.Patterns) else [part] for part in node.parts]
        return [] if any(isinstance(part, algebra.Service) for part in node.parts) else [each for some in parts for each in some]
    return [replace(node, triples=(triple,)) for triple in node.triples] if isinstance(node, algebra.Patterns) else []


def _joined(parts: Sequence[Node]) -> Node:
    """Return a join of parts, with basic graph patterns for the same graph as one."""
    patterns: dict[algebra.PatternTerm | None, algebra.Patterns] = {}
    others: list[Node] = []
    for part in parts:
        if isinstance(part, algebra.Patterns):
            known = patterns.get(part.graph)
            patterns[part.graph] = part if known is None else replace(known, triples=(*known.triples, *part.triples))
        else:
            others.append(part)
    joined = (*patterns.values(), *others)
    return joined[0] if len(joined) == 1 else algebra.Join(joined)
