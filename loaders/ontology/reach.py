"""Whether a change of the order of classes or properties can change the hierarchy of restrictions.

The steps of the hierarchy depend on which of the *chosen* nodes, the fillers and properties of restrictions of one family, are
above each other. An edge matters only if it leads from at or below one of them to at or above another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from typing import Final

from kg_reasoner.loaders.ontology.hierarchy import Above, Below, Graph, Hierarchy, Node, RestrictionGroup
from kg_reasoner.terms import Term

__all__ = ["Reach"]

_FARTHEST: Final = 5_000
"""More nodes than this are not searched."""
_MOST_STARTS: Final = 100
"""More nodes than this are not searched one by one."""


class Reach:
    """The graphs of a hierarchy, kept up to date.

    Args:
        hierarchy: The hierarchy. Its graphs are changed.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._classes, self._properties = hierarchy.classes, hierarchy.properties
        self._one_name = hierarchy.one_name
        self._fillers = _families(hierarchy.telling(hierarchy.by_filler).values())
        self._chosen_properties = _families(hierarchy.telling(hierarchy.by_property).values())
        _drop_idle(self._classes, {group for step in hierarchy.all_steps for group in (step.lower, step.upper)})
        for step in hierarchy.all_steps:
            hierarchy.link(self._classes, Above(step.lower), Below(step.upper))

    def change(self, of_classes: bool, lower: Term, upper: Term, change: int) -> bool:
        """Add (1) or remove (-1) an edge. Return whether the steps of the hierarchy are certainly the same as before."""
        graph, chosen = (self._classes, self._fillers) if of_classes else (self._properties, self._chosen_properties)
        lower, upper = self._one_name.get(lower, lower), self._one_name.get(upper, upper)
        if change > 0:
            is_safe = self._is_safe(graph, chosen, lower, upper, change)
            Hierarchy.link(graph, lower, upper)
            return is_safe
        above = graph[lower]
        above[upper] -= 1
        if above[upper]:
            return True
        del above[upper]
        if not above:
            del graph[lower]
        return self._is_safe(graph, chosen, lower, upper, change)

    def _is_safe(
        self, graph: Graph, chosen: Mapping[Node, list[Mapping[Node, RestrictionGroup]]], lower: Term, upper: Term, change: int
    ) -> bool:
        """Return whether it makes no difference to the chosen nodes whether a graph has an edge, which it has not.

        A removed edge may be what steps come from, so that these do not replace it.
        """
        if lower == upper:
            return lower not in chosen
        by_steps = change > 0
        ways = _beyond(graph, lower, by_steps=by_steps)
        if ways is None:
            return False
        if upper in ways:
            return True
        above = _above(graph, [upper])
        if above is None:
            return False
        pairs: dict[Node, list[Node]] = defaultdict(list)
        for end in above - ways:  # what is above the lower one anyway is above all that the edge reaches
            for family in chosen.get(end, ()):
                if len(family) > _FARTHEST:
                    return False
                for start in family:
                    if not self._is_known(graph, start, end):
                        pairs[start].append(end)
        below = _above(graph, pairs)
        if below is None or len(pairs) > _MOST_STARTS:
            return below is not None and lower not in below
        return lower not in below or all(self._reaches(graph, start, lower, ends, by_steps) for start, ends in pairs.items())

    @staticmethod
    def _reaches(graph: Graph, start: Node, lower: Node, ends: Iterable[Node], by_steps: bool) -> bool:
        """Return whether some ends are above a node anyway, or the edge from the lower one is not."""
        found = _above(graph, [start])
        if found is None or lower not in found:
            return found is not None
        anyway = _beyond(graph, start, by_steps=by_steps)
        return anyway is not None and anyway.issuperset(ends)

    @staticmethod
    def _is_known(graph: Graph, start: Node, end: Node) -> bool:
        """Return whether one node leads directly to another one."""
        return end in graph.get(start, ())


def _families(groups: Iterable[Mapping[Node, RestrictionGroup]]) -> Mapping[Node, list[Mapping[Node, RestrictionGroup]]]:
    """Return the families by their chosen nodes."""
    found: dict[Node, list[Mapping[Node, RestrictionGroup]]] = defaultdict(list)
    for family in groups:
        for node in family:
            found[node].append(family)
    return found


def _drop_idle(graph: Graph, groups: Container[RestrictionGroup]) -> None:
    """Remove the nodes above and below other groups than some, which lead nowhere, and to which nothing leads."""
    for node in list(graph):
        if isinstance(node, Below) and node.group not in groups:
            del graph[node]
            continue
        idle = [above for above in graph[node] if isinstance(above, Above) and above.group not in groups]
        for above in idle:
            del graph[node][above]
        if not graph[node]:
            del graph[node]


def _beyond(graph: Graph, node: Node, *, by_steps: bool) -> set[Node] | None:
    """Return the nodes above a node, with itself only if it is on a cycle; None if there are too many."""
    return _above(graph, graph.get(node, ()), by_steps=by_steps)


def _above(graph: Graph, starts: Iterable[Node], *, by_steps: bool = True) -> set[Node] | None:
    """Return some nodes and those above them, by steps of the hierarchy or without these; None if there are too many."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        if len(found) > _FARTHEST:
            return None
        node = waiting.pop()
        if not by_steps and isinstance(node, Above):
            continue  # only steps lead on from here
        for above in graph.get(node, ()):
            if above not in found:
                found.add(above)
                waiting.append(above)
    return found
