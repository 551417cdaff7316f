"""Searches in graphs of steps: what each node reaches, one node after the other. Independent of Spark.

A search from a node costs the steps from the nodes it reaches. Searches do not depend on each other, so that tasks do them with a
copy of the graph each, and no pair is found twice.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from kg_reasoner.spark_backend.plan.transitive_properties import Edge

__all__ = ["StepGraph"]


class StepGraph:
    """Steps by some properties, with nodes and properties as numbers.

    >>> graph = StepGraph([("a", "p", "b"), ("b", "p", "c"), ("c", "q", "d")])
    >>> search = graph.searches.index((graph.names.index("p"), graph.names.index("a")))
    >>> [graph.names[node] for node in graph.ends(search)]
    ['c']
    """

    def __init__(self, edges: Iterable[Edge]) -> None:
        numbers: dict[str, int] = {}
        following: dict[tuple[int, int], list[int]] = {}
        for subject, property, value in edges:
            key = numbers.setdefault(property, len(numbers)), numbers.setdefault(subject, len(numbers))
            following.setdefault(key, []).append(numbers.setdefault(value, len(numbers)))
        self.names = list(numbers)
        """The texts of nodes and properties."""
        self._following = following
        # In no order of the data, so that tasks with consecutive sources have the same amount of work.
        self.searches = sorted(following, key=lambda key: zlib.crc32(self.names[key[1]].encode()))
        """The property and the first node of each search."""

    def ends(self, search: int) -> list[int]:
        """Return the nodes that a search reaches in more than one step, and not in one."""
        property, source = self.searches[search]
        following = self._following
        direct = following[property, source]
        seen = set(direct)
        found: list[int] = []
        waiting = list(direct)
        while waiting:
            for node in following.get((property, waiting.pop()), ()):
                if node not in seen:
                    seen.add(node)
                    found.append(node)
                    waiting.append(node)
        return found
