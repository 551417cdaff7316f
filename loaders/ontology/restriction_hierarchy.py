"""The hierarchy of restrictions according to the schema rules scm-svf1, scm-svf2, scm-avf1, scm-avf2 and scm-hv.

If ``A`` is a subclass of ``some p.B``, ``B`` of ``C``, and ``some p.C`` of ``D``, then every ``A`` is a ``D``. No rule can name the
related ``B``, but scm-svf1 makes the first restriction a subclass of the second. The restrictions of one kind with one property and
one filler form a `RestrictionGroup`, and a `HierarchyStep` leads from a group to one directly above it. The relations are exactly
those that the RL/RDF rules derive: a class is a subclass of itself if it is declared (scm-cls) or on a cycle.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from kg_reasoner.graphs import connected_components
from kg_reasoner.loaders.ontology.axioms import (
    AllValuesFrom,
    Axiom,
    ClassExpression,
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
from kg_reasoner.loaders.ontology.ontology import Ontology, reading_place
from kg_reasoner.loaders.ontology.order import Order
from kg_reasoner.terms import OWL, Term

__all__ = [
    "NO_LINKS",
    "Above",
    "Below",
    "Family",
    "FamilyKey",
    "Graph",
    "HierarchyStep",
    "Links",
    "Members",
    "Node",
    "RestrictionGroup",
    "RestrictionHierarchy",
    "declaration_edges",
    "edges_of",
    "family_keys",
    "is_followed",
    "operand_edges",
]

_Kind: TypeAlias = type[SomeValuesFrom] | type[AllValuesFrom] | type[HasValue]


@dataclass(slots=True)
class RestrictionGroup:
    """All restrictions of a kind with the same property and filler (or value); names equal by owl:sameAs count as one."""

    kind: _Kind
    property: Term
    filler: Term
    _hash: int = field(init=False, repr=False, compare=False)
    """The hash, because groups and their nodes are looked up often."""

    def __post_init__(self) -> None:
        self._hash = hash((self.kind, self.property, self.filler))

    def __hash__(self) -> int:
        return self._hash


@dataclass(slots=True, unsafe_hash=True)
class HierarchyStep:
    """By the schema rule `name` and because of `reason`, restrictions of `lower` are subclasses of those of `upper`.

    A step from a group to itself says that its members are subclasses of each other.
    """

    lower: RestrictionGroup
    upper: RestrictionGroup
    name: str
    reason: Axiom


@dataclass(slots=True)
class Above:
    """A node for everything above a group: the members of the group lead to it."""

    group: RestrictionGroup

    def __hash__(self) -> int:
        return hash(self.group) + 1


@dataclass(slots=True)
class Below:
    """A node for everything below a group: it leads to the group's members."""

    group: RestrictionGroup

    def __hash__(self) -> int:
        return hash(self.group) - 1


Node: TypeAlias = Term | Above | Below
Graph: TypeAlias = defaultdict[Node, dict[Node, int]]
"""Edges from nodes to those above them, each with the number of its reasons."""

FamilyKey: TypeAlias = tuple[_Kind, bool, Term]
"""The data that the groups of a family share: their kind, whether they are compared by filler, and their property or filler."""

_BY_FILLER: Final[dict[_Kind, str]] = {SomeValuesFrom: "scm-svf1", AllValuesFrom: "scm-avf1"}
_BY_PROPERTY: Final[dict[_Kind, str]] = {SomeValuesFrom: "scm-svf2", AllValuesFrom: "scm-avf2", HasValue: "scm-hv"}


@dataclass(slots=True, eq=False)
class Family:
    """The groups of one kind that are compared with each other: those with one property by their fillers, or the reverse."""

    kind: _Kind
    by_filler: bool
    groups: dict[Node, RestrictionGroup] = field(default_factory=dict)
    """The groups by their fillers, or by their properties."""

    def step(self, below: Node, above: Node) -> HierarchyStep:
        """Return the step that follows from the order of two fillers, or of two properties."""
        lower, upper = self.groups[below], self.groups[above]
        if self.by_filler:
            return HierarchyStep(lower, upper, _BY_FILLER[self.kind], SubClassOf(lower.filler, upper.filler))
        reason = SubPropertyOf(lower.property, upper.property)
        if self.kind is AllValuesFrom:
            lower, upper = upper, lower
        return HierarchyStep(lower, upper, _BY_PROPERTY[self.kind], reason)


class Links(NamedTuple):
    """The steps that rules have to follow, and their groups, each with the nodes of its restrictions."""

    steps: tuple[HierarchyStep, ...]
    groups: Mapping[RestrictionGroup, tuple[Term, ...]]


NO_LINKS: Final = Links((), {})
"""Those of axioms without restrictions."""

Members: TypeAlias = Mapping[RestrictionGroup, Collection[Term]]
"""The nodes of the restrictions of groups."""
NO_MEMBERS: Final[Members] = {}


class RestrictionHierarchy:
    """The hierarchy of an ontology's restrictions.

    Attributes:
        members: All groups, each with the nodes of its restrictions.
        all_steps: The steps.
        families: The families in which there can be steps, by kind, whether they are compared by filler, and what they share.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.one_name = _one_name_for_all(axiom for axiom in ontology.axioms if isinstance(axiom, SameNames))
        self.classes: Graph = defaultdict(dict)
        self.properties: Graph = defaultdict(dict)
        self.members: dict[RestrictionGroup, dict[Term, None]] = defaultdict(dict)
        self._expressions = ontology.expressions
        self.read_axioms(ontology)
        self.read_expressions(ontology)
        self.fillers = Counter(group.filler for group in self.members)
        self.add_declarations(ontology)
        self.families = self.telling_families()
        self.all_steps = self.find_steps()

    def linked_by(self, steps: Iterable[HierarchyStep], others: Members = NO_MEMBERS) -> Links:
        """Return the links that some steps make by rules, in an order that does not depend on that of the steps.

        Args:
            steps: The steps.
            others: The nodes of those groups that had others than now, in order, when there were these steps.
        """
        steps = tuple(steps)
        members = {group: self.members.get(group, ()) for step in steps for group in (step.lower, step.upper)} | {**others}
        followed = [step for step in steps if is_followed(step, len(members[step.lower]))]
        places = {group: self._place(group, next(iter(members[group]))) for step in followed for group in (step.lower, step.upper)}
        followed.sort(key=lambda step: (places[step.lower], places[step.upper], step.name))
        groups = sorted(places, key=places.__getitem__)
        return Links(tuple(followed), {group: tuple(members[group]) for group in groups})

    def _place(self, group: RestrictionGroup, first: Term) -> tuple[int, str, int]:
        """Return the place of a group in the order in which an ontology is read, by the first of its nodes."""
        expressions = self._expressions[first]
        number = 0 if len(expressions) == 1 else [self.group_of(expression) for expression in expressions].index(group)
        return *reading_place(first, expressions), number

    def group_of(self, expression: ClassExpression) -> RestrictionGroup | None:
        """Return the group of a restriction, or None for another expression."""
        match expression:
            case SomeValuesFrom(property, filler) | AllValuesFrom(property, filler) | HasValue(property, filler):
                return RestrictionGroup(type(expression), self.of(property), self.of(filler))
        return None

    # --- groups that come and go

    def join(self, node: Term, group: RestrictionGroup) -> None:
        """Add a restriction to its group."""
        nodes = self.members[group]
        if not nodes:
            self.fillers[group.filler] += 1
        nodes[node] = None
        self.members[group] = dict.fromkeys(sorted(nodes, key=lambda member: self._place(group, member)))

    def leave(self, node: Term, group: RestrictionGroup) -> None:
        """Remove a restriction from its group."""
        del self.members[group][node]
        if not self.members[group]:
            del self.members[group]
            self.fillers[group.filler] -= 1
            if not self.fillers[group.filler]:
                del self.fillers[group.filler]

    def in_order(self, groups: Iterable[RestrictionGroup]) -> list[RestrictionGroup]:
        """Return groups in the order in which an ontology is read."""
        return sorted(groups, key=lambda group: self._place(group, next(iter(self.members[group]))))

    # --- reading

    def of(self, term: Term) -> Term:
        return self.one_name.get(term, term) if self.one_name else term

    @staticmethod
    def link(graph: Graph, lower: Node, upper: Node) -> None:
        """Add an edge."""
        above = graph[lower]
        above[upper] = above.get(upper, 0) + 1

    def add_declarations(self, ontology: Ontology) -> None:
        """Apply scm-cls, scm-op and scm-dp: a declared name is above itself, and a class is between owl:Nothing and owl:Thing."""
        for cls in sorted(ontology.classes, key=str):
            for lower, upper in declaration_edges(cls):
                self.link(self.classes, self.of(lower), self.of(upper))
        for property in sorted([*ontology.object_properties, *ontology.data_properties], key=str):
            self.link(self.properties, self.of(property), self.of(property))

    def read_axioms(self, ontology: Ontology) -> None:
        for axiom in ontology.axioms:
            of_classes, edges = edges_of(axiom)
            for lower, upper in edges:
                self.link(self.classes if of_classes else self.properties, self.of(lower), self.of(upper))

    def read_expressions(self, ontology: Ontology) -> None:
        for node, expressions in ontology.expressions.items():
            cls = self.of(node)
            for expression in expressions:
                for lower, upper in operand_edges(node, expression):
                    self.link(self.classes, self.of(lower), self.of(upper))
                if (group := self.group_of(expression)) is not None:
                    self.members[group][node] = None
                    self.link(self.classes, cls, Above(group))
                    self.link(self.classes, Below(group), cls)

    def find_steps(self) -> list[HierarchyStep]:
        """Return all steps. A step can make one filler a subclass of another, which yields further steps."""
        families = [family for family in self.families.values() if not family.by_filler]
        by_property = [step for steps in self.steps_of(families, _order_above(self.properties, families)) for step in steps]
        families = [family for family in self.families.values() if family.by_filler]
        order = _order_above(self.classes, families)
        found = dict(zip(families, self.steps_of(families, order), strict=True))
        new = [*chain.from_iterable(found.values()), *by_property]
        known = set(new)
        goals: list[Node] = []
        leads_on = any(map(self.leads_on, new))
        while leads_on and new:
            for step in new:
                self.link(self.classes, Above(step.lower), Below(step.upper))
            # Whatever becomes a subclass by steps is below the first of them without any, and what lies above the last is above it.
            goals += [Above(step.lower) for step in new]
            is_below, above = order.below(goals), _part_above(self.classes, [Below(step.upper) for step in new])
            changed = [each for each in families if not above.keys().isdisjoint(each.groups) and any(map(is_below, each.groups))]
            # The last round knows all earlier ones, and says in the fewest steps what all of them said.
            again = self.steps_of(changed, _order_above(self.classes, changed))
            found.update(zip(changed, again, strict=True))
            new = [step for step in chain.from_iterable(again) if step not in known]
            known.update(new)
        return [*chain.from_iterable(found.values()), *by_property]

    def leads_on(self, step: HierarchyStep) -> bool:
        """Return whether a step can make a class that is a filler, or is below one, a subclass of further classes."""
        nodes = map(self.of, self.members[step.upper])
        return any(node in self.fillers or any(up != Above(step.upper) for up in self.classes[node]) for node in nodes)

    def steps_of(self, families: Iterable[Family], order: Order[Node]) -> list[tuple[HierarchyStep, ...]]:
        """Return the steps in each of some families, by an order of their fillers or properties."""
        return [tuple(self.steps_in(family, order.covers(family.groups))) for family in families]

    def steps_in(self, family: Family, covers: Iterable[tuple[Node, Node]]) -> Iterator[HierarchyStep]:
        """Yield the steps of a family for pairs of a lower and an upper filler or property."""
        for below, above in covers:
            if below != above or self.says_something(family.groups[below]):
                yield family.step(below, above)

    def telling_families(self) -> dict[FamilyKey, Family]:
        """Return the families that can have steps."""
        found: dict[FamilyKey, Family] = {}
        for group in self.members:
            for key, own in family_keys(group):
                found.setdefault(key, Family(*key[:2])).groups[own] = group
        return {key: family for key, family in found.items() if self.is_telling(family)}

    def is_telling(self, family: Family) -> bool:
        """Return whether a family can have steps."""
        return len(family.groups) > 1 or any(map(self.says_something, family.groups.values()))

    def says_something(self, group: RestrictionGroup) -> bool:
        """Return whether the mutual subclass relation of a group's members matters; for a single member, only as a filler."""
        return self.is_shared(group) or any(self.of(node) in self.fillers for node in self.members[group])

    def is_shared(self, group: RestrictionGroup) -> bool:
        return len(self.members[group]) > 1


def is_followed(step: HierarchyStep, members: int) -> bool:
    """Return whether rules have to follow a step.

    A member of a restriction to a value has the value, and so belongs to the restrictions above by the rules for sub-properties and
    values.

    Args:
        step: The step.
        members: How many restrictions its lower group has.
    """
    return step.lower.kind is not HasValue and (step.lower != step.upper or members > 1)


def family_keys(group: RestrictionGroup) -> Iterator[tuple[FamilyKey, Term]]:
    """Yield the families of a group, each with the filler or property by which the group is compared with others."""
    if group.kind in _BY_FILLER:
        yield (group.kind, True, group.property), group.filler
    if group.kind in _BY_PROPERTY:
        yield (group.kind, False, group.filler), group.property


def _order_above(graph: Graph, families: Iterable[Family]) -> Order[Node]:
    """Return the order of the fillers or properties of some families, and of what is above them."""
    return Order(_part_above(graph, [node for family in families for node in family.groups]))


def _part_above(graph: Graph, starts: Iterable[Node]) -> dict[Node, Iterable[Node]]:
    """Return some nodes of a graph and those above them, each with the next ones."""
    found: dict[Node, Iterable[Node]] = {}
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if node not in found:
            above = found[node] = graph.get(node, ())
            waiting.extend(above)
    return found


def edges_of(axiom: Axiom) -> tuple[bool, tuple[tuple[Term, Term], ...]]:
    """Return whether an axiom orders classes rather than properties, and its pairs of a lower and an upper one."""
    match axiom:
        case SubClassOf(lower, upper):
            return True, ((lower, upper),)
        case EquivalentClasses(first, second):
            return True, ((first, second), (second, first))
        case SubPropertyOf(lower, upper):
            return False, ((lower, upper),)
        case EquivalentProperties(first, second):
            return False, ((first, second), (second, first))
    return False, ()


def operand_edges(node: Term, expression: ClassExpression) -> tuple[tuple[Term, Term], ...]:
    """Return the pairs of a lower and an upper class that an expression adds by its operands."""
    match expression:
        case IntersectionOf(operands):
            return tuple((node, operand) for operand in operands)
        case UnionOf((operand,)):
            return (operand, node), (node, operand)
        case UnionOf(operands):
            return tuple((operand, node) for operand in operands)
    return ()


def declaration_edges(cls: Term) -> tuple[tuple[Term, Term], ...]:
    """Return the pairs of a lower and an upper class that the declaration of a class adds."""
    return (cls, cls), (cls, OWL.Thing), (OWL.Nothing, cls)


def _one_name_for_all(axioms: Iterable[SameNames]) -> dict[Term, Term]:
    """Return, for each name that is equal to others, the representative of all of them."""
    components = connected_components((axiom.first, axiom.second) for axiom in axioms)
    return {name: one for one, names in components.items() for name in names}
