"""Queries from text: SPARQL 1.1 queries without collections, FROM and DESCRIBE."""

from __future__ import annotations

from itertools import count

from kg_reasoner.terms import BlankNode, Term

from . import ast
from .parse_terms import TermParser


def parse_query(text: str) -> ast.Query:
    """Return the query that a text is.

    Raises:
        SyntaxError: It is none, or one that the oracle does not know.
    """
    parser = _Parser(text)
    query = parser.query()
    if parser.tokens.kind != "end":
        raise SyntaxError(f"nothing expected after the query, and not {parser.tokens.text!r}")
    return query


def parse_table(text: str, prefixes: dict[str, str]) -> ast.Values:
    """Return a VALUES block whose text begins after ``VALUES``."""
    parser = _Parser(text)
    parser.prefixes = prefixes
    return parser.values()


class _Parser(TermParser):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._labels = count()

    def query(self) -> ast.Query:
        while self.tokens.has("PREFIX"):
            prefix = self.tokens.take()[:-1]
            self.prefixes[prefix] = self.iri().value
        if self.tokens.has("ASK"):
            return ast.Ask(self.where(), self.modifiers())
        if self.tokens.has("CONSTRUCT"):
            template = tuple(element for element in self.group().elements if isinstance(element, ast.Triple))
            return ast.Construct(template, self.where(), self.modifiers())
        return self.select()

    def select(self) -> ast.Select:
        self.tokens.expect("SELECT")
        duplicates = self.tokens.take().upper() if self.tokens.text in ("DISTINCT", "REDUCED") else ""
        items = None if self.tokens.has("*") else self.items()
        return ast.Select(items, self.where(), self.modifiers(), duplicates)  # type: ignore[arg-type]

    def items(self) -> tuple[ast.Item, ...]:
        """Variables, and expressions in parentheses with or without AS."""
        found = []
        while self.tokens.kind == "variable" or self.tokens.text == "(":
            if self.tokens.has("("):
                expression = self.expression()
                found.append(ast.Item(self.variable() if self.tokens.has("AS") else None, expression))
                self.tokens.expect(")")
            else:
                found.append(ast.Item(self.variable()))
        return tuple(found)

    def where(self) -> ast.Group:
        self.tokens.has("WHERE")
        return self.group()

    def modifiers(self) -> ast.Modifiers:
        keys: tuple[ast.Item, ...] = self.items() if self.tokens.has("GROUP", "BY") else ()
        having: list[ast.Expression] = []
        if self.tokens.has("HAVING"):
            while self.tokens.text == "(":
                having.append(self.primary())
        orders: list[ast.OrderKey] = []
        if self.tokens.has("ORDER", "BY"):
            while self.tokens.text in ("ASC", "DESC", "(") or self.tokens.kind == "variable":
                is_descending = self.tokens.has("DESC")
                self.tokens.has("ASC")
                orders.append(ast.OrderKey(self.primary(), is_descending))
        limit = offset = None
        while self.tokens.text in ("LIMIT", "OFFSET"):
            if self.tokens.has("LIMIT"):
                limit = int(self.tokens.take())
            else:
                self.tokens.expect("OFFSET")
                offset = int(self.tokens.take())
        values = self.values() if self.tokens.has("VALUES") else None
        return ast.Modifiers(keys, tuple(having), tuple(orders), limit, offset, values)

    def group(self) -> ast.Group:
        self.tokens.expect("{")
        if self.tokens.text == "SELECT":
            elements: list[ast.Element] = [ast.SubSelect(self.select())]
            self.tokens.expect("}")
            return ast.Group(tuple(elements))
        elements = []
        while not self.tokens.has("}"):
            elements += self.element()
            self.tokens.has(".")
        return ast.Group(tuple(elements))

    def element(self) -> list[ast.Element]:
        if self.tokens.has("OPTIONAL"):
            return [ast.Optional(self.group())]
        if self.tokens.has("MINUS"):
            return [ast.Minus(self.group())]
        if self.tokens.has("FILTER"):
            return [ast.Filter(self.primary())]
        if self.tokens.has("GRAPH"):
            name = self.variable() if self.tokens.kind == "variable" else self.iri()
            return [ast.GraphPattern(name, self.group())]
        if self.tokens.has("VALUES"):
            return [self.values()]
        if self.tokens.has("BIND", "("):
            expression = self.expression()
            self.tokens.expect("AS")
            bind = ast.Bind(expression, self.variable())
            self.tokens.expect(")")
            return [bind]
        if self.tokens.text == "{":
            is_select = self.tokens.follow("{", "SELECT")
            groups = [self.group()]
            while self.tokens.has("UNION"):
                groups.append(self.group())
            if len(groups) > 1:
                return [ast.Union(tuple(groups))]
            return list(groups[0].elements) if is_select else [groups[0]]
        return self.triples()

    def values(self) -> ast.Values:
        has_parentheses = self.tokens.has("(")
        names = []
        while self.tokens.kind == "variable":
            names.append(self.variable())
            if not has_parentheses:
                break
        if has_parentheses:
            self.tokens.expect(")")
        self.tokens.expect("{")
        rows = []
        while not self.tokens.has("}"):
            if has_parentheses:
                self.tokens.expect("(")
            rows.append(tuple(self.cell() for _ in names))
            if has_parentheses:
                self.tokens.expect(")")
        return ast.Values(tuple(names), tuple(rows))

    def cell(self) -> Term | None:
        if self.tokens.has("UNDEF"):
            return None
        if self.tokens.kind in ("variable", "blank"):
            raise SyntaxError(f"a term expected in VALUES, and not {self.tokens.text!r}")
        term = self.term()
        assert not isinstance(term, ast.Var)
        return term

    def triples(self) -> list[ast.Element]:
        """The triples of a subject."""
        subject, found = self.node()
        if not (found and self.tokens.text in (".", "}")):
            found += self.properties(subject)
        return found

    def properties(self, subject: ast.Var | Term) -> list[ast.Element]:
        found: list[ast.Element] = []
        while True:
            predicate = self.variable() if self.tokens.kind == "variable" else self.path()
            while True:
                object_, inner = self.node()
                found += [ast.Triple(subject, predicate, object_), *inner]
                if not self.tokens.has(","):
                    break
            if not self.tokens.has(";"):
                return found

    def node(self) -> tuple[ast.Var | Term, list[ast.Element]]:
        """A term, or a blank node in brackets and its triples."""
        if not self.tokens.has("["):
            return self.term(), []
        node = BlankNode(f"bracket{next(self._labels)}")
        found = [] if self.tokens.text == "]" else self.properties(node)
        self.tokens.expect("]")
        return node, found
