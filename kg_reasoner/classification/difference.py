"""The differences between two hierarchies."""

from __future__ import annotations

from collections.abc import Iterator

from kg_reasoner.classification.hierarchy import BELOW, NOTHING, Hierarchy
from kg_reasoner.classification.selection import KINDS, Kind
from kg_reasoner.data_classes import dataclass
from kg_reasoner.terms import IRI, OWL, Term, Triple

__all__ = ["Difference", "difference"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The inclusions that only one of two hierarchies has, as triples.

    Only direct inclusions of their own hierarchy are given, because the others follow from them. What is unsatisfiable is
    below owl:Nothing, and a name that the other hierarchy does not have, below owl:Thing or a universal property.
    """

    lost: tuple[Triple, ...]
    gained: tuple[Triple, ...]

    def __bool__(self) -> bool:
        return bool(self.lost or self.gained)


def difference(before: Hierarchy, after: Hierarchy) -> Difference:
    """Return the inclusions of the first hierarchy that the second one lacks, and the reverse.

    Args:
        before: A hierarchy.
        after: Another one, of the same or of another reasoner.

    Returns:
        The inclusions that are lost, and those that are gained.
    """
    return Difference(tuple(_only_in(before, after)), tuple(_only_in(after, before)))


_TOP = {"class": OWL.Thing, "object property": OWL.topObjectProperty, "data property": OWL.topDataProperty}


def _only_in(one: Hierarchy, other: Hierarchy) -> Iterator[Triple]:
    empty = {(each.kind, each.name) for each in other.unsatisfiable}
    for kind in KINDS:
        for name, uppers in _stated(one, kind):
            known = name in other.taxonomies[kind]
            if not known and (kind, name) not in empty:
                yield name, BELOW[kind], _TOP[kind]
            for upper in uppers:
                if upper == NOTHING[kind]:
                    if (kind, name) not in empty:
                        yield name, BELOW[kind], upper
                elif (kind, name) not in empty and not (
                    known and upper in other.taxonomies[kind] and other.taxonomies[kind].is_below(name, upper)
                ):
                    yield name, BELOW[kind], upper


def _stated(one: Hierarchy, kind: Kind) -> Iterator[tuple[IRI, tuple[Term, ...]]]:
    """Yield the names of a kind, and those directly above each or equivalent to it."""
    yield from ((each.name, (NOTHING[kind],)) for each in one.unsatisfiable if each.kind == kind)
    taxonomy = one.taxonomies[kind]
    yield from ((name, (*taxonomy.equivalents(name), *taxonomy.parents(name))) for name in taxonomy.names)
