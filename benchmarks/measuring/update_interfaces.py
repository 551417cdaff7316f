"""The time of updates with single triples through each interface of the reasoner, from the engine to an rdflib graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median
from time import thread_time_ns
from typing import Any, Final

import numpy as np

from benchmarks.inputs.update_data import Lubm, LubmPart
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.engine.maintenance import Work

__all__ = ["INTERFACES", "SingleUpdates", "Spread", "UpdateInterface", "single_updates"]

WARM_UP: Final = 100
"""Updates before the measured ones."""

Action = Callable[[Any], object]


@dataclass(frozen=True)
class UpdateInterface:
    """An interface for updates: the form of its arguments, and how triples are deleted and added through it."""

    name: str
    what: str
    open: Callable[[Reasoner], tuple[Callable[[Any], Any], Action, Action]]
    """Return, for a reasoner: what makes the argument from one row of ids, of shape (1, 3); what deletes it; what adds it."""


@dataclass(frozen=True)
class Spread:
    """The distribution of the times of many updates, in microseconds."""

    median: float
    mean: float
    percent99: float

    @classmethod
    def of(cls, nanoseconds: list[int]) -> Spread:
        values = sorted(value / 1000 for value in nanoseconds)
        return cls(median(values), mean(values), values[len(values) * 99 // 100])

    def cells(self) -> list[str]:
        return [f"{value:.1f}" for value in (self.median, self.mean, self.percent99)]


@dataclass(frozen=True)
class SingleUpdates:
    """Single deletions and additions through one interface."""

    interface: str
    count: int
    delete: Spread
    add: Spread


def engine(reasoner: Reasoner) -> tuple[Callable[[Any], Any], Action, Action]:
    base = reasoner.engine.base
    database, materialiser, maintenance = base.database, base.materialiser, base.maintenance

    def make(ids: Any) -> tuple[int, Any]:
        relation, values = reasoner.engine.catalog.layout.find(*ids[0].tolist())
        return relation, np.array([values], np.int32)

    def delete(fact: tuple[int, Any]) -> None:
        database.retract(*fact)
        maintenance.apply(Work())
        materialiser.compact()

    def add(fact: tuple[int, Any]) -> None:
        database.load(*fact)
        maintenance.apply(Work())
        materialiser.compact()

    return make, delete, add


def lazily(reasoner: Reasoner) -> tuple[Callable[[Any], Any], Action, Action]:
    def delete(ids: Any) -> None:
        reasoner.remove_triples(ids)
        reasoner.materialise()

    def add(ids: Any) -> None:
        reasoner.add_triples(ids)
        reasoner.materialise()

    return lambda ids: ids, delete, add


def by_ids(reasoner: Reasoner) -> tuple[Callable[[Any], Any], Action, Action]:
    def delete(triples: Any) -> None:
        with reasoner.transaction() as transaction:
            transaction.remove_triples(triples)

    def add(triples: Any) -> None:
        with reasoner.transaction() as transaction:
            transaction.add_triples(triples)

    return lambda ids: ids, delete, add


def by_terms(reasoner: Reasoner) -> tuple[Callable[[Any], Any], Action, Action]:
    _, delete, add = by_ids(reasoner)
    return lambda ids: list(reasoner.dictionary.decode_rows(ids)), delete, add


def by_graph(reasoner: Reasoner) -> tuple[Callable[[Any], Any], Action, Action]:
    from kg_reasoner.rdflib_store import KGReasonerStore, graph_of

    graph = graph_of(reasoner)
    store = graph.store
    assert isinstance(store, KGReasonerStore)

    def delete(triple: Any) -> None:
        graph.remove(triple)
        graph.commit()

    def add(triple: Any) -> None:
        graph.add(triple)
        graph.commit()

    return lambda ids: next(iter(store.graphs.terms.rows(ids))), delete, add


INTERFACES: Final = (
    UpdateInterface("engine", "retract or load one fact of a relation, then maintenance", engine),
    UpdateInterface("ids, lazily", "remove_triples or add_triples with an array of ids, then materialise", lazily),
    UpdateInterface("ids", "a transaction with an array of ids", by_ids),
    UpdateInterface("terms", "a transaction with a triple of terms", by_terms),
    UpdateInterface("rdflib", "add or remove on a graph over the reasoner, then commit", by_graph),
)


def single_updates(loaded: Lubm, interface: UpdateInterface, count: int, seed: int) -> SingleUpdates:
    """Delete and add again `count` random triples, one by one. Times are CPU times of the thread, without the time to take them."""
    rows = next(LubmPart("", min(count + WARM_UP, len(loaded.data))).draws(loaded.data, seed))
    make, delete, add = interface.open(loaded.reasoner)
    arguments = [make(rows[place : place + 1]) for place in range(len(rows))]
    times: tuple[list[int], list[int]] = ([], [])
    overhead = min(-(thread_time_ns() - thread_time_ns()) for _ in range(1000))
    for one in arguments:
        for action, taken in zip((delete, add), times, strict=True):
            before = thread_time_ns()
            action(one)
            taken.append(thread_time_ns() - before - overhead)
    first = min(WARM_UP, len(arguments) // 2)
    return SingleUpdates(interface.name, len(arguments) - first, *(Spread.of(taken[first:]) for taken in times))
