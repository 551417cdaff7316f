"""Programs of expressions for the kernels: arithmetic, comparisons and logic on integers (see `storage.kernels.calculation`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kg_reasoner.program import Call, Expression, Variable
from kg_reasoner.storage.kernels import calculation as codes
from kg_reasoner.terms import XSD, Literal

__all__ = ["program_of"]

_ARITHMETIC: Final = {
    "+": codes.ADD,
    "-": codes.SUBTRACT,
    "*": codes.MULTIPLY,
    "%": codes.REMAINDER,
    "IDIV": codes.QUOTIENT,
}
_ORDERS: Final = {"<": codes.BELOW, "<=": codes.AT_MOST}
_TURNED: Final = {">": "<", ">=": "<="}
_EQUALITIES: Final = {"=": codes.SAME, "!=": codes.DIFFERENT}
_UNARY: Final = {"neg": codes.NEGATE, "ABS": codes.ABSOLUTE}
_LOGICAL: Final = {"&&": codes.AND, "||": codes.OR}
_IDENTITIES: Final = ("CEIL", "FLOOR", "ROUND", XSD.integer.value)
"""The functions whose result is the integer that they are applied to."""

_CANONICAL: Final = re.compile("0|-?[1-9][0-9]*")
_SHORT: Final = re.compile(f"[+-]?[0-9]{{1,{codes.DIGITS}}}")


class _NotCompiledError(Exception):
    """The expression has no program."""


def program_of(expression: Expression, variables: Sequence[Variable], *, is_filter: bool) -> list[int] | None:
    """Return the instructions of an expression, two numbers each; None if kernels do not evaluate it.

    Args:
        expression: The expression.
        variables: Its variables; their places are the operands of instructions.
        is_filter: Whether it must be a condition; otherwise it must be a number.

    >>> x = Variable("x")
    >>> program_of(Call("+", (x, Literal("1", XSD.integer.value))), [x], is_filter=False)
    [0, 0, 3, 1, 10, 0]
    >>> program_of(Call("UCASE", (x,)), [x], is_filter=False)
    """
    if not isinstance(expression, Call) or not (is_filter or _is_canonical(expression)):
        return None
    compiler = _Compiler(variables)
    try:
        (compiler.truth if is_filter else compiler.number)(expression)
    except _NotCompiledError:
        return None
    return compiler.instructions if compiler.deepest < codes.STACK else None


def _is_canonical(expression: Expression) -> bool:
    """Return whether the value of an expression is in canonical form, as that of IF need not be."""
    if isinstance(expression, Call):
        return expression.name != "IF" or all(map(_is_canonical, expression.arguments[1:]))
    return isinstance(expression, Literal) and _CANONICAL.fullmatch(expression.lexical) is not None


class _Compiler:
    """Writes instructions in postfix order."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self.instructions: list[int] = []
        self.deepest = self._depth = 0
        """The most operands on the stack, and those at present."""
        self._places = {variable: place for place, variable in enumerate(variables)}

    def _push(self, operation: int, operand: int) -> None:
        self.instructions += [operation, operand]
        self._depth += 1
        self.deepest = max(self.deepest, self._depth)

    def _apply(self, operation: int, operands: int) -> None:
        self.instructions += [operation, 0]
        self._depth -= operands - 1

    def number(self, expression: Expression, *, is_compared: bool = False) -> None:
        """Write an expression whose value is a number.

        Args:
            expression: The expression.
            is_compared: Whether it is a side of = or !=, or the result of an IF there.
        """
        if isinstance(expression, Variable):
            self._push(codes.COMPARED_VARIABLE if is_compared else codes.VARIABLE, self._places[expression])
        elif not isinstance(expression, Call):
            self._push(codes.CONSTANT, _integer(expression))
        elif expression.definition is not None:
            raise _NotCompiledError
        elif expression.name == "IF":
            condition, *others = expression.arguments
            self.truth(condition)
            for other in others:
                self.number(other, is_compared=is_compared)
            self._apply(codes.IF, 3)
        elif expression.name in _ARITHMETIC:
            self._all(expression.arguments, _ARITHMETIC[expression.name])
        elif expression.name in _UNARY:
            self._all(expression.arguments, _UNARY[expression.name])
        elif expression.name in _IDENTITIES:
            self.number(expression.arguments[0])
        else:
            raise _NotCompiledError

    def _all(self, arguments: Sequence[Expression], operation: int, *, is_compared: bool = False) -> None:
        for argument in arguments:
            self.number(argument, is_compared=is_compared)
        self._apply(operation, len(arguments))

    def truth(self, expression: Expression) -> None:
        """Write an expression whose value is true or false."""
        if not isinstance(expression, Call) or expression.definition is not None:
            raise _NotCompiledError
        name, arguments = expression.name, expression.arguments
        if name in _TURNED:
            name, arguments = _TURNED[name], arguments[::-1]
        if name in _LOGICAL:
            for argument in arguments:
                self.truth(argument)
            self._apply(_LOGICAL[name], 2)
        elif name == "!":
            self.truth(arguments[0])
            self._apply(codes.NOT, 1)
        elif name in _ORDERS:
            self._all(arguments, _ORDERS[name])
        elif name in _EQUALITIES:
            self._all(arguments, _EQUALITIES[name], is_compared=True)
        elif name == "SAMETERM":
            self._same_term(arguments)
        elif name == "SAMEVALUE":
            self._same_term(arguments)
            self._all(arguments, codes.SAME)
            self._apply(codes.OR, 2)
        elif name in ("IN", "NOT IN") and len(arguments) > 1:
            for place, other in enumerate(arguments[1:]):
                self._all((arguments[0], other), codes.SAME, is_compared=True)
                if place:
                    self._apply(codes.OR, 2)
            if name == "NOT IN":
                self._apply(codes.NOT, 1)
        else:
            raise _NotCompiledError

    def _same_term(self, arguments: Sequence[Expression]) -> None:
        for argument in arguments:
            if not isinstance(argument, Variable):
                raise _NotCompiledError
            self._push(codes.TERM, self._places[argument])
        self._apply(codes.SAME, 2)


def _integer(term: Expression) -> int:
    """Return the value of an integer that programs calculate with."""
    if not isinstance(term, Literal) or term.datatype != XSD.integer.value or not _SHORT.fullmatch(term.lexical):
        raise _NotCompiledError
    return int(term.lexical)
