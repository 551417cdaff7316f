"""An ontology with its inferred hierarchy: what the command ``reason`` of ROBOT writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from kg_reasoner.classification.hierarchy import BELOW, Hierarchy
from kg_reasoner.classification.taxonomy import Taxonomy
from kg_reasoner.terms import IRI, OWL, Term, Triple

__all__ = ["with_hierarchy"]


def with_hierarchy(stated: Iterable[Triple], hierarchy: Hierarchy) -> Iterator[Triple]:
    """Yield the triples of an ontology with the axioms of its hierarchy that it does not state.

    An inclusion between names that follows from nearer ones is left out, unless it is annotated.

    Args:
        stated: The explicit triples.
        hierarchy: The hierarchy of the ontology.

    Returns:
        An iterator of the triples, first those stated.
    """
    triples = list(stated)
    ends: dict[Term, dict[Term, Term]] = {}
    for subject, predicate, value in triples:
        if predicate in (OWL.annotatedSource, OWL.annotatedTarget):
            ends.setdefault(subject, {})[predicate] = value
    annotated = {(parts.get(OWL.annotatedSource), parts.get(OWL.annotatedTarget)) for parts in ends.values()}
    said: set[Triple] = set()
    for triple in triples:
        if triple[1] in BELOW.values() and (triple[0], triple[2]) not in annotated and _is_far(triple, hierarchy):
            continue
        said.add(triple)
        yield triple
    for subject, predicate, value in hierarchy.axioms():
        if predicate in BELOW.values():
            taxonomy = next(each for each in hierarchy.taxonomies.values() if subject in each)
            pairs = product(_place(taxonomy, subject), _place(taxonomy, value))
            if any((lower, predicate, upper) in said for lower, upper in pairs):
                continue
        elif (value, predicate, subject) in said:
            continue
        if (subject, predicate, value) not in said:
            yield subject, predicate, value


def _place(taxonomy: Taxonomy, name: Term) -> tuple[Term, ...]:
    return name, *taxonomy.equivalents(name)


def _is_far(triple: Triple, hierarchy: Hierarchy) -> bool:
    """Return whether there are names between the two of an inclusion."""
    lower, predicate, upper = triple
    if not isinstance(lower, IRI) or not isinstance(upper, IRI):
        return False
    for kind, taxonomy in hierarchy.taxonomies.items():
        if BELOW[kind] == predicate and lower in taxonomy and upper in taxonomy:
            return taxonomy.is_below(lower, upper) and upper not in (*taxonomy.parents(lower), *taxonomy.equivalents(lower), lower)
    return False
