"""Expressions among the arguments of atoms: each becomes a variable, or the constant that it is equal to."""

from __future__ import annotations

from typing import Final

from kg_reasoner.errors import RuleSyntaxError, Span, ValueTooLargeError
from kg_reasoner.expressions.compile import compile_expression
from kg_reasoner.language.desugaring.context import Context
from kg_reasoner.language.desugaring.structure_patterns import is_pattern, taken_apart
from kg_reasoner.language.surface import Applied
from kg_reasoner.program import Argument, Atom, Bind, Call, Expression, Filter, Variable, variables_of

__all__ = ["STRUCTURES", "constant", "without_expressions"]

STRUCTURES: Final = ("LIST", "SET", "MAP", "TUPLE", "RECORD")
"""The functions that make structures of their arguments."""


def without_expressions(part: Applied, context: Context, *, is_head: bool = False) -> tuple[Atom, tuple[Bind | Filter, ...]]:
    """Return an atom whose arguments are terms, and the values of its variables. Structures in a body are patterns.

    Raises:
        RuleSyntaxError: An expression without variables has no value.
    """
    terms: list[Argument] = []
    values: list[Bind | Filter] = []
    for argument in part.arguments:
        if isinstance(argument, Call):
            if any(variables_of(argument)):
                variable = context.variable("value")
                if is_pattern(argument) and not is_head:
                    values += taken_apart(argument, variable, context)
                else:
                    values.append(Bind(argument, variable, argument.span))
                terms.append(variable)
            else:
                terms.append(constant(argument, part.span))
        else:
            terms.append(argument)
    return Atom(part.predicate, tuple(terms), part.span), tuple(values)


def constant(expression: Expression, span: Span | None) -> Argument:
    """Return the value of an expression without variables.

    Raises:
        RuleSyntaxError: It has none.
    """
    if not isinstance(expression, Call):
        return expression
    try:
        value = compile_expression(expression, ())(())
    except ValueTooLargeError as error:
        raise RuleSyntaxError(str(error), expression.span or span) from None
    if value is None:
        raise RuleSyntaxError(f"the expression has no value{_reason(expression)}", expression.span or span, _NO_RESULT)
    return value


_NO_RESULT: Final = "an operator or function has no result for these arguments"


def _reason(call: Call) -> str:
    """Return which argument of a function of the program is of another type, for messages; nothing for other calls."""
    if call.definition is not None:
        from kg_reasoner.language.printer import format_term

        for type_, argument in zip(call.definition.parameters, call.arguments, strict=False):
            if not isinstance(argument, Call | Variable) and not type_.accepts(argument):
                return f": {call.name} takes {type_.noun}, and gets {format_term(argument)}"
    return ""
