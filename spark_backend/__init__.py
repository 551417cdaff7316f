"""Reasoning on Spark: triples that outgrow one machine, under the rules and loaders of the rest of the package.

DataFrames go in and come out. The session is the user's: nothing here builds one, stops one, or changes its settings.

* **Triples** are a DataFrame with the string columns ``subject``, ``predicate``, ``object`` (none of them null); each value is the
  N-Triples text of a term, exactly as `kg_reasoner.terms.term_text` writes it: ``<iri>``, ``_:label``, ``"a"``, ``"a"@en``,
  ``"1"^^<datatype>``. Terms are equal if and only if their texts are.
* A **materialisation** is such a DataFrame with one more column, the boolean ``inferred``: False for the triples that were given,
  True for those that only follow. No inferred triple is there twice, or beside an explicit one. Explicit triples are there as often
  as they were given: duplicates in, duplicates out.
* An **ontology** is a DataFrame of triples, or an iterable of triples of `kg_reasoner.terms`. It is part of what is given: its
  triples are in the materialisation too, as explicit ones. Schema triples among the data count just as well.
* **Facts** of general predicates are DataFrames by predicate, with one string column per argument, whatever their names.
* A **work directory** is a path that the driver and all executors can write to (local mode: any folder). Iterations are kept there
  as Parquet, so that plans stay small and an interrupted run can be resumed. Without one, a temporary folder serves in local mode.
  A materialisation is computed when it is read, from there and from the triples that were given: keep both until it is written.

The functions that are exported read, materialise, update, check, explain and write; `SparkReasoner` ties them together.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kg_reasoner.spark_backend.exec.graphframes import to_graphframe
from kg_reasoner.spark_backend.exec.reasoner import SparkReasoner
from kg_reasoner.spark_backend.exec.update import update
from kg_reasoner.spark_backend.io.reading import read_triples
from kg_reasoner.spark_backend.io.writing import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kg_reasoner.program import Program

__all__ = ["SparkReasoner", "check", "explain", "materialise", "read_triples", "to_graphframe", "update", "write"]

# By its former name the module would take the place of the function, where Python imports it.
sys.modules[f"{__name__}.update"] = sys.modules[update.__module__]


def materialise(triples: DataFrame, program: Program, **options: Any) -> DataFrame:
    """All that follows from triples by a program, with the column ``inferred``; for the options see `SparkReasoner`."""
    return SparkReasoner(triples.sparkSession, program, triples, **options).triples()


def check(triples: DataFrame, program: Program, **options: Any) -> DataFrame:
    """The violated constraints; see `SparkReasoner.inconsistencies`."""
    return SparkReasoner(triples.sparkSession, program, triples, **options).inconsistencies()


def explain(triples: DataFrame, program: Program, **options: Any) -> str:
    """What `materialise` would do; see `SparkReasoner.explain`."""
    return SparkReasoner(triples.sparkSession, program, triples, **options).explain()
