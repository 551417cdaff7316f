"""Which restrictions are subclasses of which other ones: the schema rules scm-svf1, scm-svf2, scm-avf1, scm-avf2 and scm-hv.

``A`` subclass of ``some p.B``, ``B`` subclass of ``C``, ``some p.C`` subclass of ``D``: an ``A`` is a ``D`` although no rule can
say to which ``B`` it is related, because scm-svf1 makes the first restriction a subclass of the second. The restrictions of one
kind with one property and one filler form a `Group`, and a `Step` leads from a group to one right above it. The relations are
those that the RL/RDF rules derive, no more: a class is a subclass of itself if it is declared (scm-cls) or on a cycle.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from kg_reasoner.loaders.axioms import (
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
from kg_reasoner.loaders.ontology import Ontology

from kg_reasoner.terms import OWL, Term

__all__ = ["Group", "Step", "restriction_hierarchy"]

_Kind: TypeAlias = type[SomeValuesFrom] | type[AllValuesFrom] | type[HasValue]


@dataclass(frozen=True, slots=True)
class Group:
    """All restrictions of a kind with a property and a filler (or value); names that owl:sameAs makes equal count as one."""

    kind: _Kind
    property: Term
    filler: Term


@dataclass(frozen=True, slots=True)
class Step:
    """Restrictions of `lower` are subclasses of those of `upper` by the schema rule `name`, because of `reason`.

    A step from a group to itself says that its members are subclasses of each other.
    """

    lower: Group
    upper: Group
    name: str
    reason: Axiom


@dataclass(frozen=True, slots=True)
class _Above:
    """Where the members of a group lead to: what is above the group."""

    group: Group


@dataclass(frozen=True, slots=True)
class _Below:
    """What is below a group leads here, and from here to the group's members."""

    group: Group


_Node: TypeAlias = Term | _Above | _Below
_Graph: TypeAlias = defaultdict[_Node, dict[_Node, None]]

_BY_FILLER: Final[dict[_Kind, str]] = {SomeValuesFrom: "scm-svf1", AllValuesFrom: "scm-avf1"}
_BY_PROPERTY: Final[dict[_Kind, str]] = {SomeValuesFrom: "scm-svf2", AllValuesFrom: "scm-avf2", HasValue: "scm-hv"}


def restriction_hierarchy(ontology: Ontology) -> tuple[dict[Group, tuple[Term, ...]], tuple[Step, ...]]:
    """The groups that take part in a step, each with the nodes that carry its restrictions, and the steps.

    Steps of owl:hasValue restrictions are not among them: whoever belongs to the lower one has the value, and so belongs to the
    upper one by the rules for sub-properties and values.
    """
    hierarchy = _Hierarchy(ontology)
    steps = tuple(step for step in hierarchy.steps() if step.lower.kind is not HasValue)
    groups = dict.fromkeys(group for step in steps for group in (step.lower, step.upper))
    return {group: tuple(hierarchy.members[group]) for group in groups}, steps


class _Hierarchy:
    def __init__(self, ontology: Ontology) -> None:
        self.one_name = _one_name_for_all(axiom for axiom in ontology.axioms if isinstance(axiom, SameNames))
        self.declared_classes = frozenset(map(self.of, ontology.classes))
        self.declared_properties = frozenset(map(self.of, ontology.object_properties | ontology.data_properties))
        self.classes: _Graph = defaultdict(dict)
        self.properties: _Graph = defaultdict(dict)
        self.members: dict[Group, dict[Term, None]] = defaultdict(dict)
        self.read_axioms(ontology)
        self.read_expressions(ontology)

    def of(self, term: Term) -> Term:
        return self.one_name.get(term, term)

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
                        group = Group(type(expression), self.of(property), self.of(filler))
                        self.members[group][node] = None
                        self.classes[cls][_Above(group)] = None
                        self.classes[_Below(group)][cls] = None

    def steps(self) -> Iterable[Step]:
        """All steps: one can make a filler a subclass of another filler, and so lead to further ones."""
        found: dict[Step, None] = {}
        while new := [step for step in (*self.steps_by_filler(), *self.steps_by_property()) if step not in found]:
            for step in new:
                found[step] = None
                self.classes[_Above(step.lower)][_Below(step.upper)] = None
        return found

    def steps_by_filler(self) -> Iterator[Step]:
        alike: dict[tuple[_Kind, Term], dict[Term, Group]] = defaultdict(dict)
        for group in self.members:
            if group.kind in _BY_FILLER:
                alike[group.kind, group.property][group.filler] = group
        for (kind, _), groups in alike.items():
            for filler, group in groups.items():
                for above in self.nearest(filler, groups, self.classes_above):
                    upper = groups[above]
                    if self.says_something(group, upper):
                        yield Step(group, upper, _BY_FILLER[kind], SubClassOf(filler, above))

    def steps_by_property(self) -> Iterator[Step]:
        alike: dict[tuple[_Kind, Term], dict[Term, Group]] = defaultdict(dict)
        for group in self.members:
            alike[group.kind, group.filler][group.property] = group
        for (kind, _), groups in alike.items():
            for property, group in groups.items():
                for above in self.nearest(property, groups, self.properties_above):
                    upper = groups[above]
                    if self.says_something(group, upper):
                        lower, upper = (upper, group) if kind is AllValuesFrom else (group, upper)
                        yield Step(lower, upper, _BY_PROPERTY[kind], SubPropertyOf(property, above))

    def says_something(self, lower: Group, upper: Group) -> bool:
        return lower != upper or len(self.members[lower]) > 1

    def classes_above(self, node: _Node) -> Iterable[_Node]:
        if node == OWL.Nothing:
            return [*self.classes[node], *sorted(self.declared_classes, key=str)]
        if node in self.declared_classes:
            return [*self.classes[node], node, OWL.Thing]
        return self.classes[node]

    def properties_above(self, node: _Node) -> Iterable[_Node]:
        return [*self.properties[node], node] if node in self.declared_properties else self.properties[node]

    def nearest(self, start: Term, groups: Mapping[Term, Group], above: Callable[[_Node], Iterable[_Node]]) -> Iterator[Term]:
        """The keys of groups that lie above a node with no other one between; the node itself only if it lies above itself."""
        if len(groups) == 1 and not self.says_something(groups[start], groups[start]):
            return
        queue = deque(above(start))
        seen: set[_Node] = set()
        while queue:
            node = queue.popleft()
            if node in seen:
                continue
            seen.add(node)
            if not isinstance(node, _Above | _Below) and node in groups:
                yield node
            else:
                queue.extend(above(node))


def _one_name_for_all(axioms: Iterable[SameNames]) -> dict[Term, Term]:
    """For each name that is equal to others the one that stands for all of them."""
    equal: dict[Term, list[Term]] = {}
    for axiom in axioms:
        first = equal.setdefault(axiom.first, [axiom.first])
        second = equal.setdefault(axiom.second, [axiom.second])
        if first is not second:
            first.extend(second)
            for name in second:
                equal[name] = first
    return {name: names[0] for name, names in equal.items()}
