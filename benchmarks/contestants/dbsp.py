"""A contestant of the DBSP benchmark, in its own process: ``python -m benchmarks.contestants.dbsp NAME WORKLOAD.json SHARE``.

Three updates: a share of the facts with all rules; the other facts; and these gone again. Prints a JSON line after each, so that
what has been measured is known even if a later one is stopped.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from benchmarks.measuring.measure import cpu, peak, resident
from kg_reasoner.api.reasoner import Reasoner
from kg_reasoner.dbsp.encoded_rules import DatalogClause, SignedAtom
from kg_reasoner.dbsp.interpreter import FactChanges, Interpreter
from kg_reasoner.engine.maintenance import Strategy
from kg_reasoner.program import TRIPLE, Atom, Program, Rule, Variable
from kg_reasoner.terms import IRI, RDF, term_text

Pattern: TypeAlias = "tuple[int, tuple[int | str, ...]]"
Rules: TypeAlias = "list[tuple[Pattern, list[Pattern]]]"


class IncrementalContestant(ABC):
    """A system that maintains the consequences of facts under rules."""

    @abstractmethod
    def prepare(self, facts: list[list[int]]) -> Any:
        """Return facts in the system's own form; not measured."""

    @abstractmethod
    def update(self, facts: Any, weight: int) -> None:
        """Add (weight 1) or delete (-1) prepared facts, and update the consequences."""

    @abstractmethod
    def count(self) -> int:
        """Return the number of facts, given and derived."""


class CircuitContestant(IncrementalContestant):
    """The interpreter's circuit alone."""

    def __init__(self, rules: Rules, indexed: bool) -> None:
        self._interpreter = Interpreter(indexed)
        self._clauses = [DatalogClause(SignedAtom(*head), tuple(SignedAtom(*atom) for atom in body)) for head, body in rules]

    def prepare(self, facts: list[list[int]]) -> dict[int, Any]:
        grouped = groupby(sorted(facts, key=lambda fact: fact[0]), key=lambda fact: fact[0])
        return {predicate: np.array([fact[1:] for fact in some], np.int64) for predicate, some in grouped}

    def update(self, facts: dict[int, Any], weight: int) -> None:
        changes = {predicate: (rows, np.full(len(rows), weight, np.int64)) for predicate, rows in facts.items()}
        self._interpreter.step(changes, self._clauses)
        self._clauses = []

    @property
    def nbytes(self) -> int:
        """The bytes of all traces."""
        return self._interpreter.nbytes

    def count(self) -> int:
        facts: FactChanges = self._interpreter.facts()
        return sum(len(rows) for rows, _ in facts.values())


class EngineContestant(IncrementalContestant):
    """A reasoner with a maintenance strategy; the facts are triples."""

    def __init__(self, rules: Rules, maintenance: Strategy) -> None:
        self._warm_up(maintenance)
        parts = [Rule(self._atom(head), tuple(map(self._atom, body))) for head, body in rules]
        self._reasoner = Reasoner(Program(tuple(parts)), maintenance=maintenance)

    def prepare(self, facts: list[list[int]]) -> Any:
        triples = [self._atom((predicate, tuple(terms))).terms for predicate, *terms in facts]
        texts = [term_text(term) for triple in triples for term in triple if not isinstance(term, Variable)]
        return self._reasoner.dictionary.encode_texts(texts).reshape(-1, 3)

    def update(self, facts: Any, weight: int) -> None:
        if weight > 0:
            self._reasoner.add_triples(facts)
        else:
            self._reasoner.remove_triples(facts)
        self._reasoner.materialise()

    def count(self) -> int:
        return len(self._reasoner.triple_ids())

    @staticmethod
    def _warm_up(maintenance: Strategy) -> None:
        """Load the kernels; not measured."""
        small = Reasoner("p(?x) :- q(?x) .", maintenance=maintenance)
        for change in (small.add_facts, small.remove_facts):
            change("q", [(IRI("http://example.org/"),)])
            small.materialise()

    def _atom(self, pattern: Pattern) -> Atom:
        predicate, terms = pattern
        known = IRI(f"http://example.org/predicate/{predicate}")
        converted: list[IRI | Variable] = [
            Variable(term[1:]) if isinstance(term, str) else IRI(f"http://example.org/{term}") for term in terms
        ]
        if len(terms) == 1:
            converted += [RDF.type, known]
        elif len(terms) == 2:
            converted.insert(1, known)
        return Atom(TRIPLE, tuple(converted))


CONTESTANTS: Final[dict[str, Callable[[Rules], IncrementalContestant]]] = {
    "circuit": lambda rules: CircuitContestant(rules, indexed=True),
    "circuit without index": lambda rules: CircuitContestant(rules, indexed=False),
    "dbsp": lambda rules: EngineContestant(rules, "dbsp"),
    "backward-forward": lambda rules: EngineContestant(rules, "backward-forward"),
}


def as_pattern(atom: list[Any]) -> Pattern:
    predicate, terms = atom
    return predicate, tuple(terms)


def measure(name: str, path: Path, share: float) -> Iterator[dict[str, float]]:
    """Yield the measurements of the three updates, each as soon as it is known."""
    workload = json.loads(path.read_text(encoding="utf-8"))
    contestant = CONTESTANTS[name]([(as_pattern(head), list(map(as_pattern, body))) for head, body in workload["rules"]])
    facts = workload.pop("facts")
    size = round(len(facts) * share)
    first, later = contestant.prepare(facts[:size]), contestant.prepare(facts[size:])
    del facts, workload
    gc.collect()
    baseline = resident()
    for stage, batch, weight in (("initial", first, 1), ("add", later, 1), ("remove", later, -1)):
        before = cpu(), time.perf_counter()
        contestant.update(batch, weight)
        times = cpu() - before[0], time.perf_counter() - before[1]
        highest = peak()
        yield {stage: times[0], f"{stage} wall": times[1], f"{stage} facts": contestant.count(), "bytes": highest - baseline}


if __name__ == "__main__":
    for figures in measure(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])):
        print(json.dumps(figures), flush=True)
