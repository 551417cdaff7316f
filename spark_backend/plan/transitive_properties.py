"""Transitive properties: which rules state that a property is transitive, and the closure of a few pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from kg_reasoner.graphs import reachable
from kg_reasoner.program import TRIPLE, Atom, Variable
from kg_reasoner.spark_backend.plan.logical_plan import Join
from kg_reasoner.terms import RDF, Term

__all__ = ["Edge", "few_closed", "transitive_properties"]

Edge: TypeAlias = tuple[str, str, str]
"""Subject, property and object, as texts."""


def transitive_properties(join: Join) -> frozenset[Term] | None:
    """Return the properties of which a rule states that they are transitive, or None if that is not what it states."""
    head = join.rule.head
    if join.feature or join.groups or join.negations or join.filters or join.binds or len(join.atoms) != 2:
        return None
    if not all(atom.predicate == TRIPLE for atom in (head, *join.atoms)) or not _are_steps(head, *join.atoms):
        return None
    property = head.terms[1]
    if isinstance(property, Variable):
        return join.axioms.domains.get(property) if join.axioms else None
    return None if property == RDF.type else frozenset([property])


def _are_steps(head: Atom, one: Atom, other: Atom) -> bool:
    """Return whether two atoms are steps of one property from the head's subject to its object."""
    first, second = (one, other) if one.terms[0] == head.terms[0] else (other, one)
    start, middle, end = first.terms[0], first.terms[2], second.terms[2]
    return (
        head.terms[1] == one.terms[1] == other.terms[1]
        and (head.terms[0], head.terms[2]) == (start, end)
        and second.terms[0] == middle
        and len({start, middle, end}) == 3
        and all(isinstance(term, Variable) for term in (start, middle, end))
    )


def few_closed(edges: Iterable[Edge], most: int) -> set[Edge] | None:
    """Return the transitive closure of edges, for each property, or None if it has more than `most` edges.

    >>> sorted(few_closed([("a", "p", "b"), ("b", "p", "c"), ("c", "q", "d")], 10))
    [('a', 'p', 'b'), ('a', 'p', 'c'), ('b', 'p', 'c'), ('c', 'q', 'd')]
    """
    following: dict[tuple[str, str], list[str]] = {}
    for subject, property, value in edges:
        following.setdefault((subject, property), []).append(value)
    found: set[Edge] = set()
    for (subject, property), values in following.items():
        found |= {(subject, property, end) for end in reachable(values, lambda node, p=property: following.get((node, p), ()))}  # type: ignore[misc]
        if len(found) > most:
            return None
    return found
