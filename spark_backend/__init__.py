"""Reasoning on Spark: triples that outgrow one machine, with the rules and loaders of the rest of the package.

The input and output are DataFrames. The session belongs to the user: this package does not build it, stop it, or change its
settings.

* **Triples** are a DataFrame with the string columns ``subject``, ``predicate``, ``object`` (none of them null); each value is the
  N-Triples text of a term, exactly as `kg_reasoner.terms.term_text` writes it: ``<iri>``, ``_:label``, ``"a"``, ``"a"@en``,
  ``"1"^^<datatype>``. Terms are equal if and only if their texts are.
* A **materialisation** is such a DataFrame with the additional boolean column ``inferred``: False for explicit triples, True for
  triples that are only derived. An inferred triple has no duplicate and is not also explicit. Duplicates of explicit triples are
  preserved.
* An **ontology** is a DataFrame of triples, or an iterable of triples, such as a graph of rdflib. It is part of the input: the
  materialisation contains its triples as explicit ones. Schema triples among the data have the same effect.
* **Facts** of general predicates are DataFrames by predicate, with one string column per argument, whatever their names;
  none of them is null.
* A **work directory** is a path that the driver and all executors can write to (local mode: any folder). Iterations are stored
  there as Parquet, which keeps plans small and allows an interrupted run to resume. The default in local mode is a temporary
  folder. A materialisation is computed when it is read, from this directory and the input triples: keep both until it is written.

The exported functions read, materialise, update, check, explain and write; `SparkReasoner` combines them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.program import Program
from kg_reasoner.spark_backend.exec.graphframes import to_graphframe
from kg_reasoner.spark_backend.exec.incremental import update
from kg_reasoner.spark_backend.exec.local_graphs import connected_components, to_igraph, to_networkx
from kg_reasoner.spark_backend.exec.spark_reasoner import SparkReasoner
from kg_reasoner.spark_backend.io.reading import read_triples
from kg_reasoner.spark_backend.io.triple_files import write

if TYPE_CHECKING:
    from pyspark import sql
else:
    sql = LazyModule("pyspark.sql")

__all__ = [
    "SparkReasoner",
    "check",
    "connected_components",
    "explain",
    "materialise",
    "read_triples",
    "to_graphframe",
    "to_igraph",
    "to_networkx",
    "update",
    "write",
]

# By its former name the module would take the place of the function, where Python imports it.
sys.modules[f"{__name__}.update"] = sys.modules[update.__module__]


def materialise(triples: sql.DataFrame, program: Program, **options: Any) -> sql.DataFrame:
    """Return the materialisation of triples under a program, with the column ``inferred``.

    Args:
        triples: A DataFrame of triples.
        program: The rules.
        options: Options of `SparkReasoner`.

    Returns:
        The triples, explicit and inferred ones.

    Raises:
        ReasonerError: As for `SparkReasoner`.
    """
    return SparkReasoner(triples.sparkSession, program, triples, **options).triples()


def check(triples: sql.DataFrame, program: Program, **options: Any) -> sql.DataFrame:
    """Return the violated constraints; see `SparkReasoner.inconsistencies`.

    Args:
        triples: A DataFrame of triples.
        program: The rules.
        options: Options of `SparkReasoner`.

    Returns:
        The violations, see `SparkReasoner.inconsistencies`.

    Raises:
        ReasonerError: As for `SparkReasoner`.
    """
    return SparkReasoner(triples.sparkSession, program, triples, **options).inconsistencies()


def explain(triples: sql.DataFrame, program: Program, **options: Any) -> str:
    """Return a description of the steps of `materialise`; see `SparkReasoner.explain`.

    Args:
        triples: A DataFrame of triples.
        program: The rules.
        options: Options of `SparkReasoner`.

    Returns:
        The text.

    Raises:
        ReasonerError: As for `SparkReasoner`.
    """
    return SparkReasoner(triples.sparkSession, program, triples, **options).explain()
