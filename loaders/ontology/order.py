"""Reachability in a graph, and the covering relation among chosen nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
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
        # Nodes are numbered first, because hashing them takes longer than all the rest.
        self._numbers = {node: number for number, node in enumerate(edges)}
        numbered = self._numbers.setdefault
        links = [[numbered(node, len(self._numbers)) for node in above] for above in edges.values()]
        links += [[]] * (len(self._numbers) - len(links))
        self._component = [0] * len(links)
        self._above: list[Collection[int]] = []
        self._cyclic: list[bool] = []
        for members in strongly_connected_components(range(len(links)), links.__getitem__):
            number = len(self._above)
            for member in members:
                self._component[member] = number
            above = {self._component[other] for member in members for other in links[member]}
            self._cyclic.append(number in above)
            above.discard(number)
            self._above.append(tuple(above))

    def below(self, goals: Iterable[Node]) -> Callable[[Node], bool]:
        """Return a function that tells whether a node is one of the goals, or below one."""
        reached = {self._component[self._numbers[node]] for node in goals if node in self._numbers}
        for number, above in enumerate(self._above):  # those above first
            if not reached.isdisjoint(above):
                reached.add(number)
        return lambda node: node in self._numbers and self._component[self._numbers[node]] in reached

    def covers(self, chosen: Collection[Node]) -> Iterator[tuple[Node, Node]]:
        """Return a small set of pairs of chosen nodes whose transitive closure is the order among the chosen nodes."""
        inside: dict[int, list[Node]] = {}
        for node in chosen:
            if node in self._numbers:
                inside.setdefault(self._component[self._numbers[node]], []).append(node)
        bits = {number: 1 << place for place, number in enumerate(inside)}
        nearest: dict[int, tuple[int, ...]] = {}
        beyond: dict[int, int] = {}  # the components with chosen nodes above a component, as bits
        for number in sorted(reachable(inside, self._above.__getitem__)):  # those above first
            candidates = {near for above in self._above[number] for near in ((above,) if above in inside else nearest[above])}
            kept: list[int] = []
            covered = 0
            for near in sorted(candidates, reverse=True):  # the lowest first: what lies above one of them need not be said
                if not covered & bits[near]:
                    kept.append(near)
                    covered |= beyond[near]
            nearest[number] = tuple(kept)
            for near in kept:
                covered |= bits[near]
            beyond[number] = covered
        for number, nodes in inside.items():
            if self._cyclic[number]:
                yield from pairwise([*nodes, nodes[0]])
            yield from ((nodes[0], inside[near][0]) for near in nearest[number])
