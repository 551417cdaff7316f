"""Overdeletion: all inferred triples with a derivation from removed triples (the first phase of DRed).

All rules join here, triggered by the latest deletions, over the old materialisation. A rule with a single atom is matched with the
deletions alone, so most rules never read the rest.

Source: Gupta, Mumick and Subrahmanian, Maintaining Views Incrementally (SIGMOD 1993).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kg_reasoner.program import TRIPLE
from kg_reasoner.spark_backend.exec.candidates import Candidates, held_facts
from kg_reasoner.spark_backend.exec.joining_rules import derive, triggers
from kg_reasoner.spark_backend.exec.matching_rows import RELATION, as_relation
from kg_reasoner.spark_backend.exec.rule_preparation import Rules
from kg_reasoner.spark_backend.exec.run_facts import FactFrames
from kg_reasoner.spark_backend.exec.saturation import saturate
from kg_reasoner.spark_backend.exec.triple_statistics import Statistics
from kg_reasoner.spark_backend.io.columns import TRIPLE_COLUMNS, argument_columns, union
from kg_reasoner.spark_backend.io.workspace import StoredStep, WorkDirectory
from kg_reasoner.spark_backend.plan.logical_plan import MaskPass, PlannedStratum, PropertyPass
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
    given = {len(rows.columns): [] for rows in relations.values()}  # type: ignore[var-annotated]  # by arity
    for name, rows in relations.items():
        given[len(rows.columns)].append(as_relation(name, rows))
    gone: list[DataFrame] = []
    gone_facts: dict[int, list[DataFrame]] = {}
    facts.suppose(workspace.step("removed", lambda: removed.distinct()), {})
    number = 0
    while True:
        number += 1
        found = Candidates()
        for join in joins:
            for place in triggers(join, facts):
                derive(join, facts, place, found)
        triples = _doubtful(f"doubtful-{number}", [*found.triples, *found.open_triples], inferred, gone, TRIPLE_COLUMNS, workspace)
        steps = {}
        for arity, by_predicate in found.relations.items():
            frames = [frame for some in by_predicate.values() for frame in some]
            there = facts.relations[arity].rows("all")
            certain = [*given.get(arity, []), *gone_facts.setdefault(arity, [])]
            columns = (RELATION, *argument_columns(arity))
            assert there is not None, "facts that rules derive from the materialisation are in it"
            step = _doubtful(f"doubtful-{number}-{arity}", frames, there, certain, columns, workspace)
            if step is not None and step.count:
                steps[arity] = step
                gone_facts[arity].append(step.rows)
        count = sum(step.count for step in (triples, *steps.values()) if step is not None)
        progress(Report("doubtful", iteration=number, facts=count))
        if not count:
            return union(gone)
        if triples is not None and triples.count:
            gone.append(triples.rows)
        facts.suppose(triples, steps)


def _doubtful(
    name: str,
    candidates: list[DataFrame],
    there: DataFrame,
    without: list[DataFrame],
    columns: tuple[str, ...],
    workspace: WorkDirectory,
) -> StoredStep | None:
    """Return the candidates that are among some facts, and not among others."""
    rows = union(candidates)
    if rows is None:
        return None

    def made() -> DataFrame:
        found = rows.distinct().join(there, list(columns), "left_semi")
        for others in without:
            found = found.join(others, list(columns), "left_anti")
        return found

    return workspace.step(name, made)
