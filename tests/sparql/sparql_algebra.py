"""SPARQL's algebra as text: an operator a line, with those inside indented below, and the patterns of EXISTS in braces."""

from __future__ import annotations

from collections.abc import Iterator

from kg_reasoner.sparql import algebra
from kg_reasoner.sparql.algebra import Expression, Node, PatternTerm, children
from kg_reasoner.sparql.queries.query_plan import _NAMES, _Writer
from kg_reasoner.sparql.queries.query_plan import shortener as shortener


class AlgebraPrinter(_Writer):
    """Prints patterns."""

    def text(self, node: Node) -> str:
        """A pattern over several lines."""
        return "\n".join(self._lines(node, 0))

    def _lines(self, node: Node, depth: int) -> Iterator[str]:
        yield f"{'  ' * depth}{_NAMES[type(node)]} {self._detail(node)}".rstrip()
        for part in children(node):
            yield from self._lines(part, depth + 1)

    def _detail(self, node: Node) -> str:
        if isinstance(node, algebra.Patterns):
            return self._place(node.graph, " . ".join(" ".join(map(self.term, triple)) for triple in node.triples))
        if isinstance(node, algebra.PathPattern):
            return self._place(node.graph, f"{self.term(node.start)} {self.path(node.path)} {self.term(node.end)}")
        if isinstance(node, algebra.Values):
            return " ".join(map(self.term, node.variables))
        return super().detail(node, None)  # type: ignore[arg-type]

    def _place(self, graph: PatternTerm | None, text: str) -> str:
        return text if graph is None else f"GRAPH {self.term(graph)} {{ {text} }}"

    def expression(self, expression: Expression) -> str:
        """Write an expression, with the patterns of EXISTS."""
        if isinstance(expression, algebra.Exists):
            return f"EXISTS {{ {self._inline(expression.node)} }}"
        return super().expression(expression)

    def _inline(self, node: Node) -> str:
        inner = ", ".join(map(self._inline, children(node)))
        return f"{_NAMES[type(node)]} {self._detail(node)}".rstrip() + (f" ({inner})" if inner else "")
