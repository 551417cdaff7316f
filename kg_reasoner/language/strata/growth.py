"""Recursions that may derive facts without end: those that compute new values from their own results, without a bound.

A rule is *bounded* where a condition compares the values, at the end that they lead to, or where an atom outside of the recursion
has to have them. Whether an unbounded recursion ends depends on the facts: it does on a graph without cycles. Recursion through MIN
and MAX has rules of its own (see `recursion`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kg_reasoner.graphs import strongly_connected_components
from kg_reasoner.language.printer import format_term
from kg_reasoner.language.strata.stratification import Key, head_key, key_of
from kg_reasoner.program import AUXILIARY, Bind, Call, Expression, Filter, Rule, Variable, variables_of
from kg_reasoner.terms import XSD, Literal

__all__ = ["growing"]

_MAKES_NEW: Final = frozenset(
    [
        *("+", "-", "*", "/", "POW", "SHL", "CONCAT", "REPLACE", "JOIN", "ENCODE_FOR_URI", "IRI", "SKOLEM"),
        *("APPEND", "UNION", "PUT", "ZIP", "LIST", "SET", "MAP", "TUPLE", "RECORD"),
        *("MD5", "SHA1", "SHA256", "SHA384", "SHA512"),
    ]
)
"""The functions whose results may be larger than their arguments, or have no end of values."""
_ABOVE, _BELOW = "above", "below"
"""The ends at which values can be bounded."""
_BOTH: Final = frozenset([_ABOVE, _BELOW])
_COMPARISONS: Final = {"<": (_ABOVE, _BELOW), "<=": (_ABOVE, _BELOW), ">": (_BELOW, _ABOVE), ">=": (_BELOW, _ABOVE)}
"""The ends at which comparisons bound their left and their right side."""
_INTEGER: Final = XSD.integer.value


def growing(rules: Sequence[Rule]) -> Iterator[str]:
    """Yield a warning for each rule that may derive facts without end."""
    below: dict[Key, set[Key]] = {}
    for rule in rules:
        below.setdefault(head_key(rule), set()).update(key_of(atom) for atom in rule.body_atoms())
    recursion: dict[Key, int] = {}
    for number, keys in enumerate(strongly_connected_components(list(below), lambda key: sorted(below.get(key, ()), key=str))):
        recursion.update(dict.fromkeys(keys, number))
    for rule in rules:
        own = recursion[head_key(rule)]
        inside = [atom for atom in rule.body_atoms() if recursion.get(key_of(atom)) == own and key_of(atom) in below]
        if inside and not rule.head.predicate.startswith(AUXILIARY):
            found = _grows(rule, {variable for atom in inside for variable in variables_of(atom)}, own, recursion)
            if found is not None:
                yield _warning(rule, found)


def _grows(rule: Rule, recursive: set[Variable], own: int, recursion: dict[Key, int]) -> Bind | None:
    """Return the expression that computes a new value of the head from values of the recursion."""
    bounds: dict[Variable, set[str]] = {}
    for atom in rule.body_atoms():
        if recursion.get(key_of(atom)) != own:
            bounds.update((variable, set(_BOTH)) for variable in variables_of(atom))
    for part in rule.body:
        if isinstance(part, Filter):
            for variable, ends in _compared(part.expression):
                bounds.setdefault(variable, set()).update(ends)
    wanted = set(variables_of(rule.head))
    binds = [part for part in rule.body if isinstance(part, Bind)]
    for _ in binds:  # values that values of the head are computed from
        wanted.update(v for part in binds if part.variable in wanted for v in variables_of(part.expression))
    if any(part.variable in wanted and _is_bounded(bounds.get(part.variable), part.expression) for part in binds):
        return None
    for part in binds:
        if part.variable in wanted and _makes_new(part.expression):
            used = set(variables_of(part.expression)) & recursive
            if used and not any(_is_bounded(bounds.get(variable), part.expression) for variable in used):
                return part
    return None


def _is_bounded(ends: set[str] | None, expression: Expression) -> bool:
    """Return whether bounds at some ends end a recursion through an expression."""
    if not ends:
        return False
    direction = _direction(expression)
    return direction is None or direction in ends


def _direction(expression: Expression) -> str | None:
    """Return the end that an expression which adds a number to a variable leads to; None for any other one."""
    if not isinstance(expression, Call) or expression.name not in ("+", "-") or len(expression.arguments) != 2:
        return None
    left, right = expression.arguments
    if expression.name == "+" and isinstance(right, Variable):
        left, right = right, left
    step = right.lexical if isinstance(left, Variable) and isinstance(right, Literal) and right.datatype == _INTEGER else "0"
    if not step.lstrip("+-").strip("0"):
        return None
    return _BELOW if step.startswith("-") == (expression.name == "+") else _ABOVE


def _makes_new(expression: Expression) -> bool:
    if not isinstance(expression, Call) or _is_remainder(expression):
        return False
    return expression.name in _MAKES_NEW or expression.definition is not None or any(map(_makes_new, expression.arguments))


def _is_remainder(call: Call) -> bool:
    """Return whether a call has finitely many results: remainders of sums and of multiples."""
    return call.name == "%" and isinstance(call.arguments[1], Literal) and _is_sum(call.arguments[0])


def _is_sum(expression: Expression) -> bool:
    """Return whether an expression consists of sums, differences and multiples by integers."""
    if not isinstance(expression, Call):
        return True
    is_multiple = expression.name == "*" and any(
        isinstance(part, Literal) and part.datatype == _INTEGER for part in expression.arguments
    )
    return (expression.name in ("+", "-") or is_multiple) and all(map(_is_sum, expression.arguments))


def _compared(expression: Expression) -> Iterator[tuple[Variable, frozenset[str]]]:
    """Yield the variables that a condition compares, and the ends at which it bounds them."""
    if not isinstance(expression, Call):
        return
    if expression.name in ("&&", "||"):
        for argument in expression.arguments:
            yield from _compared(argument)
    elif expression.name in ("!", "IF", "COALESCE"):
        yield from ((variable, _BOTH) for argument in expression.arguments for variable, _ in _compared(argument))
    elif expression.name in ("IN", "HAS"):
        yield from ((variable, _BOTH) for variable in variables_of(expression))
    elif expression.name in _COMPARISONS:
        for side, end in zip(expression.arguments, _COMPARISONS[expression.name], strict=True):
            ends = frozenset([end]) if isinstance(side, Variable) else _BOTH
            yield from ((variable, ends) for variable in variables_of(side))


def _warning(rule: Rule, part: Bind) -> str:
    span = part.span or rule.head.span
    where = f"{span.source}:{span.line}:{span.column}: " if span is not None else ""
    used = ", ".join(format_term(variable) for variable in dict.fromkeys(variables_of(part.expression)))
    return (
        f"{where}the rule for {rule.head.predicate} computes new values from its own results ({used}), perhaps without end: "
        "bound them by a condition such as ?n < 100, or set limits"
    )
