"""Column names, and helper functions for them. Uses only the part of the DataFrame API that Spark Connect supports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.terms import RDF, Triple, term_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
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
    "coded_frame",
    "is_rdf",
    "local_frame",
    "triple_frame",
    "union",
]

SUBJECT: Final = "subject"
PREDICATE: Final = "predicate"
OBJECT: Final = "object"
INFERRED: Final = "inferred"
TRIPLE_COLUMNS: Final = (SUBJECT, PREDICATE, OBJECT)
TERM: Final = "term"
PARQUET_OPTIONS: Final = {f"parquet.enable.dictionary#{column}": "false" for column in (SUBJECT, OBJECT, TERM)}
"""Switches off dictionaries for columns of terms that hardly repeat, which Parquet would abandon only after trying them."""
TYPE: Final = term_text(RDF.type)
"""The text of rdf:type."""


def argument_columns(arity: int) -> tuple[str, ...]:
    """Return the columns of a general predicate's facts."""
    return tuple(f"a{place}" for place in range(arity))


def union(frames: Iterable[DataFrame]) -> DataFrame | None:
    """Return the union of frames with the same columns, or None if there are none."""
    found = list(frames)
    return reduce(lambda left, right: left.unionByName(right), found) if found else None


def is_rdf() -> Column:
    """Return a column that is true for RDF triples: the subject is not a literal, and the predicate is an IRI."""
    from pyspark.sql import functions as F

    return ~F.col(SUBJECT).startswith('"') & F.col(PREDICATE).startswith("<")


def local_frame(spark: SparkSession, rows: Sequence[tuple[Any, ...]], schema: str) -> DataFrame:
    """Return a small table of the driver as a DataFrame; `schema` is in SQL syntax, with strings, longs and booleans."""
    import pyarrow as pa
    import pyspark

    if not rows or pyspark.__version__ < "4":
        return spark.createDataFrame(rows, schema)
    types = {"string": pa.string(), "long": pa.int64(), "int": pa.int32(), "boolean": pa.bool_()}
    fields = [pa.field(name, types[kind]) for name, kind in (field.split() for field in schema.split(", "))]
    columns = [pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), fields, strict=True)]
    return spark.createDataFrame(pa.table(columns, schema=pa.schema(fields)))


def coded_frame(spark: SparkSession, texts: Sequence[str], places: npt.NDArray[np.int64], names: Sequence[str]) -> DataFrame:
    """Return a table of texts as a DataFrame, from the texts that occur and, row by row, their places among these."""
    import pyarrow as pa
    import pyspark

    if pyspark.__version__ < "4":
        rows = [tuple(texts[place] for place in row) for row in places.tolist()]
        return spark.createDataFrame(rows, ", ".join(f"{name} string" for name in names))
    words = pa.array(texts, pa.string())
    return spark.createDataFrame(pa.table([words.take(pa.array(column)) for column in places.T], names=list(names)))


def triple_frame(spark: SparkSession, triples: Iterable[Triple]) -> DataFrame:
    """Return triples of the driver as a DataFrame."""
    rows = [(term_text(subject), term_text(predicate), term_text(value)) for subject, predicate, value in triples]
    return local_frame(spark, rows, ", ".join(f"{name} string" for name in TRIPLE_COLUMNS))
