"""Instances of rules whose head is in their own body.

``[?x, rdf:type, ?d] :- rdfs:subClassOf[?c, ?d], [?x, rdf:type, ?c]`` derives nothing new where ``?c`` and ``?d`` are the same, and
such an instance proves nothing either. By the rules of the W3C, each class is a subclass of itself, and each term the same as
itself. If such instances were not left out, many rules would derive every fact again.

Only atoms with a constant for the property are considered, because only their indexes can leave out the triples that relate a term
to itself.
"""

from __future__ import annotations

from collections.abc import Collection

from kg_reasoner.planning.catalog import StoredAtom
from kg_reasoner.storage.relations.plan_memory import PlanMemory

__all__ = ["differing"]


def differing(memory: PlanMemory, head: StoredAtom, body: Collection[StoredAtom]) -> frozenset[frozenset[str]]:
    """Return the pairs of variables that make the head equal to a body atom where they have the same term, and that are the subject
    and the object of a body atom with a constant for the property.

    Args:
        memory: The relations.
        head: The head of a rule.
        body: Its body.
    """
    pairs = {_difference(head, atom) for atom in body if atom.relation == head.relation and not atom.negated} - {None}
    if not pairs:
        return frozenset()
    ends = {frozenset((atom.terms[0], atom.terms[-1])) for atom in body if not atom.negated and _has_section(memory, atom)}
    return frozenset(pair for pair in pairs if pair is not None and pair in ends)


def _difference(head: StoredAtom, atom: StoredAtom) -> frozenset[str] | None:
    """Return the two variables in which atoms differ; None if they differ in more."""
    pairs = {frozenset(pair) for pair in zip(head.terms, atom.terms, strict=True) if pair[0] != pair[1]}
    if len(pairs) != 1:
        return None
    (pair,) = pairs
    names = frozenset(term for term in pair if isinstance(term, str))
    return names if len(names) == 2 else None


def _has_section(memory: PlanMemory, atom: StoredAtom) -> bool:
    """Return whether an atom ranges over the triples of one property."""
    column = memory.relation(atom.relation).section_column
    return column > 0 and isinstance(atom.terms[column], int)
