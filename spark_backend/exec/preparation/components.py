"""Connected components of equalities, which determine the representative of each term.

Few pairs are processed on the driver by union-find. Many pairs are processed by GraphFrames if its jar is available. Otherwise, as
on serverless platforms, stars are contracted with plain DataFrames (Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii: Connected
Components in MapReduce and Beyond, 2014). All methods give the same representatives: the least text of each component.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from kg_reasoner.errors import OutputError, ReasonerError
from kg_reasoner.graphs import connected_components
from kg_reasoner.spark_backend.exec.graphframes import components as graphframes_components
from kg_reasoner.spark_backend.exec.graphframes import graphframes_problem
from kg_reasoner.spark_backend.failures import is_of_spark, root_of
from kg_reasoner.spark_backend.io.columns import TERM, local_frame
from kg_reasoner.spark_backend.io.workspace import WorkDirectory
from kg_reasoner.spark_backend.run_progress import LOGGER

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["FEW_PAIRS", "REPRESENTATIVE", "Method", "least_of_components", "representatives"]

REPRESENTATIVE: Final = "representative"
"""The column of the term that stands for those of its component."""

FEW_PAIRS: Final = 1_000_000
"""The maximum number of pairs that are joined on the driver: about 500 MB of Python strings."""

Method: TypeAlias = Literal["driver", "graphframes", "contraction"]


def representatives(pairs: DataFrame, workspace: WorkDirectory, method: Method | None = None) -> DataFrame:
    """Return a row for each term that is not the representative of its component: the term and the representative, which is a
    literal only if all of them are: two literals may have the same value, but literals and names have not.

    Args:
        pairs: Two columns of texts, of any names.
        workspace: The folder for intermediate steps.
        method: How to find them; None for the way that suits the number of pairs and the session.
    """
    found = _least(pairs.toDF("one", "other").select(_last("one"), _last("other")), workspace, method)
    return found.select(_as_before(TERM), _as_before(REPRESENTATIVE))


def _last(name: str) -> Column:
    """Return a column of texts, changed so that those of literals come after all others."""
    from pyspark.sql import functions as F

    return F.when(F.col(name).startswith('"'), F.concat(F.lit("~"), F.col(name))).otherwise(F.col(name)).alias(name)


def _as_before(name: str) -> Column:
    """Return a column without the change."""
    from pyspark.sql import functions as F

    return F.when(F.col(name).startswith("~"), F.col(name).substr(2, 1 << 30)).otherwise(F.col(name)).alias(name)


def _least(pairs: DataFrame, workspace: WorkDirectory, method: Method | None) -> DataFrame:
    """Return the least text of the component of each text that is not that."""
    step = workspace.step("pairs", lambda: pairs.where("one <> other").distinct())
    if method is None:
        large: Method = "contraction" if graphframes_problem(pairs.sparkSession) else "graphframes"
        method = "driver" if step.count <= FEW_PAIRS else large
    if method == "driver":
        rows = sorted(least_of_components((row.one, row.other) for row in step.rows.collect()).items())
        return local_frame(pairs.sparkSession, rows, f"{TERM} string, {REPRESENTATIVE} string")
    if method == "graphframes":
        try:
            with ExitStack() as held:
                return workspace.step("components", lambda: _with_least(held.enter_context(graphframes_components(step.rows)))).rows
        except OutputError:
            raise
        except Exception as error:
            if not isinstance(error, ReasonerError) and not is_of_spark(error):
                raise
            LOGGER.warning("GraphFrames cannot find the components of equal terms (%s); stars are contracted", root_of(error))
    return _by_contraction(step.rows, workspace)


def least_of_components(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return, for each text of some pairs, the least text of its component, if that is another one.

    >>> least_of_components([("b", "c"), ("d", "e"), ("c", "a")])
    {'b': 'a', 'c': 'a', 'e': 'd'}
    """
    components = ((min(texts), texts) for texts in connected_components(pairs).values())
    return {text: least for least, texts in components for text in texts if text != least}


def _with_least(found: DataFrame) -> DataFrame:
    """Return the terms of components with the least term of each, where the two differ."""
    from pyspark.sql import functions as F

    least = found.groupBy("component").agg(F.min(TERM).alias(REPRESENTATIVE))
    return found.join(least, "component").where(F.col(TERM) != F.col(REPRESENTATIVE)).select(TERM, REPRESENTATIVE)


def _by_contraction(pairs: DataFrame, workspace: WorkDirectory) -> DataFrame:
    """Alternate large-star and small-star steps until every edge leads from a term to the least of its component."""
    from pyspark.sql import functions as F

    edges = pairs.toDF("u", "v")
    number, before = 0, None
    while True:
        step = workspace.step(f"contraction-{number}", lambda edges=edges: _small_star(_large_star(edges)))  # type: ignore[misc]
        digest = step.rows.agg(F.bit_xor(F.xxhash64("u", "v"))).collect()[0][0]
        if (step.count, digest) == before:
            return step.rows.select(F.col("u").alias(TERM), F.col("v").alias(REPRESENTATIVE))
        before, edges, number = (step.count, digest), step.rows, number + 1


def _large_star(edges: DataFrame) -> DataFrame:
    """Return edges that link every greater neighbour of a node to the least among the node and its neighbours."""
    from pyspark.sql import functions as F

    both = edges.select("u", "v").unionByName(edges.select(F.col("v").alias("u"), F.col("u").alias("v")))
    least = both.groupBy("u").agg(F.min("v").alias("lower")).select("u", F.least("u", "lower").alias("least"))
    return both.where("v > u").join(least, "u").select(F.col("v").alias("u"), F.col("least").alias("v")).distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """Return edges that link a node and its lesser neighbours to the least of them."""
    from pyspark.sql import functions as F

    downwards = edges.select(F.greatest("u", "v").alias("u"), F.least("u", "v").alias("v"))
    least = downwards.groupBy("u").agg(F.min("v").alias("least"))
    linked = downwards.join(least, "u").select(F.col("v").alias("u"), F.col("least").alias("v"))
    return linked.unionByName(least.select("u", F.col("least").alias("v"))).where("u <> v").distinct()
