"""Rows that match an atom, and the facts of general predicates as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from kg_reasoner.program import Argument, Variable
from kg_reasoner.spark_backend.io.columns import argument_columns
from kg_reasoner.terms import term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["RELATION", "as_relation", "matched"]

RELATION: Final = "relation"
"""The column that says which predicate a row of a relation belongs to."""


def as_relation(predicate: str, rows: DataFrame) -> DataFrame:
    """Return the facts of one predicate as rows of the relation with their arity."""
    from pyspark.sql import functions as F

    return rows.toDF(*argument_columns(len(rows.columns))).select(
        F.lit(predicate).alias(RELATION), *argument_columns(len(rows.columns))
    )


def matched(rows: DataFrame, columns: Sequence[str], terms: Sequence[Argument], names: Mapping[Variable, str]) -> DataFrame:
    """Return the rows that match an atom's constants and repeated variables, in columns named after its variables.

    An atom without variables has the column ``one``.
    """
    from pyspark.sql import functions as F

    first: dict[Variable, str] = {}
    for column, term in zip(columns, terms, strict=True):
        if not isinstance(term, Variable):
            rows = rows.where(F.col(column) == term_text(term))
        elif term in first:
            rows = rows.where(F.col(column) == F.col(first[term]))
        else:
            first[term] = column
    return rows.select(*([F.col(column).alias(names[term]) for term, column in first.items()] or [F.lit(1).alias("one")]))
