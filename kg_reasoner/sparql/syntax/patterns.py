"""Groups of patterns in braces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node
from kg_reasoner.sparql.building import PatternBuilder, Triple, call, conjuncts, joined
from kg_reasoner.sparql.syntax.expressions import Aggregate, ExpressionReader, has
from kg_reasoner.sparql.syntax.terms import BLANK
from kg_reasoner.sparql.syntax.tokens import VARIABLE, WORD, Unread
from kg_reasoner.terms import IRI, Literal, Term

__all__ = ["PatternReader"]

_DEEPEST: Final = 30


class PatternReader(ExpressionReader):
    """Reads groups."""

    _nesting = 0

    def __init__(self, text: str, prefixes: Mapping[str, Any]) -> None:
        super().__init__(text, prefixes)
        self.builder = PatternBuilder()

    @abstractmethod
    def subquery(self) -> Node:
        """Read a SELECT inside of a group."""

    def group(self) -> Node:
        """Read a group in braces."""
        node, conditions = self._parts()
        if not conditions:
            return node
        return algebra.Filter(tuple(part for condition in conditions for part in conjuncts(condition)), node)

    def _parts(self) -> tuple[Node, list[Expression]]:
        """Read a group; return its pattern without the conditions of FILTER, and these."""
        self._nesting += 1
        if self._nesting > _DEEPEST:
            raise Unread
        self.expect("{")
        if self.word() == "SELECT":
            node = self.subquery()
            self.expect("}")
            self._nesting -= 1
            return node, []
        node, conditions, waiting = algebra.UNIT, list[Expression](), list[Triple]()
        may_be_triples = True
        while not self.accept("}"):
            if self.sees_triples():
                if not may_be_triples:
                    raise Unread
                waiting += self.triples()
                may_be_triples = False
                continue
            if self.word() == "FILTER":
                conditions.append(self._filter())
            else:
                node, waiting = joined([node, self.builder.pattern(waiting)]), []
                node = self._part(node)
            self.accept(".")
            may_be_triples = True
        self._nesting -= 1
        return joined([node, self.builder.pattern(waiting)]), conditions

    def _filter(self) -> Expression:
        self.expect_word("FILTER")
        found = self.constraint()
        if isinstance(found, IRI) or has(Aggregate, found):
            raise Unread
        return call("!", call("!", found)) if isinstance(found, (Variable, Literal)) else found

    def _part(self, before: Node) -> Node:
        """Read what is no triple; `before` is what precedes it in the group."""
        if self.sees("{"):
            return joined([before, self._alternatives_in_braces()])
        name = self.take(WORD).upper()
        if name == "OPTIONAL":
            node, conditions = self._parts()
            condition = None if not conditions else conditions[0] if len(conditions) == 1 else call("&&", *conditions)
            return algebra.LeftJoin(before, node, condition)
        if name == "MINUS":
            return algebra.Minus(before, self.group())
        if name == "GRAPH":
            graph = self.variable() if self.kind == VARIABLE else self.iri()
            return joined([before, algebra.EachGraph(graph, self.group())])
        if name == "BIND":
            return self._bind(before)
        if name == "VALUES":
            return joined([before, self.values()])
        raise Unread

    def _alternatives_in_braces(self) -> Node:
        parts = [self.group()]
        while self.accept_word("UNION"):
            parts.append(self.group())
        if len(parts) == 1:
            return parts[0]
        return algebra.Union(
            tuple(inner for part in parts for inner in (part.parts if isinstance(part, algebra.Union) else [part]))
        )

    def _bind(self, before: Node) -> Node:
        seen = dict(self.seen)
        self.expect("(")
        expression = self.expression()
        self.expect_word("AS")
        self.seen = seen
        variable = self.variable()
        self.expect(")")
        if has(Aggregate, expression) or expression == variable:
            raise Unread
        return algebra.Extend(before, variable, expression)

    def values(self) -> algebra.Values:
        """Read what follows VALUES."""
        rows: list[tuple[Term | None, ...]] = []
        if self.accept("("):
            names = []
            while not self.accept(")"):
                names.append(self.variable())
            self.expect("{")
            while not self.accept("}"):
                rows.append(self._row(len(names)))
            if not names or len(set(names)) < len(names):
                raise Unread
        else:
            names = [self.variable()]
            self.expect("{")
            while not self.accept("}"):
                rows.append((self._cell(),))
        if not rows:
            raise Unread
        return algebra.Values(tuple(names), tuple(rows))

    def _row(self, width: int) -> tuple[Term | None, ...]:
        self.expect("(")
        row = [self._cell() for _ in range(width)]
        self.expect(")")
        return tuple(row)

    def _cell(self) -> Term | None:
        if self.accept_word("UNDEF"):
            return None
        return self.iri() if self.sees_iri() else self.literal()


def is_named(variable: Variable) -> bool:
    """Return whether a variable does not stand for a blank node."""
    return not variable.name.startswith(BLANK)
