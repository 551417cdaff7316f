"""Differences between versions of rdflib, and operations that none of them has."""

from __future__ import annotations

from typing import Any, cast

from rdflib import Dataset, Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, ConjunctiveGraph
from rdflib.store import Store


def default_graph(dataset: ConjunctiveGraph) -> Graph:
    """Return the default graph of a dataset, which before rdflib 7.3 is its `default_context` only."""
    return cast(Graph, dataset.default_graph if hasattr(dataset, "default_graph") else cast(Any, dataset).default_context)


def replace_store(graph: Graph, store: Store) -> None:
    """Put another store under a graph or dataset, in one step."""
    parts: dict[str, object] = {"_Graph__store": store}
    if isinstance(graph, Dataset):
        attribute = "_default_context" if "_default_context" in vars(graph) else "default_context"
        parts[attribute] = Graph(store=store, identifier=DATASET_DEFAULT_GRAPH_ID, base=default_graph(graph).base)
    vars(graph).update(parts)  # rdflib has no other way, and an interrupt does not come between two assignments
