"""The restrictions of OWL 2 DL, as far as the axioms in a graph show whether they are kept.

Source: OWL 2 Structural Specification, section 11, and section 5.8.1 for names that stand for two kinds of things.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain as chained
from typing import Final

from kg_reasoner.graphs import connected_components, reachable
from kg_reasoner.loaders.ontology.axiom_texts import Texts
from kg_reasoner.loaders.ontology.axioms import (
    Cardinality,
    Characteristic,
    ComplementOf,
    DatatypeRestriction,
    DifferentIndividuals,
    DisjointProperties,
    EquivalentClasses,
    EquivalentProperties,
    HasSelf,
    HasValue,
    IntersectionOf,
    InverseProperties,
    NegativeAssertion,
    OneOf,
    PropertyChain,
    PropertyDomain,
    PropertyRange,
    SubPropertyOf,
    UnionOf,
)
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.profile import AxiomWarning
from kg_reasoner.terms import BUILT_IN_ANNOTATIONS, IRI, OWL, RDF, RDFS, BlankNode, Term, Triple

__all__ = ["TOP_AND_BOTTOM", "beyond_dl", "with_anonymous"]

_OF_SIMPLE: Final = frozenset(
    {OWL.FunctionalProperty, OWL.InverseFunctionalProperty, OWL.IrreflexiveProperty, OWL.AsymmetricProperty}
)
TOP_AND_BOTTOM: Final = frozenset({OWL.topObjectProperty, OWL.bottomObjectProperty, OWL.topDataProperty, OWL.bottomDataProperty})
"""The properties of the vocabulary that have all values, and none."""
_CLASSES: Final = frozenset({OWL.Thing, OWL.Nothing})
_ANONYMOUS: Final = "the anonymous individual {} in an axiom of this kind"


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
    yield from _top_data_property(ontology, texts)
    yield from _circular_datatypes(ontology, texts)


def with_anonymous(ontology: Ontology, others: Iterable[Triple], texts: Texts) -> Iterator[AxiomWarning]:
    """Yield what OWL 2 DL does not permit of anonymous individuals: some axioms, and assertions that do not form trees.

    Args:
        ontology: The ontology.
        others: The triples that are not part of its axioms.
        texts: Its texts.
    """
    yield from _anonymous_in_axioms(ontology, texts)
    yield from _anonymous_in_expressions(ontology, texts)
    yield from _anonymous_in_assertions(ontology, others, texts)


def _anonymous_in_axioms(ontology: Ontology, texts: Texts) -> Iterator[AxiomWarning]:
    """Yield the axioms that must not have anonymous individuals, once for each of these."""
    for axiom in ontology.axioms:
        match axiom:
            case DifferentIndividuals(individuals):
                named: Iterable[Term] = individuals
            case NegativeAssertion(_, source, target):
                named = source, target
            case _:
                continue
        for individual in named:
            if isinstance(individual, BlankNode):
                yield AxiomWarning(texts.axiom(axiom), _ANONYMOUS.format(texts.name(individual)))


def _anonymous_in_expressions(ontology: Ontology, texts: Texts) -> Iterator[AxiomWarning]:
    """Yield the class expressions that enumerate anonymous individuals, or ask for one as a value."""
    for expression in chained.from_iterable(ontology.expressions.values()):
        match expression:
            case OneOf(members):
                individuals: Iterable[Term] = members
            case HasValue(_, value):
                individuals = (value,)
            case _:
                continue
        for individual in individuals:
            if isinstance(individual, BlankNode):
                yield AxiomWarning(texts.expression(expression), f"the anonymous individual {texts.name(individual)}")


def _anonymous_in_assertions(ontology: Ontology, others: Iterable[Triple], texts: Texts) -> Iterator[AxiomWarning]:
    """Yield the equalities and inequalities of anonymous individuals, and individuals whose assertions do not form trees."""
    edges: list[tuple[Term, Term]] = []
    beside_names: set[Term] = set()
    for triple in others:
        subject, predicate, value = triple
        anonymous = [term for term in (subject, value) if isinstance(term, BlankNode)]
        if not anonymous:
            continue
        if predicate in (OWL.sameAs, OWL.differentFrom):
            yield AxiomWarning(texts.triple(triple), _ANONYMOUS.format(texts.name(anonymous[-1])))
        elif predicate in ontology.object_properties:
            if len(anonymous) == 2:
                edges.append((subject, value))
            else:
                beside_names.update(anonymous)
    for node in _not_in_trees(edges, beside_names):
        yield AxiomWarning(texts.name(node), "the assertions between anonymous individuals do not form trees with named roots")


def _not_in_trees(edges: Sequence[tuple[Term, Term]], roots: Collection[Term]) -> Iterator[Term]:
    """Yield one node of each component of a graph that has a cycle, or several of the roots."""
    loops = [first for first, second in edges if first == second]
    yield from dict.fromkeys(loops)
    components = connected_components(edges)
    component_of = {node: one for one, nodes in components.items() for node in nodes}
    counts = Counter(component_of.get(first) for first, second in edges if first != second)
    for one, nodes in components.items():
        if counts[one] >= len(nodes) or sum(node in roots for node in nodes) > 1:
            yield one


def _top_data_property(ontology: Ontology, texts: Texts) -> Iterator[AxiomWarning]:
    """Yield the axioms that have owl:topDataProperty elsewhere than above another property."""
    reason = "owl:topDataProperty can only be above another property"
    for axiom in ontology.axioms:
        match axiom:
            case (
                SubPropertyOf(property, _) | PropertyDomain(property, _) | PropertyRange(property, _) | Characteristic(_, property)
            ):
                properties: Collection[Term] = (property,)
            case EquivalentProperties(first, second):
                properties = first, second
            case DisjointProperties(several):
                properties = several
            case _:
                continue
        if OWL.topDataProperty in properties:
            yield AxiomWarning(texts.axiom(axiom), reason)
    for expressions in ontology.expressions.values():
        for expression in expressions:
            if getattr(expression, "property", None) == OWL.topDataProperty:
                yield AxiomWarning(texts.expression(expression), reason)


def _circular_datatypes(ontology: Ontology, texts: Texts) -> Iterator[AxiomWarning]:
    """Yield the datatypes whose definitions depend on themselves."""

    def parts(node: Term) -> Iterator[Term]:
        for expression in ontology.expressions.get(node, ()):
            if isinstance(expression, IntersectionOf | UnionOf):
                yield from expression.operands
            elif isinstance(expression, ComplementOf):
                yield expression.operand
            elif isinstance(expression, DatatypeRestriction):
                yield expression.datatype

    defined: dict[Term, list[Term]] = defaultdict(list)
    for axiom in ontology.axioms:
        match axiom:
            case EquivalentClasses(name, definition) if name in ontology.datatypes:
                defined[name].append(definition)
    for name in sorted(defined, key=str):
        if name in reachable(defined[name], lambda node: (*parts(node), *defined.get(node, ()))):
            yield AxiomWarning(texts.name(name), "the definition of the datatype depends on itself")


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
    declared = {*ontology.object_properties, *ontology.data_properties, *annotations, *BUILT_IN_ANNOTATIONS, *TOP_AND_BOTTOM}
    for name in sorted(ontology.uses_as_property, key=str):
        if isinstance(name, IRI) and name not in declared:
            yield AxiomWarning(texts.name(name), "it is used as a property and not declared as one of objects or of data")
        elif isinstance(name, BlankNode) and name not in ontology.inverses:
            yield AxiomWarning(texts.name(name), "a blank node stands for a property and is not an inverse")


def _is_reserved(name: Term) -> bool:
    return name in OWL or name in RDF or name in RDFS


def _composite(ontology: Ontology, texts: Texts) -> Iterator[AxiomWarning]:
    """Yield what needs a simple property and has one that follows from others, and cycles of chains."""
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
