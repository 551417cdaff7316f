"""The steps of a hierarchy of restrictions while the order of classes and properties changes.

An edge more or less concerns the groups of a family that are below it, if others of the family are above it. Steps are found again
for these only; a step that comes or goes is an edge between classes itself, and concerns further groups. After a removal, all steps
that the edge may support are removed before they are found again, because steps can support each other in a circle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from kg_reasoner.loaders.ontology.axioms import SubClassOf, SubPropertyOf
from kg_reasoner.loaders.ontology.order import Order
from kg_reasoner.loaders.ontology.reach import Chosen, above, is_harmless, leading_to
from kg_reasoner.loaders.ontology.restriction_hierarchy import (
    Above,
    Below,
    Family,
    Graph,
    HierarchyStep,
    Node,
    RestrictionGroup,
    RestrictionHierarchy,
)
from kg_reasoner.terms import Term

__all__ = ["LiveSteps"]

_MOST: Final = 10_000
"""More fillers and properties than this are not looked at for one change."""
_Edge = tuple[bool, Node, Node]
"""Whether it is one between classes rather than properties, its lower and its upper end."""
_Starts = dict[Family, dict[Node, None]]
"""Fillers or properties whose steps upwards can change."""


class _TooMany(Exception):
    """A change concerns so much that everything is better translated again."""


class LiveSteps:
    """The steps of a hierarchy, kept up to date.

    Args:
        hierarchy: The hierarchy. Its graphs are changed; its other attributes stay those of the beginning.
    """

    def __init__(self, hierarchy: RestrictionHierarchy) -> None:
        self._hierarchy = hierarchy
        self._graphs = {True: hierarchy.classes, False: hierarchy.properties}
        self._chosen: dict[bool, Chosen] = {sort: _by_node(hierarchy.families.values(), sort) for sort in (True, False)}
        self._steps: dict[tuple[Family, Node], tuple[HierarchyStep, ...]] = {}
        """The steps upwards from each filler or property of a family."""
        self._touching: dict[RestrictionGroup, dict[HierarchyStep, None]] = defaultdict(dict)
        self._before: dict[tuple[Family, Node], tuple[HierarchyStep, ...]] = {}
        """Those that have been looked at again since the last call of `moved`, as they were before."""
        self._looked_at = 0
        _drop_idle(hierarchy.classes, {group for family in hierarchy.families.values() for group in family.groups.values()})
        for step in hierarchy.all_steps:
            place = self._place_of(step)
            self._steps[place] = (*self._steps.get(place, ()), step)
            self._link(step)

    def touching(self, group: RestrictionGroup) -> Collection[HierarchyStep]:
        """Return the steps to and from a group."""
        return self._touching.get(group, {})

    def moved(self) -> tuple[set[HierarchyStep], set[HierarchyStep]]:
        """Return the steps that are gone since the last call, and those that are new."""
        before = {step for steps in self._before.values() for step in steps}
        now = {step for place in self._before for step in self._steps.get(place, ())}
        self._before = {}
        return before - now, now - before

    def change(self, of_classes: bool, lower: Term, upper: Term, change: int) -> bool:
        """Add (1) or remove (-1) an edge.

        Return False if that has more effects than are followed; then this object is of no further use.
        """
        graph, one_name = self._graphs[of_classes], self._hierarchy.one_name
        lower, upper = one_name.get(lower, lower), one_name.get(upper, upper)
        if change < 0:
            _unlink(graph, lower, upper)
        is_known = upper in graph.get(lower, ())
        is_safe = is_known or is_harmless(graph, self._chosen[of_classes], lower, upper, change)
        if change > 0 and is_safe:
            RestrictionHierarchy.link(graph, lower, upper)
        if is_safe:
            return True
        self._looked_at = 0
        try:
            starts: _Starts = {}
            if change > 0:
                self._spread((of_classes, lower, upper), starts)
                RestrictionHierarchy.link(graph, lower, upper)
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
        families = {family: None for end in _above(graph, [upper]) for family in chosen.get(end, ())}
        asked = {start: None for family in families for start in family.groups if start not in starts.get(family, ())}
        self._looked_at += len(asked)
        below = leading_to(graph, asked, lower) if self._looked_at <= _MOST else None
        if below is None:
            raise _TooMany
        found = [
            (family, start)
            for family in families
            for start in family.groups
            if start in below and start not in starts.get(family, ())
        ]
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
        graph = self._graphs[family.by_filler]
        nodes = _above(graph, starts)
        order = Order({node: graph.get(node, ()) for node in nodes})
        covers = (pair for pair in order.covers([node for node in family.groups if node in nodes]) if pair[0] in starts)
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
        RestrictionHierarchy.link(self._hierarchy.classes, Above(step.lower), Below(step.upper))
        if self._hierarchy.is_followed(step):
            self._touching[step.lower][step] = self._touching[step.upper][step] = None

    def _unlink(self, step: HierarchyStep) -> None:
        _unlink(self._hierarchy.classes, Above(step.lower), Below(step.upper))
        for group in (step.lower, step.upper):
            self._touching[group].pop(step, None)


def _start_of(step: HierarchyStep) -> Node:
    """Return the filler or property that a step leads up from."""
    assert isinstance(step.reason, SubClassOf | SubPropertyOf)
    return step.reason.sub


def _by_node(families: Iterable[Family], by_filler: bool) -> Chosen:
    """Return the families of one sort by their fillers, or by their properties."""
    found: dict[Node, list[Family]] = defaultdict(list)
    for family in families:
        if family.by_filler == by_filler:
            for node in family.groups:
                found[node].append(family)
    return found


def _above(graph: Graph, starts: Iterable[Node]) -> set[Node]:
    found = above(graph, starts)
    if found is None:
        raise _TooMany
    return found


def _unlink(graph: Graph, lower: Node, upper: Node) -> None:
    """Remove an edge once."""
    higher = graph[lower]
    higher[upper] -= 1
    if not higher[upper]:
        del higher[upper]
        if not higher:
            del graph[lower]


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
