"""A run: from triples and a program to a materialisation."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from kg_reasoner.printer import format_program
from kg_reasoner.program import TRIPLE, Atom, Program
from kg_reasoner.spark_backend.columns import OBJECT, TERM, TRIPLE_COLUMNS, argument_columns, local_frame, union
from kg_reasoner.spark_backend.compiler import compile_rules
from kg_reasoner.spark_backend.facts import Candidates, Facts, as_relation
from kg_reasoner.spark_backend.fixpoint import saturate
from kg_reasoner.spark_backend.literals import literal_relations
from kg_reasoner.spark_backend.plan import Plan
from kg_reasoner.spark_backend.progress import Progress, Report, reporting
from kg_reasoner.spark_backend.result import materialisation
from kg_reasoner.spark_backend.rules import Rules, prepare
from kg_reasoner.spark_backend.statistics import Statistics, look_at
from kg_reasoner.spark_backend.workspace import Workspace
from kg_reasoner.terms import Triple, term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Ontology: TypeAlias = "DataFrame | Iterable[Triple]"

__all__ = ["Ontology", "materialise"]


def materialise(
    triples: DataFrame,
    program: Program,
    *,
    ontology: Ontology | None = None,
    facts: Mapping[str, DataFrame] | None = None,
    work_dir: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    equality: str = "auto",
) -> DataFrame:
    """All triples that follow from the triples and the ontology, with the column ``inferred``; see the package for the words."""
    run = Run(triples, program, ontology=ontology, facts=facts, work_dir=work_dir, resume=resume, progress=progress, equality=equality)
    return run.materialise()


class Run:
    def __init__(self, triples, program, *, ontology=None, facts=None, work_dir=None, resume=False, progress=None, equality="auto"):
        self.spark = triples.sparkSession
        self.program = program
        self.given = triples.select(*TRIPLE_COLUMNS)
        if ontology is not None:
            self.given = self.given.unionByName(as_frame(self.spark, ontology))
        self.relations = dict(facts or {})
        self.workspace = Workspace(self.spark, work_dir, resume=resume)
        self.report = reporting(progress)
        self.equality = equality

    def materialise(self):
        began = time.monotonic()
        statistics = look_at(self.given)
        self.report(Report("look", facts=statistics.total, seconds=time.monotonic() - began))
        self.workspace.begin(fingerprint(self.program, statistics))
        rules = prepare(self.program, statistics, predicates=self.relations)
        passes = compile_rules(rules.rules, facts={*self.relations})
        stated = local_frame(self.spark, [tuple(map(term_text, t)) for t in rules.new_schema], ", ".join(f"{c} string" for c in TRIPLE_COLUMNS)) if rules.new_schema else None
        base = self.given if stated is None else self.given.unionByName(stated)
        statistics.add(rules.new_schema)
        state = Facts(self.spark, passes.properties, passes.masks, self.workspace, base, statistics, self.relations)
        began = time.monotonic()
        state.begin()
        self.report(Report("masks", facts=sum(state.masks.sizes.values()), seconds=time.monotonic() - began))
        for number, stratum in enumerate(passes.strata):
            saturate(state, stratum, f"stratum-{number}", self.report, number=number)
        return materialisation(self.given, stated, state)


def as_frame(spark, ontology):
    from pyspark.sql import DataFrame as Frame
    if hasattr(ontology, "sparkSession"):
        return ontology.select(*TRIPLE_COLUMNS)
    return local_frame(spark, [tuple(map(term_text, t)) for t in ontology], ", ".join(f"{c} string" for c in TRIPLE_COLUMNS))


def fingerprint(program, statistics):
    return hashlib.sha256((format_program(program) + statistics.fingerprint).encode()).hexdigest()
