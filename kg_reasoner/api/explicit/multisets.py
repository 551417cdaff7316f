"""Multisets: relations that count how often each fact has been added. A hidden relation stores the counts above one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from kg_reasoner.api.operations.core import ReasonerCore
from kg_reasoner.engine.engine import Engine
from kg_reasoner.errors import ReasonerError
from kg_reasoner.planning.catalog import INTERNAL
from kg_reasoner.storage.arrays import Ids, Numbers
from kg_reasoner.storage.grouping import group_rows, pair_rows
from kg_reasoner.terms import Literal, Term, literal

__all__ = ["COUNTS", "add_counted", "counts", "remove_counted"]

COUNTS: Final = f"{INTERNAL}counts of "
"""The beginning of the names of relations with counts."""


def add_counted(engine: Engine, predicate: str, facts: Ids) -> None:
    """Add facts once more each, within an operation."""
    rows, times = _distinct(facts)
    before = _counts(engine, predicate, rows)
    engine.load(predicate, rows)
    _set_counts(engine, predicate, rows, before, before + times)


def remove_counted(engine: Engine, predicate: str, facts: Ids) -> None:
    """Remove facts once each, within an operation; ignore those that are not present."""
    rows, times = _distinct(facts)
    before = _counts(engine, predicate, rows)
    after = np.maximum(before - times, 0)
    gone = (after == 0) & (before > 0)
    if gone.any():
        engine.retract(predicate, np.ascontiguousarray(rows[gone]))
    _set_counts(engine, predicate, rows, before, after)


def counts(core: ReasonerCore, predicate: str) -> Iterator[tuple[tuple[Term, ...], int]]:
    """See `kg_reasoner.api.reasoner.Reasoner.counts`."""
    declared, engine = core.declared(predicate), core.engine
    if declared is None or declared.kind != "multiset":
        raise ReasonerError(f"{predicate} is not declared as a multiset: input multiset {predicate}(...) .")
    with core.reading("explicit"):
        if predicate not in engine.catalog.predicates:
            return iter(())
        rows = np.array(engine.base.rows(predicate, "explicit"))
        return iter([*zip(engine.dictionary.decode_rows(rows), _counts(engine, predicate, rows).tolist(), strict=True)])


def _distinct(facts: Ids) -> tuple[Ids, Numbers]:
    """Return the different facts among some, and how often each occurs."""
    labels, firsts = group_rows(facts)
    return np.ascontiguousarray(facts[firsts]), np.bincount(labels, minlength=len(firsts)).astype(np.int64)


def _counts(engine: Engine, predicate: str, rows: Ids) -> Numbers:
    """Return the counts of facts."""
    counts = engine.base.are_explicit(predicate, rows).astype(np.int64)
    hidden = COUNTS + predicate
    if hidden in engine.catalog.predicates:
        table = engine.base.rows(hidden, "explicit")
        mine, theirs = pair_rows(rows, np.ascontiguousarray(table[:, :-1]))
        texts = engine.dictionary.decode_rows(table[theirs, -1:])
        counts[mine] = [int(number.lexical) for (number,) in texts if isinstance(number, Literal)]
    return counts


def _set_counts(engine: Engine, predicate: str, rows: Ids, before: Numbers, after: Numbers) -> None:
    changed = before != after
    for counts, change in ((before, engine.retract), (after, engine.load)):
        chosen = changed & (counts > 1)
        if chosen.any():
            numbers = np.array([engine.dictionary.encode(literal(count)) for count in counts[chosen].tolist()], np.int32)
            change(COUNTS + predicate, np.ascontiguousarray(np.column_stack([rows[chosen], numbers])))
