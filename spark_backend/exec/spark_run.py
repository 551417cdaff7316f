"""A run: from triples and a program to the materialisation.

The schema is closed on the driver before data is read. If data entails further schema (such as a class hierarchy derived by rules),
the run starts again with that schema, until no more is found.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kg_reasoner import __version__
from kg_reasoner.language.printer import format_program
from kg_reasoner.language.strata.stratification import signed_atoms
from kg_reasoner.planning.aggregates.groups import solutions_of
from kg_reasoner.program import TRIPLE, Atom, Negation, Program, Rule, Variable
from kg_reasoner.spark_backend.exec.evaluation.saturation import saturate
from kg_reasoner.spark_backend.exec.facts.candidates import Candidates, held_facts
from kg_reasoner.spark_backend.exec.facts.mask_table import MOST_MASKS, TooManyMasks
from kg_reasoner.spark_backend.exec.facts.run_facts import FactFrames
from kg_reasoner.spark_backend.exec.preparation.equalities import Equalities, Equality
from kg_reasoner.spark_backend.exec.preparation.given_frames import digest_of_facts, given_facts
from kg_reasoner.spark_backend.exec.preparation.groups_of_solutions import groups
from kg_reasoner.spark_backend.exec.preparation.literal_facts import asked_of_literals, literal_relations
from kg_reasoner.spark_backend.exec.preparation.merged_terms import SAME_AS, Representatives
from kg_reasoner.spark_backend.exec.preparation.rule_preparation import Rules, prepare
from kg_reasoner.spark_backend.exec.preparation.triple_statistics import Statistics, look_at
from kg_reasoner.spark_backend.failures import plain_failures
from kg_reasoner.spark_backend.io.columns import TRIPLE_COLUMNS, argument_columns, coded_frame, local_frame, union
from kg_reasoner.spark_backend.io.workspace import WorkDirectory
from kg_reasoner.spark_backend.plan.logical_plan import RunPlan
from kg_reasoner.spark_backend.plan.rule_compiler import Passes, compile_rules
from kg_reasoner.spark_backend.plan.specialise import SchemaKeys
from kg_reasoner.spark_backend.run_progress import LOGGER, Progress, Report, reporting
from kg_reasoner.terms import IRI, OWL, RDF, Term, Triple, term_from_text, term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


__all__ = ["Equality", "Options", "Run"]

DRIVER_FACTS: Final = 100_000
"""The default of the option: for this number of facts, the driver needs about a second and a hundred megabytes."""


@dataclass(frozen=True)
class Options:
    """How a program is evaluated, and over which facts; `SparkReasoner` says what each means."""

    facts: Mapping[str, DataFrame] | None = None
    work_dir: str | os.PathLike[str] | None = None
    resume: bool = False
    progress: Progress | None = None
    equality: Equality = "auto"
    wide: bool = True
    driver_facts: int | None = None


class Run:
    """One evaluation of a program over triples and facts.

    Args:
        spark: the session.
        program: the rules.
        given: a DataFrame of triples.
        options: how it goes.
        derived: triples that are known to follow from the given ones.
        added: further given triples, none of which is among those and the derived ones; these are closed under the rules, then, and
            only what follows from the added ones is left to derive.
    """

    def __init__(
        self,
        spark: SparkSession,
        program: Program,
        given: DataFrame,
        options: Options,
        *,
        derived: DataFrame | None = None,
        added: DataFrame | None = None,
    ) -> None:
        self.spark = spark
        self.program = program
        self.given = given
        self.relations = given_facts(program, options.facts)
        self._workspace = WorkDirectory(spark, options.work_dir, resume=options.resume)
        self._report = reporting(options.progress)
        self._options = options
        self._wide = options.wide
        self._driver_facts = DRIVER_FACTS if options.driver_facts is None else options.driver_facts
        self.derived = derived
        self.added = added
        self._statistics: Statistics | None = None
        self._is_parsed = False
        self._forget()

    def _forget(self) -> None:
        """Start again: nothing is derived, and nothing is known to be equal."""
        self._state: FactFrames | None = None
        self._masked = self._wide
        self._is_closed = self.added is not None
        """Whether the given and derived triples without the added ones are closed under the rules."""
        self._equalities = Equalities(self.program, self._options.equality, bool(self.relations), self._report)
        self.rules = Rules()
        self._prepared_for: tuple[object, Rules] | None = None
        self._passes: Passes | None = None
        self.stated: DataFrame | None = None

    # --- evaluation ---------------------------------------------------------------------------------------------------

    @property
    def statistics(self) -> Statistics:
        """Statistics of the given triples; the first access takes one pass."""
        if self._statistics is None:
            began = time.monotonic()
            if not self._workspace.resumes:
                self._parse_once()
            self._statistics = look_at(self.given)
            for further in (self.derived, self.added):
                if further is not None:
                    self._statistics.include(look_at(further))
            self._report(Report("look", facts=self._statistics.total, seconds=time.monotonic() - began))
        return self._statistics

    def _parse_once(self) -> None:
        """Store given triples that are parsed from text as Parquet, because they are read several times."""
        if not self._is_parsed and any(not file.endswith(".parquet") for file in self.given.inputFiles()):
            source = self.given
            self.given = self._workspace.step("given", lambda: source).rows
        self._is_parsed = True

    @plain_failures("plan what follows from the triples")
    def plan(self) -> RunPlan:
        """Return the logical plan for the given triples; nothing is derived from data."""
        schema = frozenset(self.statistics.derived_schema)
        rules = self._prepared(schema)
        if self._state is None:
            self._equalities.choose(rules)
            rules = self._prepared(schema)
        return _plan(rules, self._compiled(rules), self._equalities.way(rules), self._driver_facts)

    @plain_failures("derive what follows from the triples")
    def evaluate(self) -> None:
        """Derive all consequences. After a failure, the next call goes on with the finished steps."""
        try:
            self._evaluate()
        except BaseException:
            self._forget()
            raise

    def _evaluate(self) -> None:
        self._workspace.begin(_fingerprint(self.program, self.statistics, self.relations))
        self._parse_once()
        schema: set[Triple] = set(self.statistics.derived_schema)
        self._equalities.choose(self._prepared(schema))
        self.rules = self._prepared(schema)
        if self.statistics.count(OWL.sameAs):
            given = self.given.where(f"predicate = '{SAME_AS}'").select("subject", "object")
            self._equate(given, self._workspace.within("given"))
        number = 0
        while True:
            workspace = self._workspace.within(str(number))
            self.rules = self._prepared(schema)
            self._saturate(workspace)
            new, equated = self._derived_schema() - schema, self._equate(self._derived_equalities(), workspace)
            if not new and not equated:
                return
            self._is_closed = False  # under the rules of the new schema
            schema |= new
            number += 1
            if new:
                self._report(Report("schema", facts=len(new)))

    def _prepared(self, schema: Iterable[Triple]) -> Rules:
        """Return the rules, given the schema and equalities known so far."""
        equalities = self._equalities
        known = (frozenset(schema), frozenset(equalities.of_names), equalities.rewrites, equalities.representatives)
        if self._prepared_for is None or self._prepared_for[0] != known:
            self._prepared_for = known, self._prepare(schema)
        return self._prepared_for[1]

    def _prepare(self, schema: Iterable[Triple]) -> Rules:
        equalities = self._equalities.of_names
        names = self._names() if equalities else set()
        representatives = None
        if self._equalities.rewrites:
            representatives = self.representatives.of if self.representatives is not None else lambda terms: {}
        return prepare(
            self.program,
            self._with_equalities(),
            found=schema,
            equalities=equalities,
            names=names,
            predicates=self.relations,
            representatives=representatives,
        )

    # --- equality -----------------------------------------------------------------------------------------------------

    @property
    def representatives(self) -> Representatives | None:
        """The representatives of equal terms, if facts are rewritten."""
        return self._equalities.representatives

    def _equate(self, pairs: DataFrame | None, workspace: WorkDirectory) -> bool:
        """Add equalities, and return whether that changes anything."""
        return pairs is not None and self._equalities.add(pairs, self._names(), workspace)

    def _names(self) -> set[Term]:
        """Return the properties and classes of data, of the ontology, and of the program's own rules."""
        return {*self.statistics.properties, *self.statistics.classes, *self.rules.vocabulary, *_names_in(self.program.rules)}

    def _with_equalities(self) -> Statistics:
        """Return the statistics of the given triples, including a count of derived equalities."""
        known = self.statistics.copy()
        if self.representatives is not None:
            known.properties.setdefault(OWL.sameAs, 1)
        return known

    def _derived_equalities(self) -> DataFrame | None:
        """Return pairs of different terms that are equal according to the current facts."""
        if not self._equalities.matter(self.rules):
            return None
        x, y = Variable("x"), Variable("y")
        found = self.state.match(Atom(TRIPLE, (x, OWL.sameAs, y)), "all", {x: "x", y: "y"})
        return None if found is None else found.where("x <> y")

    def _compiled(self, rules: Rules) -> Passes:
        constraints = [(some.instance, some.kind) for some in rules.constraints]
        known = {*self.relations, *asked_of_literals(rule for rule, _ in (*rules.rules, *constraints))}
        return compile_rules(
            rules.rules,
            constraints,
            wide=self._wide,
            masks=self._masked,
            facts=known,
        )

    def _saturate(self, workspace: WorkDirectory) -> None:
        rules = self.rules
        self._passes = passes = self._compiled(rules)
        new = rules.new_schema.without(self.statistics.derived_schema)
        stated = [coded_frame(self.spark, *new.columns(term_text), TRIPLE_COLUMNS)] if new else []
        if self.representatives is not None:
            stated.append(self.representatives.reflexive())
        self.stated = union(stated)
        given = self.given if self.representatives is None else self.representatives.rewrite(self.given)
        base = union(frame for frame in (given, self.derived, self.stated) if frame is not None)
        assert base is not None
        statistics = self._with_equalities()
        statistics.add(new)
        self._state = state = FactFrames(
            self.spark,
            passes.properties,
            passes.masks,
            workspace,
            base,
            statistics,
            self._given_relations(base),
            is_open=passes.are_open() or not self._masked,
            representatives=self.representatives,
        )
        try:
            self._close(state, passes)
        except TooManyMasks:
            LOGGER.warning("terms have more than %d distinct sets of features; rules about one term are joined", MOST_MASKS)
            self._masked = False
            self._saturate(workspace.within("joined"))

    def _close(self, state: FactFrames, passes: Passes) -> None:
        """Apply all passes.

        Raises:
            TooManyMasks: The driver would have to close more than `MOST_MASKS`.
        """
        began = time.monotonic()
        state.begin()
        if passes.masks.features:
            self._report(Report("masks", facts=sum(state.masks.sizes.values()), seconds=time.monotonic() - began))
        first = held_facts(self.spark, self.rules.stated, passes.masks, state.masks)
        if self.added is not None:
            first = first or Candidates()
            first.open_triples.append(self.added)
        for number, stratum in enumerate(passes.strata):
            if stratum.groups:
                first = self._with_groups(state, stratum.groups, first or Candidates())
            saturate(
                state,
                stratum,
                f"stratum-{number}",
                self._report,
                first=first,
                closed=self._is_closed and not number,  # higher strata read what lower ones have derived
                number=number,
                driver_facts=self._driver_facts,
            )
            first = None

    def _with_groups(self, state: FactFrames, rules: Iterable[Rule], first: Candidates) -> Candidates:
        """Return the first facts of a stratum together with its groups."""
        for rule in rules:
            solutions = solutions_of(rule)
            found = (state.facts_of(solutions.predicate, solutions.arity), self.schema_facts(solutions.predicate))
            rows = groups(self.spark, rule, union(frame for frame in found if frame is not None))
            first.add_relation(rule.head.predicate, rows, rule.head.arity)
        return first

    def _given_relations(self, base: DataFrame) -> dict[str, DataFrame]:
        """Return the facts of general predicates that are given, held by the driver, or about literals."""
        rules = [rule for rule, _ in self.rules.rules] + [some.instance for some in self.rules.constraints]
        negated = {part.atom.predicate for rule in rules for part in rule.body if isinstance(part, Negation)}
        on_driver = {name: self.schema_facts(name) for name in sorted(negated & self.rules.keys.predicates)}
        relations = self.relations | {name: rows for name, rows in on_driver.items() if rows is not None}
        triples = base if self.added is None else base.unionByName(self.added.select(*base.columns))
        return relations | literal_relations(triples, self.relations.values(), [*self.program.rules, *rules])

    def schema_facts(self, predicate: str) -> DataFrame | None:
        """Return the facts of a predicate held by the driver."""
        rows = sorted(tuple(map(term_text, row)) for row in self.rules.schema.rows(predicate))
        if not rows:
            return None
        return local_frame(self.spark, rows, ", ".join(f"{name} string" for name in argument_columns(len(rows[0]))))

    def _derived_schema(self) -> set[Triple]:
        """Return the schema triples entailed by data that the driver lacks."""
        from pyspark.sql import functions as F

        state, keys = self.state, self.rules.keys
        frames = []
        if (derived := state.derived.rows("all")) is not None:
            frames.append(derived.where(F.expr(SchemaKeys.sql(*TRIPLE_COLUMNS[1:]))))
        for target in sorted(state.properties.targets, key=str):
            if keys.has(Atom(TRIPLE, (Variable("x"), target, Variable("y")))) and (pairs := state.pairs(target, "all")) is not None:
                frames.append(pairs.select("subject", F.lit(term_text(target)).alias("predicate"), "object"))
        if any(keys.is_schema_triple(RDF.type, cls) for cls in state.features.classes):
            tables, masks = state.masks.inferred()
            for rows in tables:
                frames.append(state.views.types_of(rows, "n", masks).where(F.expr(SchemaKeys.sql(*TRIPLE_COLUMNS[1:]))))
        found = union(frames)
        if found is None:
            return set()
        triples = {tuple(map(term_from_text, row)) for row in found.distinct().collect()}
        return {triple for triple in triples if triple not in self.rules.schema.triples}  # type: ignore[misc]  # three columns each

    @property
    def state(self) -> FactFrames:
        """All facts, available once the run is evaluated."""
        if self._state is None:
            self.evaluate()
        assert self._state is not None
        return self._state

    @property
    def passes(self) -> Passes:
        """The passes of the last evaluation."""
        assert self._passes is not None, "evaluate first"
        return self._passes


def _names_in(rules: Iterable[Rule]) -> Iterator[Term]:
    """Yield the properties and classes that rules name."""
    for atom, _ in signed_atoms(part for rule in rules for part in (rule.head, *rule.body)):
        if atom.predicate == TRIPLE:
            yield from (term for term in atom.terms[1:] if isinstance(term, IRI))


def _plan(rules: Rules, passes: Passes, equality: str, driver_facts: int) -> RunPlan:
    return RunPlan(
        passes.properties,
        passes.masks,
        passes.strata,
        passes.constraints,
        tuple(rules.stated),
        rules.schema_rules,
        len(rules.schema),
        equality,
        driver_facts,
    )


def _fingerprint(program: Program, statistics: Statistics, facts: Mapping[str, DataFrame]) -> str:
    """Return a text that identifies the program and the input of a run."""
    parts = [__version__, format_program(program), statistics.fingerprint]
    parts += [digest_of_facts(predicate, rows) for predicate, rows in sorted(facts.items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
