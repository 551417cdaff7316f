"""The restrictions of OWL 2 DL, as far as the axioms in a graph show whether they are kept.

Source: OWL 2 Structural Specification, section 11, and section 5.8.1 for names that stand for two kinds of things.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from kg_reasoner.graphs import reachable
from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.ontology.axioms import (
    Cardinality,
    Characteristic,
    DisjointProperties,
    EquivalentProperties,
    HasSelf,
    InverseProperties,
    PropertyChain,
    SubPropertyOf,
)
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.terms import IRI, OWL, RDF, RDFS, BlankNode, Term

__all__ = ["beyond_dl"]

_OF_SIMPLE: Final = frozenset(
    {OWL.FunctionalProperty, OWL.InverseFunctionalProperty, OWL.IrreflexiveProperty, OWL.AsymmetricProperty}
)
_TOP_AND_BOTTOM: Final = frozenset({OWL.topObjectProperty, OWL.bottomObjectProperty, OWL.topDataProperty, OWL.bottomDataProperty})
_CLASSES: Final = frozenset({OWL.Thing, OWL.Nothing})


def beyond_dl(ontology: Ontology, texts: Texts, annotations: Collection[Term] = ()) -> Iterator[AxiomWarning]:
    """Yield the axioms and names that are not in OWL 2 DL, each with the reason.

    Args:
        ontology: The ontology.
        texts: Its texts.
        annotations: The declared annotation properties.
    """
    for problem in ontology.problems:
        yield AxiomWarning(texts.triple(problem.triple), problem.reason)
    yield from _names(ontology, texts, annotations)
    yield from _composite(ontology, texts)


def _names(ontology: Ontology, texts: Texts, annotations: Collection[Term]) -> Iterator[AxiomWarning]:
    for name in sorted(ontology.object_properties & ontology.data_properties, key=str):
        yield AxiomWarning(texts.name(name), "it is a property of objects and of data")
    for name in sorted(ontology.classes & ontology.datatypes, key=str):
        yield AxiomWarning(texts.name(name), "it is a class and a datatype")
    for name in sorted(ontology.uses_as_class, key=str):
        if isinstance(name, BlankNode):
            if not ontology.expressions.get(name):
                yield AxiomWarning(texts.name(name), "a blank node stands for a class and has no expression")
            elif len(ontology.expressions[name]) > 1:
                yield AxiomWarning(texts.node(name), "a blank node has several class expressions")
        elif name not in ontology.classes and not ontology.is_datatype(name):
            yield AxiomWarning(texts.name(name), "it is used as a class and not declared as one")
        elif _is_reserved(name) and name not in _CLASSES and not ontology.is_datatype(name):
            yield AxiomWarning(texts.name(name), "a name of the vocabulary is used as a class")
    declared = {*ontology.object_properties, *ontology.data_properties, *annotations, *_TOP_AND_BOTTOM}
    for name in sorted(ontology.uses_as_property, key=str):
        if isinstance(name, IRI) and name not in declared:
            yield AxiomWarning(texts.name(name), "it is used as a property and not declared as one of objects or of data")
        elif isinstance(name, BlankNode) and name not in ontology.inverses:
            yield AxiomWarning(texts.name(name), "a blank node stands for a property and is not an inverse")


def _is_reserved(name: Term) -> bool:
    return name in OWL or name in RDF or name in RDFS


def _composite(ontology: Ontology, texts: Texts) -> Iterator[AxiomWarning]:
    """Yield what needs a simple property and has one that follows from others, and circles of chains."""
    above: dict[Term, set[Term]] = defaultdict(set)
    composite: set[Term] = set()
    chains: list[PropertyChain] = []

    def base(property: Term) -> Term:
        return ontology.inverses[property][0] if property in ontology.inverses else property

    for axiom in ontology.axioms:
        match axiom:
            case SubPropertyOf(sub, sup):
                above[base(sub)].add(base(sup))
            case EquivalentProperties(first, second) | InverseProperties(first, second):
                above[base(first)].add(base(second))
                above[base(second)].add(base(first))
            case PropertyChain(_, sup):
                composite.add(base(sup))
                chains.append(axiom)
            case Characteristic(OWL.TransitiveProperty, property):
                composite.add(base(property))
    not_simple = set(reachable(composite, lambda node: above.get(node, ())))
    reason = "it needs a simple property, and {} is transitive or follows from a property chain"
    for axiom in ontology.axioms:
        match axiom:
            case Characteristic(kind, property) if kind in _OF_SIMPLE and base(property) in not_simple:
                yield AxiomWarning(texts.axiom(axiom), reason.format(texts.property(property)))
            case DisjointProperties(properties):
                for property in properties:
                    if base(property) in not_simple:
                        yield AxiomWarning(texts.axiom(axiom), reason.format(texts.property(property)))
    for expressions in ontology.expressions.values():
        for expression in expressions:
            if isinstance(expression, HasSelf | Cardinality) and base(expression.property) in not_simple:
                yield AxiomWarning(texts.expression(expression), reason.format(texts.property(expression.property)))
    yield from _irregular(chains, above, base, texts)


def _irregular(
    chains: Sequence[PropertyChain], above: Mapping[Term, set[Term]], base: Callable[[Term], Term], texts: Texts
) -> Iterator[AxiomWarning]:
    """Yield the chains that depend on themselves other than as OWL 2 DL permits."""
    needs: dict[Term, set[Term]] = defaultdict(set)
    for chain in chains:
        sup, parts = base(chain.sup), [base(part) for part in chain.chain]
        inner = parts[1:] if parts[0] == sup and len(parts) > 1 else parts[:-1] if parts[-1] == sup and len(parts) > 1 else parts
        if parts == [sup, sup]:
            inner = []
        needs[sup].update(inner)
    for sub, supers in above.items():
        for sup in supers:
            if sub not in above.get(sup, ()):
                needs[sup].add(sub)
    for chain in chains:
        sup = base(chain.sup)
        if sup in reachable(needs.get(sup, ()), lambda node: needs.get(node, ())):
            yield AxiomWarning(texts.axiom(chain), "the property chains are not regular: the property depends on itself")
