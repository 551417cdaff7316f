"""The reasoner on Spark: from triples and a program to the materialisation, facts and inconsistencies, as DataFrames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import UnknownNameError
from kg_reasoner.language.checks import analysis
from kg_reasoner.language.printer import format_rule
from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.loaders.ontology.owl import AxiomWarning
from kg_reasoner.program import Program, Variable
from kg_reasoner.spark_backend.exec.evaluation.conditions import condition
from kg_reasoner.spark_backend.exec.evaluation.joining_rules import columns_of, solutions
from kg_reasoner.spark_backend.exec.facts.materialisation import materialisation
from kg_reasoner.spark_backend.exec.preparation.components import REPRESENTATIVE
from kg_reasoner.spark_backend.exec.preparation.given_frames import Ontology, expect_program, given_triples
from kg_reasoner.spark_backend.exec.preparation.merged_terms import SAME_AS
from kg_reasoner.spark_backend.exec.preparation.rule_preparation import Constraint
from kg_reasoner.spark_backend.exec.spark_run import Equality, Options, Run
from kg_reasoner.spark_backend.io.columns import TERM, argument_columns, is_rdf, local_frame, union
from kg_reasoner.spark_backend.io.reading import BlankNodes, InputFormat, Paths, read_triples
from kg_reasoner.spark_backend.io.triple_files import Files, OutputFormat, write
from kg_reasoner.spark_backend.io.workspace import temporary_folder
from kg_reasoner.spark_backend.plan.logical_plan import RunPlan
from kg_reasoner.spark_backend.plan.parametric_rules import NUMBER, numbers_of
from kg_reasoner.spark_backend.requirements import require_pyspark
from kg_reasoner.spark_backend.run_progress import Progress
from kg_reasoner.terms import term_text

if TYPE_CHECKING:
    from pyspark import sql
else:
    sql = LazyModule("pyspark.sql")

__all__ = ["SparkReasoner"]

TRIPLES_OF_A_FILE: Final = 250_000
"""About this many triples are written to one file, unless sorted files are requested: they take a task some ten seconds, and a few
MB of Parquet.
"""

_VIOLATIONS = "rule string, name string, axiom string, values map<string, string>"


class SparkReasoner:
    """The consequences of triples and facts under a program, computed once when the first result is requested.

    Args:
        spark: The user's session; nothing in it is changed.
        program: The rules, such as ``rulesets.load("owl2rl").program``.
        triples: A DataFrame of triples; None for none.
        ontology: Further triples: a DataFrame, or an iterable of triples, such as a graph of rdflib.
        facts: DataFrames of facts of general predicates, by predicate; a row for each fact, a string column for each argument.
        work_dir: The work directory, see `workspace.WorkDirectory`.
        resume: Go on with the interrupted run in the work directory.
        progress: Called with a report of every action.
        equality: How owl:sameAs is treated if the program has the rules of equality: by ``representatives``, by ``rules``, or
            ``auto``: by representatives, where they give the same.
        wide: Whether to make wide passes; without, all rules join, iteration by iteration (for comparison).
        driver_facts: The driver finishes in process as soon as the rules that can still fire have at most as many facts to read and
            derive, by default 100,000, instead of iterating on Spark. Larger numbers take more memory; with 0, it never does.

    Raises:
        UnsupportedError, SafetyError, ArityError, StratificationError: The program cannot be evaluated; raised with the
            first result.
        LoadError: The program is not a `Program`, something else than triples is given, or a row is not a triple; the last one is
            raised with the first result.
        ReasonerError: A run cannot be resumed, or the work directory is missing.
    """

    def __init__(
        self,
        spark: sql.SparkSession,
        program: Program,
        triples: sql.DataFrame | None = None,
        *,
        ontology: Ontology | None = None,
        facts: Mapping[str, sql.DataFrame] | None = None,
        work_dir: str | os.PathLike[str] | None = None,
        resume: bool = False,
        progress: Progress | None = None,
        equality: Equality = "auto",
        wide: bool = True,
        driver_facts: int | None = None,
    ) -> None:
        require_pyspark()
        options = Options(facts, work_dir, resume, progress, equality, wide, driver_facts)
        expect_program(program)
        self.run = Run(spark, program, given_triples(spark, triples, ontology), options)

    @classmethod
    def read(
        cls,
        spark: sql.SparkSession,
        program: Program,
        paths: Paths,
        *,
        bad_lines: str = "raise",
        format: InputFormat | None = None,
        blank_nodes: BlankNodes = "document",
        work_dir: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> SparkReasoner:
        """Return a reasoner over the triples of files, which are parsed once and stored in the work directory.

        For `bad_lines`, `format` and `blank_nodes` see `reading.read_triples`; the other options are those of the class.

        Args:
            spark: The session.
            program: The rules.
            paths: The files.
            bad_lines: What happens to lines that are not statements: ``raise``, ``skip``, or a folder for them.
            format: The syntax; by default it is that of the names.
            blank_nodes: Whose the labels of blank nodes are: each ``document``'s, each ``file``'s, or ``shared``.
            work_dir: The folder for data between iterations.
            options: Further options of the reasoner.

        Returns:
            The reasoner.

        Raises:
            LoadError, OutputError, UnknownNameError: As `reading.read_triples` says.
            ReasonerError: The work directory is missing.
        """
        work = temporary_folder(spark) if work_dir is None else os.fspath(work_dir)
        triples = read_triples(
            spark, paths, bad_lines=bad_lines, format=format, blank_nodes=blank_nodes, keep=f"{work.rstrip('/')}/input"
        )
        return cls(spark, program, triples, work_dir=work, **options)

    def plan(self) -> RunPlan:
        """Return the logical plan. This takes one pass over the data, and derives nothing from it.

        Returns:
            The plan.
        """
        return self.run.plan()

    def explain(self) -> str:
        """Return the logical plan as text: the passes in the order of execution, and what each derives.

        Returns:
            The text.
        """
        return self.plan().text()

    @property
    def warnings(self) -> tuple[AxiomWarning, ...]:
        """The axioms of the ontology that rules cannot fully express."""
        self.run.state  # noqa: B018  # evaluates
        return self.run.rules.warnings

    def triples(self, *, expanded: bool = True) -> sql.DataFrame:
        """Return the materialisation: explicit and inferred triples, distinguished by the column ``inferred``.

        Args:
            expanded: Whether equal terms have all triples of each other. Otherwise, the triples are those of their representatives,
                without owl:sameAs, if `equal_terms` has any: for a group of n equal terms, n instead of n * n triples say so.

        Returns:
            The triples.
        """
        run, state = self.run, self.run.state
        if run.representatives is None:
            return materialisation(run.given, run.stated, state)
        rewritten = materialisation(run.representatives.rewrite(run.given), run.stated, state, rdf_only=False)
        if not expanded:
            return rewritten.where(is_rdf()).where(f"predicate <> '{SAME_AS}'")
        return run.representatives.expand(rewritten, run.given).where(is_rdf())

    def equal_terms(self) -> sql.DataFrame:
        """Return the terms that others stand for in ``triples(expanded=False)``.

        The columns are ``term`` and ``representative``. There are no rows if equality is treated by rules.

        Returns:
            The terms.
        """
        run = self.run
        run.state  # noqa: B018  # evaluates
        if run.representatives is None:
            return local_frame(run.spark, [], f"{TERM} string, {REPRESENTATIVE} string")
        return run.representatives.table.select(TERM, REPRESENTATIVE)

    def write(
        self,
        path: str | os.PathLike[str],
        format: OutputFormat = "parquet",
        *,
        inferred_only: bool = False,
        expanded: bool = True,
        overwrite: bool = False,
        compression: str | None = None,
        files: Files | None = None,
        distinct: bool = False,
    ) -> int:
        """Write the materialisation, or its inferred part, to a folder, completely or not at all; return the number of triples.

        Given triples are written and counted as often as they were given, without `files` and `distinct`. Without `files`, there is
        about one file for each quarter of a million triples, or fewer, if the number of triples can be estimated.

        For `expanded`, see `triples`; for the other options, `triple_files.write`.

        Args:
            path: The folder.
            format: The format of the files.
            inferred_only: Whether only derived triples are written.
            expanded: Whether equal terms have all triples of each other.
            overwrite: Whether an existing folder is replaced.
            compression: The compression of the files.
            files: The number of files, which are sorted, or ``auto``; see `triple_files.write`.
            distinct: Whether a triple that was given several times is written once.

        Returns:
            The number of triples.

        Raises:
            OutputError, UnknownNameError: As `triple_files.write` says.
        """
        triples = self.triples(expanded=expanded)
        triples = triples.where("inferred") if inferred_only else triples
        if files is None and not distinct and (self.run.representatives is None or not expanded):
            triples = triples.coalesce(1 + self.run.state.estimate() // TRIPLES_OF_A_FILE)
        return write(triples, path, format, overwrite=overwrite, compression=compression, files=files, distinct=distinct)

    def facts(self, predicate: str) -> sql.DataFrame:
        """Return the facts of a general predicate, given and derived, without duplicates, in the columns a0, a1 ...

        Args:
            predicate: The name of the predicate.

        Returns:
            The facts.

        Raises:
            UnknownNameError: Neither the program nor the facts have such a predicate.
        """
        run = self.run
        known = analysis.arities(run.program) | {name: len(rows.columns) for name, rows in run.relations.items()}
        if predicate not in known:
            raise UnknownNameError("predicate", predicate, known)
        columns = argument_columns(known[predicate])
        frames = [run.state.facts_of(predicate, len(columns)), run.schema_facts(predicate)]
        rows = union(frame for frame in frames if frame is not None)
        if rows is None:
            schema = ", ".join(f"{name} string" for name in columns) or "nothing int"
            return local_frame(run.spark, [], schema).select(*columns)
        return (rows if run.representatives is None else run.representatives.expand_facts(rows, columns)).distinct()

    def inconsistencies(self) -> sql.DataFrame:
        """Return the violated constraints with the violating values.

        Symmetric violations and equal names, which the in-process reasoner reports once, are listed separately.

        The columns: ``rule``, its text; ``name``, that of the rule, and ``axiom``, what it was translated from, if there are any;
        ``values``, a map from the names of its variables to the texts of their values.

        Returns:
            The violations.
        """
        run, state = self.run, self.run.state
        frames = []
        for join in run.passes.constraints:
            some = [(number, run.rules.constraints[number]) for number in numbers_of(join)]
            asked = [variable for variable, is_known in some[0][1].kind if not is_known]
            # Different terms may have one representative, so conditions are about the members.
            expands = run.representatives is not None
            rows = solutions(replace(join, filters=()) if expands else join, state, None, [*asked, NUMBER])
            if rows is not None:
                names = columns_of(join)
                if run.representatives is not None:
                    rows = run.representatives.expand_facts(rows, [names[variable] for variable in asked])
                    for part in join.filters:
                        rows = rows.where(condition(part, names))
                frames.append(_violations(rows.distinct(), some, names))
        return union(frames) or local_frame(run.spark, [], _VIOLATIONS)


def _violations(rows: sql.DataFrame, some: Sequence[tuple[int, Constraint]], names: Mapping[Variable, str]) -> sql.DataFrame:
    """Return the violations of constraints of one kind, from their numbers and the values of their data variables."""
    from pyspark.sql import functions as F

    kind = some[0][1].kind
    known = [variable for variable, is_known in kind if is_known]
    table = [
        (
            number,
            *(format_rule(one.rule), one.rule.origin.name, one.rule.origin.axiom),
            *(term_text(one.schema[variable]) for variable in known),
        )
        for number, one in some
    ]
    columns = dict(names) | {variable: f"known_{place}" for place, variable in enumerate(known)}
    fields = [
        "constraint long",
        "rule string",
        "name string",
        "axiom string",
        *(f"{columns[variable]} string" for variable in known),
    ]
    lookup = local_frame(rows.sparkSession, table, ", ".join(fields))
    joined = rows.join(F.broadcast(lookup), rows[names[NUMBER]] == lookup["constraint"])
    entries = [column for variable, _ in kind for column in (F.lit(variable.name), F.col(columns[variable]))]
    values = F.create_map(*entries).cast("map<string, string>")
    return joined.select("rule", "name", "axiom", values.alias("values"))
