"""Reports of the evaluation of queries: solutions, time and method of each operator."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from kg_reasoner.data_classes import dataclass
from kg_reasoner.sparql.algebra import Node

__all__ = ["EvaluationReport", "EvaluationStep"]


@dataclass(slots=True)
class EvaluationStep:
    """The work done for one operator.

    Attributes:
        rows: The number of solutions; None before the operator was evaluated.
        seconds: The time, that of the operators inside included.
        methods: How it was evaluated.
        calls: How often.
    """

    rows: int | None = None
    seconds: float = 0.0
    methods: dict[str, None] = field(default_factory=dict)
    calls: int = 0


class EvaluationReport:
    """The steps of a query's evaluation, by operator."""

    def __init__(self) -> None:
        self._steps: dict[int, tuple[Node, EvaluationStep]] = {}

    def of(self, node: Node) -> EvaluationStep:
        """Return the step of an operator."""
        known = self._steps.get(id(node))
        if known is None:
            known = self._steps[id(node)] = node, EvaluationStep()
        return known[1]

    @contextmanager
    def step(self, node: Node) -> Iterator[EvaluationStep]:
        """Measure an operator in a ``with`` block."""
        found = self.of(node)
        found.calls += 1
        start = time.perf_counter()
        try:
            yield found
        finally:
            found.seconds += time.perf_counter() - start

    def note(self, node: Node, method: str) -> None:
        """Note how an operator was evaluated."""
        self.of(node).methods[method] = None
