"""Headers of OBO documents that turn cross-references into axioms: ``treat-xrefs-as-...``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from kg_reasoner.loaders.syntaxes.constructs import Construct
from kg_reasoner.loaders.syntaxes.obo_clauses import Frame
from kg_reasoner.terms import IRI

__all__ = ["TREATMENTS", "treatments"]


def _as_genus_differentia(subject: IRI, other: IRI, arguments: list[IRI]) -> Construct:
    relation, filler = arguments
    expression = Construct("ObjectIntersectionOf", (other, Construct("ObjectSomeValuesFrom", (relation, filler))))
    return Construct("EquivalentClasses", (subject, expression))


def _as_reverse_genus_differentia(subject: IRI, other: IRI, arguments: list[IRI]) -> Construct:
    return _as_genus_differentia(other, subject, arguments)


def _as_relationship(subject: IRI, other: IRI, arguments: list[IRI]) -> Construct:
    return Construct("SubClassOf", (subject, Construct("ObjectSomeValuesFrom", (arguments[0], other))))


def _as_equivalent(subject: IRI, other: IRI, _: list[IRI]) -> Construct:
    return Construct("EquivalentClasses", (subject, other))


def _as_is_a(subject: IRI, other: IRI, _: list[IRI]) -> Construct:
    return Construct("SubClassOf", (subject, other))


def _as_has_subclass(subject: IRI, other: IRI, _: list[IRI]) -> Construct:
    return Construct("SubClassOf", (other, subject))


_Treatment: TypeAlias = Callable[[IRI, IRI, list[IRI]], Construct]
TREATMENTS: Final[dict[str, _Treatment]] = {
    "treat-xrefs-as-equivalent": _as_equivalent,
    "treat-xrefs-as-is_a": _as_is_a,
    "treat-xrefs-as-has-subclass": _as_has_subclass,
    "treat-xrefs-as-relationship": _as_relationship,
    "treat-xrefs-as-genus-differentia": _as_genus_differentia,
    "treat-xrefs-as-reverse-genus-differentia": _as_reverse_genus_differentia,
}
_ARGUMENTS: Final = {
    "treat-xrefs-as-relationship": 1,
    "treat-xrefs-as-genus-differentia": 2,
    "treat-xrefs-as-reverse-genus-differentia": 2,
}


def treatments(header: Frame) -> dict[str, list[tuple[str, list[str]]]]:
    """Return how references are treated, by their prefixes."""
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for clause in header.clauses:
        if clause.tag in TREATMENTS:
            words = clause.text()[0].split()
            if len(words) != 1 + _ARGUMENTS.get(clause.tag, 0):
                needed = ("", " and an identifier", " and two identifiers")[_ARGUMENTS.get(clause.tag, 0)]
                raise clause.error(f"expected a prefix{needed} after `{clause.tag}:`")
            found.setdefault(words[0], []).append((clause.tag, words[1:]))
    return found
