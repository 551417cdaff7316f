"""Construction of algebra, shared by both parsers of queries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from kg_reasoner.program import Call, Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node, Path, PatternTerm

__all__ = ["PatternBuilder", "Triple", "call", "conjuncts", "joined"]

Triple: TypeAlias = tuple[PatternTerm, Path | PatternTerm, PatternTerm]
"""A triple pattern whose property may be a path."""

_PATHS = (algebra.Inverse, algebra.Sequence, algebra.Alternative, algebra.Repeat, algebra.Negated)


class PatternBuilder:
    """Makes patterns of triples; has the fresh variables of a query."""

    def __init__(self) -> None:
        self._fresh = 0

    def fresh(self, prefix: str) -> Variable:
        """Return a variable that the query does not have."""
        self._fresh += 1
        return Variable(f"{prefix}{self._fresh}")

    def pattern(self, triples: Iterable[Triple]) -> Node:
        """Return triples as a pattern; sequences and inverses of paths become triples (18.2.2.4)."""
        plain: list[algebra.TriplePattern] = []
        parts: list[Node] = []
        for start, property, end in triples:
            if isinstance(property, _PATHS):
                self._path(start, property, end, plain, parts)
            else:
                plain.append((start, property, end))
        if plain:
            parts.insert(0, algebra.Patterns(tuple(plain)))
        return joined(parts)

    def _path(
        self, start: PatternTerm, path: Path, end: PatternTerm, plain: list[algebra.TriplePattern], parts: list[Node]
    ) -> None:
        """Add a path: sequences and inverses as patterns with fresh variables."""
        if isinstance(path, algebra.Inverse):
            self._path(end, path.path, start, plain, parts)
        elif isinstance(path, algebra.Sequence):
            nodes = [start, *(self.fresh("_:.path") for _ in path.paths[1:]), end]
            for number, step in enumerate(path.paths):
                self._path(nodes[number], step, nodes[number + 1], plain, parts)
        elif isinstance(path, _PATHS):
            parts.append(algebra.PathPattern(start, path, end))
        else:
            plain.append((start, path, end))


def call(name: str, *arguments: Any) -> Call:
    """Return a call of an operator or function; arguments may be patterns in EXISTS, too."""
    return Call(name, arguments)


def conjuncts(expression: Expression) -> list[Expression]:
    """Return the parts of a conjunction: all are true where it is true."""
    if isinstance(expression, Call) and expression.name == "&&":
        return [part for argument in expression.arguments for part in conjuncts(argument)]
    return [expression]


def joined(nodes: Iterable[Node]) -> Node:
    """Return the join of some patterns, without joins inside joins."""
    parts: list[Node] = []
    for node in nodes:
        parts += node.parts if isinstance(node, algebra.Join) else [node]
    return parts[0] if len(parts) == 1 else algebra.Join(tuple(parts))
