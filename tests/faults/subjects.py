"""What the sweeps change: a reasoner, maybe with a graph of rdflib on it, and everything about it that anybody can see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from rdflib import Dataset, Graph

from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.api.transaction import Transaction
from kg_reasoner.program import TRIPLE, Program
from kg_reasoner.query.delta import Delta
from kg_reasoner.terms import literal

Snapshot: TypeAlias = Mapping[str, Any]

PROBE = "probe"
"""A predicate that nothing but `shake` uses."""


class Mirror:
    """A subscriber that keeps a copy of all facts, from nothing but the deltas that it is told."""

    def __init__(self, reasoner: Reasoner) -> None:
        self.facts = facts_of(reasoner)
        self.is_broken = False
        """Whether the fault hit while the copy was being changed."""

    def __call__(self, delta: Delta) -> None:
        was_broken, self.is_broken = self.is_broken, True
        added, removed = _named(delta.added), _named(delta.removed)
        self.facts = (self.facts - removed) | added
        self.is_broken = was_broken


@dataclass
class Subject:
    """A reasoner and what belongs to it.

    Attributes:
        graph: a graph or dataset over the reasoner.
        transaction: one that was begun when the subject was made.
        mirror: a subscriber.
        attached: a graph that gets a reasoner.
        kept: whatever else the operation of the scenario needs.
        look: looks at what else a user can see, by kind.
    """

    reasoner: Reasoner
    graph: Graph | None = None
    transaction: Transaction | None = None
    mirror: Mirror | None = None
    attached: Graph | None = None
    kept: dict[str, Any] = field(default_factory=dict)
    look: Callable[[], Snapshot] = dict

    @property
    def store(self) -> Any:
        """The store of the graph."""
        assert self.graph is not None
        return self.graph.store

    @property
    def present(self) -> Reasoner:
        """The reasoner, or that of the graph, which gets another one when another rule set is opened."""
        return self.reasoner if self.graph is None else self.store.reasoner


def snapshot(subject: Subject) -> Snapshot:
    """Everything that a user can see, by kind."""
    seen: dict[str, Any] = dict(subject.look())
    reasoner, graph = subject.present, subject.graph
    if graph is not None:
        seen["what the graph shows"] = frozenset(graph.quads()) if isinstance(graph, Dataset) else frozenset(graph)
        seen["explicit triples of the graph"] = frozenset(subject.store.explicit)
        seen["graphs of the dataset"] = frozenset(map(str, subject.store.contexts()))
    if subject.attached is not None:
        seen["what the attached graph shows"] = frozenset(subject.attached)
        seen["its store"] = type(subject.attached.store).__name__
    graphs = reasoner.named_graphs
    seen |= {
        "facts": facts_of(reasoner),
        "explicit facts": facts_of(reasoner, "explicit"),
        "rules": frozenset(map(str, reasoner.rules)),
        "program": (frozenset(map(str, reasoner.program.rules)), reasoner.program.translate, reasoner.program.declarations),
        "predicates": reasoner.predicates(),
        "named graphs": {str(name): frozenset(graphs.triples(name)) for name in [None, *graphs.names()]},
        "warnings": sorted(map(str, reasoner.warnings)),
        "inconsistencies": sorted(map(str, reasoner.inconsistencies())),
        "whether somebody subscribed": reasoner.has_subscribers,
        "what was loaded": (dict(reasoner.prefixes), dict(reasoner.loaded.ontologies), sorted(map(str, reasoner.loaded.imports))),
    }
    return seen


def facts_of(reasoner: Reasoner, which: Any = "all") -> frozenset[Any]:
    """Triples and facts, with the names of their predicates."""
    found: set[Any] = {(TRIPLE, triple) for triple in reasoner.triples(which=which)}
    for name in reasoner.predicates():
        found |= {(name, row) for row in reasoner.facts(name, which)}
    return frozenset(found)


def _named(changes: Any) -> frozenset[Any]:
    found = {(TRIPLE, triple) for triple in changes.triples()}
    return frozenset(found | {(name, row) for name in changes.predicates() if name != TRIPLE for row in changes.facts(name)})


def differences(left: Snapshot, right: Snapshot) -> list[str]:
    """The kinds in which two snapshots differ, with what only one of them has where that is short."""
    found = []
    for kind in left:
        if left[kind] == right[kind]:
            continue
        if isinstance(left[kind], frozenset):
            missing, extra = len(right[kind] - left[kind]), len(left[kind] - right[kind])
            found.append(f"{kind}: {missing} missing, {extra} too many")
        else:
            found.append(kind)
    return found


def is_what_follows(subject: Subject) -> bool:
    """Whether the facts are those of a fresh reasoner that is given the same program and explicit facts."""
    reasoner = subject.present
    fresh = reasoner.without_facts() if reasoner.core.ticks is None else Reasoner(_without_time(reasoner.program))
    fresh.on_inconsistency = "report"
    fresh.add_triples(list(reasoner.triples(which="explicit")))
    for name in reasoner.predicates():
        fresh.add_facts(name, list(reasoner.facts(name, "explicit")))
    return facts_of(reasoner) == facts_of(fresh)


def _without_time(program: Program) -> Program:
    """The program with relations in place of streams, delays, differences and multisets: their explicit facts are given."""
    declared = (replace(found, kind="relation", operator="", source="", steps=1) for found in program.declarations)
    return replace(program, declarations=tuple(declared))


def shake(subject: Subject) -> None:
    """Update the subject twice over, so that a table or an index that is not what it should be shows itself."""
    reasoner = subject.present
    triples = list(reasoner.triples(which="explicit"))
    computed = {found.predicate for found in reasoner.program.declarations if found.derived_as}
    rows = {name: list(reasoner.facts(name, "explicit")) for name in reasoner.predicates() if name not in computed}
    with reasoner.transaction(collects=reasoner.has_subscribers):
        reasoner.add_facts(PROBE, [(literal(number),) for number in range(3)])
        reasoner.remove_triples(triples[::2])
        for name, there in rows.items():
            reasoner.remove_facts(name, there[::2])
    facts_of(reasoner)
    with reasoner.transaction(collects=reasoner.has_subscribers):
        reasoner.add_triples(triples[::2])
        for name, there in rows.items():
            if there:
                reasoner.add_facts(name, there[::2])
    facts_of(reasoner)
