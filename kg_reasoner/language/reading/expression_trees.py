"""Expressions in the parse trees of a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Final

from kg_reasoner.errors import RuleSyntaxError, Span, suggest
from kg_reasoner.expressions.aggregate_functions import FUNCTIONS as AGGREGATES
from kg_reasoner.expressions.compile import CASTS, DEPTH, NAMES, too_deep
from kg_reasoner.language.desugaring.members import membership
from kg_reasoner.language.desugaring.nested_expressions import STRUCTURES, constant
from kg_reasoner.language.desugaring.structure_patterns import in_pattern
from kg_reasoner.language.reading.syntax_errors import CHOICE
from kg_reasoner.language.reading.term_trees import Node, TermReader, is_token
from kg_reasoner.language.surface import NO_CASE
from kg_reasoner.program import Call, Expression, Variable, unary_plus
from kg_reasoner.substitution import with_expressions
from kg_reasoner.terms import Literal

__all__ = ["ExpressionReader"]


_ONE_CALL: Final = ("sign", "call", "membership", "member", "match")
"""The trees that are one call, whatever the number of their parts."""
_GROUPS: Final = "write AGGREGATE(body ON ?group BIND {}(?x) AS ?value) in a body"


def _usage(name: str, parameters: Sequence[str]) -> str:
    return f"write {name}({', '.join(f'{parameter}: ...' for parameter in parameters)})"


class ExpressionReader(TermReader):
    """Reads expressions."""

    def expression(self, node: Node, level: int = 0) -> Expression:
        """Return the expression of a parse tree; `level` is the number of enclosing calls."""
        if is_token(node) or node.data in ("iri", "string"):
            return self.term(node)
        parts = node.children
        if node.data == "named":
            hint = "name the arguments of declared relations, and of constructors"
            raise RuleSyntaxError("the arguments of functions have no names", self.span(node), hint)
        calls = 1 if node.data in _ONE_CALL else len(parts) // 2
        if level + calls > DEPTH:
            raise too_deep(self.span(node))
        if node.data == "sign":
            argument = self.expression(parts[1], level + 1)
            if parts[0] == "+":
                return unary_plus(argument, self.span(node))
            return Call("neg" if parts[0] == "-" else "!", (argument,), self.span(node))
        if node.data == "call":
            return self.call(parts[0], parts[1:], self.span(node), level + 1)
        if node.data == "match":
            return self.match(parts[1], parts[2:], self.span(node), level + 1)
        if node.data in ("membership", "member"):
            operator = " ".join(parts[1].upper().split())
            members = tuple(self.expression(part, level + 1) for part in (parts[0], *parts[2:]))
            if node.data == "membership":
                return Call(operator, members, self.span(node))
            has = membership(members[0], members[1], self.span(node))
            return has if operator == "IN" else Call("!", (has,), self.span(node))
        result = self.expression(parts[0], level + calls)  # operators of one precedence, from left to right
        for operator, argument in zip(parts[1::2], parts[2::2], strict=True):
            result = Call(str(operator), (result, self.expression(argument, level + calls)), self.span(node))
            calls -= 1
        return result

    def call(self, callee: Node, nodes: Sequence[Node], span: Span, level: int) -> Expression:
        """Return a call; a structure of constants is a constant itself."""
        name = str(callee) if is_token(callee) else ""
        variant = self.known.variant(name)
        if variant is not None:
            fields = [field.name for field in variant.fields]
            arguments = (Literal(name), *self.by_name(callee, nodes, fields, level, exactly=True))
            return self.structure(Call("RECORD", arguments, span))
        arguments = tuple(self.expression(node, level) for node in nodes)
        definition = self.known.functions.get(name)
        if definition is not None:
            return Call(name, arguments, span, definition)
        return self.structure(Call(self.function(callee), arguments, span))

    def structure(self, call: Call) -> Expression:
        """Return a call, or the constant that it is equal to if it is a structure of constants."""
        if call.name in STRUCTURES and not any(isinstance(argument, Call | Variable) for argument in call.arguments):
            return constant(call, call.span)
        return call

    def by_name(
        self, callee: Node, nodes: Sequence[Node], names: Sequence[str], level: int = 0, *, exactly: bool = False
    ) -> tuple[Expression, ...]:
        """Return arguments in the order of the names of the parameters; those without a name come first.

        Args:
            callee: The function that has the parameters.
            nodes: The arguments.
            names: The names of the parameters.
            level: The number of enclosing calls.
            exactly: Whether every parameter needs an argument; otherwise, it is a wildcard.
        """
        of = str(callee) if is_token(callee) else str(self.iri(callee))
        found: dict[str, Expression] = {}
        for place, node in enumerate(nodes):
            is_named = getattr(node, "data", None) == "named"
            if not is_named and (place >= len(names) or len(found) < place):
                raise RuleSyntaxError(
                    f"{of} has {len(names)} argument{'s' * (len(names) != 1)}", self.span(node), _usage(of, names)
                )
            name = str(node.children[0])[:-1] if is_named else names[place]
            if name not in names:
                message = f"{of} has no argument {name}{suggest(name, names)}"
                raise RuleSyntaxError(message, self.span(node.children[0]), _usage(of, names))
            if name in found:
                raise RuleSyntaxError(f"{name} is given twice", self.span(node))
            found[name] = self.expression(node.children[1] if is_named else node, level)
        if exactly and len(found) < len(names):
            missing = next(name for name in names if name not in found)
            raise RuleSyntaxError(f"{of} needs a value for {missing}", self.span(callee), _usage(of, names))
        return tuple(found[name] if name in found else self.wildcard() for name in names)

    def match(self, subject: Node, cases: Sequence[Node], span: Span, level: int) -> Expression:
        """Return nested conditions in place of ``match ?r { Ok(?n) -> ?n ; _ -> 0 }``. No case that fits is an error."""
        value = self.expression(subject, level)
        result: Expression = NO_CASE
        for case in reversed(cases):
            pattern, outcome = case.children
            conditions, values = in_pattern(self.expression(pattern, level), value)
            then = with_expressions(self.expression(outcome, level), values)
            fits = reduce(lambda one, other: Call("&&", (one, other), span), conditions)
            result = Call("IF", (with_expressions(fits, values), then, result), span)
        return result

    def function(self, node: Node) -> str:
        if is_token(node):
            name = str(node).upper()
            span = self.span(node)
            before = span.text[: span.column - 1].rstrip().upper()
            if name not in NAMES and before.endswith("!"):
                raise RuleSyntaxError(f"unknown function {node}", span, f"write NOT {node}(...) if there is to be no such fact")
            if name not in NAMES and before.removesuffix("(").endswith("CHOOSE"):
                raise RuleSyntaxError(f"unknown function {node}", span, CHOICE)
            if name not in NAMES:
                if name in AGGREGATES:
                    raise RuleSyntaxError(f"{name} is an aggregate, and not a function", span, _GROUPS.format(name))
                own = [*self.known.functions, *self.known.types.constructors]
                raise RuleSyntaxError(f"unknown function {node}{suggest(str(node), own) or suggest(name, NAMES)}", span)
            return name
        cast = str(self.iri(node))
        if cast not in CASTS:
            hint = f"IRIs that are functions: {', '.join(CASTS.values())}"
            raise RuleSyntaxError(f"unknown function {cast}", self.span(node), hint)
        return cast
