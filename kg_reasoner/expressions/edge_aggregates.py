"""Aggregate functions of the edges of a directed graph: strongly connected components and a topological order.

The components are found by Tarjan's algorithm (R. Tarjan, Depth-First Search and Linear Graph Algorithms, SIAM Journal on Computing
1, 1972), in time that depends on the number of edges.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from kg_reasoner.graphs import strongly_connected_components

__all__ = ["least_members", "levels"]

Node = TypeVar("Node", bound=Hashable)


def least_members(edges: Iterable[tuple[Node, Node]], key: Callable[[Node], object]) -> dict[Node, Node]:
    """Return the least node of the strongly connected component of each node.

    >>> sorted(least_members([(2, 1), (1, 2), (2, 3)], key=int).items())
    [(1, 1), (2, 1), (3, 3)]

    Args:
        edges: The edges, as pairs of nodes.
        key: Gives the order of the nodes.
    """
    targets = _targets(edges)
    found: dict[Node, Node] = {}
    for members in strongly_connected_components(targets, targets.__getitem__):
        least = min(members, key=key)  # type: ignore[arg-type]  # keys can be compared
        found.update(dict.fromkeys(members, least))
    return found


def levels(edges: Iterable[tuple[Node, Node]]) -> dict[Node, int]:
    """Return the number of strongly connected components before that of each node, on the longest way to it.

    So edges lead from lower numbers to higher ones, but within components, whose nodes have the same.

    >>> sorted(levels([(1, 2), (2, 3), (3, 2), (1, 4), (3, 4)]).items())
    [(1, 0), (2, 1), (3, 1), (4, 2)]

    Args:
        edges: The edges, as pairs of nodes.
    """
    targets = _targets(edges)
    components = list(strongly_connected_components(targets, targets.__getitem__))
    found = dict.fromkeys(targets, 0)
    for members in reversed(components):  # each before those that it leads to
        level = max(found[node] for node in members)
        found.update(dict.fromkeys(members, level))
        own = set(members)
        for target in {target for node in members for target in targets[node]} - own:
            found[target] = max(found[target], level + 1)
    return found


def _targets(edges: Iterable[tuple[Node, Node]]) -> Mapping[Node, list[Node]]:
    """Return the successors of each node."""
    found: dict[Node, list[Node]] = {}
    for source, target in edges:
        found.setdefault(source, []).append(target)
        found.setdefault(target, [])
    return found
