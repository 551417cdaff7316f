"""Overdeletion: all inferred triples with a derivation from removed triples (the first phase of DRed).

All rules join here, triggered by the latest deletions, over the old materialisation. A rule with a single atom is matched with the
deletions alone, so most rules never read the rest.

Source: Gupta, Mumick and Subrahmanian, Maintaining Views Incrementally (SIGMOD 1993).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from kg_reasoner.program import TRIPLE
from kg_reasoner.spark_backend.exec.evaluation.joining_rules import derive, triggers
from kg_reasoner.spark_backend.exec.evaluation.saturation import saturate
from kg_reasoner.spark_backend.exec.facts.candidates import Candidates, held_facts
from kg_reasoner.spark_backend.exec.facts.matching_rows import RELATION, as_relation
from kg_reasoner.spark_backend.exec.facts.run_facts import FactFrames
from kg_reasoner.spark_backend.exec.preparation.rule_preparation import Rules
from kg_reasoner.spark_backend.exec.preparation.triple_statistics import Statistics
from kg_reasoner.spark_backend.io.columns import TRIPLE_COLUMNS, argument_columns, union
from kg_reasoner.spark_backend.io.workspace import StoredStep, WorkDirectory
from kg_reasoner.spark_backend.plan.logical_plan import Join, MaskPass, PlannedStratum, PropertyPass
from kg_reasoner.spark_backend.plan.rule_compiler import compile_rules
from kg_reasoner.spark_backend.run_progress import Progress, Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["doubtful_triples"]


def doubtful_triples(
    known: DataFrame,
    inferred: DataFrame,
    removed: DataFrame,
    rules: Rules,
    statistics: Statistics,
    relations: Mapping[str, DataFrame],
    workspace: WorkDirectory,
    progress: Progress,
) -> DataFrame | None:
    """Return the inferred triples that lose a derivation, or None.

    Args:
        known: All triples of the materialisation.
        inferred: Those of them that are not explicit without the removed ones.
        removed: The triples that are removed.
        rules: Of the materialisation.
        statistics: Of the materialisation.
        relations: Facts of general predicates that are given.
        workspace: The folder for intermediate steps.
        progress: Called with a report of every iteration.
    """
    passes = compile_rules(rules.rules, wide=False, facts=relations)
    joins = tuple(join for stratum in passes.strata for join in stratum.joins)
    facts = FactFrames(known.sparkSession, PropertyPass(), MaskPass(), workspace, known, statistics, relations, is_open=True)
    facts.begin()
    helpers = PlannedStratum(tuple(join for join in joins if join.rule.head.predicate != TRIPLE))
    stated = [atom for atom in rules.stated if atom.predicate != TRIPLE]
    first = held_facts(facts.spark, stated, facts.features, facts.masks)
    saturate(facts, helpers, "helpers", progress, first=first)
    facts.suppose(workspace.step("removed", lambda: removed.distinct()), {})
    overdeletion = _Overdeletion(facts, joins, inferred, relations)
    for number in count(1):
        deleted = overdeletion.extend(f"doubtful-{number}")
        progress(Report("doubtful", iteration=number, facts=deleted))
        if not deleted:
            break
    return union(overdeletion.triples)


class _Overdeletion:
    """Facts that have lost a derivation.

    Args:
        facts: The old materialisation, in which the latest deletions count as the new facts.
        joins: The rules.
        inferred: The triples that can be deleted; others stay.
        relations: Facts of general predicates that stay.
    """

    def __init__(self, facts: FactFrames, joins: Sequence[Join], inferred: DataFrame, relations: Mapping[str, DataFrame]) -> None:
        self._facts, self._joins, self._inferred = facts, joins, inferred
        self.triples: list[DataFrame] = []
        """The deleted triples, by iteration."""
        self._excluded: defaultdict[int, list[DataFrame]] = defaultdict(list)
        """Facts of general predicates that stay or are deleted already, by arity."""
        for name, rows in relations.items():
            self._excluded[len(rows.columns)].append(as_relation(name, rows))

    def extend(self, name: str) -> int:
        """Delete what rules derive from the latest deletions, and return the number of facts that this deletes.

        Args:
            name: Begins the names of the steps in the work directory.
        """
        found = Candidates()
        for join in self._joins:
            for place in triggers(join, self._facts):
                derive(join, self._facts, place, found)
        triples = self._step(name, [*found.triples, *found.open_triples], self._inferred, self.triples, TRIPLE_COLUMNS)
        relations: dict[int, StoredStep] = {}
        for arity, frames in found.relations.items():
            if (step := self._relation_step(f"{name}-{arity}", arity, frames)) is not None:
                relations[arity] = step
        deleted = sum(step.count for step in (triples, *relations.values()) if step is not None)
        if not deleted:
            return 0
        if triples is not None:
            self.triples.append(triples.rows)
        for arity, step in relations.items():
            self._excluded[arity].append(step.rows)
        self._facts.suppose(triples, relations)
        return deleted

    def _relation_step(self, name: str, arity: int, derived: Mapping[str, list[DataFrame]]) -> StoredStep | None:
        """Store the facts of general predicates of one arity that are deleted now."""
        known = self._facts.relations[arity].rows("all")
        assert known is not None, "facts that rules derive from the materialisation are in it"
        frames = [frame for some in derived.values() for frame in some]
        return self._step(name, frames, known, self._excluded[arity], (RELATION, *argument_columns(arity)))

    def _step(
        self, name: str, derived: list[DataFrame], candidates: DataFrame, excluded: list[DataFrame], columns: tuple[str, ...]
    ) -> StoredStep | None:
        """Store the derived facts that are among the candidates and not excluded. Return None if there are none."""
        rows = union(derived)
        if rows is None:
            return None

        def remaining() -> DataFrame:
            found = rows.distinct().join(candidates, list(columns), "left_semi")
            for others in excluded:
                found = found.join(others, list(columns), "left_anti")
            return found

        step = self._facts.workspace.step(name, remaining)
        return step if step.count else None
