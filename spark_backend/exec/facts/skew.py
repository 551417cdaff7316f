"""Joins on terms that have a large share of the rows, such as a hub: split by the plan, so that they are not one task's work.

Such *heavy* terms are found by counting a sample of each property's triples. In a join on them, the rows of the side that has many
get a number that depends on the row, and those of the other side are there once for each number; all other rows have number 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from kg_reasoner.spark_backend.io.columns import OBJECT, PREDICATE, SUBJECT, TRIPLE_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["LEAST", "Heavy", "heavy_terms", "salted_join", "tasks_of_shuffles"]

Heavy: TypeAlias = dict[tuple[str, str], frozenset[str]]
"""The heavy terms of properties, by the text of the property and the column."""

SAMPLE: Final = 64
"""The number of triples of which one is counted."""

LEAST: Final = 100_000
"""The number of rows of a short task."""

MOST_PARTS: Final = 64
"""The maximal number of parts of a heavy term; the rows of the other side are repeated for each part."""

_SALT: Final = "salt"


def heavy_terms(triples: DataFrame) -> Heavy:
    """Return the terms that more than one task's share of a property's triples have as subject or object."""
    from pyspark.sql import functions as F

    sample = triples.where(F.pmod(F.xxhash64(*TRIPLE_COLUMNS), F.lit(SAMPLE)) == 0)
    found: Heavy = {}
    for end in (SUBJECT, OBJECT):
        counts = sample.groupBy(PREDICATE, end).count().where(F.col("count") * SAMPLE > LEAST)
        for row in counts.collect():
            key = row[PREDICATE], end
            found[key] = found.get(key, frozenset()) | {row[end]}
    return found


def salted_join(left: DataFrame, right: DataFrame, shared: Sequence[str], key: str, heavy: frozenset[str]) -> DataFrame:
    """Return the inner join on shared columns, where many rows of the left side have heavy terms in the column `key`."""
    from pyspark.sql import functions as F

    parts = max(2, min(MOST_PARTS, tasks_of_shuffles(left.sparkSession)))
    is_heavy = F.col(key).isin(sorted(heavy))
    part = F.pmod(F.xxhash64(*left.columns), F.lit(parts)).cast("int")
    salted = left.withColumn(_SALT, F.when(is_heavy, part).otherwise(F.lit(0)))
    numbers = F.array(*(F.lit(number) for number in range(parts)))
    copied = right.withColumn(_SALT, F.explode(F.when(is_heavy, numbers).otherwise(F.array(F.lit(0)))))
    return salted.join(copied, [*shared, _SALT]).drop(_SALT)


def tasks_of_shuffles(spark: SparkSession) -> int:
    """Return how many tasks a shuffle has at most."""
    return int(spark.conf.get("spark.sql.shuffle.partitions", "2") or 2)
