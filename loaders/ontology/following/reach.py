"""The nodes above and below a node of a hierarchy's graphs, and whether adding or removing an edge reorders chosen nodes.

The steps of the hierarchy depend on which of the *chosen* nodes, the fillers and properties of restrictions of one family, are
above each other. An edge matters only if it leads from at or below one of them to at or above another. What is below a node is
found from the node: a family may have many groups, of which few are below it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from kg_reasoner.graphs import reachable
from kg_reasoner.loaders.ontology.restriction_hierarchy import Above, Family, Graph, Node, RestrictionHierarchy

__all__ = ["Chosen", "OrderGraph", "above", "groups_below", "is_harmless"]

_FARTHEST: Final = 5_000
"""The maximal number of nodes that are searched."""
_MOST_STARTS: Final = 100
"""From more nodes than this it is not searched one by one."""

Chosen = Mapping[Node, list[Family]]
"""The families of each chosen node."""


class OrderGraph:
    """A graph of a hierarchy whose edges come and go.

    Args:
        above: Its edges, which it changes.

    Attributes:
        above: The edges from nodes to those above them, each with the number of its reasons.
    """

    def __init__(self, above: Graph) -> None:
        self.above = above
        self._below: defaultdict[Node, dict[Node, None]] = defaultdict(dict)
        """The same edges from nodes to those below them."""
        for lower, higher in above.items():
            for upper in higher:
                self._below[upper][lower] = None

    def link(self, lower: Node, upper: Node) -> None:
        """Add an edge."""
        RestrictionHierarchy.link(self.above, lower, upper)
        self._below[upper][lower] = None

    def unlink(self, lower: Node, upper: Node) -> None:
        """Remove an edge once."""
        higher = self.above[lower]
        higher[upper] -= 1
        if not higher[upper]:
            del higher[upper]
            if not higher:
                del self.above[lower]
            del self._below[upper][lower]

    def has(self, lower: Node, upper: Node) -> bool:
        """Return whether there is an edge."""
        return upper in self.above.get(lower, ())

    def at_or_below(self, node: Node) -> set[Node] | None:
        """Return a node and those below it, or None if there are too many."""
        return _search(self._below, [node])


def is_harmless(graph: OrderGraph, chosen: Chosen, lower: Node, upper: Node, change: int) -> bool:
    """Return whether it certainly makes no difference to the chosen nodes whether a graph has an edge, which it has not.

    A removed edge (-1) may be what steps come from, so that these do not replace it.
    """
    if lower == upper:
        return lower not in chosen
    by_steps = change > 0
    ways = _beyond(graph.above, lower, by_steps=by_steps)
    if ways is None:
        return False
    if upper in ways:
        return True
    ends = above(graph.above, [upper])
    if ends is None:
        return False
    concerned = ends - ways  # what is above the lower one anyway is above all that the edge reaches
    families = {family: None for end in concerned for family in chosen.get(end, ())}
    below = groups_below(graph, chosen, families, lower) if families else {}
    if below is None:
        return False
    pairs: dict[Node, list[Node]] = defaultdict(list)
    for family, starts in below.items():
        shared = [end for end in concerned if end in family.groups]
        for start in starts:
            pairs[start] += [end for end in shared if not graph.has(start, end)]
    asked = [start for start, wanted in pairs.items() if wanted]
    if len(asked) > _MOST_STARTS:
        return False
    return all(_reaches(graph.above, start, pairs[start], by_steps=by_steps) for start in asked)


def groups_below(graph: OrderGraph, chosen: Chosen, families: Mapping[Family, None], node: Node) -> dict[Family, list[Node]] | None:
    """Return the fillers or properties of some families at or below a node; None if too much has to be searched."""
    below = graph.at_or_below(node)
    if below is None:
        below = _leading_to(graph.above, {start: None for family in families for start in family.groups}, node)
    if below is None:
        return None
    found: dict[Family, list[Node]] = {family: [] for family in families}
    for start in below:
        for family in chosen.get(start, ()):
            if family in families:
                found[family].append(start)
    return found


def _reaches(graph: Graph, start: Node, ends: Iterable[Node], *, by_steps: bool) -> bool:
    """Return whether some ends are above a node."""
    anyway = _beyond(graph, start, by_steps=by_steps)
    return anyway is not None and anyway.issuperset(ends)


def _leading_to(graph: Graph, starts: Collection[Node], goal: Node) -> set[Node] | None:
    """Return those of some nodes that a node is above, with itself; None if too many nodes are above them."""
    nodes = above(graph, starts) if len(starts) <= _FARTHEST else None
    if nodes is None or goal not in nodes:
        return None if nodes is None else set()
    below: dict[Node, list[Node]] = defaultdict(list)
    for node in nodes:
        for higher in graph.get(node, ()):
            below[higher].append(node)
    return reachable([goal], lambda node: below.get(node, ())).intersection(starts)


def _beyond(graph: Graph, node: Node, *, by_steps: bool) -> set[Node] | None:
    """Return the nodes above a node, with itself only if it is on a cycle; None if there are too many."""
    return above(graph, graph.get(node, ()), by_steps=by_steps)


def above(graph: Graph, starts: Iterable[Node], *, by_steps: bool = True) -> set[Node] | None:
    """Return some nodes and those above them, by steps of the hierarchy or without these; None if there are too many."""
    return _search(graph, starts, by_steps=by_steps)


def _search(edges: Mapping[Node, Iterable[Node]], starts: Iterable[Node], *, by_steps: bool = True) -> set[Node] | None:
    """Return some nodes and those that edges lead to; None if there are too many."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        if len(found) > _FARTHEST:
            return None
        node = waiting.pop()
        if not by_steps and isinstance(node, Above):
            continue  # only steps lead on from here
        for other in edges.get(node, ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found
