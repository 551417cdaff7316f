"""Stratified negation: a chain of interpreters, one for each stratum. The output of one is the input of the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kg_reasoner.dbsp.encoded_rules import DatalogClause
from kg_reasoner.dbsp.interpreter import FactChanges, Interpreter


class Strata:
    """Interpreters by level. Each reads all facts of lower levels; negations read only complete lower levels.

    Args:
        indexed: See `Interpreter`.
    """

    def __init__(self, indexed: bool = True) -> None:
        self._indexed = indexed
        self._instances = 0
        self.interpreters = [Interpreter(indexed)]
        self._counts = False

    def count(self, *, clauses: bool) -> None:
        """Start to count the instances of each clause from zero, or stop."""
        self._counts = clauses
        for interpreter in self.interpreters:
            interpreter.counted = Counter() if clauses else None

    def counted(self) -> Counter[DatalogClause]:
        """Return the instances of each clause since they are counted."""
        found: Counter[DatalogClause] = Counter()
        for interpreter in self.interpreters:
            found.update(interpreter.counted or {})
        return found

    def step(
        self,
        levels: int,
        entering: Callable[[int], FactChanges],
        added: Sequence[tuple[int, DatalogClause]] = (),
        removed: Sequence[tuple[int, DatalogClause]] = (),
    ) -> Iterator[tuple[int, FactChanges]]:
        """Apply changes of facts and of clauses, level by level from below.

        Args:
            levels: The current number of levels.
            entering: The changes of the facts that are given at a level. It is asked after the changes of the level below have been
                handed out.
            added, removed: Clauses with their levels. A clause that moves is removed from one and added to the other.

        Yields:
            Each level and the changes of all facts that hold there: Those of its own rules and those from below.
        """
        while len(self.interpreters) < levels:
            top = Interpreter(self._indexed)
            top.step(self.interpreters[-1].facts())
            top.counted = Counter() if self._counts else None
            self.interpreters.append(top)
        changes: FactChanges = {}
        for level, interpreter in enumerate(self.interpreters):
            changes = interpreter.step(
                combined(changes, entering(level)),
                [clause for place, clause in added if place == level],
                [clause for place, clause in removed if place == level],
            )
            yield level, changes
        self._instances += sum(interpreter.instances for interpreter in self.interpreters[max(1, levels) :])
        del self.interpreters[max(1, levels) :]

    @property
    def instances(self) -> int:
        """The numbers of rule instances added or removed so far, by iteration."""
        return self._instances + sum(interpreter.instances for interpreter in self.interpreters)

    @property
    def nbytes(self) -> int:
        """The size of all traces in bytes."""
        return sum(interpreter.nbytes for interpreter in self.interpreters)


def combined(one: FactChanges, other: FactChanges) -> FactChanges:
    """Return the sum of two changes."""
    result = dict(one)
    for predicate, (rows, weights) in other.items():
        if predicate in result:
            more_rows, more_weights = result[predicate]
            rows, weights = np.concatenate([more_rows, rows]), np.concatenate([more_weights, weights])
        result[predicate] = rows, weights
    return result
