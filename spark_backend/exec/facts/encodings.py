"""Features of terms as rows, before the driver has numbered the masks: as words of bits, or one row for each feature.

Words are aggregated without objects, so they are faster; their number grows with that of all features, whichever a term has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, Protocol

from kg_reasoner.spark_backend.io.columns import TERM, local_frame
from kg_reasoner.spark_backend.plan.masks import Mask, from_words, to_words, word_count

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FEATURE", "Encoding", "encoding_for", "local_rows"]

FEATURE: Final = "feature"
"""The column of a feature's number."""

_WORDS_MOST: Final = 4


class Encoding(Protocol):
    """Rows of terms with features."""

    columns: tuple[str, ...]
    """The columns of a row's features, beside the term; all are longs."""
    keys: tuple[str, ...]
    """The columns of a term's mask once its rows are gathered."""
    key_type: str
    """The type of `keys`."""

    def rows(self, mask: Mask) -> list[tuple[int, ...]]:
        """Return the values of `columns` that represent a mask: a row for each tuple."""
        ...

    def numbered(self, rows: DataFrame) -> DataFrame:
        """Return rows of terms and numbers of features as rows of terms and `columns`."""
        ...

    def gathered(self, rows: DataFrame) -> DataFrame:
        """Return one row for each term, with all of its features in `keys`."""
        ...

    def mask(self, row: Any) -> Mask:
        """Return the mask in the `keys` of a row."""
        ...

    def key(self, mask: Mask) -> tuple[Any, ...]:
        """Return the inverse of `mask`."""
        ...


def encoding_for(spark: SparkSession, features: int) -> Encoding:
    """Return the encoding that suits a number of features."""
    count = word_count(features)
    return _Words(spark, count, features) if count <= _WORDS_MOST else _Numbers()


class _Words:
    """Bits in some columns."""

    key_type = "long"

    def __init__(self, spark: SparkSession, count: int, features: int) -> None:
        self._spark = spark
        self._count = count
        self._features = features
        self.columns: tuple[str, ...] = tuple(f"g{place}" for place in range(count))
        self.keys = self.columns

    def rows(self, mask: Mask) -> list[tuple[int, ...]]:
        return [tuple(to_words(mask, self._count))] if mask else []

    def numbered(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        table = [(feature, *to_words([feature], self._count)) for feature in range(self._features)]
        schema = ", ".join(f"{name} long" for name in (FEATURE, *self.columns))
        return rows.join(F.broadcast(local_frame(self._spark, table, schema)), FEATURE).select(TERM, *self.columns)

    def gathered(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        some = reduce(lambda left, right: left | right, (F.col(name) != 0 for name in self.columns))
        return rows.where(some).groupBy(TERM).agg(*(F.bit_or(name).alias(name) for name in self.columns))

    def mask(self, row: Mapping[str, int]) -> Mask:
        return from_words(row[name] for name in self.keys)

    def key(self, mask: Mask) -> tuple[int, ...]:
        return tuple(to_words(mask, self._count))


class _Numbers:
    """A row for each feature; the features of a term are a text of sorted numbers."""

    columns: tuple[str, ...] = (FEATURE,)
    keys: tuple[str, ...] = ("features",)
    key_type = "string"

    def rows(self, mask: Mask) -> list[tuple[int, ...]]:
        return [(feature,) for feature in sorted(mask)]

    def numbered(self, rows: DataFrame) -> DataFrame:
        return rows

    def gathered(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        found = rows.groupBy(TERM).agg(F.collect_set(F.col(FEATURE).cast("string")).alias("found"))
        return found.select(TERM, F.concat_ws(" ", F.sort_array("found")).alias("features"))

    def mask(self, row: Mapping[str, str]) -> Mask:
        return frozenset(map(int, row["features"].split()))

    def key(self, mask: Mask) -> tuple[str]:
        return (" ".join(sorted(map(str, mask))),)


def local_rows(spark: SparkSession, encoding: Encoding, masks: Iterable[tuple[str, Mask]]) -> DataFrame:
    """Return the features of some terms, given by their texts, as rows."""
    table = [(text, *row) for text, mask in masks for row in encoding.rows(mask)]
    return local_frame(spark, table, ", ".join([f"{TERM} string", *(f"{name} long" for name in encoding.columns)]))
