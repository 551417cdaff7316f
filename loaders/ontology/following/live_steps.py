"""The steps of a hierarchy of restrictions while the order of classes and properties changes.

Adding or removing an edge affects the groups of a family that are below it, if others of the family are above it. Steps are found
again for these only; a step that comes or goes is an edge between classes itself, and concerns further groups. After a removal, all
steps that the edge may support are removed before they are found again, because steps can support each other in a cycle. Adding or
removing a restriction adds or removes edges to and from its group; if it is the only one of the group, the group's families change,
too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from kg_reasoner.loaders.ontology.axioms import SubClassOf, SubPropertyOf
from kg_reasoner.loaders.ontology.following.reach import OrderGraph, above, groups_below, is_harmless
from kg_reasoner.loaders.ontology.ontology import Ontology
from kg_reasoner.loaders.ontology.order import Order
from kg_reasoner.loaders.ontology.restriction_hierarchy import (
    Above,
    Below,
    Family,
    FamilyKey,
    Graph,
    HierarchyStep,
    Members,
    Node,
    RestrictionGroup,
    RestrictionHierarchy,
    declaration_edges,
    edges_of,
    family_keys,
    is_followed,
    operand_edges,
)
from kg_reasoner.terms import Term

__all__ = ["LiveSteps"]

_MOST: Final = 10_000
"""The maximal number of fillers and properties that are examined for one change."""
_Edge = tuple[bool, Node, Node]
"""Whether it is one between classes rather than properties, its lower and its upper end."""
_Starts = dict[Family, dict[Node, None]]
"""Fillers or properties whose steps upwards can change."""


class _TooMany(Exception):
    """A change affects so much that it is better to translate everything again."""


class LiveSteps:
    """The steps of a hierarchy, kept up to date.

    Args:
        hierarchy: The hierarchy, which is changed. Its steps stay those of the beginning.
    """

    def __init__(self, hierarchy: RestrictionHierarchy) -> None:
        self._hierarchy = hierarchy
        self._chosen: dict[bool, dict[Node, list[Family]]] = {
            sort: _by_node(hierarchy.families.values(), sort) for sort in (True, False)
        }
        self._steps: dict[tuple[Family, Node], tuple[HierarchyStep, ...]] = {}
        """The steps upwards from each filler or property of a family."""
        self._touching: dict[RestrictionGroup, dict[HierarchyStep, None]] = defaultdict(dict)
        self._before: dict[tuple[Family, Node], tuple[HierarchyStep, ...]] = {}
        """Those that have been looked at again since the last call of `moved`, as they were before."""
        self._nodes_before: dict[RestrictionGroup, tuple[Term, ...]] = {}
        """The nodes of the groups that have others since then."""
        self._alone: dict[FamilyKey, tuple[Node, RestrictionGroup]] = {
            key: (own, group) for group in hierarchy.members for key, own in family_keys(group) if key not in hierarchy.families
        }
        """The only groups of families that cannot have steps."""
        self._looked_at = 0
        _drop_idle(hierarchy.classes, {group for family in hierarchy.families.values() for group in family.groups.values()})
        self._graphs = {True: OrderGraph(hierarchy.classes), False: OrderGraph(hierarchy.properties)}
        for step in hierarchy.all_steps:
            place = self._place_of(step)
            self._steps[place] = (*self._steps.get(place, ()), step)
            self._link(step)

    def touching(self, group: RestrictionGroup) -> Collection[HierarchyStep]:
        """Return the steps to and from a group."""
        return self._touching.get(group, {})

    def moved(self) -> tuple[set[HierarchyStep], set[HierarchyStep], Members]:
        """Return the steps that rules no longer have to follow since the last call, those that they have to follow now, and the
        former nodes of groups with other ones.
        """
        members, former = self._hierarchy.members, self._nodes_before
        before = {
            step
            for steps in self._before.values()
            for step in steps
            if is_followed(step, len(former[step.lower] if step.lower in former else members.get(step.lower, ())))
        }
        steps = (step for place in self._before for step in self._steps.get(place, ()))
        now = {step for step in steps if is_followed(step, len(members.get(step.lower, ())))}
        self._nodes_before, self._before = {}, {}
        return before - now, now - before, former

    # --- restrictions that come and go

    def exchange(self, unit: Ontology, declared: Iterable[Term], change: int) -> bool:
        """Add (1) or remove (-1) the expressions and axioms of a unit, and the declarations of some anonymous classes. Return False
        if that has more effects than are followed, as for `change`.
        """
        expressions = [(node, expression) for node, found in unit.expressions.items() for expression in found]
        groups = ((node, self._hierarchy.group_of(expression)) for node, expression in expressions)
        restrictions = [(node, group) for node, group in groups if group is not None]
        edges = [(of_classes, edge) for of_classes, found in map(edges_of, unit.axioms) for edge in found]
        edges += [(True, edge) for node, expression in expressions for edge in operand_edges(node, expression)]
        edges += [(True, edge) for cls in declared for edge in declaration_edges(cls)]
        if change > 0 and not self._add_restrictions(restrictions):
            return False
        if not all(self.change(of_classes, lower, upper, change) for of_classes, (lower, upper) in edges):
            return False
        return change > 0 or self._remove_restrictions(restrictions)

    def _add_restrictions(self, restrictions: Collection[tuple[Term, RestrictionGroup]]) -> bool:
        """Add restrictions. Return False if that has more effects than are followed, as for `change`."""
        for node, group in restrictions:
            self._note_nodes(group)
            self._hierarchy.join(node, group)
        groups = self._hierarchy.in_order({group for _, group in restrictions})
        for group in groups:
            for key, own in family_keys(group):
                self._enter(key, own, group)
        edges = _edges_of_restrictions(restrictions)
        if not all(self.change(True, lower, upper, 1) for lower, upper in edges if not self._graphs[True].has(lower, upper)):
            return False
        return self._find_around(groups)

    def _remove_restrictions(self, restrictions: Collection[tuple[Term, RestrictionGroup]]) -> bool:
        """Remove restrictions. Return False if that has more effects than are followed, as for `change`."""
        edges = _edges_of_restrictions(restrictions)
        if not all(self.change(True, lower, upper, -1) for lower, upper in edges if self._graphs[True].has(lower, upper)):
            return False
        for node, group in restrictions:
            self._note_nodes(group)
            self._hierarchy.leave(node, group)
        return self._find_around({group: None for _, group in restrictions})

    def _note_nodes(self, group: RestrictionGroup) -> None:
        """Note the nodes of a group that gets other ones."""
        self._nodes_before.setdefault(group, tuple(self._hierarchy.members.get(group, ())))

    def _enter(self, key: FamilyKey, own: Node, group: RestrictionGroup) -> None:
        """Add a group to one of its families."""
        families = self._hierarchy.families
        family = families.get(key)
        if family is None:
            alone = self._alone.pop(key, (own, group))
            family = Family(*key[:2], dict([alone]))
            family.groups[own] = group
            if not self._hierarchy.is_telling(family):
                self._alone[key] = own, group
                return
            families[key] = family
            for other, member in family.groups.items():
                self._choose(family, other, member)
        elif own not in family.groups:
            family.groups[own] = group
            self._choose(family, own, group)

    def _choose(self, family: Family, own: Node, group: RestrictionGroup) -> None:
        """Follow the order of a filler or property, and what leads to and from its group."""
        self._chosen[family.by_filler].setdefault(own, []).append(family)
        graph = self._graphs[True]
        for lower, upper in _edges_of_restrictions((node, group) for node in self._hierarchy.members[group]):
            if not graph.has(lower, upper):
                graph.link(lower, upper)

    def _find_around(self, groups: Iterable[RestrictionGroup]) -> bool:
        """Find the steps of some groups again, and those to them. Groups without restrictions leave their families."""
        starts: _Starts = {}
        self._looked_at = 0
        try:
            for group in groups:
                for key, own in family_keys(group):
                    if (family := self._hierarchy.families.get(key)) is not None:
                        self._forget(family, own, group, starts)
                    elif group not in self._hierarchy.members:
                        self._alone.pop(key, None)
            self._find(starts)
        except _TooMany:
            return False
        return True

    def _forget(self, family: Family, own: Node, group: RestrictionGroup, starts: _Starts) -> None:
        """Forget the steps from a group, and add those that may have steps to it to `starts`."""
        below = groups_below(self._graphs[family.by_filler], self._chosen[family.by_filler], {family: None}, own)
        if below is None:
            raise _TooMany
        self._ask(((family, start) for start in below[family]), starts)
        self._ask([(family, own)], starts)
        for step in self._steps.pop((family, own), ()):
            self._unlink(step)
        if group in self._hierarchy.members:
            return
        del starts[family][own]
        del family.groups[own]
        families = self._chosen[family.by_filler][own]
        families.remove(family)
        if not families:
            del self._chosen[family.by_filler][own]

    # --- edges that come and go

    def change(self, of_classes: bool, lower: Node, upper: Node, change: int) -> bool:
        """Add (1) or remove (-1) an edge.

        Return False if that has more effects than are followed; then this object is of no further use.
        """
        graph = self._graphs[of_classes]
        if change < 0:
            graph.unlink(lower, upper)
        is_safe = graph.has(lower, upper) or is_harmless(graph, self._chosen[of_classes], lower, upper, change)
        if change > 0 and is_safe:
            graph.link(lower, upper)
        if is_safe:
            return True
        self._looked_at = 0
        try:
            starts: _Starts = {}
            if change > 0:
                self._spread((of_classes, lower, upper), starts)
                graph.link(lower, upper)
            else:
                self._withdraw((of_classes, lower, upper), starts)
            self._find(starts)
        except _TooMany:
            return False
        return True

    def _spread(self, edge: _Edge, starts: _Starts) -> list[tuple[Family, Node]]:
        """Add the fillers or properties to `starts` that may have others above them because of an edge. Return the added ones."""
        of_classes, lower, upper = edge
        graph, chosen = self._graphs[of_classes], self._chosen[of_classes]
        families = {family: None for end in _above(graph.above, [upper]) for family in chosen.get(end, ())}
        below = groups_below(graph, chosen, families, lower) if families else {}
        if below is None:
            raise _TooMany
        return self._ask(((family, start) for family, nodes in below.items() for start in nodes), starts)

    def _ask(self, places: Iterable[tuple[Family, Node]], starts: _Starts) -> list[tuple[Family, Node]]:
        """Add fillers or properties to `starts`. Return the added ones."""
        found = [(family, start) for family, start in places if start not in starts.get(family, ())]
        self._looked_at += len(found)
        if self._looked_at > _MOST:
            raise _TooMany
        for family, start in found:
            starts.setdefault(family, {})[start] = None
            self._before.setdefault((family, start), self._steps.get((family, start), ()))
        return found

    def _withdraw(self, edge: _Edge, starts: _Starts) -> None:
        """Remove all steps that a removed edge may have supported."""
        waiting = [edge]
        while waiting:
            for place in self._spread(waiting.pop(), starts):
                waiting.extend((True, Above(step.lower), Below(step.upper)) for step in self._steps.get(place, ()))
        for family, nodes in starts.items():
            for node in nodes:
                for step in self._steps.pop((family, node), ()):
                    self._unlink(step)

    def _find(self, starts: _Starts) -> None:
        """Find the steps upwards again."""
        linked: dict[HierarchyStep, None] = {}
        while True:
            for family, nodes in starts.items():
                linked.update((step, None) for node in nodes for step in self._steps.get((family, node), ()))
            found = {(family, node): steps for family in starts for node, steps in self._covers(family, starts[family]).items()}
            new = [step for steps in found.values() for step in steps if step not in linked]
            if not new:
                break
            for step in new:
                self._spread((True, Above(step.lower), Below(step.upper)), starts)
                self._link(step)
                linked[step] = None
        # The last round knew all steps, and says in the fewest what all of them say.
        kept = {step for steps in found.values() for step in steps}
        for step in linked:
            if step not in kept:
                self._unlink(step)
        for family, nodes in starts.items():
            for node in nodes:
                self._steps[family, node] = found.get((family, node), ())

    def _covers(self, family: Family, starts: Mapping[Node, None]) -> dict[Node, tuple[HierarchyStep, ...]]:
        """Return the steps of a family upwards from some of its fillers or properties."""
        graph = self._graphs[family.by_filler].above
        nodes = _above(graph, starts)
        order = Order({node: graph.get(node, ()) for node in nodes})
        groups = [family.groups[node] for node in nodes if node in family.groups]
        chosen = [group.filler if family.by_filler else group.property for group in self._hierarchy.in_order(groups)]
        covers = (pair for pair in order.covers(chosen) if pair[0] in starts)
        found: dict[Node, tuple[HierarchyStep, ...]] = {}
        for step in self._hierarchy.steps_in(family, covers):
            node = _start_of(step)
            found[node] = (*found.get(node, ()), step)
        return found

    def _place_of(self, step: HierarchyStep) -> tuple[Family, Node]:
        by_filler = isinstance(step.reason, SubClassOf)
        shared = step.lower.property if by_filler else step.lower.filler
        return self._hierarchy.families[step.lower.kind, by_filler, shared], _start_of(step)

    def _link(self, step: HierarchyStep) -> None:
        self._graphs[True].link(Above(step.lower), Below(step.upper))
        if is_followed(step, len(self._hierarchy.members[step.lower])):
            self._touching[step.lower][step] = self._touching[step.upper][step] = None

    def _unlink(self, step: HierarchyStep) -> None:
        self._graphs[True].unlink(Above(step.lower), Below(step.upper))
        for group in (step.lower, step.upper):
            self._touching[group].pop(step, None)


def _edges_of_restrictions(restrictions: Iterable[tuple[Term, RestrictionGroup]]) -> Iterator[tuple[Node, Node]]:
    """Yield the edges between restrictions and what is above and below their groups."""
    for node, group in restrictions:
        yield node, Above(group)
        yield Below(group), node


def _start_of(step: HierarchyStep) -> Node:
    """Return the filler or property that a step leads up from."""
    assert isinstance(step.reason, SubClassOf | SubPropertyOf)
    return step.reason.sub


def _by_node(families: Iterable[Family], by_filler: bool) -> dict[Node, list[Family]]:
    """Return the families of one sort by their fillers, or by their properties."""
    found: dict[Node, list[Family]] = defaultdict(list)
    for family in families:
        if family.by_filler == by_filler:
            for node in family.groups:
                found[node].append(family)
    return dict(found)


def _above(graph: Graph, starts: Iterable[Node]) -> set[Node]:
    found = above(graph, starts)
    if found is None:
        raise _TooMany
    return found


def _drop_idle(graph: Graph, groups: Collection[RestrictionGroup]) -> None:
    """Remove all steps, and the nodes above and below other groups than some, to and from which no step will ever lead."""
    for node in list(graph):
        if isinstance(node, Above) or (isinstance(node, Below) and node.group not in groups):
            del graph[node]
            continue
        for idle in [higher for higher in graph[node] if isinstance(higher, Above) and higher.group not in groups]:
            del graph[node][idle]
        if not graph[node]:
            del graph[node]
