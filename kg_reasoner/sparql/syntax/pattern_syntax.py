"""Groups of patterns in braces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from kg_reasoner.program import Variable
from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node
from kg_reasoner.sparql.building import PatternBuilder, call, conjuncts
from kg_reasoner.sparql.syntax.expression_syntax import AggregateCall, QueryExpressionReader, has
from kg_reasoner.sparql.syntax.group_elements import Elements
from kg_reasoner.sparql.syntax.term_syntax import BLANK
from kg_reasoner.sparql.syntax.tokens import VARIABLE, WORD, Unread
from kg_reasoner.terms import IRI, Literal, Term

__all__ = ["PatternReader"]

_DEEPEST: Final = 30


class PatternReader(QueryExpressionReader):
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
        outer = self.start_basic_pattern()
        self.expect("{")
        if self.word() == "SELECT":
            node, conditions = self.subquery(), list[Expression]()
            self.expect("}")
        else:
            node, conditions = self._elements()
        self.resume_basic_pattern(outer)
        self._nesting -= 1
        return node, conditions

    def _elements(self) -> tuple[Node, list[Expression]]:
        """Read what is in a group, up to the closing brace. See `_parts`."""
        found, conditions = Elements(self.builder), list[Expression]()
        may_be_triples = True
        while not self.accept("}"):
            if self.sees_triples():
                if not may_be_triples:
                    raise Unread
                found.triples += self.triples()
                may_be_triples = False
                continue
            if self.word() == "FILTER":
                conditions.append(self._filter())
            else:
                found.end_basic_pattern()
                self.start_basic_pattern()
                self._part(found)
            self.accept(".")
            may_be_triples = True
        return found.node(), conditions

    def _filter(self) -> Expression:
        self.expect_word("FILTER")
        found = self.constraint()
        if isinstance(found, IRI) or has(AggregateCall, found):
            raise Unread
        return call("!", call("!", found)) if isinstance(found, (Variable, Literal)) else found

    def _part(self, found: Elements) -> None:
        """Read what is not a triple; `found` is what precedes it in the group, to which it is added."""
        if self.sees("{"):
            found.join(self._alternatives_in_braces())
            return
        name = self.take(WORD).upper()
        if name == "OPTIONAL":
            node, conditions = self._parts()
            condition = None if not conditions else conditions[0] if len(conditions) == 1 else call("&&", *conditions)
            found.optional(node, condition)
        elif name == "MINUS":
            found.minus(self.group())
        elif name == "GRAPH":
            graph = self.variable() if self.kind == VARIABLE else self.iri()
            found.join(algebra.EachGraph(graph, self.group()))
        elif name == "BIND":
            self._bind(found)
        elif name == "VALUES":
            found.join(self.values())
        else:
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

    def _bind(self, found: Elements) -> None:
        seen, self.seen = self.seen, {}
        self.expect("(")
        expression = self.expression()
        self.expect_word("AS")
        self.seen = seen
        variable = self.variable()
        self.expect(")")
        if has(AggregateCall, expression) or expression == variable:
            raise Unread
        found.bind(variable, expression)

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
