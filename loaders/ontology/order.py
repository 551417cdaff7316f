"""Reachability in a graph, and the covering relation among chosen nodes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Generic, TypeVar

from kg_reasoner.graphs import reachable, strongly_connected_components

__all__ = ["Order"]

Node = TypeVar("Node", bound=Hashable)


class Order(Generic[Node]):
    """The transitive order given by `edges` from nodes to those above them. Nodes on a common cycle are above each other.

    >>> order = Order({"a": ["b"], "b": ["c"], "c": ["d", "c"]})
    >>> sorted(order.covers(["a", "c", "d"]))
    [('a', 'c'), ('c', 'c'), ('c', 'd')]
    """

    def __init__(self, edges: Mapping[Node, Iterable[Node]]) -> None:
        # Nodes on a common cycle make one component; a component's number is greater than those of all components above it.
        self._component: dict[Node, int] = {}
        self._above: list[frozenset[int]] = []
        self._cyclic: list[bool] = []
        for members in strongly_connected_components(edges, lambda node: edges.get(node, ())):
            number = len(self._above)
            self._component.update(dict.fromkeys(members, number))
            above = {self._component[node] for member in members for node in edges.get(member, ())}
            self._cyclic.append(number in above)
            self._above.append(frozenset(above - {number}))

    def covers(self, chosen: Collection[Node]) -> Iterator[tuple[Node, Node]]:
        """Return a small set of pairs of chosen nodes whose transitive closure is the order among the chosen nodes."""
        inside: dict[int, list[Node]] = {}
        for node in chosen:
            if node in self._component:
                inside.setdefault(self._component[node], []).append(node)
        nearest: dict[int, tuple[int, ...]] = {}
        beyond: dict[int, int] = {}  # the components with chosen nodes above a component, as bits
        for number in sorted(reachable(inside, self._above.__getitem__)):  # those above first
            candidates = {near for above in self._above[number] for near in ((above,) if above in inside else nearest[above])}
            kept: list[int] = []
            covered = 0
            for near in sorted(candidates, reverse=True):  # the lowest first: what lies above one of them need not be said
                if not covered >> near & 1:
                    kept.append(near)
                    covered |= beyond[near]
            nearest[number] = tuple(kept)
            for near in kept:
                covered |= 1 << near
            beyond[number] = covered
        for number, nodes in inside.items():
            if self._cyclic[number]:
                yield from pairwise([*nodes, nodes[0]])
            yield from ((nodes[0], inside[near][0]) for near in nearest[number])
