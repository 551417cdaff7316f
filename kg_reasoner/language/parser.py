"""The parser of the rule language: text to `Program`. grammar.lark has the grammar; printer.py is the inverse.

The first call imports Lark and builds the parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urljoin

from kg_reasoner.errors import LoadError, RuleSyntaxError, Span, UnsupportedError, suggest
from kg_reasoner.expressions import aggregates
from kg_reasoner.expressions.collecting import ARGUMENTS
from kg_reasoner.expressions.compile import CASTS, CONDITIONS, DEPTH, NAMES, too_deep
from kg_reasoner.language.desugaring.arguments import STRUCTURES, constant
from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.desugaring.rules import is_plain, rules_of
from kg_reasoner.language.parser_tables import lalr_parser
from kg_reasoner.language.surface import (
    Along,
    AnyOf,
    Applied,
    Condition,
    Each,
    Grouped,
    Inverse,
    NotAny,
    OneOf,
    Part,
    Repeated,
    Steps,
    SurfaceBody,
)
from kg_reasoner.language.surface import (
    Path as PropertyPath,
)
from kg_reasoner.language.syntax_errors import RESERVED, explain
from kg_reasoner.program import (
    COLUMN_TYPES,
    FALSE,
    TRIPLE,
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
    Negation,
    Origin,
    Program,
    Rule,
    Variable,
)
from kg_reasoner.terms import IRI, NOT_IN_IRI, OWL, RDF, RDFS, XSD, BlankNode, Literal, unescape

if TYPE_CHECKING:
    from lark import Lark, Token

_EXPRESSIONS: Final = frozenset(
    ["disjunction", "conjunction", "comparison", "membership", "member", "sum", "product", "sign", "iri", "string"]
)
"""What the trees of expressions are called, besides calls."""
_SIGNS: Final = ("BAR", "SLASH", "CARET", "PLUS", "STAR", "QUESTION")
"""The signs of property paths."""

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


def _atom(predicate: str, arguments: tuple[Expression, ...], span: Span) -> Atom | Applied:
    """Return an atom of the core if its arguments are terms."""
    if any(isinstance(argument, Call) for argument in arguments):
        return Applied(predicate, arguments, span)
    return Atom(predicate, arguments, span)  # type: ignore[arg-type]  # no calls


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
        self.rules: list[Rule] = []
        self.translate: str | None = None
        self.heads: set[str] = set()
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
            "rule": self.add_rules,
        }
        self.heads = {str(head.children[0]) for rule in tree.find_data("heads") for head in rule.children if not _is_token(head)}
        for statement in tree.children:
            statements[statement.data](statement)
        return Program(tuple(self.rules), tuple(self.declarations), tuple(self.declared.items()), self.translate)

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
        role, _, predicate, *columns = tree.children
        shape = tuple(self.column(column) for column in columns)
        self.declarations.append(Declaration(self.predicate(predicate), shape, role.lower() if role else "", self.span(predicate)))

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
        alternatives = self.alternatives(body) if body else []
        origin = Origin(str(label) if label else None, span=self.span(heads))
        if is_plain(atoms, alternatives):
            parts = alternatives[0] if alternatives else ()
            self.rules.extend(Rule(atom, parts, origin) for atom in atoms if isinstance(atom, Atom))
            return
        context = Context((atoms, alternatives), self.names())
        origin = replace(origin, text=self.text_of(tree))
        self.rules.extend(rules_of(atoms, alternatives, origin, context))

    def head(self, node: Node) -> Atom | Applied:
        atom = Atom(FALSE, (), self.span(node)) if node == FALSE else self.atom(node)
        if isinstance(atom, Along):
            raise RuleSyntaxError("a path is no head of a rule", atom.span, "a head has one property: [?x, ex:p, ?y]")
        return atom

    # --- bodies

    def alternatives(self, tree: Node, level: int = 0) -> list[SurfaceBody]:
        """Return the alternatives of a body; `level` is the number of enclosing bodies."""
        if level > _DEEPEST:
            raise UnsupportedError(f"bodies are nested more than {_DEEPEST} deep", self.span(tree), "use rules in between")
        return [self.parts(body.children, level) for body in tree.children]

    def parts(self, nodes: Sequence[Node], level: int) -> SurfaceBody:
        return tuple(self.part(node, level) for node in nodes)

    def part(self, tree: Node, level: int = 0) -> Part:
        if _is_token(tree) or tree.data in _EXPRESSIONS or (tree.data == "call" and self.is_condition(tree)):
            return self.condition(tree)
        span = self.span(tree)
        if tree.data == "negation":
            return self.negation(tree.children[1], span, level)
        if tree.data == "filter":
            return Filter(self.expression(tree.children[1]), span)
        if tree.data == "bind":
            _, expression, _, variable = tree.children
            return Bind(self.expression(expression), self.variable(variable), span)
        if tree.data == "aggregate":
            return self.aggregate(tree, span, level)
        if tree.data == "group":
            first, *others = tree.children
            several = self.parts(first.children, level + 1), *(self.parts(other.children, level + 1) for other in others)
            return AnyOf(several, span)
        if tree.data == "each":
            group, _, collection = tree.children
            return Each(self.pattern(group), self.expression(collection), span)
        return self.atom(tree)

    def is_condition(self, tree: Node) -> bool:
        """Return whether a call that stands alone is a condition: CONTAINS(?x, "a") is one, unless it is a predicate here."""
        name = tree.children[0]
        return _is_token(name) and str(name) in CONDITIONS and str(name) not in self.heads

    def condition(self, tree: Node) -> Part:
        """Return an expression that stands alone."""
        span = self.span(tree)
        if _is_token(tree) or tree.data in ("iri", "string"):
            hint = "an atom has arguments: p(?x) or [?x, ex:p, ?y]; a condition is an expression such as ?x > 3"
            if tree == FALSE:
                hint = "false can only be the head of a constraint: `false :- body .`"
            raise RuleSyntaxError("a term is neither an atom nor a condition", span, hint)
        expression = self.expression(tree)
        if tree.data == "member" and isinstance(expression, Call) and expression.name == "IN":
            member, collection = expression.arguments
            if isinstance(member, Variable):
                return Each((member,), collection, span)
        return Condition(expression, span)

    def negation(self, tree: Node, span: Span, level: int) -> Part:
        if tree.data == "body":
            alternatives = self.alternatives(tree, level + 1)
            if len(alternatives) == 1 and len(alternatives[0]) == 1 and isinstance(alternatives[0][0], Atom):
                return Negation(alternatives[0][0], span)
            return NotAny(tuple(alternatives), span)
        atom = self.atom(tree)
        return Negation(atom, span) if isinstance(atom, Atom) else NotAny(((atom,),), span)

    def aggregate(self, tree: Node, span: Span, level: int) -> Part:
        _, body, by, *bindings = tree.children
        alternatives = self.alternatives(body, level + 1)
        group = tuple(self.variable(variable) for variable in by.children[1:])
        values = tuple(self.binding(binding) for binding in bindings)
        if is_plain((), alternatives):
            return Aggregate(alternatives[0], group, values, span)
        return Grouped(tuple(alternatives), group, values, span)

    def pattern(self, tree: Node) -> tuple[Variable, ...]:
        """Return the variables in parentheses before IN."""
        nodes = tree.children[0].children
        for node in (*nodes, *tree.children[1:]):
            if getattr(node, "type", None) not in ("VARIABLE", "WILDCARD"):
                raise RuleSyntaxError("variables, separated by commas, stand before IN", self.span(node), "write (?x, ?y) IN ...")
        return tuple(self.variable(node) for node in nodes)

    def binding(self, tree: Node) -> AggregateBinding:
        _, name, distinct, *arguments, _, variable = tree.children
        function = name.upper()
        self.expect(name, aggregates.NAMES, "aggregate function", function)
        most = ARGUMENTS.get(function, 1)
        if len(arguments) > most:
            raise RuleSyntaxError(f"{function} has at most {most} argument{'s' * (most > 1)}", self.span(arguments[most]))
        argument = None if arguments[0] == "*" else self.expression(arguments[0])
        if len(arguments) > 1:
            argument = Call("TUPLE", tuple(map(self.expression, arguments)), self.span(tree))
        return AggregateBinding(function, argument, self.variable(variable), distinct is not None)

    def atom(self, tree: Node) -> Atom | Applied | Along:
        span = self.span(tree)
        if tree.data == "triple":
            subject, verb, object = tree.children
            path = self.path(verb)
            if isinstance(path, IRI | Variable | BlankNode | Literal):
                return _atom(TRIPLE, (self.expression(subject), path, self.expression(object)), span)
            ends = self.expression(subject), self.expression(object)
            for end, node in zip(ends, (subject, object), strict=True):
                if isinstance(end, Call):
                    hint = "give the value to a variable before, as in ?y = ..."
                    raise RuleSyntaxError("a path ends at a term, not at an expression", self.span(node), hint)
            return Along(ends[0], path, ends[1], span)  # type: ignore[arg-type]  # checked above
        if tree.data == "class_or_property":
            name, subject, *objects = tree.children
            named, *values = self.term(name), *(self.expression(node) for node in (subject, *objects) if node is not None)
            terms = (values[0], named, values[1]) if len(values) == 2 else (values[0], RDF.type, named)
            return _atom(TRIPLE, terms, span)
        name, *arguments = tree.children
        self.expect_no_keyword(name, arguments)
        return _atom(self.predicate(name), self.arguments(name, [node for node in arguments if node is not None]), span)

    def expect_no_keyword(self, name: Node, arguments: Sequence[Node]) -> None:
        """Reject a misspelt keyword: no predicate has a condition for its only argument."""
        if len(arguments) == 1 and getattr(arguments[0], "data", None) in (
            "comparison",
            "conjunction",
            "disjunction",
            "membership",
        ):
            close = get_close_matches(str(name).upper(), RESERVED, n=1, cutoff=0.7)
            if close and _is_token(name):
                raise RuleSyntaxError(f"unknown keyword {name}", self.span(name), f"did you mean {close[0]} instead of `{name}`?")

    def arguments(self, name: Node, nodes: Sequence[Node]) -> tuple[Expression, ...]:
        """Return the arguments of an atom in the order of the columns."""
        return tuple(self.expression(node) for node in nodes)

    def path(self, node: Node) -> PropertyPath | Argument:
        """Return a property path, or the term that it consists of."""
        if _is_token(node):
            return RDF.type if node.type == "A" else self.term(node)
        if node.data in ("iri", "string"):
            return self.term(node)
        found = [self.path(child) for child in node.children if getattr(child, "type", None) not in _SIGNS]
        if node.data == "inverse":
            return Inverse(found[0])  # type: ignore[arg-type]  # paths consist of paths
        if node.data == "repeated":
            return Repeated(found[0], str(node.children[1]))  # type: ignore[arg-type]
        return (Steps if node.data == "sequence" else OneOf)(tuple(found))  # type: ignore[arg-type]

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
        if node.data == "named":
            raise RuleSyntaxError("only the arguments of atoms have names", self.span(node))
        calls = len(parts) // 2 if node.data not in ("sign", "call", "membership", "member") else 1
        if level + calls > DEPTH:
            raise too_deep(self.span(node))
        if node.data == "sign":
            argument = self.expression(parts[1], level + 1)
            return argument if parts[0] == "+" else Call("neg" if parts[0] == "-" else "!", (argument,), self.span(node))
        if node.data == "call":
            arguments = tuple(self.expression(part, level + 1) for part in parts[1:] if part is not None)
            return self.call(parts[0], arguments, self.span(node))
        if node.data in ("membership", "member"):
            operator = " ".join(parts[1].upper().split())
            members = (self.expression(part, level + 1) for part in (parts[0], *parts[2:]))
            return Call(operator, tuple(members), self.span(node))
        result = self.expression(parts[0], level + calls)  # operators of one precedence, from left to right
        for operator, argument in zip(parts[1::2], parts[2::2], strict=True):
            result = Call(str(operator), (result, self.expression(argument, level + calls)), self.span(node))
            calls -= 1
        return result

    def call(self, callee: Node, arguments: tuple[Expression, ...], span: Span) -> Expression:
        """Return a call; a structure of constants is a constant itself."""
        name = self.function(callee)
        call = Call(name, arguments, span)
        if name in STRUCTURES and not any(isinstance(argument, Call | Variable) for argument in arguments):
            return constant(call, span)
        return call

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
            taken = self.names()
            self.wildcards += 1
            while (name := f"_{self.wildcards}") in taken:
                self.wildcards += 1
        return Variable(name, self.span(token))

    def names(self) -> set[str]:
        """Return the names of the statement's variables."""
        if self.taken is None:
            self.taken = {found[1:] for found in self.statement.scan_values(lambda token: token and token.type == "VARIABLE")}
        return self.taken

    def text_of(self, tree: Node) -> str:
        """Return a statement as it is written, in one line and without its name and comments."""
        heads, last = tree.children[1].meta, tree.meta
        lines = [
            line if number > heads.line else " " * (heads.column - 1) + line[heads.column - 1 :]
            for number, line in enumerate(self.lines[heads.line - 1 : last.end_line], start=heads.line)
        ]
        lines[-1] = lines[-1][: last.end_column - 1]
        return " ".join(" ".join(lines).split())

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
