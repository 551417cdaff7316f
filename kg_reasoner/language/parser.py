"""The parser of the rule language: text to `Program`. grammar.lark has the grammar; printer.py is the inverse.

The first call imports Lark and builds the parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urljoin

from kg_reasoner.errors import LoadError, RuleSyntaxError, Span, UnsupportedError, suggest
from kg_reasoner.expressions import aggregates
from kg_reasoner.expressions.compile import CASTS, DEPTH, NAMES, too_deep
from kg_reasoner.language.parser_tables import lalr_parser
from kg_reasoner.language.syntax_errors import RESERVED, explain
from kg_reasoner.program import (
    COLUMN_TYPES,
    FALSE,
    Aggregate,
    AggregateBinding,
    Argument,
    Atom,
    Bind,
    BodyLiteral,
    Call,
    Column,
    Declaration,
    Expression,
    Filter,
    Index,
    Negation,
    Origin,
    Program,
    Rule,
    Variable,
    class_atom,
    triple,
)
from kg_reasoner.terms import IRI, NOT_IN_IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, unescape

if TYPE_CHECKING:
    from lark import Lark, Token

Node: TypeAlias = Any
"""A tree or a token of Lark, as the grammar determines. Trees have `data` and `children`."""

__all__ = ["PREFIXES", "TRANSLATIONS", "parse", "parse_body", "parse_file"]

PREFIXES: Final = {"rdf": str(RDF), "rdfs": str(RDFS), "owl": str(OWL), "xsd": str(XSD)}
"""The prefixes that need no declaration."""

TRANSLATIONS: Final = ("dlp",)

_DEEPEST: Final = 50
"""How deep aggregates may be nested."""
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LOCAL_ESCAPE: Final = re.compile(r"\\(.)")
_TYPES: Final = {
    "INTEGER": XSD.integer.value,
    "DECIMAL": XSD.decimal.value,
    "DOUBLE": XSD.double.value,
    "BOOLEAN": XSD.boolean.value,
}


def parse(text: str, source: str = "<string>") -> Program:
    """Parse a rule text into a program.

    >>> parse("path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .").rules[0].head
    Atom(predicate='path', terms=(Variable(name='x'), Variable(name='z')))

    Args:
        text: The rules.
        source: The name of the text in error messages.

    Raises:
        RuleSyntaxError: With the place, what was expected there, and a similar name where a name is unknown.
        UnsupportedError: Expressions or aggregates are nested too deep.
    """
    from lark.exceptions import UnexpectedInput

    text = text.removeprefix("\ufeff")
    try:
        tree = _lark().parse(text)
    except UnexpectedInput as error:
        raise explain(error, text, source) from None
    return _Builder(text, source).program(tree)


def parse_body(text: str, prefixes: Mapping[str, str], source: str = "<query>") -> tuple[BodyLiteral, ...]:
    """Parse the body of a rule, as a query. A dot at its end may be missing.

    >>> parse_body('path("a", ?y), NOT edge(?y, _)', {})[1]
    Negation(atom=Atom(predicate='edge', terms=(Variable(name='y'), Variable(name='_1'))))

    Args:
        text: The body.
        prefixes: Known prefixes, beside those that rules need not declare.
        source: The name of the text in error messages.

    Raises:
        RuleSyntaxError, UnsupportedError: As `parse`.
    """
    from lark.exceptions import UnexpectedInput

    body = text.strip().removesuffix(".")
    headless = f"{_HEADLESS}{body}"
    builder = _Builder(body, source, len(_HEADLESS))
    builder.prefixes.update(prefixes)
    try:
        tree = _lark().parse(f"{headless}\n.")
    except UnexpectedInput as error:
        try:
            if (error.pos_in_stream or 0) > len(headless):  # at the dot: the body ends too early
                _lark().parse(headless)
        except UnexpectedInput as end:
            error = end
        found = explain(error, headless, source)
        span = found.span if found.span is None or found.span.line > 1 else _moved(found.span, len(_HEADLESS))
        raise RuleSyntaxError(found.message, span, found.hint) from None
    if len(tree.children) > 1:
        raise RuleSyntaxError("a query is the body of one rule", builder.span(tree.children[1]), "add rules by add_program")
    (rule,) = builder.program(tree).rules
    return rule.body


_HEADLESS: Final = f"{FALSE} :- "
"""What makes a rule of a body."""


def _moved(span: Span, columns: int) -> Span:
    """Return a place in the first line without so many columns before it."""
    return replace(span, column=span.column - columns, end_column=span.end_column - columns, text=span.text[columns:])


def parse_file(path: str | Path) -> Program:
    """Parse a rule file (UTF-8) into a program.

    Raises:
        LoadError: The file cannot be read.
        RuleSyntaxError: As `parse`.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise LoadError(f"cannot read the rule file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise LoadError(f"cannot read the rule file {path}: it is not UTF-8 (byte {error.start})") from error
    return parse(text, str(path))


@cache
def _lark() -> Lark:
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return lalr_parser(grammar)


def _is_token(node: Node) -> bool:
    return isinstance(node, str)


class _Builder:
    """Builds a program from the parse trees of a text, and checks what the grammar cannot: names, escapes and wildcards."""

    def __init__(self, text: str, source: str, indent: int = 0) -> None:
        self.lines = text.split("\n")
        self.source = source
        self.indent = indent  # columns before the text in its first line
        self.base: str | None = None
        self.prefixes = dict(PREFIXES)
        self.declared: dict[str, str] = {}
        self.declarations: list[Declaration] = []
        self.indexes: list[Index] = []
        self.rules: list[Rule] = []
        self.translate: str | None = None
        # Of the rule that is being built:
        self.statement: Node = None
        self.taken: set[str] | None = None  # the names of its variables, once they are needed
        self.wildcards = 0  # wildcards so far

    def program(self, tree: Node) -> Program:
        statements: dict[str, Callable[[Node], None]] = {
            "prefix": self.add_prefix,
            "base": self.set_base,
            "translate": self.set_translation,
            "declaration": self.add_declaration,
            "index": self.add_index,
            "rule": self.add_rules,
        }
        for statement in tree.children:
            statements[statement.data](statement)
        return Program(
            tuple(self.rules), tuple(self.declarations), tuple(self.declared.items()), self.translate, tuple(self.indexes)
        )

    # --- statements

    def add_prefix(self, tree: Node) -> None:
        namespace, iri = tree.children[-2:]
        self.prefixes[namespace[:-1]] = self.declared[namespace[:-1]] = self.absolute(iri)

    def set_base(self, tree: Node) -> None:
        self.base = self.absolute(tree.children[-1])

    def set_translation(self, tree: Node) -> None:
        name = tree.children[0]
        self.expect(name, TRANSLATIONS, "translation")
        self.translate = str(name)

    def add_declaration(self, tree: Node) -> None:
        role, kind, predicate, *columns, clause = tree.children
        shape = tuple(self.column(column) for column in columns)
        name, names = self.predicate(predicate), tuple[str, ...]()
        operator, source, steps = "", "", 1
        if clause is not None and clause.data == "key":
            names = tuple(map(str, clause.children))
            for place, column in enumerate(names):
                self.expect(clause.children[place], [column.name for column in shape], f"column of {name}")
        elif clause is not None:
            word, *count, other = clause.children
            operator, source = str(word).lower(), self.predicate(other)
            steps = int(count[0]) if count and count[0] is not None else 1
        self.declarations.append(
            Declaration(
                name,
                shape,
                role.lower() if role else "",
                self.span(predicate),
                names,
                str(kind).lower(),
                operator,
                source,
                steps,
            )
        )

    def add_index(self, tree: Node) -> None:
        name, _, predicate, *columns = tree.children
        self.indexes.append(Index(str(name), self.predicate(predicate), tuple(map(str, columns)), self.span(name)))

    def column(self, tree: Node) -> Column:
        name, type = tree.children
        if type is None:
            return Column(str(name))
        self.expect(type, COLUMN_TYPES, "type")
        return Column(str(name), str(type))

    def add_rules(self, tree: Node) -> None:
        label, heads, body = tree.children
        self.taken, self.wildcards, self.statement = None, 0, tree
        atoms = [self.head(head) for head in heads.children]
        parts = self.body(body) if body else ()
        origin = Origin(str(label) if label else None, span=self.span(heads))
        self.rules.extend(Rule(atom, parts, origin) for atom in atoms)

    def head(self, node: Node) -> Atom:
        return Atom(FALSE, (), self.span(node)) if node == FALSE else self.atom(node)

    # --- bodies

    def body(self, tree: Node, level: int = 0) -> tuple[BodyLiteral, ...]:
        """Return the parts of a body; `level` is the number of enclosing aggregates."""
        if level > _DEEPEST:
            raise UnsupportedError(f"aggregates are nested more than {_DEEPEST} deep", self.span(tree), "use rules in between")
        return tuple(self.part(part, level) for part in tree.children)

    def part(self, tree: Node, level: int = 0) -> BodyLiteral:
        span = self.span(tree)
        if tree.data == "negation":
            return Negation(self.atom(tree.children[1]), span)
        if tree.data == "filter":
            return Filter(self.expression(tree.children[1]), span)
        if tree.data == "bind":
            _, expression, _, variable = tree.children
            return Bind(self.expression(expression), self.variable(variable), span)
        if tree.data == "aggregate":
            _, body, group, *bindings = tree.children
            return Aggregate(
                self.body(body, level + 1),
                tuple(self.variable(variable) for variable in group.children[1:]),
                tuple(self.binding(binding) for binding in bindings),
                span,
            )
        return self.atom(tree)

    def binding(self, tree: Node) -> AggregateBinding:
        _, name, distinct, argument, _, variable = tree.children
        function = name.upper()
        self.expect(name, aggregates.NAMES, "aggregate function", function)
        star = argument == "*"
        return AggregateBinding(
            function, None if star else self.expression(argument), self.variable(variable), distinct is not None
        )

    def atom(self, tree: Node) -> Atom:
        span = self.span(tree)
        if tree.data == "triple":
            subject, predicate, object = tree.children
            verb = RDF.type if getattr(predicate, "type", None) == "A" else self.term(predicate)
            return triple(self.term(subject), verb, self.term(object), span)
        if tree.data == "class_or_property":
            name, subject, *objects = (self.term(node) for node in tree.children)
            return triple(subject, name, objects[0], span) if objects else class_atom(name, subject, span)
        name, *terms = tree.children
        return Atom(self.predicate(name), tuple(self.term(term) for term in terms), span)

    def predicate(self, node: Node) -> str:
        name = str(node) if _is_token(node) else str(self.iri(node))
        if name.upper() in RESERVED or name == FALSE:
            raise RuleSyntaxError(f"{name} is a keyword and cannot name a predicate", self.span(node))
        return name

    # --- expressions

    def expression(self, node: Node, level: int = 0) -> Expression:
        """Return the expression of a parse tree; `level` is the number of enclosing calls."""
        if _is_token(node) or node.data in ("iri", "string"):
            return self.term(node)
        parts = node.children
        calls = len(parts) // 2 if node.data not in ("sign", "call", "membership") else 1
        if level + calls > DEPTH:
            raise too_deep(self.span(node))
        if node.data == "sign":
            argument = self.expression(parts[1], level + 1)
            return argument if parts[0] == "+" else Call("neg" if parts[0] == "-" else "!", (argument,), self.span(node))
        if node.data == "call":
            arguments = tuple(self.expression(part, level + 1) for part in parts[1:])
            return Call(self.function(parts[0]), arguments, self.span(node))
        if node.data == "membership":
            operator = " ".join(parts[1].upper().split())
            members = (self.expression(part, level + 1) for part in (parts[0], *parts[2:]))
            return Call(operator, tuple(members), self.span(node))
        result = self.expression(parts[0], level + calls)  # operators of one precedence, from left to right
        for operator, argument in zip(parts[1::2], parts[2::2], strict=True):
            result = Call(str(operator), (result, self.expression(argument, level + calls)), self.span(node))
            calls -= 1
        return result

    def function(self, node: Node) -> str:
        if _is_token(node):
            name = str(node).upper()
            self.expect(node, NAMES, "function", name)
            return name
        cast = str(self.iri(node))
        if cast not in CASTS:
            hint = f"IRIs that are functions: {', '.join(CASTS.values())}"
            raise RuleSyntaxError(f"unknown function {cast}", self.span(node), hint)
        return cast

    # --- terms

    def term(self, node: Node) -> Argument:
        if not _is_token(node):
            return self.iri(node) if node.data == "iri" else self.string(node)
        if node.type in ("VARIABLE", "WILDCARD"):
            return self.variable(node)
        if node.type == "BLANK_NODE":
            return BlankNode(node[2:])
        return Literal(str(node), _TYPES[node.type])

    def variable(self, token: Token) -> Variable:
        name = token.removeprefix("?")
        if name == "_":
            if self.taken is None:
                self.taken = {found[1:] for found in self.statement.scan_values(lambda token: token and token.type == "VARIABLE")}
            self.wildcards += 1
            while (name := f"_{self.wildcards}") in self.taken:
                self.wildcards += 1
        return Variable(name, self.span(token))

    def string(self, tree: Node) -> Literal:
        quoted, tag = tree.children if len(tree.children) == 2 else (tree.children[0], None)
        width = 3 if quoted.startswith(('"""', "'''")) else 1
        lexical = self.unescaped(quoted, quoted[width:-width])
        if tag is None:
            return Literal(lexical)
        if _is_token(tag):
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
        return IRI(namespace + (_LOCAL_ESCAPE.sub(r"\1", local) if "\\" in local else local))

    def absolute(self, token: Token) -> str:
        iri = self.unescaped(token, token[1:-1])
        if NOT_IN_IRI.search(iri):
            raise RuleSyntaxError(f"{token} has an escape of a character that IRIs cannot contain", self.span(token))
        if self.base is not None:
            iri = urljoin(self.base, iri)
        if not _ABSOLUTE.match(iri):
            hint = "write the whole IRI, such as <http://example.org/a>, or declare @base"
            raise RuleSyntaxError(f"{token} is a relative IRI", self.span(token), hint)
        return iri

    def unescaped(self, token: Token, text: str) -> str:
        try:
            return unescape(text)
        except ValueError as error:
            raise RuleSyntaxError(str(error), self.span(token)) from None

    # --- places and names

    def span(self, node: Node) -> Span:
        place = node if _is_token(node) else node.meta
        line = self.lines[place.line - 1].rstrip("\r")
        indent = self.indent if place.line == 1 else 0
        end = place.end_column - indent if place.end_line == place.line else len(line) + 1
        return Span(self.source, place.line, place.column - indent, end, line)

    def expect(self, token: Token, known: Sequence[str], kind: str, name: str | None = None) -> None:
        """Reject an unknown name."""
        name = name or str(token)
        if name not in known:
            hint = f"known: {', '.join(known)}" if len(known) < 20 else None
            raise RuleSyntaxError(f"unknown {kind} {token}{suggest(name, known)}", self.span(token), hint)
