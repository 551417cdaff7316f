"""Recursions that may derive facts for ever: those that compute new values from their own results, without a bound.

A rule is *bounded* where a condition compares the values, or where an atom outside of the recursion has to have them. Whether an
unbounded recursion ends depends on the facts: it does on a graph without cycles. Recursion through MIN and MAX has rules of its own
(see `recursion`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kg_reasoner.graphs import strongly_connected_components
from kg_reasoner.language.printer import format_term
from kg_reasoner.language.stratification import Key, head_key, key_of
from kg_reasoner.program import AUXILIARY, Bind, Call, Expression, Filter, Rule, Variable, variables_of

__all__ = ["growing"]

_MAKES_NEW: Final = frozenset(
    [
        *("+", "-", "*", "/", "POW", "SHL", "CONCAT", "REPLACE", "JOIN", "ENCODE_FOR_URI", "IRI", "SKOLEM"),
        *("APPEND", "UNION", "PUT", "ZIP", "LIST", "SET", "MAP", "TUPLE", "RECORD"),
        *("MD5", "SHA1", "SHA256", "SHA384", "SHA512"),
    ]
)
"""The functions whose results may be larger than their arguments, or have no end of values."""
_COMPARISONS: Final = frozenset(["<", "<=", ">", ">=", "IN"])


def growing(rules: Sequence[Rule]) -> Iterator[str]:
    """Yield a warning for each rule that may derive facts for ever."""
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
    bounded = {variable for atom in rule.body_atoms() if recursion.get(key_of(atom)) != own for variable in variables_of(atom)}
    for part in rule.body:
        if isinstance(part, Filter):
            bounded.update(_compared(part.expression))
    wanted = set(variables_of(rule.head))
    binds = [part for part in rule.body if isinstance(part, Bind)]
    for _ in binds:  # values that values of the head are computed from
        wanted.update(v for part in binds if part.variable in wanted for v in variables_of(part.expression))
    if any(part.variable in wanted & bounded for part in binds):
        return None
    for part in binds:
        if part.variable in wanted and _makes_new(part.expression):
            used = set(variables_of(part.expression))
            if used & recursive - bounded and not used & recursive & bounded:
                return part
    return None


def _makes_new(expression: Expression) -> bool:
    if not isinstance(expression, Call):
        return False
    return expression.name in _MAKES_NEW or expression.definition is not None or any(map(_makes_new, expression.arguments))


def _compared(expression: Expression) -> Iterator[Variable]:
    """Yield the variables that a condition compares."""
    if isinstance(expression, Call):
        if expression.name in _COMPARISONS:
            yield from variables_of(expression)
        elif expression.name in ("&&", "||", "!"):
            for argument in expression.arguments:
                yield from _compared(argument)


def _warning(rule: Rule, part: Bind) -> str:
    span = part.span or rule.head.span
    where = f"{span.source}:{span.line}:{span.column}: " if span is not None else ""
    used = ", ".join(format_term(variable) for variable in dict.fromkeys(variables_of(part.expression)))
    return (
        f"{where}the rule for {rule.head.predicate} computes new values from its own results ({used}), perhaps without end: "
        "bound them by a condition such as ?n < 100, or set limits"
    )
