"""Terms and names in the parse trees of a text, and their places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urljoin

from kg_reasoner.errors import RuleSyntaxError, Span, suggest
from kg_reasoner.language.prefixes import PREFIXES
from kg_reasoner.language.reading.known import Known
from kg_reasoner.program import Argument, Variable
from kg_reasoner.terms import IRI, NOT_IN_IRI, RDF, XSD, BlankNode, Literal, is_iri, is_language, unescape

if TYPE_CHECKING:
    from lark import Token

__all__ = ["Node", "TermReader", "is_token"]

Node: TypeAlias = Any
"""A tree or a token of Lark, as the grammar determines. Trees have `data` and `children`."""

_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BLANKS: Final = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|<[^<>\s]*>)|(?:\s|#[^\n]*)+""")
"""A string or an IRI, or blanks and comments."""
_LOCAL_ESCAPE: Final = re.compile(r"\\(.)")
_TYPES: Final = {
    "INTEGER": XSD.integer.value,
    "DECIMAL": XSD.decimal.value,
    "DOUBLE": XSD.double.value,
    "BOOLEAN": XSD.boolean.value,
}


_BASED: Final = re.compile("[+-]?0[xb]")


def whole(text: str) -> int:
    """Return an integer of the text: decimal, ``0xff`` or ``0b101``, with a sign or not."""
    return int(text, 0) if _BASED.match(text) else int(text)


def is_token(node: Node) -> bool:
    """Return whether a node is a token."""
    return isinstance(node, str)


class TermReader:
    """Reads terms, and checks what the grammar cannot: names, escapes and wildcards.

    Args:
        text: The text.
        source: Its name in messages.
        indent: The columns that the parser has read before the text in its first line.
        known: What the text may refer to.
    """

    def __init__(self, text: str, source: str, indent: int = 0, known: Known | None = None) -> None:
        self.known = known or Known()
        self.lines = text.split("\n")
        self.source = source
        self.indent = indent
        self.first_line = 1  # of the source in which the text begins
        self.base: str | None = None
        self.prefixes = dict(PREFIXES)
        # Of the statement that is being read:
        self.statement: Node = None
        self.taken: set[str] | None = None  # the names of its variables, once they are needed
        self.wildcards = 0  # wildcards so far

    def begin(self, statement: Node) -> None:
        """Begin with a statement, whose variables have nothing to do with those of others."""
        self.taken, self.wildcards, self.statement = None, 0, statement

    def term(self, node: Node) -> Argument:
        if not is_token(node):
            return self.iri(node) if node.data == "iri" else self.string(node)
        if node.type in ("VARIABLE", "WILDCARD"):
            return self.variable(node)
        if node.type == "BLANK_NODE":
            return BlankNode(node[2:])
        return Literal(str(whole(node)) if _BASED.match(node) else str(node), _TYPES[node.type])

    def variable(self, token: Token) -> Variable:
        name = token.removeprefix("?")
        return Variable(self.wildcard().name if name == "_" else name, self.span(token))

    def wildcard(self) -> Variable:
        """Return a new wildcard."""
        taken = self.names()
        self.wildcards += 1
        while (name := f"_{self.wildcards}") in taken:
            self.wildcards += 1
        return Variable(name)

    def names(self) -> set[str]:
        """Return the names of the statement's variables."""
        if self.taken is None:
            self.taken = {found[1:] for found in self.statement.scan_values(lambda token: token and token.type == "VARIABLE")}
        return self.taken

    def text_of(self, first: Node, last: Node) -> str:
        """Return the source text from a node to the end of another, in one line and without comments."""
        heads, last = first.meta, last.meta
        lines = [
            line if number > heads.line else " " * (heads.column - 1) + line[heads.column - 1 :]
            for number, line in enumerate(self.lines[heads.line - 1 : last.end_line], start=heads.line)
        ]
        lines[-1] = lines[-1][: last.end_column - 1]
        return _BLANKS.sub(lambda found: found[1] or " ", "\n".join(lines)).strip()

    def string(self, tree: Node) -> Literal:
        quoted, tag = tree.children if len(tree.children) == 2 else (tree.children[0], None)
        width = 3 if quoted.startswith(('"""', "'''")) else 1
        lexical = self.unescaped(quoted, quoted[width:-width])
        if tag is None:
            return Literal(lexical)
        if is_token(tag):
            if not is_language(tag[1:]):
                hint = "tags look like en or pt-BR"
                raise RuleSyntaxError(f"{tag[1:]!r} is not a language tag", self.span(tag), hint)
            return Literal(lexical, RDF.langString.value, tag[1:].lower())
        return Literal(lexical, self.iri(tag).value)

    def iri(self, tree: Node) -> IRI:
        token = tree.children[0]
        if token.type == "IRI":
            return IRI(self.absolute(token))
        prefix, _, local = token.partition(":")
        namespace = self.prefixes.get(prefix)
        if namespace is None:
            message = f"unknown prefix {prefix}:{suggest(prefix, self.prefixes)}"
            raise RuleSyntaxError(message, self.span(token), f"declare it before: @prefix {prefix}: <...> .")
        return IRI(self.valid(namespace + (_LOCAL_ESCAPE.sub(r"\1", local) if "\\" in local else local), token))

    def absolute(self, token: Token) -> str:
        iri = self.unescaped(token, token[1:-1])
        if NOT_IN_IRI.search(iri):
            raise RuleSyntaxError(f"{token} has an escape of a character that IRIs cannot contain", self.span(token))
        if self.base is not None:
            try:
                iri = urljoin(self.base, iri)
            except ValueError:  # urljoin rejects invalid hosts
                return self.valid(iri, token)
        if not _ABSOLUTE.match(iri):
            hint = "write the whole IRI, such as <http://example.org/a>, or declare @base"
            raise RuleSyntaxError(f"{token} is a relative IRI", self.span(token), hint)
        return self.valid(iri, token)

    def valid(self, iri: str, token: Token) -> str:
        """Return the IRI of a token, which must be valid."""
        if not is_iri(iri):
            hint = None if token[0] == "<" else f"it is <{iri}>"
            raise RuleSyntaxError(f"{token} is not a valid IRI", self.span(token), hint)
        return iri

    def unescaped(self, token: Token, text: str) -> str:
        try:
            return unescape(text)
        except ValueError as error:
            raise RuleSyntaxError(str(error), self.span(token)) from None

    # --- places and names

    def span(self, node: Node) -> Span:
        place = node if is_token(node) else node.meta
        line = self.lines[place.line - 1].rstrip("\r")
        indent = self.indent if place.line == 1 else 0
        end = place.end_column - indent if place.end_line == place.line else len(line) + 1
        return Span(self.source, place.line + self.first_line - 1, place.column - indent, end, line)

    def expect(self, token: Token, known: Sequence[str], kind: str, name: str | None = None) -> None:
        """Reject an unknown name."""
        name = name or str(token)
        if name not in known:
            hint = f"known: {', '.join(known)}" if len(known) < 20 else None
            raise RuleSyntaxError(f"unknown {kind} {token}{suggest(name, known)}", self.span(token), hint)
