"""Incremental maintenance of materialisations under additions and deletions of triples."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.program import Aggregate, Atom, Negation, Program
from kg_reasoner.spark_backend.exec.evaluation.overdeleted import doubtful_triples
from kg_reasoner.spark_backend.exec.facts.materialisation import common, flagged, materialisation, without
from kg_reasoner.spark_backend.exec.preparation.given_frames import (
    Ontology,
    expect_materialisation,
    expect_program,
    given_facts,
    given_triples,
)
from kg_reasoner.spark_backend.exec.preparation.literal_facts import LITERAL_PREDICATES
from kg_reasoner.spark_backend.exec.preparation.merged_terms import is_equality_rule
from kg_reasoner.spark_backend.exec.preparation.rule_preparation import Rules, prepare
from kg_reasoner.spark_backend.exec.preparation.triple_statistics import look_at
from kg_reasoner.spark_backend.exec.spark_reasoner import SparkReasoner
from kg_reasoner.spark_backend.exec.spark_run import Options, Run
from kg_reasoner.spark_backend.io.columns import INFERRED, TRIPLE_COLUMNS
from kg_reasoner.spark_backend.io.workspace import WorkDirectory
from kg_reasoner.spark_backend.run_progress import LOGGER, Progress, reporting
from kg_reasoner.terms import Triple

if TYPE_CHECKING:
    from pyspark import sql
else:
    sql = LazyModule("pyspark.sql")

__all__ = ["update"]


def update(
    materialised: sql.DataFrame,
    program: Program,
    added: Ontology | None = None,
    removed: Ontology | None = None,
    *,
    facts: Mapping[str, sql.DataFrame] | None = None,
    work_dir: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    driver_facts: int | None = None,
) -> sql.DataFrame:
    """Return the materialisation after triples were removed and then added, equal to that of a full run over the result.

    Only added triples trigger rules; but the rules of higher strata are applied to all triples, and so are all rules if the added
    triples entail further schema triples. For removed triples, all inferred triples that may depend on them are overdeleted, and
    those with another derivation are rederived (DRed). If the schema changes, terms may become equal, or rules negate or aggregate
    data, a full run replaces the update, which is logged.

    Args:
        materialised: The materialisation of the same program, with the column ``inferred``; it is read several times.
        program: The rules.
        added: Triples; those that are there already change nothing.
        removed: Triples; those that are not there as explicit ones change nothing.
        facts: As for the materialisation.
        work_dir: The work directory, which must differ from that of a materialisation read from there.
        progress: Called with a report of every action.
        driver_facts: As for `SparkReasoner`.

    Returns:
        The materialisation.

    Raises:
        LoadError: The program is not a `Program`, something else than a materialisation, triples or facts is given, or a row is
            not a triple.
    """
    expect_program(program)
    expect_materialisation(materialised)
    spark, report = materialised.sparkSession, reporting(progress)
    options = Options(facts, work_dir, progress=progress, driver_facts=driver_facts)
    relations = given_facts(program, facts)
    workspace = WorkDirectory(spark, work_dir)
    workspace.begin("update")
    change = _Change(materialised, given_triples(spark, None, added), given_triples(spark, None, removed), workspace)
    statistics, further = look_at(change.asserted), look_at(change.inferred)
    statistics.include(further)
    changed = bool(statistics.include(look_at(change.new.rows)) or look_at(change.gone.rows).schema)
    rules = prepare(program, statistics, found=further.schema, predicates=relations)
    changed = changed or (change.gone.count > 0 and _is_schema_of_data(program, change.given(), further.schema, relations))
    if reason := "the schema changes" if changed else _reason_for_a_full_run(rules):
        LOGGER.warning("the update is a full run: %s", reason)
        return SparkReasoner(
            spark, program, change.given(), facts=facts, work_dir=work_dir, progress=progress, driver_facts=driver_facts
        ).triples()
    if not change.gone.count:
        given = change.asserted.unionByName(common(change.new.rows, change.inferred))
        derived, brought = without(change.inferred, change.new.rows), without(change.new.rows, change.inferred)
        return _result(Run(spark, program, given, options, derived=derived, added=brought))
    known = workspace.step("known", lambda: materialised.select(*TRIPLE_COLUMNS).distinct()).rows
    uncertain = change.inferred.unionByName(change.gone.rows)
    doubtful = doubtful_triples(known, uncertain, change.gone.rows, rules, statistics, relations, workspace.within("doubt"), report)
    certain = change.inferred if doubtful is None else without(change.inferred, doubtful)
    return _result(Run(spark, program, change.given(), options, derived=without(certain, change.new.rows)))


def _reason_for_a_full_run(rules: Rules) -> str | None:
    """Return what rules do that an update cannot follow, or None. What is added may end what negations and aggregates gave."""
    if any(is_equality_rule(rule) for rule, _ in rules.rules):
        return "terms may be the same"
    looking_down = (part for rule, _ in rules.rules for part in rule.body if isinstance(part, Aggregate | Negation))
    if any(isinstance(part, Aggregate) or _is_of_data(part.atom, rules) for part in looking_down):
        return "rules negate or aggregate data"
    return None


def _is_of_data(atom: Atom, rules: Rules) -> bool:
    """Return whether data determine the facts that match an atom. Those about a literal and a datatype are always the same."""
    return atom.predicate not in LITERAL_PREDICATES and not rules.keys.has(atom)


def _is_schema_of_data(
    program: Program, given: sql.DataFrame, schema: list[Triple], relations: Mapping[str, sql.DataFrame]
) -> bool:
    """Return whether the driver does not derive some inferred schema from the present input: it may have lost its data."""
    if not schema:
        return False
    alone = prepare(program, look_at(given), predicates=relations)
    return not all(triple in alone.schema.triples for triple in schema)


class _Change:
    """The state and the change: the explicit and the inferred triples, the new ones, and those no longer explicit."""

    def __init__(self, materialised: sql.DataFrame, added: sql.DataFrame, removed: sql.DataFrame, workspace: WorkDirectory) -> None:
        from pyspark.sql import functions as F

        self.inferred = materialised.where(F.col(INFERRED)).select(*TRIPLE_COLUMNS)
        self.asserted = materialised.where(~F.col(INFERRED)).select(*TRIPLE_COLUMNS)
        self.new = workspace.step("new", lambda: without(added.distinct(), self.asserted))
        self.gone = workspace.step("gone", lambda: common(without(removed.distinct(), added), self.asserted))

    def given(self) -> sql.DataFrame:
        """Return the explicit triples after the change."""
        kept = without(self.asserted, self.gone.rows) if self.gone.count else self.asserted
        return kept.unionByName(self.new.rows)


def _result(run: Run) -> sql.DataFrame:
    """Return the materialisation of a run that began with triples known to follow."""
    state = run.state
    assert run.derived is not None
    rows = flagged(run.given, inferred=False).unionByName(flagged(run.derived, inferred=True))
    return materialisation(rows, run.stated, state, added=run.added)
