"""Names of columns, and small helpers around them. Everything here is DataFrame API that Spark Connect has, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.terms import RDF, term_text

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = [
    "INFERRED",
    "OBJECT",
    "PREDICATE",
    "SUBJECT",
    "TERM",
    "TRIPLE_COLUMNS",
    "TYPE",
    "argument_columns",
    "is_rdf",
    "local_frame",
    "same_rows",
    "union",
]

SUBJECT: Final = "subject"
PREDICATE: Final = "predicate"
OBJECT: Final = "object"
INFERRED: Final = "inferred"
TRIPLE_COLUMNS: Final = (SUBJECT, PREDICATE, OBJECT)
TERM: Final = "term"
TYPE: Final = term_text(RDF.type)
"""The text of rdf:type."""


def argument_columns(arity: int) -> tuple[str, ...]:
    """The columns of a general predicate's facts."""
    return tuple(f"a{place}" for place in range(arity))


def union(frames: Iterable[DataFrame]) -> DataFrame | None:
    """All rows of frames with the same columns; None if there are no frames."""
    found = list(frames)
    return reduce(lambda left, right: left.unionByName(right), found) if found else None


def is_rdf() -> Column:
    """Whether a row of triples is an RDF triple: what has a literal as the subject, or no IRI as the predicate, stays inside."""
    from pyspark.sql import functions as F

    return ~F.col(SUBJECT).startswith('"') & F.col(PREDICATE).startswith("<")


def local_frame(spark: SparkSession, rows: Sequence[tuple[Any, ...]], schema: str) -> DataFrame:
    """A small table that the driver has, as a frame."""
    return spark.createDataFrame(rows, schema)


def same_rows(columns: Iterable[str], left: DataFrame, right: DataFrame) -> Column:
    """The condition of a join that all these columns, none of which is ever null, are equal."""
    return reduce(lambda one, other: one & other, (left[name] == right[name] for name in columns))
