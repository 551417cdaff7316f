"""Algorithms on graphs of hashable nodes: reachability, shortest paths, orders and components.

A directed graph is given by a function from a node to the nodes that its edges lead to. Nothing here recurses, so paths may be
long; orders depend on nothing but the order in which nodes and edges are given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

__all__ = ["connected_components", "postorder", "reachable", "shortest_path", "strongly_connected_components"]

Node = TypeVar("Node", bound=Hashable)


def reachable(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """Return the nodes that are reachable from some nodes, these included.

    >>> sorted(reachable("a", {"a": "bc", "b": "d", "c": "", "d": "a", "e": "a"}.__getitem__))
    ['a', 'b', 'c', 'd']
    """
    found = set(starts)
    waiting = list(found)
    while waiting:
        for node in successors(waiting.pop()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found


def shortest_path(start: Node, goal: Node, successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Return a path with the fewest edges, both ends included; the goal must be reachable (breadth-first search).

    >>> shortest_path("a", "d", {"a": "bc", "b": "c", "c": "d", "d": ""}.__getitem__)
    ['a', 'c', 'd']
    """
    came_from = {start: start}
    queue = deque([start])
    while goal not in came_from:
        node = queue.popleft()
        for other in successors(node):
            if other not in came_from:
                came_from[other] = node
                queue.append(other)
    path = [goal]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]


def postorder(roots: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """Yield the nodes that are reachable from the roots, each after its successors, except within cycles.

    >>> list(postorder("a", {"a": "bc", "b": "d", "c": "d", "d": ""}.__getitem__))
    ['d', 'b', 'c', 'a']
    """
    seen: set[Node] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        path = [(root, iter(successors(root)))]
        while path:
            node, following = path[-1]
            for other in following:
                if other not in seen:
                    seen.add(other)
                    path.append((other, iter(successors(other))))
                    break
            else:
                path.pop()
                yield node


def strongly_connected_components(roots: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> Iterator[list[Node]]:
    """Yield the strongly connected components of the reachable nodes, each after those it leads to.

    Source: R. Tarjan, Depth-First Search and Linear Graph Algorithms (SIAM Journal on Computing 1, 1972).

    >>> list(strongly_connected_components("a", {"a": "b", "b": "cd", "c": "b", "d": ""}.__getitem__))
    [['d'], ['c', 'b'], ['a']]
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    done: set[Node] = set()
    open_nodes: list[Node] = []
    for root in roots:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        path = [(root, iter(successors(root)))]
        while path:
            node, following = path[-1]
            for other in following:
                if other not in index:
                    index[other] = low[other] = len(index)
                    open_nodes.append(other)
                    path.append((other, iter(successors(other))))
                    break
                if other not in done:
                    low[node] = min(low[node], index[other])
            else:
                path.pop()
                if path:
                    below = path[-1][0]
                    low[below] = min(low[below], low[node])
                if low[node] == index[node]:
                    members = [open_nodes.pop()]
                    while members[-1] != node:
                        members.append(open_nodes.pop())
                    done.update(members)
                    yield members


def connected_components(pairs: Iterable[Iterable[Node]]) -> dict[Node, list[Node]]:
    """Return the connected components of an undirected graph, given by its edges: their members by representative (union-find).

    The first end's component gives the representative where an edge joins two. A node with no edge to another one is left out.

    >>> connected_components([("b", "c"), ("d", "e"), ("c", "a"), ("f", "f")])
    {'b': ['b', 'c', 'a'], 'd': ['d', 'e']}
    """
    parents: dict[Node, Node] = {}

    def root(node: Node) -> Node:
        while (above := parents.setdefault(node, node)) != node:
            parents[node] = node = parents[above]  # halves the path
        return node

    for first, second in pairs:
        above = root(first)
        parents[root(second)] = above
    components: dict[Node, list[Node]] = {}
    for node in list(parents):
        components.setdefault(root(node), []).append(node)
    return {representative: members for representative, members in components.items() if len(members) > 1}
