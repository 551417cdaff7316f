"""Graphs of triples without GraphFrames: in this process, for networkx and igraph, and components by DataFrames.

GraphFrames needs a jar that not every cluster can have. What it does for users, networkx and igraph do for as many edges as this
process holds: PageRank, shortest paths, motifs, components. Components of any size are found by plain DataFrames.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from kg_reasoner.errors import ReasonerError
from kg_reasoner.lazy_modules import LazyModule
from kg_reasoner.spark_backend.exec.graphframes import attributes_of, links_of
from kg_reasoner.spark_backend.exec.preparation.components import REPRESENTATIVE, representatives
from kg_reasoner.spark_backend.failures import plain_failures
from kg_reasoner.spark_backend.io.columns import TERM
from kg_reasoner.spark_backend.io.workspace import WorkDirectory

if TYPE_CHECKING:
    import igraph
    import networkx
    from pyspark import sql
else:
    igraph, networkx, sql = LazyModule("igraph"), LazyModule("networkx"), LazyModule("pyspark.sql")

__all__ = ["MOST_EDGES", "connected_components", "to_igraph", "to_networkx"]

MOST_EDGES: Final = 2_000_000
"""The default of the options: networkx takes about a kilobyte for each edge, igraph a tenth of that."""


def to_networkx(triples: sql.DataFrame, *, most_edges: int = MOST_EDGES) -> networkx.MultiDiGraph:
    """Return the graph of triples for networkx. Filter the triples before (by property, for example).

    Args:
        triples: A DataFrame of triples, or a materialisation.
        most_edges: An error is raised for more edges, instead of filling the memory of this process.

    Returns:
        The graph. Nodes are the texts of IRIs and blank nodes, with ``attributes``: the texts of literals by predicate. The key of
        an edge is the text of its predicate, and it has the attribute ``inferred``.

    Raises:
        ReasonerError: There are more edges, networkx is not installed, or Spark fails.
    """
    networkx = _imported("networkx")
    nodes, edges = _collected(triples, most_edges)
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from((node, {"attributes": attributes}) for node, attributes in nodes.items())
    graph.add_edges_from((subject, value, predicate, {"inferred": inferred}) for subject, predicate, value, inferred in edges)
    return graph


def to_igraph(triples: sql.DataFrame, *, most_edges: int = MOST_EDGES) -> igraph.Graph:
    """Return the directed graph of triples for igraph, which takes less memory and time than networkx.

    Args:
        triples: A DataFrame of triples, or a materialisation.
        most_edges: As for `to_networkx`.

    Returns:
        The graph. Vertices have ``name``, the text of an IRI or blank node, and ``attributes``, the texts of literals by predicate.
        Edges have ``predicate`` and ``inferred``.

    Raises:
        ReasonerError: There are more edges, igraph is not installed, or Spark fails.
    """
    igraph = _imported("igraph")
    nodes, edges = _collected(triples, most_edges)
    places = {node: place for place, node in enumerate(nodes)}
    return igraph.Graph(
        len(nodes),
        [(places[subject], places[value]) for subject, _, value, _ in edges],
        directed=True,
        vertex_attrs={"name": list(nodes), "attributes": list(nodes.values())},
        edge_attrs={"predicate": [edge[1] for edge in edges], "inferred": [edge[3] for edge in edges]},
    )


def connected_components(triples: sql.DataFrame, work_dir: str | os.PathLike[str] | None = None) -> sql.DataFrame:
    """Return the connected components of the graph of triples, whatever the direction of edges.

    They are found by GraphFrames if it is there, and by DataFrames otherwise.

    Args:
        triples: A DataFrame of triples, or a materialisation.
        work_dir: A folder for data between steps, needed on a cluster.

    Returns:
        A row for each IRI and blank node: ``term``, and ``component``, the least text of a term of its component.
    """
    from pyspark.sql import functions as F

    links = links_of(triples)
    pairs = links.select("subject", "object")
    workspace = WorkDirectory(triples.sparkSession, work_dir)
    workspace.begin("components", start_over=True)
    with plain_failures("find connected components"):
        found = representatives(pairs, workspace).withColumnRenamed(REPRESENTATIVE, "component")
        subjects = triples.select("subject").where(~F.col("subject").startswith('"'))
        terms = subjects.union(pairs.select("object")).toDF(TERM).distinct()
        return terms.join(found, TERM, "left").select(TERM, F.coalesce("component", TERM).alias("component"))


def _imported(library: str) -> Any:
    from importlib import import_module

    try:
        return import_module(library)
    except ImportError:
        raise ReasonerError(f"{library} is not installed: pip install {library}") from None


_Edges = list[tuple[str, str, str, bool]]


def _collected(triples: sql.DataFrame, most: int) -> tuple[dict[str, dict[str, list[str]]], _Edges]:
    """Return the attributes of each node, and the edges, both in the order of their texts.

    Raises:
        ReasonerError: There are more than `most` edges.
    """
    with plain_failures("collect the edges of the graph"):
        edges: _Edges = sorted(map(tuple, links_of(triples).limit(most + 1).collect()))
        if len(edges) > most:
            raise ReasonerError(
                f"the graph has more than {most:,} edges, too many for one process: filter the triples, give most_edges=, or use "
                "GraphFrames"
            )
        texts = {row.subject: row.attributes for row in attributes_of(triples).collect()}
    nodes = sorted({*texts, *(edge[0] for edge in edges), *(edge[2] for edge in edges)})
    return {node: texts.get(node, {}) for node in nodes}, edges
