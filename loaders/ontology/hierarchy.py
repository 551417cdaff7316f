"""The hierarchy of restrictions according to the schema rules scm-svf1, scm-svf2, scm-avf1, scm-avf2 and scm-hv.

If ``A`` is a subclass of ``some p.B``, ``B`` of ``C``, and ``some p.C`` of ``D``, then every ``A`` is a ``D``. No rule can name the
related ``B``, but scm-svf1 makes the first restriction a subclass of the second. The restrictions of one kind with one property and
one filler form a `RestrictionGroup`, and a `HierarchyStep` leads from a group to one directly above it. The relations are exactly
those that the RL/RDF rules derive: a class is a subclass of itself if it is declared (scm-cls) or on a cycle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from kg_reasoner.graphs import connected_components
from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Axiom,
    EquivalentClasses,
    EquivalentProperties,
    HasValue,
    IntersectionOf,
    SameNames,
    SomeValuesFrom,
    SubClassOf,
    SubPropertyOf,
    UnionOf,
)
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.order import Order
from kg_reasoner.terms import OWL, Term

__all__ = ["HierarchyStep", "RestrictionGroup", "restriction_hierarchy"]

_Kind: TypeAlias = type[SomeValuesFrom] | type[AllValuesFrom] | type[HasValue]


@dataclass(frozen=True, slots=True)
class RestrictionGroup:
    """All restrictions of a kind with the same property and filler (or value); names equal by owl:sameAs count as one."""

    kind: _Kind
    property: Term
    filler: Term


@dataclass(frozen=True, slots=True)
class HierarchyStep:
    """By the schema rule `name` and because of `reason`, restrictions of `lower` are subclasses of those of `upper`.

    A step from a group to itself says that its members are subclasses of each other.
    """

    lower: RestrictionGroup
    upper: RestrictionGroup
    name: str
    reason: Axiom


@dataclass(frozen=True, slots=True)
class _Above:
    """A node for everything above a group: the members of the group lead to it."""

    group: RestrictionGroup


@dataclass(frozen=True, slots=True)
class _Below:
    """A node for everything below a group: it leads to the group's members."""

    group: RestrictionGroup


_Node: TypeAlias = Term | _Above | _Below
_Graph: TypeAlias = defaultdict[_Node, dict[_Node, None]]

_BY_FILLER: Final[dict[_Kind, str]] = {SomeValuesFrom: "scm-svf1", AllValuesFrom: "scm-avf1"}
_BY_PROPERTY: Final[dict[_Kind, str]] = {SomeValuesFrom: "scm-svf2", AllValuesFrom: "scm-avf2", HasValue: "scm-hv"}


def restriction_hierarchy(ontology: Ontology) -> tuple[dict[RestrictionGroup, tuple[Term, ...]], tuple[HierarchyStep, ...]]:
    """Return the groups that take part in a step, each with the nodes of its restrictions, and the steps.

    Steps of owl:hasValue restrictions are omitted: a member of the lower one has the value, and so belongs to the upper one by the
    rules for sub-properties and values.
    """
    hierarchy = _Hierarchy(ontology)
    steps = tuple(
        step
        for step in hierarchy.steps()
        if step.lower.kind is not HasValue and (step.lower != step.upper or hierarchy.is_shared(step.lower))
    )
    groups = dict.fromkeys(group for step in steps for group in (step.lower, step.upper))
    return {group: tuple(hierarchy.members[group]) for group in groups}, steps


class _Hierarchy:
    def __init__(self, ontology: Ontology) -> None:
        self.one_name = _one_name_for_all(axiom for axiom in ontology.axioms if isinstance(axiom, SameNames))
        self.classes: _Graph = defaultdict(dict)
        self.properties: _Graph = defaultdict(dict)
        self.members: dict[RestrictionGroup, dict[Term, None]] = defaultdict(dict)
        self.read_axioms(ontology)
        self.read_expressions(ontology)
        self.fillers = frozenset(group.filler for group in self.members)
        self.add_declarations(ontology)

    def of(self, term: Term) -> Term:
        return self.one_name.get(term, term)

    def add_declarations(self, ontology: Ontology) -> None:
        """Apply scm-cls, scm-op and scm-dp: a declared name is above itself, and a class is between owl:Nothing and owl:Thing."""
        for cls in sorted(ontology.classes, key=str):
            self.classes[self.of(cls)].update({self.of(cls): None, self.of(OWL.Thing): None})
            self.classes[self.of(OWL.Nothing)][self.of(cls)] = None
        for property in sorted(ontology.object_properties | ontology.data_properties, key=str):
            self.properties[self.of(property)][self.of(property)] = None

    def read_axioms(self, ontology: Ontology) -> None:
        for axiom in ontology.axioms:
            match axiom:
                case SubClassOf(sub, sup):
                    self.classes[self.of(sub)][self.of(sup)] = None
                case EquivalentClasses(first, second):
                    self.classes[self.of(first)][self.of(second)] = None
                    self.classes[self.of(second)][self.of(first)] = None
                case SubPropertyOf(sub, sup):
                    self.properties[self.of(sub)][self.of(sup)] = None
                case EquivalentProperties(first, second):
                    self.properties[self.of(first)][self.of(second)] = None
                    self.properties[self.of(second)][self.of(first)] = None

    def read_expressions(self, ontology: Ontology) -> None:
        for node, expressions in ontology.expressions.items():
            cls = self.of(node)
            for expression in expressions:
                match expression:
                    case IntersectionOf(operands):
                        self.classes[cls].update(dict.fromkeys(map(self.of, operands)))
                    case UnionOf(operands):
                        for operand in operands:
                            self.classes[self.of(operand)][cls] = None
                    case SomeValuesFrom(property, filler) | AllValuesFrom(property, filler) | HasValue(property, filler):
                        group = RestrictionGroup(type(expression), self.of(property), self.of(filler))
                        self.members[group][node] = None
                        self.classes[cls][_Above(group)] = None
                        self.classes[_Below(group)][cls] = None

    def steps(self) -> list[HierarchyStep]:
        """Return all steps. A step can make one filler a subclass of another, which yields further steps."""
        known: set[HierarchyStep] = set()
        while True:
            steps = [*self.steps_by_filler(), *self.steps_by_property()]
            new = [step for step in steps if step not in known]
            if not new or not (known or any(map(self.leads_on, new))):
                # The last round knew all earlier ones, and says in the fewest steps what all of them said.
                return steps
            known.update(new)
            for step in new:
                self.classes[_Above(step.lower)][_Below(step.upper)] = None

    def leads_on(self, step: HierarchyStep) -> bool:
        """Return whether a step can make a class that is a filler, or is below one, a subclass of further classes."""
        nodes = map(self.of, self.members[step.upper])
        return any(node in self.fillers or any(up != _Above(step.upper) for up in self.classes[node]) for node in nodes)

    def steps_by_filler(self) -> Iterator[HierarchyStep]:
        order = Order(self.classes)
        alike: dict[tuple[_Kind, Term], dict[_Node, RestrictionGroup]] = defaultdict(dict)
        for group in self.members:
            if group.kind in _BY_FILLER:
                alike[group.kind, group.property][group.filler] = group
        for (kind, _), groups in alike.items():
            for lower, upper in self.steps_between(order, groups):
                yield HierarchyStep(lower, upper, _BY_FILLER[kind], SubClassOf(lower.filler, upper.filler))

    def steps_by_property(self) -> Iterator[HierarchyStep]:
        order = Order(self.properties)
        alike: dict[tuple[_Kind, Term], dict[_Node, RestrictionGroup]] = defaultdict(dict)
        for group in self.members:
            alike[group.kind, group.filler][group.property] = group
        for (kind, _), groups in alike.items():
            for lower, upper in self.steps_between(order, groups):
                reason = SubPropertyOf(lower.property, upper.property)
                if kind is AllValuesFrom:
                    lower, upper = upper, lower
                yield HierarchyStep(lower, upper, _BY_PROPERTY[kind], reason)

    def steps_between(
        self, order: Order[_Node], groups: Mapping[_Node, RestrictionGroup]
    ) -> Iterator[tuple[RestrictionGroup, RestrictionGroup]]:
        if len(groups) == 1 and not any(map(self.says_something, groups.values())):
            return
        for below, above in order.covers(groups):
            lower, upper = groups[below], groups[above]
            if lower != upper or self.says_something(lower):
                yield lower, upper

    def says_something(self, group: RestrictionGroup) -> bool:
        """Return whether the mutual subclass relation of a group's members matters; for a single member, only as a filler."""
        return self.is_shared(group) or any(self.of(node) in self.fillers for node in self.members[group])

    def is_shared(self, group: RestrictionGroup) -> bool:
        return len(self.members[group]) > 1


def _one_name_for_all(axioms: Iterable[SameNames]) -> dict[Term, Term]:
    """For each name that is equal to others the one that stands for all of them."""
    components = connected_components((axiom.first, axiom.second) for axiom in axioms)
    return {name: one for one, names in components.items() for name in names}
