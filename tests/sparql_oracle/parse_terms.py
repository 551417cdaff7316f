"""Terms, property paths and expressions from text."""

from __future__ import annotations

from typing import Final

from kg_reasoner.terms import IRI, RDF, XSD, BlankNode, Literal, Term, unescape

from . import ast
from .tokens import Tokens

AGGREGATES: Final = frozenset(["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"])
_NAMES: Final = {name.upper(): name for name in ("isIRI", "isBlank", "isLiteral", "isNumeric", "sameTerm")} | {"ISURI": "isIRI"}
_RELATIONS: Final = ("=", "!=", "<", ">", "<=", ">=")


class TermParser:
    """Reads terms, paths and expressions; EXISTS needs `group` of the class below it."""

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text)
        self.prefixes: dict[str, str] = {}

    def group(self) -> ast.Group:
        """Read a group with its braces."""
        raise NotImplementedError

    # Terms

    def variable(self) -> ast.Var:
        """Read a variable."""
        if self.tokens.kind != "variable":
            raise SyntaxError(f"a variable expected, and not {self.tokens.text!r}")
        return ast.Var(self.tokens.take()[1:])

    def iri(self) -> IRI:
        """Read an IRI or a prefixed name."""
        kind, text = self.tokens.kind, self.tokens.take()
        if kind == "name":
            prefix, _, local = text.partition(":")
            if prefix not in self.prefixes:
                raise SyntaxError(f"the prefix of {text} is not declared")
            return IRI(self.prefixes[prefix] + local)
        if kind != "iri":
            raise SyntaxError(f"an IRI expected, and not {text!r}")
        return IRI(text[1:-1])

    def term(self) -> ast.Var | Term:
        """Read a variable or a term."""
        kind, text = self.tokens.kind, self.tokens.text
        if kind == "variable":
            return self.variable()
        if kind in ("iri", "name"):
            return self.iri()
        if kind == "blank":
            return BlankNode(self.tokens.take()[2:])
        if kind == "string":
            return self._string()
        if text in ("-", "+"):
            sign = self.tokens.take()
            number = self.term()
            assert isinstance(number, Literal)
            return Literal(sign + number.lexical, number.datatype)
        if kind in ("integer", "decimal", "double"):
            return Literal(self.tokens.take(), XSD[kind].value)
        if text in ("TRUE", "FALSE"):
            return Literal(self.tokens.take().lower(), XSD.boolean.value)
        raise SyntaxError(f"a term expected, and not {text!r}")

    def _string(self) -> Literal:
        lexical = unescape(self.tokens.take()[1:-1])
        if self.tokens.kind == "language":
            return Literal(lexical, RDF.langString.value, self.tokens.take()[1:].lower())
        return Literal(lexical, self.iri().value) if self.tokens.has("^^") else Literal(lexical)

    # Paths

    def path(self) -> ast.Path:
        """Read a property path."""
        found = self._sequence()
        while self.tokens.has("|"):
            found = ast.Alternative(found, self._sequence())
        return found

    def _sequence(self) -> ast.Path:
        found = self._step()
        while self.tokens.has("/"):
            found = ast.Sequence(found, self._step())
        return found

    def _step(self) -> ast.Path:
        if self.tokens.has("^"):
            return ast.Inverse(self._step())
        found: ast.Path
        if self.tokens.has("!"):
            found = self._negated()
        elif self.tokens.has("("):
            found = self.path()
            self.tokens.expect(")")
        else:
            found = self._link()
        while self.tokens.text in ("*", "+", "?"):
            found = ast.Repeated(found, self.tokens.take())  # type: ignore[arg-type]
        return found

    def _link(self) -> IRI:
        if self.tokens.text == "a":
            self.tokens.take()
            return RDF.type
        return self.iri()

    def _negated(self) -> ast.Negated:
        forward: list[IRI] = []
        backward: list[IRI] = []
        has_parentheses = self.tokens.has("(")
        while True:
            links = backward if self.tokens.has("^") else forward
            links.append(self._link())
            if not (has_parentheses and self.tokens.has("|")):
                break
        if has_parentheses:
            self.tokens.expect(")")
        return ast.Negated(tuple(forward), tuple(backward))

    # Expressions

    def expression(self) -> ast.Expression:
        """Read an expression."""
        return self._binary(0)

    def _binary(self, level: int) -> ast.Expression:
        levels: tuple[tuple[str, ...], ...] = (("||",), ("&&",), _RELATIONS, ("+", "-"), ("*", "/"))
        if level == len(levels):
            return self._unary()
        found = self._binary(level + 1)
        while True:
            if self.tokens.text in levels[level]:
                found = ast.Call(self.tokens.take(), (found, self._binary(level + 1)))
            elif level == 2 and self.tokens.has("IN"):
                found = ast.Call("IN", (found, *self.arguments()))
            elif level == 2 and self.tokens.has("NOT", "IN"):
                found = ast.Call("NOT IN", (found, *self.arguments()))
            else:
                return found

    def _unary(self) -> ast.Expression:
        if self.tokens.text in ("!", "-", "+"):
            return ast.Call(self.tokens.take(), (self._unary(),))
        return self.primary()

    def primary(self) -> ast.Expression:
        if self.tokens.has("("):
            found = self.expression()
            self.tokens.expect(")")
            return found
        if self.tokens.has("EXISTS"):
            return ast.Exists(self.group())
        if self.tokens.has("NOT", "EXISTS"):
            return ast.Exists(self.group(), negated=True)
        if self.tokens.kind != "word" or self.tokens.text in ("TRUE", "FALSE"):
            term = self.term()
            return ast.Call(term, self.arguments()) if isinstance(term, IRI) and self.tokens.text == "(" else term
        name = self.tokens.take().upper()
        return self._aggregate(name) if name in AGGREGATES else ast.Call(_NAMES.get(name, name), self.arguments())

    def arguments(self) -> tuple[ast.Expression, ...]:
        """Read expressions in parentheses."""
        self.tokens.expect("(")
        found: list[ast.Expression] = []
        while not self.tokens.has(")"):
            if found:
                self.tokens.expect(",")
            found.append(self.expression())
        return tuple(found)

    def _aggregate(self, name: str) -> ast.Aggregate:
        self.tokens.expect("(")
        is_distinct = self.tokens.has("DISTINCT")
        argument = None if self.tokens.has("*") else self.expression()
        separator = None
        if self.tokens.has(";", "SEPARATOR", "="):
            separator = self._string().lexical
        self.tokens.expect(")")
        return ast.Aggregate(name, argument, is_distinct, separator)
