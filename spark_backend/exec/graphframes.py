"""Triples as a graph: vertices and edges with long ids, for GraphFrames (PageRank, motifs, paths ...) and anything else.

* `graph_tables(triples) -> (vertices, edges)` needs Spark alone.
* `to_graphframe(triples) -> GraphFrame` needs GraphFrames: its Python package and its jar.
* `with components(pairs) as found: ...` gives the connected components of an undirected graph, which is given as pairs of texts in
  two columns of any names: DataFrame(term, component), each term once, with the long number of its component. It needs GraphFrames.
  `pairs` is best read from files: a plan that filters on a constant predicate does not survive GraphFrames' checkpoints.
* `graphframes_problem(spark) -> str | None` says why GraphFrames cannot be used with a session, and what to do; None if it can.

GraphFrames works with any ids, but only long ones are safe: those of other types it numbers itself, which went wrong under adaptive
execution. Ours depend on the terms alone, so that they are the same in every run, and however often Spark computes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import ReasonerError, install_command
from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.spark_backend.failures import plain_failures, root_of
from kg_reasoner.spark_backend.requirements import graphframes_package

if TYPE_CHECKING:
    import graphframes
    from pyspark import sql
else:
    graphframes, sql = LazyModule("graphframes"), LazyModule("pyspark.sql")

__all__ = [
    "attributes_of",
    "components",
    "graph_tables",
    "graphframes_problem",
    "links_of",
    "number_terms",
    "to_graphframe",
]

_BUCKETS: Final = 1024
_CONNECT_PLUGIN: Final = "org.apache.spark.sql.graphframes.GraphFramesConnect"


def graph_tables(triples: sql.DataFrame) -> tuple[sql.DataFrame, sql.DataFrame]:
    """Return the vertices and edges of a graph of triples. Filter the triples before (types, for example).

    Args:
        triples: A DataFrame of triples, or a materialisation.

    Returns:
        vertices: ``id`` (long), ``term`` (the text of an IRI or blank node), and ``attributes``: the texts of its literals, as an
        array for each predicate's text; null if it has none.
        edges: ``src`` and ``dst`` (ids), ``predicate`` (its text) and ``inferred``, which is False everywhere if the triples lack
            this column. Edges have no duplicates.
    """
    from pyspark.sql import functions as F

    links, attributes = links_of(triples), attributes_of(triples)
    subjects = triples.select("subject").where(~F.col("subject").startswith('"'))
    numbered = number_terms(subjects.union(links.select("object")))
    vertices = numbered.join(attributes.withColumnRenamed("subject", "term"), "term", "left").select("id", "term", "attributes")
    edges = (
        links.join(numbered.select(F.col("id").alias("src"), F.col("term").alias("subject")), "subject")
        .join(numbered.select(F.col("id").alias("dst"), F.col("term").alias("object")), "object")
        .select("src", "dst", "predicate", "inferred")
    )
    return vertices, edges


def links_of(triples: sql.DataFrame) -> sql.DataFrame:
    """Return the edges of a graph of triples, without duplicates: ``subject``, ``predicate``, ``object`` and ``inferred``."""
    from pyspark.sql import functions as F

    inferred = F.col("inferred") if "inferred" in triples.columns else F.lit(False)
    links = triples.where(~F.col("subject").startswith('"') & ~F.col("object").startswith('"'))
    return links.groupBy("subject", "predicate", "object").agg(F.min(inferred).alias("inferred"))


def attributes_of(triples: sql.DataFrame) -> sql.DataFrame:
    """Return what literals say of the terms of a graph: ``subject`` and ``attributes``, an array of texts for each predicate."""
    from pyspark.sql import functions as F

    literals = triples.where(~F.col("subject").startswith('"') & F.col("object").startswith('"'))
    texts = literals.groupBy("subject", "predicate").agg(F.sort_array(F.collect_set("object")).alias("texts"))
    entries = F.sort_array(F.collect_list(F.struct("predicate", "texts")))
    return texts.groupBy("subject").agg(F.map_from_entries(entries).alias("attributes"))


def number_terms(terms: sql.DataFrame) -> sql.DataFrame:
    """Assign a number to each distinct text of a column: the columns ``id`` and ``term``.

    A term is numbered within one of many buckets, by its place there, so that no single task sees them all. The numbers are nearly
    dense, depend on nothing but the set of terms, and no two terms share one, as they might if a hash were the number.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    distinct = terms.select(F.col(terms.columns[0]).alias("term")).distinct()
    bucketed = distinct.withColumn("bucket", F.pmod(F.xxhash64("term"), F.lit(_BUCKETS)))
    place = F.row_number().over(Window.partitionBy("bucket").orderBy("term")).cast("long") - 1
    return bucketed.select((place * _BUCKETS + F.col("bucket")).alias("id"), "term")


def to_graphframe(triples: sql.DataFrame) -> graphframes.GraphFrame:
    """Return the graph of triples as a GraphFrame; for its columns, see `graph_tables`.

    Args:
        triples: The triples.

    Returns:
        The GraphFrame.

    Raises:
        ReasonerError: GraphFrames cannot be used; the message says what to do.
    """
    return _graphframe(*graph_tables(triples))


@contextmanager
def components(pairs: sql.DataFrame) -> Iterator[sql.DataFrame]:
    """Yield the connected components of an undirected graph, valid within the block; see the top of this file.

    Raises:
        ReasonerError: GraphFrames cannot be used, or fails.
    """
    from pyspark.sql import functions as F

    spark, pairs = pairs.sparkSession, pairs.toDF("one", "other")
    vertices = number_terms(pairs.select("one").union(pairs.select("other")))
    sources = vertices.select(F.col("id").alias("src"), F.col("term").alias("one"))
    targets = vertices.select(F.col("id").alias("dst"), F.col("term").alias("other"))
    edges = pairs.join(sources, "one").join(targets, "other").select("src", "dst")
    with plain_failures("find connected components"):
        found = _graphframe(vertices.select("id"), edges).connectedComponents(**_algorithm(spark))
    try:
        numbered = found.select("id", F.col("component").cast("long").alias("component"))
        yield vertices.join(numbered, "id").select("term", "component")
    finally:
        if not _is_remote(spark):  # there, GraphFrames would compute everything again only to release it
            found.unpersist(blocking=True)


def _algorithm(spark: sql.SparkSession) -> dict[str, Any]:
    """Return the faster algorithm (24 s versus 56 s for half a million edges) if the session has the checkpoint folder that it
    needs, else the other one.
    """
    has_folder = bool(spark.conf.get("spark.checkpoint.dir", ""))
    return {
        "algorithm": "randomized_contraction" if has_folder else "two_phase",
        "broadcastThreshold": -1,  # leaves skew to adaptive execution; the default took 360 s
        "use_local_checkpoints": True,
    }


def _graphframe(vertices: sql.DataFrame, edges: sql.DataFrame) -> graphframes.GraphFrame:
    problem = graphframes_problem(vertices.sparkSession)
    if problem is not None:
        raise ReasonerError(problem)
    from graphframes import GraphFrame

    return GraphFrame(vertices, edges)


def graphframes_problem(spark: sql.SparkSession) -> str | None:
    """Return why GraphFrames cannot be used with a session, and how to fix it, or None if it can be used."""
    try:
        from graphframes import GraphFrame
    except ImportError as error:
        return f"GraphFrames' Python package is missing ({error}): {install_command('spark')}"
    vertices, edges = spark.createDataFrame([], "id long"), spark.createDataFrame([], "src long, dst long")
    try:
        _ = GraphFrame(vertices, edges).dropIsolatedVertices().vertices.columns  # the first that the jar has to do with
    except Exception as error:
        return f"GraphFrames' jar is not in the session ({root_of(error)}): {_how_to_get(spark)}"
    return None


def _is_remote(spark: sql.SparkSession) -> bool:
    """Return whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _how_to_get(spark: sql.SparkSession) -> str:
    if _is_remote(spark):
        return (
            f"start the Spark Connect server with --packages {graphframes_package(connect=True)} "
            f"--conf spark.connect.extensions.relation.classes={_CONNECT_PLUGIN}"
        )
    return f"build the session with spark.jars.packages={graphframes_package()}, or spark-submit --packages with the same"
