"""Semi-naive evaluation of one stratum: iterations until nothing is new."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from kg_reasoner.program import TRIPLE, Variable
from kg_reasoner.spark_backend.exec.evaluation.joining_rules import derive, triggers
from kg_reasoner.spark_backend.exec.evaluation.last_phase import LastPhase
from kg_reasoner.spark_backend.exec.evaluation.transitive_closures import Closed, close
from kg_reasoner.spark_backend.exec.facts.candidates import Candidates
from kg_reasoner.spark_backend.exec.facts.run_facts import FactFrames
from kg_reasoner.spark_backend.plan.logical_plan import Join, PlannedStratum
from kg_reasoner.spark_backend.plan.transitive_properties import transitive_properties
from kg_reasoner.spark_backend.run_progress import Progress, Report
from kg_reasoner.terms import RDF, Term

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["saturate"]


def saturate(
    facts: FactFrames,
    stratum: PlannedStratum,
    name: str,
    progress: Progress,
    *,
    first: Candidates | None = None,
    closed: bool = False,
    number: int = 0,
    driver_facts: int = 0,
) -> int:
    """Apply a stratum's joins until nothing is new; return the number of new facts.

    Args:
        facts: The facts of the run.
        stratum: The stratum.
        name: Begins the names of the steps in the work directory.
        progress: Called with a report of every iteration.
        first: Facts to absorb before any rule is applied.
        closed: Whether the triples are closed under the rules, but for those that come first; facts of general predicates are not.
        number: The number of the stratum in reports.
        driver_facts: The maximum number of facts with which the driver finishes, see `LastPhase`; 0: it never does.
    """

    def absorb(step: str, found: Candidates, stage: str = "iteration") -> int:
        new = facts.absorb(step, found)
        progress(Report(stage, stratum=number, iteration=iteration, facts=new, seconds=time.monotonic() - began))
        return new

    iteration, began = 0, time.monotonic()
    total = 0 if first is None else absorb(f"{name}-0", first)
    fresh = {join for join in stratum.joins if not (closed and join.rule.head.predicate == TRIPLE)}
    last, derivation = LastPhase(facts, stratum.joins, driver_facts), _Derivation(facts, stratum.joins)
    while True:
        iteration, began = iteration + 1, time.monotonic()
        if driver_facts and (rest := last.finish(fresh)) is not None:
            return total + absorb(f"{name}-{iteration}-last", rest, "in process")
        found = derivation.derive(f"{name}-{iteration}", fresh)
        if found is None:
            facts.absorb(f"{name}-{iteration}", Candidates())  # no facts are new to the rules of the next stratum
            return total
        new = absorb(f"{name}-{iteration}", found)
        if not new:
            return total
        total, fresh = total + new, set()


class _Derivation:
    """The application of a stratum's joins to the facts of the last iteration.

    Args:
        facts: The facts of the run.
        joins: The joins.
    """

    def __init__(self, facts: FactFrames, joins: Sequence[Join]) -> None:
        self._facts, self._joins = facts, joins
        self._transitive = {join: properties for join in joins if (properties := transitive_properties(join))}
        self._settled: frozenset[Term] = frozenset()
        """The transitive properties to which the last iteration has added nothing but their closures."""

    def derive(self, name: str, fresh: Collection[Join]) -> Candidates | None:
        """Return what the joins derive, or None if none of them can be applied.

        Args:
            name: Begins the names of the steps in the work directory.
            fresh: The joins that have never been applied.
        """
        facts = self._facts
        unclosed = {join: properties - self._settled for join, properties in self._transitive.items()}
        chosen = list(_chosen(self._joins, fresh, unclosed, facts))
        if not chosen:
            return None
        facts.extract((property for join, _ in chosen for property in _properties(join)), f"{name}-extract")
        found, closures = Candidates(), _Closures()
        for number, (join, trigger) in enumerate(chosen):
            if join not in self._transitive:
                derive(join, facts, trigger, found)
                continue
            properties = self._transitive[join] if trigger is None else facts.with_new(unclosed[join])
            closure = close(facts, properties, facts.workspace.within(f"{name}-closure-{number}"), is_first=trigger is None)
            if closure is not None:
                closures.add(closure, properties)
        self._settled = frozenset() if found.open_triples else facts.not_reached_by(found.heads, closures.properties)
        closures.move_to(found)
        return found


class _Closures:
    """The transitive closures of an iteration."""

    def __init__(self) -> None:
        self.properties: set[Term] = set()
        """The properties of which they are."""
        self._new: list[DataFrame] = []
        self._others: list[DataFrame] = []

    def add(self, closure: Closed, properties: Set[Term]) -> None:
        """Add the closure of some properties."""
        is_new = closure.are_new and self.properties.isdisjoint(properties)
        (self._new if is_new else self._others).append(closure.rows)
        self.properties |= properties

    def move_to(self, found: Candidates) -> None:
        """Add all closures to candidates; as new triples, if no other rule has derived triples of these properties."""
        are_new = not found.open_triples and found.heads.isdisjoint(self.properties)
        found.triples += self._others
        (found.new_triples if are_new else found.triples).extend(self._new)
        found.heads |= self.properties


def _chosen(
    joins: Iterable[Join], fresh: Collection[Join], unclosed: Mapping[Join, frozenset[Term]], facts: FactFrames
) -> Iterator[tuple[Join, int | None]]:
    """Yield the joins of an iteration, each with the atom that only new facts match; None: all facts match all atoms.

    Args:
        joins: All joins.
        fresh: Those that have never been applied.
        unclosed: The joins that say that properties are transitive, with those that may have new triples.
        facts: The facts.
    """
    for join in joins:
        if join in fresh:
            yield join, None
        elif join not in unclosed:
            yield from ((join, place) for place in triggers(join, facts))
        elif facts.with_new(unclosed[join]):
            yield join, 0


def _properties(join: Join) -> set[Term]:
    """Return the properties whose triples a rule reads."""
    terms = {atom.terms[1] for atom in join.atoms if atom.predicate == TRIPLE}
    known = join.axioms.domains if join.axioms else {}
    found = {term for term in terms if not isinstance(term, Variable)}
    return found.union(*(known.get(term, ()) for term in terms if isinstance(term, Variable))) - {RDF.type}
