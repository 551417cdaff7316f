"""What lies above a node of a hierarchy's graphs, and whether an edge more or less changes the order of the chosen nodes.

The steps of the hierarchy depend on which of the *chosen* nodes, the fillers and properties of restrictions of one family, are
above each other. An edge matters only if it leads from at or below one of them to at or above another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from kg_reasoner.loaders.ontology.hierarchy import Above, Family, Graph, Node

__all__ = ["Chosen", "above", "is_harmless"]

_FARTHEST: Final = 5_000
"""More nodes than this are not searched."""
_MOST_STARTS: Final = 100
"""More nodes than this are not searched one by one."""

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
    below = above(graph, pairs)
    if below is None or len(pairs) > _MOST_STARTS:
        return below is not None and lower not in below
    return lower not in below or all(_reaches(graph, start, lower, ends, by_steps) for start, ends in pairs.items())


def _reaches(graph: Graph, start: Node, lower: Node, ends: Iterable[Node], by_steps: bool) -> bool:
    """Return whether some ends are above a node anyway, or the edge from the lower one is not."""
    found = above(graph, [start])
    if found is None or lower not in found:
        return found is not None
    anyway = _beyond(graph, start, by_steps=by_steps)
    return anyway is not None and anyway.issuperset(ends)


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
