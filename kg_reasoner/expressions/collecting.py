"""Aggregate functions that collect the values of a group or choose among them.

What has an order is sorted by `order_key`, so that the group determines the result. Functions with several arguments take tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from kg_reasoner.expressions.edge_aggregates import least_members, levels
from kg_reasoner.expressions.ordering import order_key
from kg_reasoner.expressions.structures import decode, encode
from kg_reasoner.terms import Literal, Term, literal

__all__ = ["ARGUMENTS", "FUNCTIONS"]

ARGUMENTS: Final = {"MAP": 2, "ARGMIN": 2, "ARGMAX": 2, "GROUP_CONCAT": 2, "STRONG_COMPONENTS": 2, "TOPOLOGICAL_LEVELS": 2}
"""The functions that take several arguments, and how many; a separator may be missing."""

_Values = Sequence[Term | None]


def _collect(kind: str) -> Callable[[_Values], Literal | None]:
    def apply(values: _Values) -> Literal | None:
        terms = _terms(values)
        return None if terms is None else encode(kind, sorted(terms, key=order_key))

    return apply


def _map(values: _Values) -> Literal | None:
    """Return a map of keys to values; of several values for a key, the least."""
    pairs = _pairs(values)
    if pairs is None:
        return None
    pairs.sort(key=lambda pair: order_key(pair[1]), reverse=True)
    return encode("map", [term for pair in pairs for term in pair])


def _best(choose: Callable[..., Any]) -> Callable[[_Values], Term | None]:
    """Return the function that gives the first component with the least or greatest second one; the least of several."""

    def apply(values: _Values) -> Term | None:
        pairs = _pairs(values)
        if not pairs:
            return None
        best = order_key(choose(pairs, key=lambda pair: order_key(pair[1]))[1])
        return min((pair[0] for pair in pairs if order_key(pair[1]) == best), key=order_key)

    return apply


def _joined(values: _Values) -> Literal | None:
    """Return the texts of literals in their order, with a separator in between; a blank if none is given."""
    terms = _terms(values)
    if terms is None:
        return None
    pairs = [_pair(term) or (term, Literal(" ")) for term in terms]
    pairs.sort(key=lambda pair: tuple(map(order_key, pair)))
    found: list[str] = []
    for text, separator in pairs:
        if not isinstance(text, Literal) or not isinstance(separator, Literal):
            return None
        found += [separator.lexical, text.lexical]
    return Literal("".join(found[1:]))


def _components(values: _Values) -> Literal | None:
    """Return a map of the nodes of a graph to the least nodes of their strongly connected components, given its edges."""
    pairs = _pairs(values)
    if pairs is None:
        return None
    return encode("map", [term for pair in least_members(pairs, order_key).items() for term in pair])


def _levels(values: _Values) -> Literal | None:
    """Return a map of the nodes of a graph to numbers that rise along edges, but within components, given its edges."""
    pairs = _pairs(values)
    return (
        None if pairs is None else encode("map", [term for node, level in levels(pairs).items() for term in (node, literal(level))])
    )


def _sample(values: _Values) -> Term | None:
    """Return the least value."""
    terms = _terms(values)
    return min(terms, key=order_key) if terms else None


def _terms(values: _Values) -> list[Term] | None:
    """Return the values, or None if one of them is an error."""
    terms = [value for value in values if value is not None]
    return terms if len(terms) == len(values) else None


def _pair(term: Term) -> tuple[Term, Term] | None:
    found = decode(term)
    return (found.members[0], found.members[1]) if found is not None and found.kind == "tuple" and found.size == 2 else None


def _pairs(values: _Values) -> list[tuple[Term, Term]] | None:
    """Return pairs of arguments, or None if one of them is an error."""
    pairs = [pair for value in values if value is not None and (pair := _pair(value)) is not None]
    return pairs if len(pairs) == len(values) else None


FUNCTIONS: Final[dict[str, Callable[[_Values], Term | None]]] = {
    "LIST": _collect("list"),
    "SET": _collect("set"),
    "MAP": _map,
    "ARGMIN": _best(min),
    "ARGMAX": _best(max),
    "GROUP_CONCAT": _joined,
    "SAMPLE": _sample,
    "STRONG_COMPONENTS": _components,
    "TOPOLOGICAL_LEVELS": _levels,
}
"""The functions by name."""
