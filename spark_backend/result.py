"""The materialisation of a finished run, as a DataFrame that is computed when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg_reasoner.spark_backend.columns import INFERRED, OBJECT, PREDICATE, SUBJECT, TRIPLE_COLUMNS, is_rdf, union
from kg_reasoner.spark_backend.facts import Facts
from kg_reasoner.terms import term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["inferred_triples", "materialisation"]


def materialisation(given: DataFrame, stated: DataFrame | None, facts: Facts, *, rdf_only: bool = True) -> DataFrame:
    """The given triples, and those that follow, each of these once.

    Only properties that others imply can be derived twice: their triples are grouped, all others pass through. Facts that are no RDF
    triples are left out if `rdf_only`.
    """
    from pyspark.sql import functions as F

    targets = sorted(term_text(target) for target in facts.properties.targets)
    explicit = given.select(*TRIPLE_COLUMNS, F.lit(False).alias(INFERRED))
    stored = union(filter(None, (stated, facts.derived.rows("all"))))
    rows = explicit if stored is None else explicit.unionByName(stored.select(*TRIPLE_COLUMNS, F.lit(True).alias(INFERRED)))
    frames = []
    if targets:
        is_target = F.col(PREDICATE).isin(targets)
        frames.append(rows.where(~is_target))
        implied = facts.implied(rows.select(*TRIPLE_COLUMNS))
        doubtful = rows.where(is_target)
        if implied is not None:
            doubtful = doubtful.unionByName(implied.select(*TRIPLE_COLUMNS, F.lit(True).alias(INFERRED)))
        frames.append(doubtful.groupBy(*TRIPLE_COLUMNS).agg(F.min(INFERRED).alias(INFERRED)))
    else:
        frames.append(rows)
    frames += [
        facts.types_of(masks, prefix, without).select(*TRIPLE_COLUMNS, F.lit(True).alias(INFERRED))
        for masks, prefix, without in facts.masks.inferred()
        if facts.features.classes()
    ]
    result = union(frames)
    assert result is not None
    return result.where(is_rdf()) if rdf_only else result


def inferred_triples(materialised: DataFrame) -> DataFrame:
    """The triples of a materialisation that only follow."""
    from pyspark.sql import functions as F

    return materialised.where(F.col(INFERRED)).select(SUBJECT, PREDICATE, OBJECT)
