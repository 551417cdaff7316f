"""Semi-naive evaluation of one stratum: iterations until nothing is new."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kg_reasoner.program import TRIPLE, Variable
from kg_reasoner.spark_backend.exec.candidates import Candidates
from kg_reasoner.spark_backend.exec.joining_rules import derive, triggers
from kg_reasoner.spark_backend.exec.last_phase import LastPhase
from kg_reasoner.spark_backend.exec.run_facts import FactFrames
from kg_reasoner.spark_backend.exec.transitive_closures import close
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
        name: Begins the names of the steps in the work directory.
        first: Facts to absorb before any rule is applied.
        closed: Whether the triples are closed under the rules, but for those that come first; facts of general predicates are not.
        driver_facts: The maximum number of facts with which the driver finishes, see `LastPhase`; 0: it never does.
    """
    total, iteration = 0, 0
    transitive = {join: properties for join in stratum.joins if (properties := transitive_properties(join))}
    settled: frozenset[Term] = frozenset()
    fresh = {join for join in stratum.joins if not (closed and join.rule.head.predicate == TRIPLE)}
    if first is not None:
        began = time.monotonic()
        total += facts.absorb(f"{name}-0", first)
        progress(Report("iteration", stratum=number, iteration=0, facts=total, seconds=time.monotonic() - began))
    last = LastPhase(facts, stratum.joins, driver_facts)
    while True:
        iteration += 1
        began = time.monotonic()
        rest = last.finish(fresh if iteration == 1 else ()) if driver_facts else None
        if rest is not None:
            new = facts.absorb(f"{name}-{iteration}-last", rest)
            progress(Report("in process", stratum=number, iteration=iteration, facts=new, seconds=time.monotonic() - began))
            return total + new
        found = Candidates()
        unclosed = {join: properties - settled for join, properties in transitive.items()}
        chosen = list(_chosen(stratum.joins, fresh if iteration == 1 else set(), unclosed, facts))
        facts.extract((property for join, _ in chosen for property in _properties(join)), f"{name}-{iteration}-extract")
        closed_now: set[Term] = set()
        new_triples: list[DataFrame] = []
        for number_of_join, (join, trigger) in enumerate(chosen):
            if join not in transitive:
                derive(join, facts, trigger, found)
                continue
            properties = transitive[join] if trigger is None else facts.with_new(unclosed[join])
            workspace = facts.workspace.within(f"{name}-{iteration}-closure-{number_of_join}")
            if (closure := close(facts, properties, workspace, is_first=trigger is None)) is not None:
                is_alone = closure.are_new and not properties & closed_now
                (new_triples if is_alone else found.triples).append(closure.rows)
                closed_now |= properties
        settled = frozenset() if found.open_triples else facts.not_reached_by(found.heads, closed_now)
        is_alone = not found.open_triples and found.heads.isdisjoint(closed_now)
        (found.new_triples if is_alone else found.triples).extend(new_triples)
        found.heads |= closed_now
        new = facts.absorb(f"{name}-{iteration}", found)
        total += new
        if chosen:
            progress(Report("iteration", stratum=number, iteration=iteration, facts=new, seconds=time.monotonic() - began))
        if not new:
            return total


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
