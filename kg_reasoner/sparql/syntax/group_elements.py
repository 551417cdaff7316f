"""The elements of a group in braces, as they are read."""

from __future__ import annotations

from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node
from kg_reasoner.sparql.building import PatternBuilder, Triple, joined
from kg_reasoner.sparql.scope import in_scope
from kg_reasoner.sparql.syntax.tokens import Unread

__all__ = ["Elements"]


class Elements:
    """The patterns of a group so far, in time that is linear in their number.

    Args:
        builder: Makes patterns of triples.
    """

    def __init__(self, builder: PatternBuilder) -> None:
        self.triples: list[Triple] = []
        """The triples of the present basic graph pattern."""
        self._builder = builder
        self._parts: list[Node] = []
        self._scope: set[Variable] = set()
        self._new: list[Node] = []
        """The patterns whose variables are not in the scope yet."""

    def end_basic_pattern(self) -> None:
        """Add the present basic graph pattern."""
        triples, self.triples = self.triples, []
        if triples:
            self.join(self._builder.pattern(triples))

    def join(self, node: Node) -> None:
        """Add a pattern that is joined with the patterns before it."""
        self._parts.append(node)
        self._new.append(node)

    def optional(self, node: Node, condition: Expression | None) -> None:
        """Add an OPTIONAL."""
        self._parts = [algebra.LeftJoin(joined(self._parts), node, condition)]
        self._new.append(node)

    def minus(self, node: Node) -> None:
        """Add a MINUS."""
        self._parts = [algebra.Minus(joined(self._parts), node)]

    def bind(self, variable: Variable, expression: Expression) -> None:
        """Add a BIND.

        Raises:
            Unread: What precedes it binds the variable.
        """
        for node in self._new:
            self._scope.update(in_scope(node))
        self._new = []
        if variable in self._scope:
            raise Unread
        self._scope.add(variable)
        self._parts = [algebra.Extend(joined(self._parts), variable, expression)]

    def node(self) -> Node:
        """Return the pattern of the whole group."""
        self.end_basic_pattern()
        return joined(self._parts)
