"""Built-in relations of other rule languages as filters and assignments.

SWRL and N3 have relations such as ``add(?sum, ?x, ?y)`` that are computed instead of stored. The rule determines which arguments
are given: variables bound by other atoms of the body are inputs, unbound ones are outputs. `arranged` finds an order in which every
built-in has its inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kg_reasoner.data_classes import dataclass
from kg_reasoner.program import Argument, Bind, BodyLiteral, Call, Expression, Filter, Variable, variables_of

__all__ = ["Builtin", "Refused", "Way", "arranged", "computation", "condition", "equality", "nested", "one_of"]


MOST_OPERANDS: Final = 100
"""The maximal number of operands of an operator. It is binary, so each further operand makes the expression deeper."""


class Refused(Exception):
    """A rule cannot be expressed; the message names the reason."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to evaluate a built-in: `result` is the value of the expression, or, without a result, the expression is true."""

    expression: Expression
    result: Argument | None = None


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in in a rule. `text` is its written form; any of its `ways` is sufficient. `same` compares a known result."""

    text: str
    ways: tuple[Way, ...]
    same: str = "="


def condition(text: str, expression: Expression) -> Builtin:
    """Return a built-in that holds if an expression is true."""
    return Builtin(text, (Way(expression),))


def computation(text: str, result: Argument, expression: Expression) -> Builtin:
    """Return a built-in whose result is the value of an expression."""
    return Builtin(text, (Way(expression, result),))


def equality(text: str, first: Argument, second: Argument, same: str = "=") -> Builtin:
    """Return a built-in that states that two arguments are equal; an unbound variable gets the value of the other one."""
    return Builtin(text, (Way(first, second), Way(second, first)), same)


def arranged(builtins: Iterable[Builtin], bound: Iterable[Variable]) -> tuple[list[BodyLiteral], frozenset[Variable]]:
    """Return filters and assignments in an order in which they can be evaluated, and the variables bound at the end.

    >>> x, y, z = Variable("x"), Variable("y"), Variable("z")
    >>> above, sum = condition("z > y", Call(">", (z, y))), computation("x + y = z", z, Call("+", (x, y)))
    >>> [type(part).__name__ for part in arranged([above, sum], [x, y])[0]]
    ['Bind', 'Filter']

    Raises:
        Refused: No atom or built-in binds a variable that a built-in needs.
    """
    known = set(bound)
    parts: list[BodyLiteral] = []
    waiting = list(builtins)
    while waiting:
        for builtin in waiting:
            part = _evaluable(builtin, known)
            if part is not None:
                break
        else:
            raise Refused(_starved(waiting[0], known))
        parts.append(part)
        if isinstance(part, Bind):
            known.add(part.variable)
        waiting.remove(builtin)
    return parts, frozenset(known)


def _evaluable(builtin: Builtin, known: set[Variable]) -> BodyLiteral | None:
    for way in builtin.ways:
        if known.issuperset(variables_of(way.expression)):
            if way.result is None:
                return Filter(way.expression)
            if isinstance(way.result, Variable) and way.result not in known:
                return Bind(way.expression, way.result)
            return Filter(Call(builtin.same, (way.result, way.expression)))
    return None


def _starved(builtin: Builtin, known: set[Variable]) -> str:
    missing = dict.fromkeys(variable for variable in variables_of(builtin.ways[0].expression) if variable not in known)
    return f"{builtin.text} needs a value for {_listed(missing)}, which nothing else in the body binds"


def _listed(variables: Iterable[Variable]) -> str:
    return " and ".join(map(str, variables))


def nested(operator: str, arguments: Sequence[Expression]) -> Expression:
    """Return ``a + b + c`` of a binary operator.

    Raises:
        Refused: The expression has more than `MOST_OPERANDS` operands.
    """
    if len(arguments) > MOST_OPERANDS:
        raise Refused(f"{operator} of {len(arguments)} values exceeds the maximum of {MOST_OPERANDS}")
    first, *others = arguments
    for argument in others:
        first = Call(operator, (first, argument))
    return first


def one_of(conditions: Sequence[Expression]) -> Expression:
    """Return ``a || b || c`` for any number of conditions, as a balanced tree of limited depth."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    return Call("||", (one_of(conditions[:middle]), one_of(conditions[middle:])))
