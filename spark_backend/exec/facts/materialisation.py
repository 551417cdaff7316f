"""The materialisation of a finished run, as a DataFrame that is computed when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg_reasoner.spark_backend.exec.facts.run_facts import FactFrames
from kg_reasoner.spark_backend.io.columns import INFERRED, PREDICATE, TRIPLE_COLUMNS, is_rdf, union
from kg_reasoner.terms import term_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["common", "flagged", "materialisation", "without"]


def materialisation(
    given: DataFrame, stated: DataFrame | None, facts: FactFrames, *, added: DataFrame | None = None, rdf_only: bool = True
) -> DataFrame:
    """Return the given and the derived triples, the latter without duplicates.

    Only properties that others imply can be derived twice: their triples are grouped, all others pass through.

    Args:
        given: Triples; with a column ``inferred``, those for which it is true are known to follow.
        stated: Triples that the driver derived.
        facts: What was derived.
        added: Further given triples, which came as if they were derived.
        rdf_only: Leave out facts that are not RDF triples.
    """
    from pyspark.sql import functions as F

    rows = given if INFERRED in given.columns else flagged(given, inferred=False)
    stored = union(frame for frame in (stated, facts.derived.rows("all")) if frame is not None)
    if stored is not None:
        rows = rows.unionByName(flagged(without(stored, added), inferred=True))
    if added is not None:
        rows = rows.unionByName(flagged(added, inferred=False))
    frames = [rows]
    doubtful = facts.views.of_targets(rows)
    if doubtful is not None:
        targets = sorted(term_text(target) for target in facts.properties.targets)
        frames = [rows.where(~F.col(PREDICATE).isin(targets))]
        frames.append(doubtful.groupBy(*TRIPLE_COLUMNS).agg(F.min(INFERRED).alias(INFERRED)))
    if facts.features.classes:
        tables, masks = facts.masks.inferred()
        typed = (facts.views.types_of(rows, "n", masks) for rows in tables)
        frames += [flagged(without(types, added), inferred=True) for types in typed]
    result = union(frames)
    assert result is not None
    return result.where(is_rdf()) if rdf_only else result


def flagged(triples: DataFrame, *, inferred: bool) -> DataFrame:
    """Return triples with the column ``inferred``."""
    from pyspark.sql import functions as F

    return triples.select(*TRIPLE_COLUMNS, F.lit(inferred).alias(INFERRED))


def without(triples: DataFrame, others: DataFrame | None) -> DataFrame:
    """Return the triples that are not among others."""
    return triples if others is None else triples.join(others, list(TRIPLE_COLUMNS), "left_anti")


def common(triples: DataFrame, others: DataFrame) -> DataFrame:
    """Return the triples that are also among others."""
    return triples.join(others, list(TRIPLE_COLUMNS), "left_semi")
