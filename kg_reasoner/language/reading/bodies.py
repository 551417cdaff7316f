"""Atoms and bodies in the parse trees of a text."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from kg_reasoner.errors import RuleSyntaxError, Span, UnsupportedError, suggest
from kg_reasoner.expressions import aggregate_functions
from kg_reasoner.expressions.collecting import ARGUMENTS
from kg_reasoner.expressions.compile import CONDITIONS
from kg_reasoner.language.desugaring.equations import given_by
from kg_reasoner.language.desugaring.nested import not_holding
from kg_reasoner.language.desugaring.passes import is_plain
from kg_reasoner.language.reading.expression_trees import ExpressionReader
from kg_reasoner.language.reading.syntax_errors import RESERVED
from kg_reasoner.language.reading.term_trees import Node, is_token
from kg_reasoner.language.surface import (
    Along,
    AnyOf,
    Applied,
    Chosen,
    Condition,
    Each,
    Grouped,
    Inverse,
    NotAny,
    OneOf,
    Part,
    Path,
    Repeated,
    Steps,
    SurfaceBody,
)
from kg_reasoner.program import (
    FALSE,
    TRIPLE,
    Aggregate,
    AggregateBinding,
    Argument,
    Atom,
    Bind,
    Call,
    Expression,
    Filter,
    Negation,
    Variable,
)
from kg_reasoner.terms import IRI, RDF, BlankNode, Literal

__all__ = ["BodyReader"]

_DEEPEST: Final = 50
"""The maximal depth of nested bodies."""
_EXPRESSIONS: Final = frozenset(
    ["disjunction", "conjunction", "comparison", "membership", "member", "sum", "product", "sign", "match", "iri", "string"]
)
"""The names of trees of expressions other than calls."""
_SIGNS: Final = ("BAR", "SLASH", "CARET", "PLUS", "STAR", "QUESTION")
"""The signs of property paths."""


def _atom(predicate: str, arguments: tuple[Expression, ...], span: Span) -> Atom | Applied:
    """Return an atom of the core if its arguments are terms."""
    if any(isinstance(argument, Call) for argument in arguments):
        return Applied(predicate, arguments, span)
    return Atom(predicate, arguments, span)  # type: ignore[arg-type]  # no calls


class BodyReader(ExpressionReader):
    """Reads atoms and the bodies of rules."""

    heads: frozenset[str] = frozenset()
    """The predicates of the heads in the text."""

    modules: dict[str, list[str]]
    """The names of the modules that the text imports, with the predicates of each."""

    def alternatives(self, tree: Node, level: int = 0) -> list[SurfaceBody]:
        """Return the alternatives of a body; `level` is the number of enclosing bodies."""
        if level > _DEEPEST:
            raise UnsupportedError(f"bodies are nested more than {_DEEPEST} deep", self.span(tree), "use rules in between")
        return [self.parts(body.children, level) for body in tree.children]

    def parts(self, nodes: Sequence[Node], level: int) -> SurfaceBody:
        return tuple(self.part(node, level) for node in nodes)

    def part(self, tree: Node, level: int = 0) -> Part:
        if is_token(tree) or tree.data in _EXPRESSIONS or (tree.data == "call" and self.is_condition(tree)):
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
        if tree.data == "chosen":
            body, _, *key = tree.children
            return Chosen(tuple(self.alternatives(body, level + 1)), tuple(map(self.variable, key)), span)
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
        return is_token(name) and (str(name) in CONDITIONS or str(name) in self.known.functions) and str(name) not in self.heads

    def condition(self, tree: Node) -> Part:
        """Return an expression that stands alone."""
        span = self.span(tree)
        if is_token(tree) and isinstance(variable := self.term(tree), Variable):
            return Condition(variable, span)  # of a boolean
        if is_token(tree) or tree.data in ("iri", "string"):
            hint = "an atom has arguments: p(?x) or [?x, ex:p, ?y]; a condition is an expression such as ?x > 3"
            if tree == FALSE:
                hint = "false can only be the head of a constraint: `false :- body .`"
            raise RuleSyntaxError("a term is neither an atom nor a condition", span, hint)
        if tree.data == "member" and str(tree.children[1]).upper() == "IN":
            return Each((self.expression(tree.children[0]),), self.expression(tree.children[2]), span)
        return Condition(self.expression(tree), span)

    def negation(self, tree: Node, span: Span, level: int) -> Part:
        if tree.data == "body":
            alternatives = self.alternatives(tree, level + 1)
            if len(alternatives) == 1 and len(alternatives[0]) == 1 and isinstance(alternatives[0][0], Atom):
                return Negation(alternatives[0][0], span)
            return NotAny(tuple(alternatives), span)
        if tree.data == "call" and self.is_condition(tree):
            return Condition(not_holding(self.expression(tree)), span)
        atom = self.atom(tree)
        return Negation(atom, span) if isinstance(atom, Atom) else NotAny(((atom,),), span)

    def aggregate(self, tree: Node, span: Span, level: int) -> Part:
        _, body, by, *bindings = tree.children
        alternatives = self.alternatives(body, level + 1)
        group = tuple(self.variable(variable) for variable in by.children[1:])
        values = tuple(self.binding(binding) for binding in bindings)
        if is_plain((), alternatives) and given_by(alternatives[0]).issuperset(group):
            return Aggregate(alternatives[0], group, values, span)
        return Grouped(tuple(alternatives), group, values, span)

    def pattern(self, tree: Node) -> tuple[Expression, ...]:
        """Return the variables in parentheses before IN, or if there are other expressions, the tuple of all as a pattern."""
        nodes = tree.children[0].children
        if all(getattr(node, "type", None) in ("VARIABLE", "WILDCARD") for node in (*nodes, *tree.children[1:])):
            return tuple(self.variable(node) for node in nodes)
        for node in (*nodes, *tree.children[1:]):
            if not is_token(node) and (node.data not in ("call", *_EXPRESSIONS) or tree.children[1:]):
                message = "variables or patterns, separated by commas, stand before IN"
                raise RuleSyntaxError(message, self.span(node), "write (?x, ?y) IN ...")
        return (Call("TUPLE", tuple(self.expression(node) for node in nodes), self.span(tree)),)

    def binding(self, tree: Node) -> AggregateBinding:
        _, name, distinct, *arguments, _, variable = tree.children
        definition = self.known.reductions.get(str(name))
        function = str(name) if definition is not None else name.upper()
        if definition is None:
            self.expect(name, (*aggregate_functions.NAMES, *self.known.reductions), "aggregate function", function)
        most = ARGUMENTS.get(function, 1) if definition is None else len(definition.parameters)
        if len(arguments) > most:
            raise RuleSyntaxError(f"{function} has at most {most} argument{'s' * (most > 1)}", self.span(arguments[most]))
        argument = None if arguments[0] == "*" else self.expression(arguments[0])
        if len(arguments) > 1:
            argument = Call("TUPLE", tuple(map(self.expression, arguments)), self.span(tree))
        return AggregateBinding(function, argument, self.variable(variable), distinct is not None, definition)

    def atom(self, tree: Node, *, is_head: bool = False) -> Atom | Applied | Along:
        """Return an atom. A head has an argument for every column."""
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
        name, *nodes = tree.children
        self.expect_no_keyword(name, nodes)
        arguments = self.arguments(name, [node for node in nodes if node is not None], exactly=is_head)
        return _atom(self.predicate(name), arguments, span)

    def expect_no_keyword(self, name: Node, arguments: Sequence[Node]) -> None:
        """Reject a misspelt keyword: no predicate has a condition for its only argument."""
        if len(arguments) == 1 and getattr(arguments[0], "data", None) in (
            "comparison",
            "conjunction",
            "disjunction",
            "membership",
        ):
            close = get_close_matches(str(name).upper(), RESERVED, n=1, cutoff=0.7)
            if close and is_token(name):
                raise RuleSyntaxError(f"unknown keyword {name}", self.span(name), f"did you mean {close[0]} instead of `{name}`?")

    def arguments(self, name: Node, nodes: Sequence[Node], *, exactly: bool) -> tuple[Expression, ...]:
        """Return the arguments of an atom in the order of the columns. Columns without one are wildcards, or an error."""
        if not any(getattr(node, "data", None) == "named" for node in nodes):
            return tuple(self.expression(node) for node in nodes)
        predicate = self.predicate(name)
        columns = self.known.columns.get(predicate)
        if columns is None:
            hint = "declare it: relation edge(from: iri, to: iri) ."
            raise RuleSyntaxError(f"the columns of {predicate} have no names, as it is not declared", self.span(name), hint)
        return self.by_name(name, nodes, [column.name for column in columns], exactly=exactly)

    def path(self, node: Node) -> Path | Argument:
        """Return a property path, or the term that it consists of."""
        if is_token(node):
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
        name = str(node) if is_token(node) else str(self.iri(node))
        if name.upper() in RESERVED or name == FALSE:
            raise RuleSyntaxError(f"{name} is a keyword and cannot name a predicate", self.span(node))
        module, dot, own = name.rpartition(".") if is_token(node) else ("", "", name)
        predicates = self.modules.get(module.partition(".")[0]) if dot else None
        if predicates is not None and own.startswith("_"):
            raise RuleSyntaxError(f"{own} is private in the module {module}", self.span(node), "its name begins with _")
        if predicates is not None and name not in predicates:
            raise RuleSyntaxError(f"the module {module} has no {own}{suggest(name, predicates)}", self.span(node))
        return name
