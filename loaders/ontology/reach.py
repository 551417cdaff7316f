"""What lies above a node of a hierarchy's graphs, and whether an edge more or less changes the order of the chosen nodes.

The steps of the hierarchy depend on which of the *chosen* nodes, the fillers and properties of restrictions of one family, are
above each other. An edge matters only if it leads from at or below one of them to at or above another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from kg_reasoner.graphs import reachable
from kg_reasoner.loaders.ontology.restriction_hierarchy import Above, Family, Graph, Node

__all__ = ["Chosen", "above", "is_harmless", "leading_to"]

_FARTHEST: Final = 5_000
"""More nodes than this are not searched."""
_MOST_STARTS: Final = 100
"""From more nodes than this it is not searched one by one."""

Chosen = Mapping[Node, list[Family]]
"""The families of each chosen node."""


def is_harmless(graph: Graph, chosen: Chosen, lower: Node, upper: Node, change: int) -> bool:
    """Return whether it certainly makes no difference to the chosen nodes whether a graph has an edge, which it has not.

    A removed edge (-1) may be what steps come from, so that these do not replace it.
    """
    if lower == upper:
        return lower not in chosen
    by_steps = change > 0
    ways = _beyond(graph, lower, by_steps=by_steps)
    if ways is None:
        return False
    if upper in ways:
        return True
    ends = above(graph, [upper])
    if ends is None:
        return False
    pairs: dict[Node, list[Node]] = defaultdict(list)
    for end in ends - ways:  # what is above the lower one anyway is above all that the edge reaches
        for family in chosen.get(end, ()):
            if len(family.groups) > _FARTHEST:
                return False
            for start in family.groups:
                if not _is_known(graph, start, end):
                    pairs[start].append(end)
    concerned = leading_to(graph, pairs, lower)
    if concerned is None or len(concerned) > _MOST_STARTS:
        return False
    return all(_reaches(graph, start, pairs[start], by_steps=by_steps) for start in concerned)


def _reaches(graph: Graph, start: Node, ends: Iterable[Node], *, by_steps: bool) -> bool:
    """Return whether some ends are above a node."""
    anyway = _beyond(graph, start, by_steps=by_steps)
    return anyway is not None and anyway.issuperset(ends)


def leading_to(graph: Graph, starts: Collection[Node], goal: Node) -> set[Node] | None:
    """Return those of some nodes that a node is above, with itself; None if too many nodes are above them."""
    nodes = above(graph, starts)
    if nodes is None or goal not in nodes:
        return None if nodes is None else set()
    below: dict[Node, list[Node]] = defaultdict(list)
    for node in nodes:
        for higher in graph.get(node, ()):
            below[higher].append(node)
    return reachable([goal], lambda node: below.get(node, ())).intersection(starts)


def _is_known(graph: Graph, start: Node, end: Node) -> bool:
    """Return whether one node leads directly to another one."""
    return end in graph.get(start, ())


def _beyond(graph: Graph, node: Node, *, by_steps: bool) -> set[Node] | None:
    """Return the nodes above a node, with itself only if it is on a cycle; None if there are too many."""
    return above(graph, graph.get(node, ()), by_steps=by_steps)


def above(graph: Graph, starts: Iterable[Node], *, by_steps: bool = True) -> set[Node] | None:
    """Return some nodes and those above them, by steps of the hierarchy or without these; None if there are too many."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        if len(found) > _FARTHEST:
            return None
        node = waiting.pop()
        if not by_steps and isinstance(node, Above):
            continue  # only steps lead on from here
        for higher in graph.get(node, ()):
            if higher not in found:
                found.add(higher)
                waiting.append(higher)
    return found
