"""Relations that change with transactions: streams, delays and differences.

Every transaction is a tick. At its beginning, delays take over what their sources were, and differences lose what they had. At its
end, differences get what their sources have gained, and after its delta is known, the facts of streams are removed. All of these
changes are changes of explicit facts in the transaction, so that they are undone with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from kg_reasoner.engine.engine import Engine
from kg_reasoner.language.checks.stream_checks import differences_in_order
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.program import Declaration, Program
from kg_reasoner.query.delta import Change
from kg_reasoner.storage.arrays import Ids
from kg_reasoner.storage.grouping import among

__all__ = ["DELAYED", "Ticks"]

DELAYED: Final = f"{INTERNAL}delayed "
"""The beginning of the names of relations that delays of several transactions go through."""


class _Timing:
    """The streams, delays and differences of a program, which has been checked."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.streams = [found for found in program.declarations if found.kind == "stream"]
        self.is_stream = {found.predicate for found in self.streams}
        self.delays = [found for found in program.declarations if found.operator == "delay"]
        self.differences = differences_in_order(program)


class Ticks:
    """Begins and ends the transactions of an engine whose program has streams, delays or differences, each within an operation.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._timing = _Timing(Program())
        self.last: dict[str, Ids] = {}
        """The facts that streams with a delay had in the last transaction."""
        self._begun: Program | None = None
        """The program for which the last transaction began."""
        self._moves: dict[str, tuple[Ids, Ids]] = {}
        """The facts that the next transaction removes from and adds to delays. Others are compared with their source."""

    @property
    def _now(self) -> _Timing:
        """The declarations of the present program."""
        if self._timing.program is not self._engine.program:
            self._timing = _Timing(self._engine.program)
        return self._timing

    def begin(self) -> None:
        """Begin a transaction; the materialisation is up to date."""
        for declaration in self._now.delays:
            stages = _stages(declaration)
            sources = [*stages[1:], declaration.source]
            for place, (target, source) in enumerate(zip(stages, sources, strict=True)):
                if target in self._moves:
                    self._change(target, *self._moves[target])
                    continue
                is_last = place == len(stages) - 1
                if is_last and source in self._now.is_stream:
                    rows = self.last.get(source, np.empty((0, declaration.arity), np.int32))
                else:
                    rows = self._rows(source, declaration.arity)
                self._assign(target, np.array(rows))
        for declaration in self._now.differences:
            self._assign(declaration.predicate, np.empty((0, declaration.arity), np.int32))
        self._engine.set(self, "_begun", self._engine.program)

    def finish(self) -> None:
        """Give differences what their sources have gained. The materialisation is up to date, and is afterwards."""
        engine = self._engine
        for declaration in self._now.differences:
            added = self._added(declaration)
            if len(added):
                engine.load(declaration.predicate, added)
                engine.update()

    def end(self) -> None:
        """Remove the facts of streams, after everything that the transaction changes is known."""
        engine = self._engine
        engine.set(self, "_moves", self._next_moves())
        delayed = {found.source for found in self._now.delays if found.source in self._now.is_stream}
        if delayed:
            last = {found.predicate: np.array(self._rows(found.predicate, found.arity)) for found in self._now.streams}
            engine.set(self, "last", {name: rows for name, rows in last.items() if name in delayed})
        for declaration in self._now.streams:
            rows = np.array(self._rows(declaration.predicate, declaration.arity, "explicit"))
            if len(rows):
                engine.retract(declaration.predicate, rows)
        engine.update()

    def _next_moves(self) -> dict[str, tuple[Ids, Ids]]:
        """Return the changes that the next transaction makes in delays: those that this one has made in their sources."""
        found: dict[str, tuple[Ids, Ids]] = {}
        collector = self._engine.collector
        is_known = collector is not None and not collector.was_interrupted
        if self._begun is not self._engine.program or not is_known or self._engine.base.equality.merges:
            return found
        for declaration in self._now.delays:
            stages = _stages(declaration)
            for target, source in pairwise(stages):
                if source in self._moves:
                    found[target] = self._moves[source]
            if declaration.source not in self._now.is_stream:
                found[stages[-1]] = self._gone(declaration), self._added(declaration)
        return found

    def _gone(self, declaration: Declaration) -> Ids:
        """Return the facts that a source has lost."""
        collector = self._engine.collector
        assert collector is not None
        return _table(collector.delta.removed.tables.get(declaration.source), declaration.arity)

    def _added(self, declaration: Declaration) -> Ids:
        """Return the facts that a source has gained."""
        if declaration.source in self._now.is_stream:
            return np.array(self._rows(declaration.source, declaration.arity))
        collector = self._engine.collector
        assert collector is not None
        return _table(collector.delta.added.tables.get(declaration.source), declaration.arity)

    def _rows(self, predicate: str, arity: int, which: str = "all") -> Ids:
        if predicate not in self._engine.catalog.predicates:
            return np.empty((0, arity), np.int32)
        return self._engine.base.rows(predicate, which)  # type: ignore[arg-type]

    def _assign(self, predicate: str, rows: Ids) -> None:
        """Let the explicit facts of a predicate be some facts."""
        present = np.array(self._rows(predicate, rows.shape[1], "explicit"))
        if len(present):
            self._change(predicate, present[~among(present, rows)], rows[~among(rows, present)])
        else:
            self._change(predicate, present, rows)

    def _change(self, predicate: str, gone: Ids, new: Ids) -> None:
        """Remove some facts of a predicate and add others."""
        if len(gone):
            self._engine.retract(predicate, np.ascontiguousarray(gone))
        if len(new):
            self._engine.load(predicate, np.ascontiguousarray(new))


def _table(change: Change | None, arity: int) -> Ids:
    """Return the ids of changed facts."""
    return np.empty((0, arity), np.int32) if change is None else np.array(change.ids)


def _stages(declaration: Declaration) -> Sequence[str]:
    """Return the relations that a delay goes through, the last one first."""
    further: Iterable[str] = (f"{DELAYED}{step} of {declaration.predicate}" for step in range(1, declaration.steps))
    return (declaration.predicate, *further)
