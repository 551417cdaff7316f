"""Units: expressions and axioms that can be added to an ontology, or removed, independently of the rest of it.

All triples of a unit have blank nodes, of which no other triple of the ontology speaks, as those of ``:C owl:equivalentClass
[ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :D ]``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Final

from kg_reasoner.graphs import connected_components
from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Axiom,
    DifferentIndividuals,
    DisjointClasses,
    DisjointProperties,
    DisjointUnion,
    HasKey,
    HasValue,
    NegativeAssertion,
    PropertyChain,
    SameNames,
    SomeValuesFrom,
)
from kg_reasoner.loaders.ontology.ontology import Ontology, read_ontology
from kg_reasoner.terms import IRI, BlankNode, Term, Triple, namespace_of

__all__ = ["Statements", "in_context", "is_unit", "linked_triples", "namespaces_in", "namespaces_of_others"]

_OF_LISTS_OR_NODES: Final = (
    *(HasKey, PropertyChain, DisjointClasses, DisjointProperties, DisjointUnion),
    *(DifferentIndividuals, NegativeAssertion),
)
"""The axioms that several lists or nodes can state. All others are triples, which are there once."""


class Statements:
    """The number of lists or nodes that state each axiom of an ontology. An axiom exists as long as one of them does.

    Args:
        ontology: The ontology.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._counts = Counter(axiom for axiom in ontology.axioms if isinstance(axiom, _OF_LISTS_OR_NODES)) | ontology.repeated

    def exchange(self, unit: Ontology, change: int) -> Ontology:
        """Add (1) or remove (-1) the axioms of a unit. Return the unit without those that others state, too."""
        changed = (axiom for axiom in unit.axioms if self._changes(axiom, change * (unit.repeated[axiom] or 1)))
        return replace(unit, axioms=tuple(changed))

    def _changes(self, axiom: Axiom, change: int) -> bool:
        """Count further or fewer statements of an axiom. Return whether it comes or goes."""
        if not isinstance(axiom, _OF_LISTS_OR_NODES):
            return True
        before = self._counts[axiom]
        self._counts[axiom] += change
        if self._counts[axiom]:
            return not before
        del self._counts[axiom]
        return True


def is_unit(unit: Ontology, context: Ontology) -> bool:
    """Return whether a part of an ontology says nothing about what other parts mean.

    It must not have SWRL rules, anonymous properties or data ranges with facets, nor define a named class that is a filler of
    restrictions.

    Args:
        unit: The part.
        context: The ontology.
    """
    if unit.rules or unit.inverses or unit.object_properties or unit.data_properties or unit.datatypes != _known_datatypes():
        return False
    if any(isinstance(property, BlankNode) for property in unit.uses_as_property):
        return False
    if any(isinstance(axiom, SameNames) for axiom in unit.axioms) or any(isinstance(node, IRI) for node in unit.expressions):
        return False
    return not any(isinstance(node, IRI) and node in context.expressions for node in _fillers(unit))


def _fillers(unit: Ontology) -> Iterable[Term]:
    for expressions in unit.expressions.values():
        for expression in expressions:
            match expression:
                case SomeValuesFrom(_, filler) | AllValuesFrom(_, filler) | HasValue(_, filler):
                    yield filler


@cache
def _known_datatypes() -> frozenset[Term]:
    """Return the datatypes that are known without declarations."""
    return frozenset(read_ontology(()).datatypes)


def in_context(unit: Ontology, context: Ontology) -> Ontology:
    """Return a part of an ontology with the declarations of the names in it."""
    return replace(
        unit,
        classes=set(),
        object_properties=context.object_properties,
        data_properties=context.data_properties,
        datatypes=context.datatypes,
        datatype_names=context.datatype_names,
    )


def namespaces_of_others(triples: Collection[Triple], unit: Ontology) -> frozenset[str]:
    """Return the namespaces of the IRIs in a unit that stand for no class or property in the part where they are: parts that no
    blank node links come and go alone.

    Args:
        triples: The triples of the unit, all with blank nodes.
        unit: The unit.
    """
    parts = linked_triples(triples)
    if len(parts) == 1:
        return namespaces_in(triples, unit.vocabulary)
    return frozenset().union(*(namespaces_in(part, read_ontology(part).vocabulary) for part in parts))


def linked_triples(triples: Iterable[Triple]) -> list[list[Triple]]:
    """Return triples, those together that blank nodes link, directly or by others; one without a blank node is alone."""
    nodes = {triple: [term for term in triple if isinstance(term, BlankNode)] for triple in triples}
    components = connected_components((linked[0], node) for linked in nodes.values() for node in linked)
    one_for_all = {node: one for one, linked in components.items() for node in linked}
    found: dict[Term | Triple, list[Triple]] = defaultdict(list)
    for triple, linked in nodes.items():
        found[one_for_all.get(linked[0], linked[0]) if linked else triple].append(triple)
    return list(found.values())


def namespaces_in(triples: Iterable[Triple], vocabulary: Iterable[Term] = frozenset()) -> frozenset[str]:
    """Return the namespaces of the IRIs in triples, datatypes among them, but for those of a vocabulary."""
    every = list(chain.from_iterable(triples))
    terms = dict(zip(map(id, every), every, strict=True)).values()  # hashing terms takes longer
    names = {term.value if isinstance(term, IRI) else term.datatype for term in terms if not isinstance(term, BlankNode)}
    return frozenset(map(namespace_of, names.difference(name.value for name in vocabulary if isinstance(name, IRI))))
