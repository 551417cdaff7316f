"""The set functions of section 18.5.1. Where the specification leaves a result open, a note is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kg_reasoner.terms import Literal, Term, literal

from .functions import FUNCTIONS
from .notes import ERRORS, EXTREME_OF_EQUALS, EXTREME_OF_OTHERS, ORDER_OF_TEXTS, SAMPLE
from .values import ExpressionError, is_decided, order_key


def aggregate(name: str, values: Sequence[Term | None], separator: str | None, notes: set[str]) -> Term:
    """Return the value of an aggregate.

    Args:
        name: COUNT, SUM, AVG, MIN, MAX, SAMPLE or GROUP_CONCAT.
        values: The values of the group's solutions; None is an error or an unbound variable.
        separator: That of GROUP_CONCAT, a space if None.
        notes: Gets what the specification leaves open.

    Raises:
        ExpressionError: The aggregate has no value.
    """
    present = [value for value in values if value is not None]
    if name == "COUNT":
        return literal(len(present))
    if len(present) < len(values):
        if name not in ("SUM", "AVG"):
            notes.add(ERRORS)
        raise ExpressionError("an error in a group")
    return {"SUM": _sum, "AVG": _average, "MIN": _minimum, "MAX": _maximum, "SAMPLE": _sample}.get(name, _concatenation(separator))(
        present, notes
    )


def _sum(values: Sequence[Term], notes: set[str]) -> Term:
    total: Term = literal(0)
    for value in values:
        total = FUNCTIONS["+"](total, value)
    return total


def _average(values: Sequence[Term], notes: set[str]) -> Term:
    return FUNCTIONS["/"](_sum(values, notes), literal(len(values))) if values else literal(0)


def _minimum(values: Sequence[Term], notes: set[str]) -> Term:
    return _extreme(sorted(values, key=order_key), notes)


def _maximum(values: Sequence[Term], notes: set[str]) -> Term:
    return _extreme(sorted(values, key=order_key, reverse=True), notes)


def _extreme(values: Sequence[Term], notes: set[str]) -> Term:
    if not values:
        raise ExpressionError("the extreme of nothing")
    first, *others = values
    for other in others:
        if not is_decided(order_key(first), order_key(other)):
            notes.add(EXTREME_OF_OTHERS)
        elif order_key(first) == order_key(other) and first != other:
            notes.add(EXTREME_OF_EQUALS)
    return first


def _sample(values: Sequence[Term], notes: set[str]) -> Term:
    if not values:
        raise ExpressionError("a sample of nothing")
    if len(set(values)) > 1:
        notes.add(SAMPLE)
    return values[0]


def _concatenation(separator: str | None) -> Callable[[Sequence[Term], set[str]], Term]:
    def concatenated(values: Sequence[Term], notes: set[str]) -> Term:
        texts = [FUNCTIONS["STR"](value) for value in values]
        if len(set(texts)) > 1:
            notes.add(ORDER_OF_TEXTS)
        return Literal((" " if separator is None else separator).join(text.lexical for text in texts if isinstance(text, Literal)))

    return concatenated
