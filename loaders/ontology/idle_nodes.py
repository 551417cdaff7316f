"""Anonymous classes without consequences: rules would derive their members, which no other rule uses.

``SubClassOf(:Cat ObjectSomeValuesFrom(:eats :Mouse))`` yields no rule. Many ontologies consist of such axioms for the most part,
and of unions as domains and ranges. No clauses are made for them, because all would be dropped by `unfold.apart`.
"""

from __future__ import annotations

from collections import defaultdict

from kg_reasoner.graphs import reachable
from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Axiom,
    Cardinality,
    ClassAssertion,
    ClassExpression,
    ComplementOf,
    Definition,
    DisjointClasses,
    DisjointUnion,
    EquivalentClasses,
    HasKey,
    IntersectionOf,
    OneOf,
    PropertyDomain,
    PropertyRange,
    SameNames,
    SomeValuesFrom,
    SubClassOf,
    UnionOf,
    at_most,
)
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.restriction_hierarchy import Links, RestrictionGroup
from kg_reasoner.terms import BlankNode, Term

__all__ = ["concluded_class", "without_idle_nodes"]


def without_idle_nodes(ontology: Ontology, links: Links) -> tuple[frozenset[Term], Links]:
    """Return the idle nodes, and the links that lead to other nodes. Restrictions below one that is not idle are not idle either:
    their members are members of it.

    Args:
        ontology: The ontology.
        links: The links between its restrictions.
    """
    idle = _idle_nodes(ontology)
    if not idle:
        return idle, links
    below: defaultdict[RestrictionGroup, list[RestrictionGroup]] = defaultdict(list)
    for step in links.steps:
        below[step.upper].append(step.lower)
    telling = reachable((group for group, nodes in links.groups.items() if not idle.issuperset(nodes)), below.__getitem__)
    steps = tuple(step for step in links.steps if step.upper in telling)
    linked = {group for step in steps for group in (step.lower, step.upper)}
    groups = {group: nodes for group, nodes in links.groups.items() if group in linked}
    return idle.difference(*groups.values()), Links(steps, groups)


def _idle_nodes(ontology: Ontology) -> frozenset[Term]:
    """Return blank nodes of expressions that are only concluded, and whose members have no consequences but by links."""
    if ontology.rules:
        return frozenset()
    found = {
        node
        for node, expressions in ontology.expressions.items()
        if isinstance(node, BlankNode) and all(map(_is_only_recognised, expressions)) and not ontology.is_datatype(node)
    }
    if not found:
        return frozenset()
    for expressions in ontology.expressions.values():
        for expression in expressions:
            found.difference_update(_operands(expression))
    for axiom in ontology.axioms:
        found.difference_update(_asked(axiom))
    return frozenset(found)


def concluded_class(axiom: Axiom) -> Term | None:
    """Return the class of whose members an axiom says who they are, for an axiom that says no more."""
    match axiom:
        case SubClassOf(_, cls) | PropertyDomain(_, cls) | PropertyRange(_, cls) | ClassAssertion(cls, _):
            return cls
    return None


def _is_only_recognised(expression: ClassExpression) -> bool:
    """Return whether clauses of an expression say who is a member, and nothing about members."""
    match expression:
        case UnionOf(operands):
            return len(operands) > 1
        case Cardinality():
            return at_most(expression) is None
    return isinstance(expression, SomeValuesFrom | OneOf)


def _operands(expression: ClassExpression) -> tuple[Term, ...]:
    """Return the classes in an expression."""
    match expression:
        case IntersectionOf(operands) | UnionOf(operands):
            return operands
        case ComplementOf(operand):
            return (operand,)
        case SomeValuesFrom(_, filler) | AllValuesFrom(_, filler):
            return (filler,)
        case Cardinality():
            return () if expression.filler is None else (expression.filler,)
    return ()


def _asked(axiom: Axiom) -> tuple[Term, ...]:
    """Return the classes for whose members an axiom has consequences."""
    match axiom:
        case SubClassOf(sub, _):
            return (sub,)
        case EquivalentClasses(first, second) | SameNames(first, second):
            return first, second
        case Definition(name, expression):
            return name, *_operands(expression)
        case HasKey(name, _):
            return (name,)
        case DisjointClasses(classes):
            return classes
        case DisjointUnion(whole, parts):
            return whole, *parts
    return ()
